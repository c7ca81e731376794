// Memory bandwidth that the cores of a simulated die share (simulator.h). Each change of the set of
// cores that are moving data changes the rates of all of them. A timer of SimGrid is set for the
// time at which the first core finishes.
#include "src/simulation/simulator.h"

#include <algorithm>
#include <limits>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace s4u = simgrid::s4u;

namespace
{

// A core that has at most this number of bytes left has finished.
constexpr double negligible_bytes = 1e-3;

// The data that one core is moving to or from the memory.
struct Traffic {
  double left, most, rate; // bytes left; greatest and present rate in bytes per second
  s4u::SemaphorePtr done;
};

} // namespace

struct sim_die {
  double bandwidth;               // bytes per second of the memory
  double date = 0;                // simulated time, in seconds, to which Traffic.left refers
  unsigned long timer = 0;        // number of the latest timer, from 1; earlier timers do nothing
  std::vector<Traffic *> traffic; // one for each core that is moving data
};

namespace
{

// Sets the rate of each core. The bandwidth is divided max-min fairly: a core that cannot use its
// share leaves the rest to the other cores.
void share_bandwidth(sim_die *die)
{
  auto &all = die->traffic;
  std::sort(all.begin(), all.end(),
            [](const Traffic *a, const Traffic *b) { return a->most < b->most; });
  double rest = die->bandwidth;
  size_t others = all.size();
  for (Traffic *one : all) {
    one->rate = std::min(one->most, rest / static_cast<double>(others--));
    rest -= one->rate;
  }
}

void update(sim_die *die);

// Sets a timer for the time at which the first core finishes, if the rates stay as they are.
void set_timer(sim_die *die)
{
  double soonest = std::numeric_limits<double>::infinity();
  for (const Traffic *one : die->traffic)
    soonest = std::min(soonest, one->left / one->rate);
  const unsigned long number = ++die->timer;
  if (die->traffic.empty()) return;
  simgrid::kernel::timer::Timer::set(die->date + soonest, [die, number] {
    if (number == die->timer) update(die);
  });
}

// Subtracts from Traffic.left the bytes that each core has moved up to now, gives the bandwidth of
// finished cores to the others, and resumes the ranks of the finished cores.
void update(sim_die *die)
{
  const double now = s4u::Engine::get_clock(), seconds = now - die->date;
  auto &all = die->traffic;
  die->date = now;
  for (Traffic *one : all)
    one->left -= one->rate * seconds;
  const auto end = std::partition(all.begin(), all.end(), [now](const Traffic *one) {
    // a core has also finished if its remaining time is below the resolution of the clock
    return one->left > negligible_bytes && now + one->left / one->rate > now;
  });
  const std::vector<Traffic *> finished(end, all.end());
  all.erase(end, all.end());
  share_bandwidth(die);
  set_timer(die);
  for (Traffic *one : finished)
    one->done->release();
}

} // namespace

sim_die *osli_sim_die(sg_host_t host, int number, double bandwidth)
{
  static std::unordered_map<sg_host_t, std::unordered_map<int, sim_die>> dies;
  sim_die *die = &dies[host][number];
  die->bandwidth = bandwidth;
  return die;
}

void osli_sim_die_move(sim_die *die, double bytes, double most, double delay)
{
  Traffic mine{bytes, most, most, s4u::Semaphore::create(0)};
  simgrid::kernel::timer::Timer::set(s4u::Engine::get_clock() + delay, [die, &mine] {
    die->traffic.push_back(&mine);
    mine.rate = 0; // update() must not subtract bytes for the time before the core began
    update(die);
  });
  mine.done->acquire();
}

void osli_sim_die_load(sim_die *die, double bytes)
{
  for (Traffic *one : die->traffic)
    one->left += bytes / static_cast<double>(die->traffic.size());
}
