/* Groups of ranks of a splitting (osla_splitting_options.group). The matrix rows of all ranks of a
 * group form one diagonal block. The functions here create and free this rank's description of
 * its group: which ranks belong to the group, and which ghost values of this rank they own. */
#include "kernels/iterate/splitting.h"

#include <stdlib.h>

/* Returns the number of ghosts whose global column is less than `column`. */
static int64_t ghosts_below(const osla_splitting *s, const int64_t *ghost, int64_t column)
{
  int64_t k = 0;
  while (k < s->n_ghosts && ghost[k] < column)
    k++;
  return k;
}

osla_err osli_splitting_group_create(osla_splitting *s, int64_t ranks, const int64_t *ghost,
                                     const int64_t *start)
{
  const int size = osla_transport_size(s->t), rank = osla_transport_rank(s->t);
  if (ranks <= 1) return OSLA_OK;
  const int width = ranks < size ? (int)ranks : size;
  split_group *g = s->group = calloc(1, sizeof *g);
  OSLA_CHECK(g, OSLA_ERR_MEM, "no memory for a group of ranks");
  g->first = rank - rank % width;
  g->end = size - g->first < width ? size : g->first + width;
  g->rows = start[g->end] - start[g->first];
  g->from = s->n + ghosts_below(s, ghost, start[g->first]);
  g->to = s->n + ghosts_below(s, ghost, start[g->end]);
  g->sweeps.ranks = calloc((size_t)width, sizeof *g->sweeps.ranks);
  OSLA_CHECK(g->sweeps.ranks, OSLA_ERR_MEM, "no memory for a group of %d ranks", width);
  for (int p = g->first; p < g->end && s->n > 0; p++)
    if (start[p + 1] > start[p]) g->sweeps.ranks[g->sweeps.n++] = p;
  return OSLA_OK;
}

void osli_splitting_group_free(osla_splitting *s)
{
  if (!s->group) return;
  free(s->group->sweeps.ranks);
  free(s->group);
  s->group = NULL;
}
