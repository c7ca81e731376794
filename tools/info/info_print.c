/* Prints the text report of `osla info`. See info.h. */
#include "config.h"

#include "tools/info/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 96 };

/* Prints a text in lines of WIDTH columns. `used` columns of the first line are already printed;
 * the other lines begin with `indent` blanks. */
static void print_wrapped(const char *text, int indent, int used)
{
  int column = used;
  while (*text) {
    int length = (int)strcspn(text, " ");
    if (column > indent && column + 1 + length > WIDTH) {
      (void)printf("\n%*s", indent, "");
      column = indent;
    } else if (column > indent) {
      (void)putchar(' ');
      column++;
    }
    (void)printf("%.*s", length, text);
    column += length;
    text += length;
    text += strspn(text, " ");
  }
  (void)putchar('\n');
}

/* Prints the ranks of a node as "0-3,8". */
static void print_ranks(const info_system *s, int node)
{
  const char *comma = "";
  for (int rank = 0; rank < s->size; rank++) {
    if (s->ranks[rank].node != node) continue;
    int last = rank;
    while (last + 1 < s->size && s->ranks[last + 1].node == node)
      last++;
    if (last > rank)
      (void)printf("%s%d-%d", comma, rank, last);
    else
      (void)printf("%s%d", comma, rank);
    comma = ",";
    rank = last;
  }
}

static const char *plural(int n)
{
  return n == 1 ? "" : "s";
}

static void print_ranks_and_nodes(const info_system *s)
{
  const char *machine = osla_simulated_machine();
  if (machine)
    (void)printf("This is a simulation: the ranks are simulated on machine %s\n", machine);
  (void)printf("Ranks\n  %d rank%s, %d node%s (ranks that share memory), %d host%s\n", s->size,
               plural(s->size), s->n_nodes, plural(s->n_nodes), s->n_hosts, plural(s->n_hosts));
  for (int node = 0; node < s->n_nodes; node++) {
    int first = 0, n = 0;
    while (s->ranks[first].node != node)
      first++;
    for (int rank = 0; rank < s->size; rank++)
      n += s->ranks[rank].node == node;
    (void)printf("  node %d: rank%s ", node, plural(n));
    print_ranks(s, node);
    (void)printf(" on host %s, %d core%s\n", s->ranks[first].host, s->ranks[first].cores,
                 plural(s->ranks[first].cores));
  }
  if (s->n_nodes > s->n_hosts)
    (void)printf("  Nodes on one host: %s.\n", strcmp(s->transport, "armci") == 0
                                                 ? "the transport keeps ranks apart"
                                                 : "MPI was set to keep its ranks apart");
  if (s->oversubscribed)
    (void)printf("  More computing threads than cores: the ranks take turns.\n");
}

static void print_libraries(const info_system *s)
{
  const info_mpi *m = &s->mpi;
  (void)printf("\nLibraries\n  transport   %s\n  MPI         ", s->transport);
  if (m->version[0])
    (void)printf("%s %s%s%s%s", m->family, m->version, m->device[0] ? " (" : "", m->device,
                 m->device[0] ? ")" : "");
  else
    (void)printf("%s", m->library);
  (void)printf(", standard %d.%d, threads: %s\n", m->standard[0], m->standard[1], m->thread_level);
  (void)printf("  BLAS        %s\n", s->blas);
  (void)printf("              %d thread%s per rank (%s)\n", s->cpu.threads, plural(s->cpu.threads),
               s->cpu.chosen_by_user ? "OPENBLAS_NUM_THREADS or OMP_NUM_THREADS is set"
                                     : "cores / ranks on the host");
  (void)printf("  HDF5        %s\n", info_hdf5());
  (void)printf("  ScaLAPACK   %s\n", info_has_scalapack() ? "yes" : "no");
  (void)printf("  gnuplot     %s\n", s->gnuplot[0] ? s->gnuplot : "no (needed for maps)");
}

static void print_memory(const info_system *s)
{
  uint64_t shared = UINT64_MAX, available = UINT64_MAX;
  for (int rank = 0; rank < s->size; rank++) {
    if (s->ranks[rank].shared_bytes < shared) shared = s->ranks[rank].shared_bytes;
    if (s->ranks[rank].available_bytes < available) available = s->ranks[rank].available_bytes;
  }
  (void)printf("\nMemory%s\n", s->n_hosts > 1 ? " (the least of the hosts)" : "");
  (void)printf("  shared      %s free in /dev/shm (%" PRIu64 " bytes)\n", format_bytes(shared).s,
               shared);
  (void)printf("  available   %s (%" PRIu64 " bytes)\n", format_bytes(available).s, available);
}

