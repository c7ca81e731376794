/* `osla info`, the doctor: what its parts share (floor 4).
 *
 *   info.c           options, order of the work, exit status
 *   info_system.c    looks at ranks, hosts, MPI, BLAS, memory
 *   info_transport.c self-test of the transport: put, get, notify, fetch-and-add
 *   info_probe.c     what this MPI's RMA can and cannot do, and passive progress
 *   info_speed.c     latency and bandwidth
 *   info_rules.c     limits and workarounds in force
 *   info_print.c     the report for people
 *   info_json.c      the same as JSON
 *   info_watchdog.c  ends a test that hangs
 *   info_predict.c   the memory of a job that does not run
 */
#ifndef OSLA_INFO_H
#define OSLA_INFO_H

#include <jansson.h>

#include "src/transport/probe.h"
#include "tools/common/command.h"

/* --- prediction --- */

enum { INFO_UNSET = -1 - 0x7fffffff };

typedef struct info_job {
  long long ranks, per_node, n, nb; /* INFO_UNSET: not given */
} info_job;

/* Shows it; returns the exit status, the same on all ranks. Collective where there is a file. */
int info_predict(const info_job *job, const char *json_file);

/* --- the system --- */

typedef struct info_rank {
  int node;                               /* shared-memory domain */
  int host_first;                         /* lowest rank of its host */
  int cores;                              /* of its host */
  char host[64];                          /* name */
  uint64_t shared_bytes, available_bytes; /* free in /dev/shm; available memory of the host */
} info_rank;

typedef struct info_mpi {
  char family[32];          /* "MPICH", "Open MPI", "Intel MPI", or "unknown" */
  char version[32];         /* "4.0.2"; "" when not known */
  char device[32];          /* "ch4:ucx"; "" when not known */
  int number[3];            /* 4, 0, 2 */
  int standard[2];          /* 4, 0 */
  char library[160];        /* first line of MPI_Get_library_version */
  const char *thread_level; /* "multiple" */
} info_mpi;

typedef struct info_system {
  int rank, size, n_nodes, n_hosts;
  info_rank *ranks; /* [size]; owned */
  command_cpu cpu;  /* of my host */
  info_mpi mpi;
  const char *blas;
  const char *transport;     /* how data moves: "mpi", "armci" */
  bool oversubscribed;       /* on any node: more computing threads than cores */
  char gnuplot[256];         /* its path; "" when not found */
  int origin[2], partner[2]; /* a pair of ranks on one node and one across nodes, or -1 */
} info_system;

/* Looks. Collective. Errors: MPI, MEM. */
osla_err info_system_look(osla_transport *t, info_system *system);
void info_system_free(info_system *system);
const char *info_hdf5(void);   /* "yes, parallel", "yes, serial" or "no" */
bool info_has_scalapack(void); /* at build time */

/* --- tests --- */

typedef enum info_verdict {
  INFO_OK,     /* this MPI can, or the transport does */
  INFO_NO,     /* it cannot, and OSLA works around it */
  INFO_FAILED, /* OSLA relies on it */
  INFO_SKIPPED /* there are not enough ranks or nodes */
} info_verdict;

typedef struct info_test {
  const char *name; /* short, constant */
  info_verdict verdict;
  char text[512]; /* in plain words */
} info_test;

enum { INFO_MAX_TESTS = 16 };

enum { INFO_ON_NODE, INFO_ACROSS, INFO_WAYS };

typedef struct info_speed {
  bool measured;
  double notify;   /* seconds, one way, median */
  double put, get; /* bytes per second, median */
} info_speed;

/* To a target on another node that computes. */
typedef struct info_busy {
  double seconds; /* so long; 0: not measured */
  osla_probe_times times;
  bool notify_needs_target;
} info_busy;

/* Hazards that the tests look for. */
enum {
  INFO_MISALIGNED,
  INFO_WITHIN,
  INFO_STRIDED_GET,
  INFO_SHARED_QUERY,
  INFO_NOT_PASSIVE,
  INFO_HAZARDS
};
typedef enum info_seen { INFO_NOT_TESTED, INFO_SEEN, INFO_NOT_SEEN } info_seen;

typedef struct info_findings {
  info_test test[INFO_MAX_TESTS];
  int n_tests;
  info_speed speed[INFO_WAYS];
  info_busy busy;
  info_seen seen[INFO_HAZARDS];
} info_findings;

/* Adds a test to the list; the text is printf-style. The same on all ranks. */
void info_add(info_findings *findings, const char *name, info_verdict verdict, const char *format,
              ...) __attribute__((format(printf, 4, 5)));

/* Each runs tests and adds them (the speed only if none has failed: its waits have no end).
 * Collective; the same findings on all ranks. The first returns false where ranks cannot share
 * memory at all, and then nothing else can be tested. */
typedef struct info_watchdog info_watchdog;
bool info_test_transport(osla_transport *t, info_watchdog *dog, info_findings *findings);
void info_test_mpi(osla_transport *t, const info_system *system, info_watchdog *dog,
                   info_findings *findings);
void info_measure_speed(osla_transport *t, const info_system *system, info_watchdog *dog,
                        info_findings *findings);

/* A thread that ends the process, with one line on rank 0, when a test takes longer than the limit:
 * a blocking MPI call that hangs cannot be left otherwise. NULL when it could not be started, which
 * the other calls accept. */
info_watchdog *info_watchdog_start(int rank, double limit_seconds);
void info_watchdog_begin(info_watchdog *dog, const char *test);
double info_watchdog_limit(const info_watchdog *dog);
void info_watchdog_stop(info_watchdog *dog);

/* --- limits and workarounds --- */

typedef struct info_rule {
  const char *does;  /* what OSLA does */
  const char *cause; /* library, version and cause in plain words */
} info_rule;

/* Rule i, or NULL beyond the last; and whether its cause concerns this MPI: "yes, seen" and "no,
 * not seen" by the tests, "yes" and "no, fixed" by its version, "every MPI", "not known". */
const info_rule *info_rule_get(int i);
const char *info_rule_concern(int i, const info_mpi *mpi, const info_findings *findings);

/* Limit i of a transport in plain words, or NULL beyond the last. */
const char *info_limit_get(const char *transport, int i);

/* --- reports, rank 0 only --- */

void info_print_system(const info_system *system);
void info_print_findings(const info_system *system, const info_findings *findings);
json_t *info_json(const info_system *system, const info_findings *findings); /* new; NULL: memory */
const char *info_verdict_name(info_verdict verdict);                /* "ok", "no", "FAILED", "-" */
const info_test *info_first_failure(const info_findings *findings); /* or NULL */

#endif
