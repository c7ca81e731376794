#include "mesh_migrate.h"
#include "osla_random.h"
#include "osla_sparse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SEED_RANK = 51, SEED_CELL = 52, SEED_VERTEX = 53 };
static const osla_unit pair_unit = {OSLA_UNIT_INT64, 2, 0};
static const osla_unit cell_unit = {OSLA_UNIT_INT64, MESH_CORNERS + 2, 0};
static const osla_unit vertex_unit = {OSLA_UNIT_BYTES, sizeof(mesh_vertex), 0};
_Static_assert(sizeof(mesh_cell) == (MESH_CORNERS + 2) * sizeof(int64_t), "a cell is its numbers");

/* ---- the mesh ---- */

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

/* The rank of an even block of n things that has the i-th. */
static int block_of(int64_t i, int64_t n, int ranks)
{
  const int64_t least = n / ranks, more = n % ranks, split = more * (least + 1);
  return i < split ? (int)(i / (least + 1)) : (int)(more + (i - split) / least);
}

/* Where a cell or vertex is at first, and a cell at last. */
static int rank_at_first(mesh_start start, int64_t side, int64_t number, int ranks)
{
  if (start == MESH_SEQ) return 0;
  if (start == MESH_CHUNKS) return block_of(number, side * side * side, ranks);
  return (int)(osla_random_bits(SEED_RANK, (uint64_t)number, 0) % (uint64_t)ranks);
}
static int rank_at_last(int64_t side, int64_t number, int ranks)
{
  return block_of(number % side, side, ranks);
}

