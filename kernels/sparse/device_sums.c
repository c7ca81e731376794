/* Sums numbers in device memory over the ranks of a node. No host reads the numbers.
 *
 * Each rank has its part of a sum in memory that the other ranks read in place. A broadcast copies
 * the parts of all ranks to an array on each device. A reduction on edges of the rank to itself
 * then adds them in the order of ranks, so all ranks get equal bits. With at most 32 ranks these
 * are the bits of osla_sums_all. */
#include "kernels/forest/forest.h"
#include "kernels/sparse/krylov.h"
#include "src/memory/segment.h"

#include <stdlib.h>

struct device_sums {
  osla_transport *t;
  double *part;        /* this rank's part of the next sum, read by the other ranks */
  double *parts;       /* [size + 1] the parts of all ranks in the order of ranks, then 0 */
  osla_forest *gather; /* roots: `part` of each rank; leaf p of a rank: element p of `parts` */
  osla_forest *add;    /* leaves: elements of `parts` without the 0; their root: this rank's sum */
};

double *osli_device_sums_part(const device_sums *s)
{
  return s->part;
}

osla_err osli_device_sums_add(device_sums *s, double *sum)
{
  const int size = osla_transport_size(s->t);
  OSLA_CALL(osla_forest_bcast(s->gather, OSLA_ONE_DOUBLE, s->part, s->parts, OSLA_REPLACE));
  osli_device_copy_bytes(sizeof *sum, s->parts + size, sum);
  return osla_forest_reduce(s->add, OSLA_ONE_DOUBLE, s->parts, sum, OSLA_SUM);
}

static osla_err make_local(device_queue *queue, device_sums *s, osla_root **root)
{
  const int size = osla_transport_size(s->t);
  void *parts = NULL;
  *root = malloc((size_t)size * sizeof **root);
  OSLA_CHECK(*root, OSLA_ERR_MEM, "edges between %d ranks for sums on devices", size);
  for (int i = 0; i < size; i++)
    (*root)[i] = (osla_root){osla_transport_rank(s->t), 0};
  OSLA_CALL(osli_device_alloc(queue, (size_t)(size + 1) * sizeof *s->parts, true, &parts));
  s->parts = parts;
  return OSLA_OK;
}

osla_err osli_device_sums_create(osla_device *device, device_sums **out)
{
  osla_transport *t = osli_device_transport(device);
  osla_root *root = NULL;
  void *part = NULL;
  device_sums *s = calloc(1, sizeof *s);
  osla_err err = s ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "sums on devices");
  *out = s;
  if (s) s->t = t;
  if (s) err = make_local(osli_device_queue(device), s, &root);
  err = osla_agree(t, err);
  if (err == OSLA_OK) err = osla_vertices_create_on(device, sizeof *s->part, &part);
  if (err == OSLA_OK) s->part = part;
  if (err == OSLA_OK) err = osla_forest_allgather(t, 1, &s->gather);
  if (err == OSLA_OK) osli_forest_read_all_in_place(s->gather);
  if (err == OSLA_OK) err = osla_forest_create(t, 1, osla_transport_size(t), NULL, root, &s->add);
  free(root);
  if (err != OSLA_OK) (void)osli_device_sums_destroy(out);
  return err;
}

osla_err osli_device_sums_destroy(device_sums **sums)
{
  device_sums *s = *sums;
  if (!s) return OSLA_OK;
  void *part = s->part;
  osla_err err = osla_forest_destroy(&s->add);
  if (err == OSLA_OK) err = osla_forest_destroy(&s->gather);
  if (err == OSLA_OK) err = osla_vertices_free(s->t, &part);
  osli_device_free(s->parts);
  free(s);
  *sums = NULL;
  return err;
}
