/* Limits and workarounds in force: what OSLA does, the library and version that made it necessary,
 * and whether the present MPI is concerned. The causes were found with Debian's MPICH 4.0.2 unless
 * another source is named. */
#include "tools/info/info.h"

#include <stddef.h>
#include <string.h>

/* How OSLA decides whether the cause of a workaround concerns an MPI. */
typedef enum info_basis {
  EVERY_MPI, /* the cause is in the MPI standard or in the operating system */
  BY_TEST,   /* a test decides; if the test has not run, the version decides as for BY_VERSION */
  /* the version decides: MPICH is concerned before its version `fixed`, or only MPICH 4.0.2 if
     `fixed` is unknown; for other libraries the answer is "not known" */
  BY_VERSION,
  NOT_KNOWN
} info_basis;

typedef struct info_rule_entry {
  info_rule rule;
  info_basis basis;
  int hazard;   /* index of the hazard that the test detects, for BY_TEST */
  int fixed[3]; /* first MPICH version without the problem; {0}: unknown */
} info_rule_entry;

static const info_rule_entry rules[] = {
  {{"segments are page-aligned, their sizes whole pages",
    "MPICH before 4.0.3 over UCX: a put to a window whose base is not 16-byte aligned lands up to "
    "12 bytes early"},
   BY_TEST,
   INFO_MISALIGNED,
   {4, 0, 3}},
  {{"the caller's memory gets a mark that others look for, and where they miss it a dynamic window",
    "MPICH 4.0.2 over UCX 1.13: a window on memory of another window leads to the start of that "
    "one"},
   BY_TEST,
   INFO_WITHIN,
   {0}},
  {{"node memory is mapped by the ranks themselves; a window over it serves other nodes only",
    "MPICH 4.0.2: MPI_Win_shared_query refuses the windows of MPI_Win_allocate, and a shared "
    "window "
    "serves a single node"},
   BY_TEST,
   INFO_SHARED_QUERY,
   {0}},
  {{"load and store on the node; progress in every wait; a progress thread for other nodes, on "
    "request",
    "MPICH 4.0.2 (ch4:ucx): gets and puts are active messages, so a target that computes without "
    "calling MPI delays them"},
   BY_TEST,
   INFO_NOT_PASSIVE,
   {0}},
  {{"only contiguous MPI_Rget and MPI_Rput",
    "MPICH 4.0.2: MPI_Rget with a strided datatype completes without its data"},
   BY_TEST,
   INFO_STRIDED_GET,
   {0}},
  {{"at most 128 outstanding requests on a rank",
    "some MPI libraries abort at the 255th outstanding get or put with a request"},
   NOT_KNOWN,
   0,
   {0}},
  {{"transfers go in pieces of at most 1 GiB", "MPICH 4.0.2: MPI_Put_c above 2 GiB crashes"},
   BY_VERSION,
   0,
   {0}},
  {{"a flush stands between data and notify",
    "the MPI standard does not order two puts, nor a put and an accumulate"},
   EVERY_MPI,
   0,
   {0}},
  {{"fetch-and-add by the processor's atomics on one node, by MPI across nodes, never both",
    "the MPI standard: loads, stores and atomics are not atomic with MPI's accumulates on one "
    "word"},
   EVERY_MPI,
   0,
   {0}},
  {{"no blocking MPI call in a wait: a short spin while cores are free, then sleep",
    "MPICH spins in MPI_Barrier and MPI_Wait: 2 waiting ranks doubled the time of 2 computing ones "
    "on 2 cores; sched_yield does not help (Linux 6.18)"},
   BY_VERSION,
   0,
   {0}},
  {{"no indexed datatypes in MPI_Accumulate",
    "several MPI libraries: lost updates and crashes reported"},
   NOT_KNOWN,
   0,
   {0}},
  {{"segments are anonymous files, checked and filled with pages when they are made",
    "Linux: a full /dev/shm, where MPI keeps shared windows, is noticed at the first touch, by a "
    "bus error"},
   EVERY_MPI,
   0,
   {0}},
  {{"NOT worked around: a job of 4 or more ranks over TCP may hang when all its work is done",
    "MPICH before 4.2.0: a race in MPI_Finalize over TCP"},
   BY_VERSION,
   0,
   {4, 2, 0}},
};

const info_rule *info_rule_get(int i)
{
  return i < (int)(sizeof rules / sizeof *rules) ? &rules[i].rule : NULL;
}

/* Limits of the transport ARMCI with ARMCI-MPI 0.3.1, unless another library is named. */
static const char *const armci_limits[] = {
  "no load and store between ranks: ARMCI gives no address of a neighbour's memory, so each rank "
  "is "
  "a node of its own",
  "transfers do not overlap with work as with mpi: a wait for one, and a test, waits for all to "
  "that "
  "rank; a posted put with notify waits for the target",
  "puts and gets travel as accumulates (ARMCI_RMA_ATOMICITY=1), which is slower: without that gets "
  "return before their data is there (on MPICH 4.0.2, on one host)",
  "errors that MPI reports inside ARMCI are not seen, and a lack of memory that is not foreseen "
  "ends "
  "the job",
  "attached memory (osla_matrix_wrap) is reached by an MPI window, as with mpi; so is all "
  "memory of a transport on a part of MPI_COMM_WORLD",
  "the first transport has all ranks of MPI_COMM_WORLD; objects are made by one thread at a time",
};

/* Limits of the transport on OpenSHMEM with Open MPI 4.1. */
static const char *const shmem_limits[] = {
  "the symmetric heap holds all segments: SHMEM_SYMMETRIC_SIZE sets its size on each rank",
  "between nodes less communication overlaps with work than with mpi: a wait for one get, or a "
  "test of it, waits for all transfers of the rank; a posted put with notify is blocking",
  "attached memory (osla_matrix_wrap) is reached through an MPI window, as with mpi; so is all "
  "memory of a transport on a part of MPI_COMM_WORLD",
  "the first transport must have all ranks of MPI_COMM_WORLD; all ranks must make and free objects "
  "in one order",
};

/* Limit number i of the list, or NULL after its end. */
#define LIMIT(list, i) ((i) < (int)(sizeof(list) / sizeof *(list)) ? (list)[i] : NULL)

const char *info_limit_get(const char *transport, int i)
{
  if (strcmp(transport, "armci") == 0) return LIMIT(armci_limits, i);
  return strcmp(transport, "shmem") == 0 ? LIMIT(shmem_limits, i) : NULL;
}

static int compare_versions(const int a[3], const int b[3])
{
  for (int i = 0; i < 3; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

static const char *by_version(const info_rule_entry *entry, const info_mpi *mpi)
{
  static const int measured[3] = {4, 0, 2}, unknown[3] = {0};
  if (strcmp(mpi->family, "MPICH") != 0 || mpi->version[0] == '\0') return "not known";
  if (compare_versions(entry->fixed, unknown) != 0)
    return compare_versions(mpi->number, entry->fixed) < 0 ? "yes" : "no, fixed";
  return compare_versions(mpi->number, measured) == 0 ? "yes" : "not known";
}

const char *info_rule_concern(int i, const info_mpi *mpi, const info_findings *findings)
{
  const info_rule_entry *entry = &rules[i];
  switch (entry->basis) {
    case EVERY_MPI: return "every MPI";
    case NOT_KNOWN: return "not known";
    case BY_VERSION: break;
    case BY_TEST:
      if (findings->seen[entry->hazard] == INFO_SEEN) return "yes, seen";
      if (findings->seen[entry->hazard] == INFO_NOT_SEEN) return "no, not seen";
      break;
  }
  return by_version(entry, mpi);
}