osla_err mesh_start_create(osla_transport *t, int64_t side, mesh_start start, mesh_part *out)
{
  const int64_t all = side * side * side;
  const int me = osla_transport_rank(t), ranks = osla_transport_size(t);
  int64_t n = 0;
  for (int64_t i = 0; i < all; i++)
    n += rank_at_first(start, side, i, ranks) == me;
  *out = (mesh_part){.side = side, .n_cells = n, .n_vertices = n};
  out->cell = malloc((size_t)(n + 1) * sizeof *out->cell);
  out->vertex = malloc((size_t)(n + 1) * sizeof *out->vertex);
  OSLA_CHECK(out->cell && out->vertex, OSLA_ERR_MEM, "%" PRId64 " cells of a mesh", n);
  n = 0;
  for (int64_t i = 0; i < all; i++)
    if (rank_at_first(start, side, i, ranks) == me) {
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

/* ---- cells ---- */

/* Each rank has one root for all cells that come to it; split, each cell has its own. */
static osla_err join_cells(osla_transport *t, const mesh_part *from, osla_forest **out)
{
  osla_forest *to = NULL;
  osla_root *root = malloc((size_t)(from->n_cells + 1) * sizeof *root);
  osla_err err = root ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%" PRId64 " cells", from->n_cells);
  err = osla_agree(t, err);
  for (int64_t i = 0; err == OSLA_OK && i < from->n_cells; i++)
    root[i] =
      (osla_root){rank_at_last(from->side, from->cell[i].number, osla_transport_size(t)), 0};
  if (err == OSLA_OK) err = osla_forest_create(t, 1, from->n_cells, NULL, root, &to);
  free(root);
  if (err == OSLA_OK) err = osla_forest_split(to, out);
  osla_err destroyed = osla_forest_destroy(&to);
  return err == OSLA_OK ? destroyed : err;
}

static osla_err move_cells(osla_transport *t, const mesh_part *from, mesh_part *out)
{
  osla_forest *move = NULL;
  OSLA_CALL(join_cells(t, from, &move));
  out->n_cells = osla_forest_n_roots(move);
  out->cell = malloc((size_t)(out->n_cells + 1) * sizeof *out->cell);
  osla_err err = osla_agree(
    t, out->cell ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%" PRId64 " cells", out->n_cells));
  if (err == OSLA_OK)
    err = osla_forest_reduce(move, cell_unit, from->cell, out->cell, OSLA_REPLACE);
  osla_err destroyed = osla_forest_destroy(&move);
  return err == OSLA_OK ? destroyed : err;
}

/* ---- vertices ---- */

static int ascending(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* The corners of my cells, ascending, each once. */
static osla_err list_corners(const mesh_part *part, int64_t **out, int64_t *n)
{
  const int64_t all = part->n_cells * MESH_CORNERS;
  int64_t *list = malloc((size_t)(all + 1) * sizeof *list), kept = 0;
  OSLA_CHECK(list, OSLA_ERR_MEM, "%" PRId64 " corners", all);
  for (int64_t i = 0; i < part->n_cells; i++)
    memcpy(list + i * MESH_CORNERS, part->cell[i].corner, sizeof part->cell[i].corner);
  qsort(list, (size_t)all, sizeof *list, ascending);
  for (int64_t i = 0; i < all; i++)
    if (kept == 0 || list[i] != list[kept - 1]) list[kept++] = list[i];
  *out = list;
  *n = kept;
  return OSLA_OK;
}

/* A directory has an entry for each vertex, in even blocks of their numbers. */
typedef struct directory {
  int64_t *start, n;
  int64_t (*name)[2]; /* [n] rank and index of those of my block */
  int64_t *lowest;    /* [n] the lowest rank that has it */
} directory;

static osla_err directory_make(osla_transport *t, int64_t vertices, directory *d)
{
  const int me = osla_transport_rank(t), ranks = osla_transport_size(t);
  d->start = malloc((size_t)(ranks + 1) * sizeof *d->start);
  OSLA_CHECK(d->start, OSLA_ERR_MEM, "blocks of %d ranks", ranks);
  osla_even_blocks(vertices, ranks, d->start);
  d->n = d->start[me + 1] - d->start[me];
  d->name = malloc((size_t)(d->n + 1) * sizeof *d->name);
  d->lowest = malloc((size_t)(d->n + 1) * sizeof *d->lowest);
  OSLA_CHECK(d->name && d->lowest, OSLA_ERR_MEM, "%" PRId64 " vertices", d->n);
  for (int64_t i = 0; i < d->n; i++)
    d->lowest[i] = ranks;
  return OSLA_OK;
}

static void directory_free(directory *d)
{
  free(d->start);
  free(d->name);
  free(d->lowest);
}

/* Whoever has a vertex writes its name there. */
static osla_err directory_fill(osla_transport *t, const mesh_part *from, directory *d)
{
  osla_forest *known = NULL;
  int64_t *number = malloc((size_t)(from->n_vertices + 1) * sizeof *number);
  int64_t(*mine)[2] = malloc((size_t)(from->n_vertices + 1) * sizeof *mine);
  osla_err err = number && mine ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "names of vertices");
  err = osla_agree(t, err);
  for (int64_t i = 0; err == OSLA_OK && i < from->n_vertices; i++) {
    number[i] = from->vertex[i].number;
    mine[i][0] = osla_transport_rank(t);
    mine[i][1] = i;
  }
  if (err == OSLA_OK)
    err = osla_forest_create_global(t, d->start, from->n_vertices, NULL, number, &known);
  if (err == OSLA_OK) err = osla_forest_reduce(known, pair_unit, mine, d->name, OSLA_REPLACE);
  osla_err destroyed = osla_forest_destroy(&known);
  free(number);
  free(mine);
  return err == OSLA_OK ? destroyed : err;
}

/* Who has vertices of my cells: the names come from the directory, the vertices from there. */
static osla_err bring_vertices(osla_transport *t, const mesh_part *from, osla_forest *wanted,
                               const directory *d, mesh_part *out)
{
  osla_forest *owners = NULL;
  int64_t(*name)[2] = malloc((size_t)(out->n_vertices + 1) * sizeof *name);
  osla_root *root = malloc((size_t)(out->n_vertices + 1) * sizeof *root);
  out->vertex = malloc((size_t)(out->n_vertices + 1) * sizeof *out->vertex);
  bool have = name && root && out->vertex;
  osla_err err = osla_agree(t, have ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "vertices"));
  if (err == OSLA_OK) err = osla_forest_bcast(wanted, pair_unit, d->name, name, OSLA_REPLACE);
  for (int64_t i = 0; err == OSLA_OK && i < out->n_vertices; i++)
    root[i] = (osla_root){(int32_t)name[i][0], name[i][1]};
  if (err == OSLA_OK)
    err = osla_forest_create(t, from->n_vertices, out->n_vertices, NULL, root, &owners);
  if (err == OSLA_OK)
    err = osla_forest_bcast(owners, vertex_unit, from->vertex, out->vertex, OSLA_REPLACE);
  osla_err destroyed = osla_forest_destroy(&owners);
  free(name);
  free(root);
  return err == OSLA_OK ? destroyed : err;
}

/* The lowest of the ranks that have a vertex owns it. */
static osla_err choose_owners(osla_transport *t, osla_forest *wanted, directory *d, mesh_part *out)
{
  int64_t *mine = malloc((size_t)(out->n_vertices + 1) * sizeof *mine);
  out->owner = malloc((size_t)(out->n_vertices + 1) * sizeof *out->owner);
  bool have = mine && out->owner;
  osla_err err = osla_agree(t, have ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "owners of vertices"));
  for (int64_t i = 0; err == OSLA_OK && i < out->n_vertices; i++)
    mine[i] = osla_transport_rank(t);
  if (err == OSLA_OK) err = osla_forest_reduce(wanted, OSLA_ONE_INT64, mine, d->lowest, OSLA_MIN);
  if (err == OSLA_OK)
    err = osla_forest_bcast(wanted, OSLA_ONE_INT64, d->lowest, out->owner, OSLA_REPLACE);
  free(mine);
  return err;
}

static osla_err move_vertices(osla_transport *t, const mesh_part *from, mesh_part *out)
{
  directory d = {0};
  int64_t *corner = NULL;
  osla_forest *wanted = NULL;
  osla_err err = list_corners(out, &corner, &out->n_vertices);
  if (err == OSLA_OK) err = directory_make(t, out->side * out->side * out->side, &d);
  err = osla_agree(t, err);
  if (err == OSLA_OK) err = directory_fill(t, from, &d);
  if (err == OSLA_OK)
    err = osla_forest_create_global(t, d.start, out->n_vertices, NULL, corner, &wanted);
  if (err == OSLA_OK) err = bring_vertices(t, from, wanted, &d, out);
  if (err == OSLA_OK) err = choose_owners(t, wanted, &d, out);
  osla_err destroyed = osla_forest_destroy(&wanted);
  directory_free(&d);
  free(corner);
  return err == OSLA_OK ? destroyed : err;
}

osla_err mesh_migrate(osla_transport *t, const mesh_part *from, mesh_part *out)
{
  *out = (mesh_part){.side = from->side};
  osla_err err = move_cells(t, from, out);
  if (err == OSLA_OK) err = move_vertices(t, from, out);
  if (err != OSLA_OK) mesh_part_free(out);
  return err;
}

/* ---- is it right? ---- */

static bool has_corners(const mesh_part *part, const mesh_cell *c)
{
  const mesh_cell due = cell_of(part->side, c->number);
  return memcmp(c, &due, sizeof due) == 0;
}

/* Cells and vertices as they should be; what adds up over the ranks in sums: cells, their numbers,
 * vertices that a rank owns, and their numbers. */
static bool check_mine(osla_transport *t, const mesh_part *part, int64_t sums[4])
{
  const int me = osla_transport_rank(t);
  bool right = true;
  for (int64_t i = 0; i < part->n_cells; i++) {
    const mesh_cell *c = &part->cell[i];
    right &= rank_at_last(part->side, c->number, osla_transport_size(t)) == me;
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
