/* A model of the assembly by MPI_Accumulate on a simulated machine, as French, Zheng, Romanowicz,
 * Yelick, "Parallel Hessian Assembly for Seismic Waveform Inversion Using Global Updates", section
 * IV.B, describe it. For each owner of a part of an update, in random order, the rank takes an
 * exclusive lock, gets the elements, adds to them, puts them back and unlocks. Elements have an
 * indexed datatype, so each element is a get and a put of its own, which cost the rank `overhead`
 * seconds each. Owners on the rank's node are added to by loads and stores. Messages of different
 * ranks do not share links. Prints N, indices of an update, updates of a rank, grid, ranks, and the
 * simulated seconds of the slowest rank. */
#include "bench/peers/peer.h"
#include "bench/permutation.h"
#include "osla_random.h"
#include "src/simulation/sim.h"

#include <simgrid/mutex.h>
#include <stdlib.h>
#include <string.h>

typedef struct problem {
  int64_t n, size, updates; /* order of the matrix, indices of an update, updates of a rank */
  double seconds;           /* seconds of making an update */
  int nprow, npcol, rank;
} problem;

enum { BLOCK = 64, MOST_RANKS = 1 << 14 };

/* Locks and hosts of all ranks, which share them. */
static sg_mutex_t locks[MOST_RANKS];
static sg_host_t hosts[MOST_RANKS];

/* Seconds that one core takes to add `n` scattered elements. */
static double adding_seconds(const sim_core *core, double n)
{
  osla_work work = {OSLA_WORK_ADD, OSLA_FLOAT, 1, n, 1};
  return osli_sim_core_seconds(core, &work);
}

/* Counts the indices of an update in each process row (over = nprow) or column. */
static void count_indices(const problem *p, int64_t update, int over, double *count)
{
  int64_t step = p->n / p->size;
  memset(count, 0, (size_t)over * sizeof *count);
  for (int64_t a = 0; a < p->size; a++) {
    uint64_t bits = osla_random_bits((uint64_t)p->rank, (uint64_t)update, (uint64_t)a);
    count[(a * step + (int64_t)(bits % (uint64_t)step)) / BLOCK % over] += 1;
  }
}

/* Adds `elements` values to the memory of rank `owner`. */
static void accumulate(const problem *p, const sim_machine *machine, const sim_core *core,
                       int owner, double elements)
{
  double adding = adding_seconds(core, elements);
  if (hosts[owner] == hosts[p->rank]) {
    sg_mutex_lock(locks[owner]);
    sg_actor_sleep_for(adding);
    sg_mutex_unlock(locks[owner]);
    return;
  }
  double latency = osli_sim_latency(hosts[p->rank], hosts[owner]);
  double bytes = elements * sizeof(float);
  double transfer = elements * machine->overhead;
  if (transfer < bytes / machine->bandwidth) transfer = bytes / machine->bandwidth;
  sg_actor_sleep_for(machine->overhead + latency); /* the request for the lock */
  sg_mutex_lock(locks[owner]);
  sg_actor_sleep_for(latency + 2 * (transfer + 2 * latency) + adding + machine->overhead + latency);
  sg_mutex_unlock(locks[owner]);
}

static void assemble(const problem *p, const sim_machine *machine, const sim_core *core)
{
  int ranks = p->nprow * p->npcol, *order = malloc((size_t)ranks * sizeof *order);
  double *rows = malloc((size_t)p->nprow * sizeof *rows);
  double *cols = malloc((size_t)p->npcol * sizeof *cols);
  if (!order || !rows || !cols) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int64_t u = 0; u < p->updates; u++) {
    double all = (double)p->size * (double)p->size / 2;
    sg_actor_sleep_for(p->seconds + adding_seconds(core, all)); /* the second term: binning */
    count_indices(p, u, p->nprow, rows);
    count_indices(p, u, p->npcol, cols);
    bench_permute(ranks, (uint64_t)p->rank, (uint64_t)u, order);
    for (int i = 0; i < ranks; i++) {
      double elements = rows[order[i] % p->nprow] * cols[order[i] / p->nprow] / 2;
      if (elements > 0) accumulate(p, machine, core, order[i], elements);
    }
  }
  free(order);
  free(rows);
  free(cols);
}

int main(int argc, char **argv)
{
  if (argc != 7) {
    (void)fprintf(stderr, "usage: %s N SIZE UPDATES SECONDS NPROW NPCOL\n", argv[0]);
    return 2;
  }
  problem p = {.n = atoll(argv[1]),
               .size = atoll(argv[2]),
               .updates = atoll(argv[3]),
               .seconds = atof(argv[4]),
               .nprow = atoi(argv[5]),
               .npcol = atoi(argv[6])};
  int ranks;
  sim_machine machine;
  sim_core core;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  if (ranks != p.nprow * p.npcol || ranks > MOST_RANKS || p.size < 1 || p.size > p.n ||
      osli_sim_machine_read(sg_host_self(), false, &machine, &core) != OSLA_OK) {
    (void)fprintf(stderr, "%s: wrong sizes or machine\n", argv[0]);
    return 1;
  }
  locks[p.rank] = sg_mutex_init();
  hosts[p.rank] = sg_host_self();
  MPI_Barrier(MPI_COMM_WORLD);
  double since = MPI_Wtime();
  assemble(&p, &machine, &core);
  double seconds = MPI_Wtime() - since, slowest;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (p.rank == 0)
    printf("accumulate %lld %lld %lld %dx%d %d %.6g simulated s, info 0\n", (long long)p.n,
           (long long)p.size, (long long)p.updates, p.nprow, p.npcol, ranks, slowest);
  MPI_Finalize();
  return 0;
}
