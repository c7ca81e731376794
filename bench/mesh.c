#include "bench/mesh.h"
#include "osla_random.h"
#include "src/blas/work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SEED_RANK = 51, SEED_CELL = 52, SEED_VERTEX = 53 };

static int64_t label_of(uint64_t seed, int64_t number)
{
  return (int64_t)(osla_random_bits(seed, (uint64_t)number, 0) >> 1);
}

static mesh_vertex vertex_of(int64_t side, int64_t number)
{
  return (mesh_vertex){
    number,
    label_of(SEED_VERTEX, number),
    {(double)(number % side), (double)(number / side % side), (double)(number / side / side)}};
}

static mesh_cell cell_of(int64_t side, int64_t number)
{
  mesh_cell c = {.number = number, .label = label_of(SEED_CELL, number)};
  for (int k = 0; k < MESH_CORNERS; k++) {
    const int64_t x = (number % side + (k & 1)) % side;
    const int64_t y = (number / side % side + (k >> 1 & 1)) % side;
    const int64_t z = (number / side / side + (k >> 2)) % side;
    c.corner[k] = (z * side + y) * side + x;
  }
  return c;
}

/* Rank whose block contains element i, if n elements are divided evenly into blocks of consecutive
 * elements. */
static int block_of(int64_t i, int64_t n, int ranks)
{
  const int64_t least = n / ranks, more = n % ranks, split = more * (least + 1);
  return i < split ? (int)(i / (least + 1)) : (int)(more + (i - split) / least);
}

/* Rank that has a cell, or a vertex, before the migration. */
static int initial_rank(mesh_start start, int64_t side, int64_t number, int ranks)
{
  if (start == MESH_SEQ) return 0;
  if (start == MESH_CHUNKS) return block_of(number, side * side * side, ranks);
  return (int)(osla_random_bits(SEED_RANK, (uint64_t)number, 0) % (uint64_t)ranks);
}

int mesh_final_rank(const mesh_part *part, int64_t cell, int ranks)
{
  return part->target ? part->target[cell] : block_of(cell % part->side, part->side, ranks);
}

/* Sets a range of cell numbers, from *first to *past - 1, that contains all cells that this rank
 * has before the migration. The range is shorter than the mesh where possible, because with many
 * simulated ranks a pass of each rank over all cells would take minutes. */
static void initial_range(osla_transport *t, mesh_start start, int64_t all, int64_t *first,
                          int64_t *past)
{
  const int64_t me = osla_transport_rank(t), ranks = osla_transport_size(t);
  *first = start == MESH_CHUNKS ? all / ranks * me : 0;
  *past = start == MESH_CHUNKS ? *first + all / ranks + ranks : all;
  if (start == MESH_SEQ && me > 0) *past = 0;
  if (*past > all) *past = all;
}

osla_err mesh_start_create(osla_transport *t, int64_t side, mesh_start start, const int32_t *target,
                           mesh_part *out)
{
  const int me = osla_transport_rank(t), ranks = osla_transport_size(t);
  int64_t n = 0, first, past;
  initial_range(t, start, side * side * side, &first, &past);
  for (int64_t i = first; i < past; i++)
    n += initial_rank(start, side, i, ranks) == me;
  *out = (mesh_part){.side = side, .target = target, .n_cells = n, .n_vertices = n};
  out->cell = malloc((size_t)(n + 1) * sizeof *out->cell);
  out->vertex = malloc((size_t)(n + 1) * sizeof *out->vertex);
  OSLA_CHECK(out->cell && out->vertex, OSLA_ERR_MEM, "%" PRId64 " cells of a mesh", n);
  n = 0;
  for (int64_t i = first; i < past; i++)
    if (initial_rank(start, side, i, ranks) == me) {
      out->cell[n] = cell_of(side, i);
      out->vertex[n++] = vertex_of(side, i);
    }
  return OSLA_OK;
}

void mesh_part_free(mesh_part *part)
{
  free(part->cell);
  free(part->vertex);
  free(part->owner);
  *part = (mesh_part){0};
}

/* A bit for each vertex of the mesh says whether a cell of the part has it as a corner. */
osla_err mesh_list_corners(const mesh_part *part, int64_t **out, int64_t *n)
{
  const int64_t words = part->side * part->side * part->side / 64 + 1;
  uint64_t *used = calloc((size_t)words, sizeof *used);
  int64_t count = 0;
  OSLA_CHECK(used, OSLA_ERR_MEM, "a bit for each vertex of a mesh");
  for (int64_t i = 0; i < part->n_cells; i++)
    for (int k = 0; k < MESH_CORNERS; k++) {
      const int64_t v = part->cell[i].corner[k];
      used[v / 64] |= UINT64_C(1) << v % 64;
    }
  for (int64_t w = 0; w < words; w++)
    count += __builtin_popcountll(used[w]);
  int64_t *list = malloc((size_t)(count + 1) * sizeof *list);
  for (int64_t w = 0, at = 0; list && w < words; w++)
    for (uint64_t bits = used[w]; bits != 0; bits &= bits - 1)
      list[at++] = 64 * w + __builtin_ctzll(bits);
  free(used);
  OSLA_CHECK(list, OSLA_ERR_MEM, "%" PRId64 " corners", count);
  /* simulated time of one pass over the corners, two over the bits, and one over the list */
  work_charge(OSLA_WORK_ADD, OSLA_DOUBLE, 1, MESH_CORNERS * part->n_cells + count, 1);
  work_charge(OSLA_WORK_VECTOR, OSLA_DOUBLE, 1, 2 * words, 1);
  *out = list;
  *n = count;
  return OSLA_OK;
}

/* ---- checks ---- */

static bool has_corners(const mesh_part *part, const mesh_cell *c)
{
  const mesh_cell due = cell_of(part->side, c->number);
  return memcmp(c, &due, sizeof due) == 0;
}

/* Checks this rank's cells and vertices. Adds to sums: number of cells, sum of their numbers,
 * number of vertices that this rank owns, sum of their numbers. */
static bool check_mine(osla_transport *t, const mesh_part *part, int64_t sums[4])
{
  const int me = osla_transport_rank(t), ranks = osla_transport_size(t);
  bool right = true;
  for (int64_t i = 0; i < part->n_cells; i++) {
    const mesh_cell *c = &part->cell[i];
    right &= mesh_final_rank(part, c->number, ranks) == me;
    right &= has_corners(part, c);
    sums[0]++;
    sums[1] += c->number;
  }
  for (int64_t i = 0; i < part->n_vertices; i++) {
    const mesh_vertex due = vertex_of(part->side, part->vertex[i].number);
    right &= memcmp(&part->vertex[i], &due, sizeof due) == 0;
    right &= i == 0 || part->vertex[i].number > part->vertex[i - 1].number;
    if (part->owner[i] != me) continue;
    sums[2]++;
    sums[3] += part->vertex[i].number;
  }
  return right;
}

osla_err mesh_check(osla_transport *t, const mesh_part *part, bool *right)
{
  const int64_t all = part->side * part->side * part->side;
  int64_t sums[5] = {0};
  sums[4] = !check_mine(t, part, sums);
  OSLA_CALL(osla_allreduce(t, sums, 5, MPI_INT64_T, MPI_SUM));
  const int64_t numbers = all * (all - 1) / 2;
  *right =
    sums[4] == 0 && sums[0] == all && sums[1] == numbers && sums[2] == all && sums[3] == numbers;
  return OSLA_OK;
}
