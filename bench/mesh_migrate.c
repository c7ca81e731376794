/* Migration of a mesh by star forests. See mesh_migrate.h. */
#include "bench/mesh_migrate.h"
#include "osla_forest.h"
#include "osla_sparse.h"
#include "src/blas/work.h"

#include <inttypes.h>
#include <stdlib.h>

static const osla_unit pair_unit = {OSLA_UNIT_INT64, 2, 0};
static const osla_unit cell_unit = {OSLA_UNIT_INT64, MESH_CORNERS + 2, 0};
static const osla_unit vertex_unit = {OSLA_UNIT_BYTES, sizeof(mesh_vertex), 0};
_Static_assert(sizeof(mesh_cell) == (MESH_CORNERS + 2) * sizeof(int64_t), "a cell is its numbers");

/* Adds the time of a pass over n scattered numbers to the simulated clock. */
static void charge_pass(int64_t n)
{
  work_charge(OSLA_WORK_ADD, OSLA_DOUBLE, 1, n, 1);
}

/* ---- cells ---- */

/* Creates the forest that moves the cells. At first each rank has one root, and all cells that
 * come to the rank are leaves of it. Then the forest is split, which gives each cell a root of its
 * own. */
static osla_err join_cells(osla_transport *t, const mesh_part *from, osla_forest **out)
{
  osla_forest *to = NULL;
  osla_root *root = malloc((size_t)(from->n_cells + 1) * sizeof *root);
  osla_err err = root ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%" PRId64 " cells", from->n_cells);
  err = osla_agree(t, err);
  for (int64_t i = 0; err == OSLA_OK && i < from->n_cells; i++)
    root[i] = (osla_root){mesh_final_rank(from, from->cell[i].number, osla_transport_size(t)), 0};
  charge_pass(from->n_cells);
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

/* Directory with an entry for each vertex, distributed over the ranks in even blocks of the vertex
 * numbers. */
typedef struct directory {
  int64_t *start, n;
  int64_t (*name)[2]; /* [n] entries of the directory on this rank: rank and index of a vertex */
  int64_t *lowest;    /* [n] lowest rank that has the vertex */
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
  charge_pass(d->n);
  return OSLA_OK;
}

static void directory_free(directory *d)
{
  free(d->start);
  free(d->name);
  free(d->lowest);
}

/* Writes rank and index of each vertex of this rank into the directory. */
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
  charge_pass(from->n_vertices);
  if (err == OSLA_OK)
    err = osla_forest_create_global(t, d->start, from->n_vertices, NULL, number, &known);
  if (err == OSLA_OK) err = osla_forest_reduce(known, pair_unit, mine, d->name, OSLA_REPLACE);
  osla_err destroyed = osla_forest_destroy(&known);
  free(number);
  free(mine);
  return err == OSLA_OK ? destroyed : err;
}

/* Fetches the vertices of this rank's cells: first the ranks and indices of the vertices from the
 * directory, then the vertices from these ranks. */
static osla_err fetch_vertices(osla_transport *t, const mesh_part *from, osla_forest *wanted,
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
  charge_pass(out->n_vertices);
  if (err == OSLA_OK)
    err = osla_forest_create(t, from->n_vertices, out->n_vertices, NULL, root, &owners);
  if (err == OSLA_OK)
    err = osla_forest_bcast(owners, vertex_unit, from->vertex, out->vertex, OSLA_REPLACE);
  osla_err destroyed = osla_forest_destroy(&owners);
  free(name);
  free(root);
  return err == OSLA_OK ? destroyed : err;
}

/* Sets the owner of each vertex to the lowest of the ranks that have the vertex. */
static osla_err choose_owners(osla_transport *t, osla_forest *wanted, directory *d, mesh_part *out)
{
  int64_t *mine = malloc((size_t)(out->n_vertices + 1) * sizeof *mine);
  out->owner = malloc((size_t)(out->n_vertices + 1) * sizeof *out->owner);
  bool have = mine && out->owner;
  osla_err err = osla_agree(t, have ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "owners of vertices"));
  for (int64_t i = 0; err == OSLA_OK && i < out->n_vertices; i++)
    mine[i] = osla_transport_rank(t);
  charge_pass(out->n_vertices);
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
  osla_err err = mesh_list_corners(out, &corner, &out->n_vertices);
  if (err == OSLA_OK) err = directory_make(t, out->side * out->side * out->side, &d);
  err = osla_agree(t, err);
  if (err == OSLA_OK) err = directory_fill(t, from, &d);
  if (err == OSLA_OK)
    err = osla_forest_create_global(t, d.start, out->n_vertices, NULL, corner, &wanted);
  if (err == OSLA_OK) err = fetch_vertices(t, from, wanted, &d, out);
  if (err == OSLA_OK) err = choose_owners(t, wanted, &d, out);
  osla_err destroyed = osla_forest_destroy(&wanted);
  directory_free(&d);
  free(corner);
  return err == OSLA_OK ? destroyed : err;
}

osla_err mesh_migrate(osla_transport *t, const mesh_part *from, mesh_part *out)
{
  *out = (mesh_part){.side = from->side, .target = from->target};
  osla_err err = move_cells(t, from, out);
  if (err == OSLA_OK) err = move_vertices(t, from, out);
  if (err != OSLA_OK) mesh_part_free(out);
  return err;
}
