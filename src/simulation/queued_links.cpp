#include "src/simulation/simulator.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <vector>

namespace s4u = simgrid::s4u;

namespace
{

// transfers of at most this many bytes (two or three packets) do not wait in queues
constexpr double short_bytes = 4096;
// smallest number of bytes of the parts into which a longer transfer is cut
constexpr double smallest_part = 16384;
// greatest number of parts of a transfer; each part costs real time
constexpr double most_parts = 16;

// seconds; a link that the head reaches within this time counts as reached now
constexpr double negligible_delay = 1e-6;

struct LinkState {
  double bandwidth, latency;
  bool is_shared;
  double free = 0; // simulated time at which the link has sent everything queued so far
};

struct Part {
  std::vector<LinkState *> route;
  size_t at; // index in `route` of the next link for the head of this part
  double bytes, part;
  // simulated time at which the last byte of the part arrives at the link with index `at`
  double tail;
  osli_sim_done *done;
  void *arg;
};

struct Event {
  double date;
  // sequence number, so that events of equal date run in the order of their creation
  unsigned long number;
  Part *part;
  bool operator<(const Event &other) const
  {
    return date > other.date || (date == other.date && number > other.number);
  }
};

LinkState *state_of(const s4u::Link *link)
{
  static std::unordered_map<const s4u::Link *, LinkState> lines;
  auto found = lines.find(link);
  if (found == lines.end()) {
    bool shared = link->get_sharing_policy() != s4u::Link::SharingPolicy::FATPIPE;
    found =
      lines.emplace(link, LinkState{link->get_bandwidth(), link->get_latency(), shared}).first;
  }
  return &found->second;
}

std::priority_queue<Event> &events()
{
  static std::priority_queue<Event> queue;
  return queue;
}

void run_events(double date);

// Sets a timer for the first event. An earlier timer with a later date does nothing when it
// fires.
void set_timer(double date)
{
  simgrid::kernel::timer::Timer::set(date, [date] { run_events(date); });
}

double &timer_date()
{
  static double date = std::numeric_limits<double>::infinity();
  return date;
}

void at(double date, Part *part)
{
  static unsigned long number;
  events().push({date, number++, part});
  if (date >= timer_date()) return;
  timer_date() = date;
  set_timer(date);
}

// Splits off the first part of a transfer. The rest returns to the first link when that link has
// sent the part.
void split_off_rest(Part *p, double now)
{
  const LinkState *first = p->route[0];
  auto *rest = new Part(*p);
  rest->bytes -= p->part;
  p->bytes = p->part;
  p->done = nullptr;
  at((first->is_shared ? std::max(now, first->free) : now) + p->part / first->bandwidth, rest);
}

// Moves a part from link to link until its head is under way to the next link, or the part has
// arrived. A part that has arrived is deleted.
void move_part(Part *p)
{
  double now = s4u::Engine::get_clock(), head = now;
  if (p->at == 0 && p->bytes > p->part) split_off_rest(p, now);
  while (p->at < p->route.size()) {
    LinkState *line = p->route[p->at++];
    double begins = line->is_shared ? std::max(head, line->free) : head;
    double sent = begins + p->bytes / line->bandwidth;
    if (line->is_shared) line->free = sent;
    p->tail = std::max(p->tail, sent) + line->latency;
    head = begins + line->latency;
    if (head > now + negligible_delay && p->at < p->route.size()) {
      at(head, p);
      return;
    }
  }
  if (p->tail > now) {
    at(p->tail, p);
    return;
  }
  if (p->done) p->done(p->arg);
  delete p;
}

void run_events(double date)
{
  if (date != timer_date()) return;
  double now = s4u::Engine::get_clock();
  while (!events().empty() && events().top().date <= now) {
    Part *part = events().top().part;
    events().pop();
    move_part(part);
  }
  timer_date() = std::numeric_limits<double>::infinity();
  if (events().empty()) return;
  timer_date() = events().top().date;
  set_timer(timer_date());
}

// A short transfer uses bandwidth of each link on its route but never waits in a queue. Returns its
// time of arrival.
double pass_without_queueing(const std::vector<LinkState *> &route, double bytes, double begins)
{
  double slowest = 0, latency = 0;
  for (LinkState *line : route) {
    double takes = bytes / line->bandwidth;
    slowest = std::max(slowest, takes);
    latency += line->latency;
    if (line->is_shared) line->free = std::max(line->free, begins) + takes;
  }
  return begins + latency + slowest;
}

} // namespace

void osli_sim_transfer_queued(sg_host_t from, sg_host_t to, size_t bytes, double delay,
                              osli_sim_done *done, void *arg)
{
  // memory that all calls reuse; only one call runs at a time
  static std::vector<s4u::Link *> links;
  links.clear();
  from->route_to(to, links, nullptr);
  auto size = static_cast<double>(std::max<size_t>(bytes, 1));
  double part = std::max(smallest_part, size / most_parts);
  auto *p = new Part{{}, 0, size, part, 0, done, arg};
  for (const s4u::Link *link : links)
    p->route.push_back(state_of(link));
  double begins = s4u::Engine::get_clock() + delay;
  if (size <= short_bytes) {
    p->at = p->route.size();
    p->tail = pass_without_queueing(p->route, size, begins);
    at(p->tail, p);
  } else {
    p->tail = begins;
    at(begins, p);
  }
}
