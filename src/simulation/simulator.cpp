// C++, because SimGrid's S4U has no C interface for transfers between hosts.
#include "src/simulation/simulator.h"

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <set>
#include <simgrid/s4u.hpp>
#include <vector>

namespace s4u = simgrid::s4u;

namespace
{

struct Transfer {
  s4u::Host *from, *to;
  size_t bytes;
  double delay;
  osli_sim_done *done;
  void *arg;
};

// A coroutine that executes one transfer after the other. Carriers are reused, because creating one
// takes longer than resuming one.
struct Carrier {
  Transfer load;
  s4u::SemaphorePtr called = s4u::Semaphore::create(0);
};

std::vector<Carrier *> &idle()
{
  static std::vector<Carrier *> carriers;
  return carriers;
}

void run_transfers(Carrier *self)
{
  for (;;) {
    const Transfer x = self->load;
    if (x.delay > 0) s4u::this_actor::sleep_for(x.delay);
    s4u::Comm::sendto(x.from, x.to, x.bytes > 0 ? x.bytes : 1);
    x.done(x.arg);
    idle().push_back(self);
    self->called->acquire();
  }
}

bool use_queued_links()
{
  static const char *const links = std::getenv("OSLA_SIMULATED_LINKS");
  static const bool queue = links && std::strcmp(links, "queued") == 0;
  return queue;
}

} // namespace

void osli_sim_transfer(sg_host_t from, sg_host_t to, size_t bytes, double delay,
                       osli_sim_done *done, void *arg)
{
  if (use_queued_links()) {
    osli_sim_transfer_queued(from, to, bytes, delay, done, arg);
    return;
  }
  const Transfer load{from, to, bytes, delay, done, arg};
  if (idle().empty()) {
    auto *carrier = new Carrier{load}; // never freed; it lives as long as the simulation
    s4u::Actor::create("carrier", to, run_transfers, carrier)->daemonize();
  } else {
    Carrier *carrier = idle().back();
    idle().pop_back();
    carrier->load = load;
    carrier->called->release();
  }
}

double osli_sim_latency(sg_host_t from, sg_host_t to)
{
  std::vector<s4u::Link *> links;
  double latency = 0;
  from->route_to(to, links, &latency);
  return latency;
}

// The host's own links are the first link of its route to any other host and the last link of the
// route back.
void osli_sim_slow_links(sg_host_t host, double times)
{
  for (const s4u::Host *other : s4u::Engine::get_instance()->get_all_hosts()) {
    if (other == host) continue;
    std::vector<s4u::Link *> out, in;
    host->route_to(other, out, nullptr);
    other->route_to(host, in, nullptr);
    std::set<s4u::Link *> own{out.front(), in.back()};
    for (s4u::Link *link : own)
      link->set_bandwidth(link->get_bandwidth() / times);
    return;
  }
}

const char *osli_sim_property(sg_host_t host, const char *name)
{
  return host->get_property(name);
}

double osli_sim_processor_time()
{
  timespec now;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

sim_actor *osli_sim_actor()
{
  static std::vector<std::unique_ptr<sim_actor>> all;
  auto pid = static_cast<size_t>(s4u::this_actor::get_pid());
  if (pid >= all.size()) all.resize(2 * pid + 1);
  if (!all[pid]) all[pid] = std::make_unique<sim_actor>();
  return all[pid].get();
}
