/* Private parts of `osla info` (layer 4).
 *
 *   info.c           options, order of the work, exit status
 *   info_system.c    facts about ranks, hosts, MPI, BLAS, memory
 *   info_transport.c self-test of the transport: put, get, notify, fetch-and-add
 *   info_probe.c     properties of this MPI's RMA, and passive progress
 *   info_speed.c     latency and bandwidth
 *   info_device.c    devices of the kind that OSLA_DEVICE names, and their self-test
 *   info_rules.c     limits and workarounds in force
 *   info_print.c     the text report
 *   info_json.c      the JSON report
 *   info_watchdog.c  ends a test that hangs
 *   info_predict.c   memory of a job that is not run
 */
#ifndef OSLA_INFO_H
#define OSLA_INFO_H

#include <jansson.h>

#include "src/transport/probe.h"
#include "tools/common/command.h"

enum { INFO_UNSET = -1 - 0x7fffffff };

typedef struct info_job {
  /* values of options of --predict; INFO_UNSET if the user did not give the option */
  long long ranks;    /* --ranks: number of ranks */
  long long per_node; /* --per-node: number of ranks of each node */
  long long n;        /* --n: order of the matrix */
  long long nb;       /* --nb: block size */
} info_job;

/* Prints the predicted memory. Returns the exit status, the same on all ranks. Collective if there
 * is a JSON file. */
int info_predict(const info_job *job, const char *json_file);

typedef struct info_rank {
  int node;                 /* index of the node, whose ranks share memory */
  int host_first;           /* lowest rank on the same host */
  int cores;                /* number of cores of the host */
  char host[64];            /* name of the host */
  uint64_t shared_bytes;    /* number of free bytes in /dev/shm */
  uint64_t available_bytes; /* number of bytes of available memory of the host */
} info_rank;

typedef struct info_mpi {
  char family[32];   /* "MPICH", "Open MPI", "Intel MPI", "MVAPICH", or "unknown" */
  char version[32];  /* version, such as "4.0.2"; "" if unknown */
  char device[32];   /* device of MPICH, such as "ch4:ucx"; "" if unknown */
  int number[3];     /* the parts of the version: 4, 0, 2 */
  int standard[2];   /* version of the MPI standard, such as 4, 0 */
  char library[160]; /* first line of MPI_Get_library_version */
  /* thread level of MPI: "multiple", "serialized", "funneled" or "single" */
  const char *thread_level;
} info_mpi;

typedef struct info_system {
  int rank;         /* number of this rank */
  int size;         /* number of ranks */
  int n_nodes;      /* number of nodes */
  int n_hosts;      /* number of hosts */
  info_rank *ranks; /* [size] facts about each rank; this struct owns the array */
  command_cpu cpu;  /* number of cores and BLAS threads on the host of this rank */
  info_mpi mpi;
  const char *blas;
  const char *transport; /* name of the transport: "mpi", "armci" or "shmem" */
  bool oversubscribed;   /* true if a host has more computing threads than cores */
  char gnuplot[256];     /* path of gnuplot; "" if not found */
  /* Pair 0 are two ranks of one node, pair 1 are two ranks of different nodes. */
  int origin[2];  /* first rank of each pair; -1: there is no such pair */
  int partner[2]; /* second rank of each pair; -1: there is no such pair */
} info_system;

/* Collects the facts about the system. Collective. Errors: MPI, MEM. */
osla_err info_system_examine(osla_transport *t, info_system *system);
void info_system_free(info_system *system);
/* Returns a text that says whether this build uses HDF5: "yes, parallel", "yes, serial" or "no". */
const char *info_hdf5(void);
/* Returns true if the build has found ScaLAPACK. */
bool info_has_scalapack(void);

typedef enum info_verdict {
  INFO_OK,     /* the tested function of MPI works */
  INFO_NO,     /* this MPI cannot do what was tested, and OSLA works around it */
  INFO_FAILED, /* OSLA relies on the tested function, and the test failed */
  INFO_SKIPPED /* not tested: not enough ranks or nodes, or not enough memory */
} info_verdict;

typedef struct info_test {
  const char *name; /* short name of the test, a constant text */
  info_verdict verdict;
  char text[512]; /* result of the test in plain words */
} info_test;

enum { INFO_MAX_TESTS = 24, INFO_MAX_DEVICES = 16 };

enum { INFO_ON_NODE, INFO_ACROSS, INFO_WAYS };

