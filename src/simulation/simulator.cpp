// The only file in C++: SimGrid's S4U has no C interface for transfers between hosts.
#include "simulator.h"

#include <array>
#include <cstdlib>
#include <map>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

void osla_sim_transfer(sg_host_t from, sg_host_t to, size_t bytes, double delay,
                       osla_sim_done *done, void *arg)
{
  s4u::Actor::create("transfer", to, [=] {
    if (delay > 0) s4u::this_actor::sleep_for(delay);
    s4u::Comm::sendto(from, to, bytes > 0 ? bytes : 1);
    done(arg);
  });
}

double osla_sim_latency(sg_host_t from, sg_host_t to)
{
  std::vector<s4u::Link *> links;
  double latency = 0;
  from->route_to(to, links, &latency);
  return latency;
}

bool osla_sim_property(sg_host_t host, const char *name, double *value)
{
  const char *text = host->get_property(name);
  char *end;
  if (!text) return false;
  *value = std::strtod(text, &end);
  return end != text && *end == '\0';
}

char *osla_sim_error_text()
{
  static std::map<aid_t, std::array<char, 512>> texts;
  return texts[s4u::this_actor::get_pid()].data();
}
