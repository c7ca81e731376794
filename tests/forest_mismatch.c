/* Two ranks that begin different transfers of a forest: a helper of test_forest_mismatch.sh.
 *
 *   forest_mismatch KIND PLACE   kind: kind, combine, type, count, order; place: shared, plain
 */
#include "osla_forest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDGES = 40, MOST = 4 };

static osla_err differ(osla_forest *f, const char *kind, bool odd, void *roots, void *leaves)
{
  osla_unit one = {OSLA_UNIT_DOUBLE, 1, 0}, two = {OSLA_UNIT_DOUBLE, 2, 0};
  osla_unit whole = {OSLA_UNIT_INT64, 1, 0};
  OSLA_CALL(osla_forest_bcast(f, one, roots, leaves, OSLA_REPLACE)); /* the same on all */
  if (strcmp(kind, "kind") == 0)
    return odd ? osla_forest_reduce(f, one, leaves, roots, OSLA_SUM)
               : osla_forest_bcast(f, one, roots, leaves, OSLA_SUM);
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
  void *memory = NULL;
  if (argc != 3 || MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
    return 2;
  if (osla_transport_create(MPI_COMM_WORLD, NULL, &t) != OSLA_OK) return 2;
  const int me = osla_transport_rank(t), next = (me + 1) % osla_transport_size(t);
  for (int i = 0; i < EDGES; i++)
    root[i] = (osla_root){next, i};
  const size_t bytes = (size_t)EDGES * MOST * sizeof(double);
  osla_err err = osla_forest_create(t, EDGES, EDGES, NULL, root, &f);
  if (err == OSLA_OK && strcmp(argv[2], "plain") == 0)
    memory = calloc(2, bytes);
  else if (err == OSLA_OK)
    err = osla_vertices_create(t, 2 * bytes, &memory);
  if (err == OSLA_OK && !memory) return 2;
  if (err == OSLA_OK) err = differ(f, argv[1], me % 2 == 1, memory, (char *)memory + bytes);
  (void)fprintf(stderr, "rank %d goes on: %s\n", me, osla_error_text());
  return 3;
}