void info_print_system(const info_system *system)
{
  (void)printf("OSLA %s\n\n", PACKAGE_VERSION);
  print_ranks_and_nodes(system);
  print_libraries(system);
  print_memory(system);
  (void)fflush(stdout); /* prints the facts before the tests, because the tests take some seconds */
}

const char *info_verdict_name(info_verdict verdict)
{
  switch (verdict) {
    case INFO_OK: return "ok";
    case INFO_NO: return "no";
    case INFO_FAILED: return "FAILED";
    case INFO_SKIPPED: break;
  }
  return "-";
}

const info_test *info_first_failure(const info_findings *findings)
{
  for (int i = 0; i < findings->n_tests; i++)
    if (findings->test[i].verdict == INFO_FAILED) return &findings->test[i];
  return NULL;
}

static void print_tests(const info_findings *findings)
{
  (void)printf("\nSelf-test   (ok: works; no: this MPI cannot, OSLA works around it; FAILED: OSLA "
               "needs it)\n");
  for (int i = 0; i < findings->n_tests; i++) {
    const info_test *test = &findings->test[i];
    (void)printf("  %-6s  %-21s ", info_verdict_name(test->verdict), test->name);
    print_wrapped(test->text, 32, 32);
  }
}

static void print_devices(const info_devices *devices)
{
  (void)printf("\nDevices");
  if (!devices->kind[0]) {
    (void)printf("\n  not tested: set OSLA_DEVICE=cuda to list and test the GPUs\n");
    return;
  }
  (void)printf("   (%s; rank 0 sees %d%s)\n", devices->kind, devices->count,
               devices->ranks > devices->count && devices->count > 0 ? "; ranks share devices"
                                                                     : "");
  for (int i = 0; i < devices->count && i < INFO_MAX_DEVICES; i++)
    (void)printf("  device %-2d   %s\n", i, devices->text[i]);
  if (!devices->failure[0]) return;
  (void)printf("  not tested  ");
  print_wrapped(devices->failure, 14, 14);
}

static void print_speed(const info_speed speed[INFO_WAYS])
{
  if (!speed[INFO_ON_NODE].measured && !speed[INFO_ACROSS].measured) return;
  static const char *const ways[] = {"on the node", "across nodes"};
  (void)printf("\nSpeed           notify, one way     put, 8 MiB     get, 8 MiB\n");
  for (int way = 0; way < INFO_WAYS; way++) {
    if (!speed[way].measured) continue;
    (void)printf("  %-13s %15s %10.2f GB/s %9.2f GB/s\n", ways[way],
                 format_seconds(speed[way].notify).s, 1e-9 * speed[way].put, 1e-9 * speed[way].get);
  }
}

static void print_rules(const info_mpi *mpi, const info_findings *findings)
{
  (void)printf("\nLimits and workarounds in force   (first: does the cause concern this MPI?)\n");
  for (int i = 0; info_rule_get(i); i++) {
    const info_rule *rule = info_rule_get(i);
    (void)printf("  %-12s  ", info_rule_concern(i, mpi, findings));
    print_wrapped(rule->does, 16, 16);
    (void)printf("%*s", 18, "");
    print_wrapped(rule->cause, 18, 18);
  }
}

static void print_limits(const char *transport)
{
  if (!info_limit_get(transport, 0)) return;
  (void)printf("\nLimits of the transport %s\n", transport);
  for (int i = 0; info_limit_get(transport, i); i++) {
    (void)printf("  - ");
    print_wrapped(info_limit_get(transport, i), 4, 4);
  }
}

void info_print_findings(const info_system *system, const info_findings *findings)
{
  print_devices(&findings->devices);
  print_tests(findings);
  print_speed(findings->speed);
  print_limits(system->transport);
  print_rules(&system->mpi, findings);
  const info_test *failed = info_first_failure(findings);
  if (failed)
    (void)printf("\nOSLA cannot work here: '%s' failed.\n", failed->name);
  else
    (void)printf("\nOSLA can work here.\n");
  (void)fflush(stdout);
}
