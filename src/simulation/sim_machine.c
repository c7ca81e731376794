/* Properties of a simulated host, from the machine file. The real kernel is the same for all hosts
 * and says nothing about them, so ranks need not exchange host descriptions. */
#include "src/simulation/sim.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *osli_sim_machine_name(void)
{
  const char *name = getenv("OSLA_MACHINE");
  return name && name[0] ? name : "of unknown name";
}

/* Leaves *value unchanged if the host has no such property. */
static osla_err read_property(sg_host_t host, const char *name, double *value)
{
  const char *text = osli_sim_property(host, name);
  char *end;
  if (!text) return OSLA_OK;
  double number = strtod(text, &end);
  bool may_be_zero = strncmp(name, "cpu", 3) == 0;
  OSLA_CHECK(end != text && !*end && isfinite(number) && number >= 0 && (number > 0 || may_be_zero),
             OSLA_ERR_ARG, "machine %s: property %s of host %s is not a positive number: %s",
             osli_sim_machine_name(), name, sg_host_get_name(host), text);
  *value = number;
  return OSLA_OK;
}

/* Reads the model of a core; a host must have a model for each kind of work or for none. */
static osla_err read_core(sg_host_t host, const sim_machine *m, sim_core *core)
{
  const char *missing = NULL;
  int kinds = 0;
  *core = (sim_core){.flops = m->flops, .copy = m->copy};
  for (osla_work_kind kind = 0; kind < OSLA_WORK_KINDS; kind++) {
    const char *name = osli_sim_work_name(kind);
    if (!name) continue;
    const char *value = osli_sim_property(host, name);
    if (value) {
      OSLA_CALL(osli_sim_core_terms(core, kind, value));
      kinds++;
    } else {
      missing = name;
    }
  }
  OSLA_CHECK(kinds == 0 || !missing, OSLA_ERR_ARG,
             "machine %s: host %s has a model of work, but lacks the property %s",
             osli_sim_machine_name(), sg_host_get_name(host), missing);
  return OSLA_OK;
}

/* Parses WHAT=VALUE with VALUE > 0. Returns false for any other text. */
static bool parse_setting(const char *text, const char *what, double *value)
{
  size_t length = strlen(what);
  char *end;
  if (strncmp(text, what, length) != 0 || text[length] != '=') return false;
  *value = strtod(text + length + 1, &end);
  return end != text + length + 1 && !*end && isfinite(*value) && *value > 0;
}

/* Applies the disturbance that bench/scripts/simulate -d sets in the environment. */
static osla_err apply_disturbance(sg_host_t host, bool has_slow_core, sim_core *core)
{
  static bool line_is_slow;
  const char *text = getenv("OSLA_SIMULATED_DISTURBANCE");
  bool first = strcmp(sg_host_get_name(host), "host0") == 0;
  double value;
  if (!text || !text[0]) return OSLA_OK;
  if (parse_setting(text, "host", &value)) {
    if (first) core->slower = value;
  } else if (parse_setting(text, "core", &value)) {
    if (has_slow_core) core->slower = value;
  } else if (parse_setting(text, "line", &value)) {
    if (!first || line_is_slow) return OSLA_OK;
    /* set before the next call, because that call lets other ranks of the host run */
    line_is_slow = true;
    osli_sim_slow_links(host, value);
  } else {
    OSLA_CHECK(parse_setting(text, "noise", &value), OSLA_ERR_ARG,
               "disturbance '%s' is none of host=TIMES, core=TIMES, line=TIMES, noise=SHARE", text);
    core->noise = value;
  }
  return OSLA_OK;
}

osla_err osli_sim_machine_read(sg_host_t host, bool has_slow_core, sim_machine *out, sim_core *core)
{
  sim_machine m = {.flops = sg_host_get_speed(host),
                   .copy = 5e9,
                   .bandwidth = 1e9,
                   .overhead = 5e-7,
                   .wake = 1e-7};
  /* defines *out even if one of the following properties is invalid, because ranks agree on the
   * error later */
  *out = m;
  *core = (sim_core){.flops = m.flops, .copy = m.copy};
  OSLA_CALL(read_property(host, "copy", &m.copy));
  OSLA_CALL(read_property(host, "bandwidth", &m.bandwidth));
  OSLA_CALL(read_property(host, "overhead", &m.overhead));
  OSLA_CALL(read_property(host, "cpu", &m.cpu));
  m.cpu_get = m.cpu;
  OSLA_CALL(read_property(host, "cpu-get", &m.cpu_get));
  OSLA_CALL(read_property(host, "wake", &m.wake));
  OSLA_CALL(read_property(host, "dies", &m.dies));
  OSLA_CALL(read_property(host, "memory", &m.memory));
  *out = m;
  OSLA_CALL(read_core(host, &m, core));
  return apply_disturbance(host, has_slow_core, core);
}

