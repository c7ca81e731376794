/* Helper of test_forest_mismatch.sh: two ranks begin different transfers of a forest, or rank 1
 * overwrites memory that the other rank may still read.
 *
 *   forest_mismatch KIND PLACE
 *
 * The words "kind", "combine", "type", "count" and "order" for KIND name the difference between the
 * two transfers. "thin" is "kind" with vertices far apart; "apart" has roots on rank 0 and leaves
 * on rank 1 only; "again" repeats "apart". With "writable", "begin" and "destroy", rank 1
 * overwrites its roots before the call of that name. "kept" makes no error. PLACE says whether the
 * vertices are in shared or in plain memory. The program destroys the forest at its end. */
#include "osla_forest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* TIMES is larger than the number of transfers that fit in a ring */
enum { EDGES = 200, APART = 16, MOST = 2, TIMES = 1000 };
enum { LONG = 1 << 16 }; /* number of doubles in a vertex, so that an exact sum gathers 100 MiB */

/* Makes every further allocation of rank 1 fail, and then sums exactly. */
static osla_err lack_memory(osla_forest *f, bool odd)
{
  const osla_unit one = {OSLA_UNIT_DOUBLE, LONG, 0};
  const size_t bytes = (size_t)EDGES * LONG * sizeof(double);
  void *roots = calloc(1, bytes), *leaves = calloc(1, bytes);
  const struct rlimit none = {0, 0};
  if (!roots || !leaves || (odd && setrlimit(RLIMIT_AS, &none) != 0)) return OSLA_ERR_MEM;
  osla_err err = osla_forest_reduce(f, one, leaves, roots, OSLA_SUM_EXACT);
  free(roots);
  free(leaves);
  return err;
}

/* One rank (odd) reduces to roots while the other rank broadcasts from roots. */
static osla_err differ_apart(osla_forest *f, int times, bool odd, void *roots, void *leaves)
{
  for (int i = 0; i < times; i++)
    OSLA_CALL(odd ? osla_forest_reduce(f, OSLA_ONE_DOUBLE, leaves, roots, OSLA_SUM)
                  : osla_forest_bcast(f, OSLA_ONE_DOUBLE, roots, leaves, OSLA_SUM));
  return OSLA_OK;
}

/* Begins a broadcast; rank 1 overwrites one of its roots after osla_forest_end_read. */
static osla_err overwrite(osla_forest *f, const char *kind, bool odd, double *roots, void *leaves)
{
  osla_forest_run run;
  OSLA_CALL(osla_forest_bcast_begin(f, OSLA_ONE_DOUBLE, roots, leaves, OSLA_REPLACE, &run));
  OSLA_CALL(osla_forest_end_read(&run));
  if (strcmp(kind, "kept") == 0) OSLA_CALL(osla_forest_writable(f));
  if (odd) roots[EDGES / 2] += 1;
  if (strcmp(kind, "destroy") == 0) return OSLA_OK;
  if (strcmp(kind, "writable") == 0) return osla_forest_writable(f);
  return osla_forest_bcast(f, OSLA_ONE_DOUBLE, roots, leaves, OSLA_REPLACE);
}

static osla_err differ(osla_forest *f, const char *kind, bool odd, void *roots, void *leaves)
{
  osla_unit one = {OSLA_UNIT_DOUBLE, 1, 0}, two = {OSLA_UNIT_DOUBLE, 2, 0};
  osla_unit whole = {OSLA_UNIT_INT64, 1, 0};
  /* begins with a transfer that is equal on all ranks */
  OSLA_CALL(osla_forest_bcast(f, one, roots, leaves, OSLA_REPLACE));
  if (strcmp(kind, "memory") == 0) return lack_memory(f, odd);
  if (strcmp(kind, "kind") == 0 || strcmp(kind, "thin") == 0 || strcmp(kind, "apart") == 0)
    return differ_apart(f, 1, odd, roots, leaves);
  if (strcmp(kind, "writable") == 0 || strcmp(kind, "begin") == 0 || strcmp(kind, "destroy") == 0 ||
      strcmp(kind, "kept") == 0)
    return overwrite(f, kind, odd, roots, leaves);
  if (strcmp(kind, "again") == 0) return differ_apart(f, TIMES, odd, roots, leaves);
  if (strcmp(kind, "combine") == 0)
    return osla_forest_reduce(f, one, leaves, roots, odd ? OSLA_SUM : OSLA_MAX);
  if (strcmp(kind, "type") == 0)
    return osla_forest_bcast(f, odd ? whole : one, roots, leaves, OSLA_REPLACE);
  if (strcmp(kind, "count") == 0)
    return osla_forest_bcast(f, odd ? two : one, roots, leaves, OSLA_REPLACE);
  OSLA_CALL(odd ? osla_forest_bcast(f, two, roots, leaves, OSLA_REPLACE)
                : osla_forest_reduce(f, two, leaves, roots, OSLA_SUM));
  return odd ? osla_forest_reduce(f, two, leaves, roots, OSLA_SUM)
             : osla_forest_bcast(f, two, roots, leaves, OSLA_REPLACE);
}

int main(int argc, char **argv)
{
  int provided;
  osla_transport *t;
  osla_forest *f;
  osla_root root[EDGES];
  int64_t leaf[EDGES];
  void *memory = NULL;
  if (argc != 3 || MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
    return 2;
  if (osla_transport_create(MPI_COMM_WORLD, NULL, &t) != OSLA_OK) return 2;
  const int me = osla_transport_rank(t), next = (me + 1) % osla_transport_size(t);
  const bool one_way = strcmp(argv[1], "apart") == 0 || strcmp(argv[1], "again") == 0;
  const int step = strcmp(argv[1], "thin") == 0 ? APART : 1;
  for (int i = 0; i < EDGES; i++) {
    root[i] = (osla_root){next, i * step};
    leaf[i] = i * step;
  }
  const size_t bytes = (size_t)EDGES * APART * MOST * sizeof(double);
  const int64_t n_roots = one_way && me == 1 ? 0 : EDGES * step,
                edges = one_way && me == 0 ? 0 : EDGES;
  osla_err err = osla_forest_create(t, n_roots, edges, leaf, root, &f);
  if (err == OSLA_OK && strcmp(argv[2], "plain") == 0)
    memory = calloc(2, bytes);
  else if (err == OSLA_OK)
    err = osla_vertices_create(t, 2 * bytes, &memory);
  if (err == OSLA_OK && !memory) return 2;
  if (err == OSLA_OK) err = differ(f, argv[1], me % 2 == 1, memory, (char *)memory + bytes);
  if (err == OSLA_OK) err = osla_forest_destroy(&f);
  (void)fprintf(stderr, "rank %d goes on: %s\n", me, osla_error_text());
  return 3;
}
