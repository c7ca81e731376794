/* Lower bounds for star forests on two cores, without any library: half a round trip of a flag and
 * of the bytes after it, and a gather and a fetch along random edges by bare loops over lists like
 * those of a forest. Two processes share memory, each on a core of its own. Prints the best and
 * the median time in microseconds.
 *
 *   cc -O2 bench/peers/forest_limits.c -o limits && ./limits
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 100000, TIMES = 31, LOOPS = 20, ROUNDS = 2000, AHEAD = 32 };

/* Data of one process, in memory that both processes share. */
typedef struct side {
  _Alignas(64) _Atomic uint64_t word;
  unsigned char bytes[8192];
  uint64_t roots[N], leaves[N], before[N], values[N];
  /* values of the other process's roots before the addition, packed */
  uint64_t answers[N];
  uint32_t leaf[2][N], root[2][N]; /* [p] leaf and root of each edge to a root of process p */
  int n[2];                        /* [p] number of edges to roots of process p */
} side;

static side *sides, *mine, *other;
static int me;
static uint64_t turn;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + 1e-3 * (double)t.tv_nsec;
}

static void publish_turn(void)
{
  atomic_store_explicit(&mine->word, ++turn, memory_order_release);
}
static void wait_for(uint64_t value)
{
  while (atomic_load_explicit(&other->word, memory_order_acquire) < value)
    ;
}
static void synchronize(void)
{
  publish_turn();
  wait_for(turn);
}

static void make_edges(void)
{
  srandom(3 + (unsigned)me);
  for (int i = 0; i < N; i++) {
    const int at = (int)(random() % (2 * N)), p = at / N, k = mine->n[p]++;
    mine->leaf[p][k] = (uint32_t)i;
    mine->root[p][k] = (uint32_t)(at % N);
  }
}

/* ---- timed loops ---- */

static size_t bytes; /* number of bytes after the flag; in gather and fetch the number of edges */

static void round_trip(void)
{
  static unsigned char local[8192];
  for (int i = 0; i < ROUNDS; i++) {
    if (me == i % 2) {
      mine->bytes[0] = (unsigned char)i;
      publish_turn();
    } else {
      turn++;
      wait_for(turn);
      memcpy(local, other->bytes, bytes);
      __asm__ volatile("" ::: "memory");
      memcpy(mine->bytes, local, bytes);
    }
  }
}

static void copy(uint64_t *restrict to, const uint32_t *to_at, const uint64_t *restrict from,
                 const uint32_t *from_at, int n)
{
  int i = 0;
  for (; i < n - AHEAD; i++) {
    if (from_at) __builtin_prefetch(&from[from_at[i + AHEAD]]);
    to[to_at[i]] = from[from_at ? from_at[i] : (uint32_t)i];
  }
  for (; i < n; i++)
    to[to_at[i]] = from[from_at ? from_at[i] : (uint32_t)i];
}

static void gather(void)
{
  for (int p = 0; p < 2; p++)
    copy(mine->leaves, mine->leaf[p ^ me], sides[p ^ me].roots, mine->root[p ^ me],
         mine->n[p ^ me]);
}

static void add(const side *of, uint64_t *before, const uint32_t *before_at)
{
  const uint32_t *root = of->root[me], *leaf = of->leaf[me];
  const int n = of->n[me];
  for (int i = 0; i < n; i++) {
    if (i < n - AHEAD) __builtin_prefetch(&mine->roots[root[i + AHEAD]], 1);
    uint64_t *to = &mine->roots[root[i]];
    before[before_at ? before_at[i] : (uint32_t)i] = *to;
    *to += of->values[leaf[i]];
  }
}

/* Adds to the roots first the values of this process's leaves, then those of the other process's
 * leaves. The answers for the other process are packed. */
static void fetch(void)
{
  add(mine, mine->before, mine->leaf[me]);
  add(other, other->answers, NULL);
  synchronize();
  copy(mine->before, mine->leaf[!me], mine->answers, NULL, mine->n[!me]);
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const char *what, void (*run)(void), int loops, int each)
{
  double t[TIMES];
  for (int r = -2; r < TIMES; r++) {
    synchronize();
    const double start = now();
    for (int i = 0; i < loops; i++) {
      run();
      synchronize();
    }
    if (r >= 0) t[r] = (now() - start) / loops / each;
  }
  qsort(t, TIMES, sizeof *t, compare);
  if (me == 0) printf("%-12s %5zu %9.3f %9.3f\n", what, bytes, t[0], t[TIMES / 2]);
}

int main(void)
{
  static const size_t sizes[] = {0, 8, 64, 512, 1024, 2048, 4096};
  sides = mmap(NULL, 2 * sizeof *sides, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (sides == MAP_FAILED) return 1;
  fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return 1;
  me = child == 0;
  mine = &sides[me];
  other = &sides[!me];
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(me, &core);
  sched_setaffinity(0, sizeof core, &core);
  make_edges();
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    bytes = sizes[k];
    measure("half a round", round_trip, 1, ROUNDS);
  }
  bytes = N;
  measure("gather", gather, LOOPS, 1);
  measure("fetch", fetch, LOOPS, 1);
  if (me == 0) waitpid(child, NULL, 0);
  return 0;
}