typedef struct info_speed {
  bool measured; /* true if the ranks of the pair exist and were measured */
  double notify; /* median time of a notify in seconds, one way */
  double put;    /* median rate of puts in bytes per second */
  double get;    /* median rate of gets in bytes per second */
} info_speed;

/* Times of operations on a target rank that computes meanwhile, on another node. */
typedef struct info_busy {
  double seconds; /* duration of the target's computation in seconds; 0: not measured */
  osla_probe_times times;
  bool notify_needs_target;
} info_busy;

/* Hazards that the tests detect. */
enum {
  INFO_MISALIGNED,
  INFO_WITHIN,
  INFO_STRIDED_GET,
  INFO_SHARED_QUERY,
  INFO_NOT_PASSIVE,
  INFO_HAZARDS
};
typedef enum info_seen { INFO_NOT_TESTED, INFO_SEEN, INFO_NOT_SEEN } info_seen;

/* Devices of the kind that OSLA_DEVICE names, as rank 0 sees them. */
typedef struct info_devices {
  char kind[32];     /* value of OSLA_DEVICE; "" if it is unset and no device was tested */
  char failure[512]; /* reason why the ranks cannot open their devices; "" if they can */
  int count;         /* number of devices */
  int ranks;         /* largest number of ranks on a node */
  char text[INFO_MAX_DEVICES][160]; /* descriptions of the first INFO_MAX_DEVICES devices */
} info_devices;

typedef struct info_findings {
  info_test test[INFO_MAX_TESTS];
  int n_tests;
  info_speed speed[INFO_WAYS];
  info_busy busy;
  info_devices devices;
  info_seen seen[INFO_HAZARDS];
} info_findings;

/* Adds a test and its result to the list; the text is printf-style. All ranks add the same test. */
void info_add(info_findings *findings, const char *name, info_verdict verdict, const char *format,
              ...) __attribute__((format(printf, 4, 5)));

/* Run tests and add their results to the findings. Collective; the same results on all ranks.
 * info_test_transport returns false if the ranks cannot share memory at all, so that no other test
 * is possible. info_measure_speed must not run after a failed test, because its waits have no time
 * limit. */
typedef struct info_watchdog info_watchdog;
bool info_test_transport(osla_transport *t, info_watchdog *dog, info_findings *findings);
void info_test_mpi(osla_transport *t, const info_system *system, info_watchdog *dog,
                   info_findings *findings);
void info_measure_speed(osla_transport *t, const info_system *system, info_watchdog *dog,
                        info_findings *findings);
/* Tests the devices of the kind that OSLA_DEVICE names. A device that cannot be opened is not
 * recorded as a failed test. Collective. */
void info_test_devices(osla_transport *t, info_watchdog *dog, info_findings *findings);

/* A watchdog thread. It ends the process, with one line on rank 0, when a test takes longer than
 * the limit; a blocking MPI call that hangs cannot be ended otherwise. info_watchdog_start returns
 * NULL if the thread could not be started; the other functions accept NULL. */
info_watchdog *info_watchdog_start(int rank, double limit_seconds);
void info_watchdog_begin(info_watchdog *dog, const char *test);
double info_watchdog_limit(const info_watchdog *dog);
void info_watchdog_stop(info_watchdog *dog);

typedef struct info_rule {
  const char *does;  /* what OSLA does as a workaround */
  const char *cause; /* library, version and cause of the workaround in plain words */
} info_rule;

/* info_rule_get returns workaround i, or NULL beyond the last. info_rule_concern tells whether the
 * cause of workaround i concerns this MPI: "yes, seen" or "no, not seen" if a test decides, "yes"
 * or "no, fixed" if the version decides, otherwise "every MPI" or "not known". */
const info_rule *info_rule_get(int i);
const char *info_rule_concern(int i, const info_mpi *mpi, const info_findings *findings);

/* Returns limit i of a transport in plain words, or NULL beyond the last limit. */
const char *info_limit_get(const char *transport, int i);

/* Print the text report. Rank 0. */

void info_print_system(const info_system *system);
void info_print_findings(const info_system *system, const info_findings *findings);
/* Returns the JSON report as a new reference; NULL: no memory. Rank 0. */
json_t *info_json(const info_system *system, const info_findings *findings);
/* Returns the text of a verdict: "ok", "no", "FAILED" or "-". */
const char *info_verdict_name(info_verdict verdict);
/* Returns the first failed test, or NULL if no test failed. */
const info_test *info_first_failure(const info_findings *findings);

#endif