/* For each byte that a core copies or sweeps, 3 bytes move: the byte is read, the cache line of its
 * copy is read, and the copy is written. If a disturbance slows the core down by a factor, its
 * greatest rate is an equal share of the die's bandwidth, divided by the factor. The network
 * adapter is attached to die 0. */
void osli_sim_machine_find_dies(const sim_machine *m, sg_host_t host, int number, sim_actor *own)
{
  enum { TRAFFIC = 3 };
  if (m->memory <= 0) return;
  const int dies = m->dies >= 1 ? (int)m->dies : 1, cores = sg_host_core_count(host);
  const int each = (cores + dies - 1) / dies;
  const double alone = TRAFFIC * m->copy, slower = own->core.slower;
  own->bytes_per_second = slower > 0 ? alone / slower : alone;
  own->most = slower > 0 ? fmin(alone, m->memory / each) / slower : alone;
  own->die = osli_sim_die(host, number / each, m->memory);
  own->adapter_die = osli_sim_die(host, 0, m->memory);
}

/* ---- hosts of the simulated machine ---- */

void osli_host_kernel(const char *host_name, char kernel[64])
{
  (void)snprintf(kernel, 64, "%s", host_name);
}

/* Replaces MPI_Comm_split_type, which in SimGrid 3.32 also counts the actors that execute our
 * transfers on a host as ranks. It does not use MPI_Comm_split either: on 10,000 ranks SimGrid
 * takes minutes to send the messages of all ranks to one rank. */
osla_err osli_sim_split_hosts(MPI_Comm comm, MPI_Comm *out)
{
  enum { ALIGNED = 4 };
  int size, n = 0;
  /* an address identifies a host, because all ranks are one process */
  const int mine = (int)(((uintptr_t)sg_host_self() >> ALIGNED) & INT_MAX);
  OSLA_MPI(MPI_Comm_size(comm, &size));
  int *hosts = malloc((size_t)size * sizeof *hosts);
  OSLA_CALL(osli_agree_allocated(comm, hosts != NULL, "the hosts of all ranks"));
  int code = MPI_Allgather(&mine, 1, MPI_INT, hosts, 1, MPI_INT, comm);
  for (int rank = 0; code == MPI_SUCCESS && rank < size; rank++)
    if (hosts[rank] == mine) hosts[n++] = rank;
  MPI_Group all, here;
  if (code == MPI_SUCCESS) {
    (void)MPI_Comm_group(comm, &all);
    (void)MPI_Group_incl(all, n, hosts, &here);
    code = MPI_Comm_create(comm, here, out);
    (void)MPI_Group_free(&here);
    (void)MPI_Group_free(&all);
  }
  free(hosts);
  OSLA_MPI(code);
  return OSLA_OK;
}

osla_err osla_host_look(MPI_Comm comm, osla_host *out)
{
  MPI_Comm here;
  sg_host_t host = sg_host_self();
  memset(out, 0, sizeof *out);
  OSLA_MPI(MPI_Comm_rank(comm, &out->first));
  OSLA_CALL(osli_sim_split_hosts(comm, &here));
  int code = MPI_Bcast(&out->first, 1, MPI_INT, 0, here);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(here, &out->ranks);
  (void)MPI_Comm_free(&here);
  OSLA_MPI(code);
  (void)snprintf(out->name, sizeof out->name, "%s", sg_host_get_name(host));
  out->cores = sg_host_core_count(host);
  out->share = (double)out->cores / out->ranks;
  return OSLA_OK;
}

osla_err osli_host_describe_nodes(MPI_Comm comm, int node_leader, const osla_groups *groups,
                                  osla_host *out)
{
  (void)node_leader, (void)groups;
  return osla_host_look(comm, out);
}
