/* Migration of a mesh by MPI_Alltoallv, as a program without a library would write it. See
 * mesh_migrate.h.
 *
 * Cells are sent to their new ranks. Then a directory finds the vertices; it is distributed in
 * even blocks of the vertex numbers. A rank that has a vertex writes its rank and the vertex's
 * index into the directory. A rank whose cells have the vertex as a corner asks for these two
 * numbers; the lowest rank that asks becomes the owner. Then each rank asks the ranks that the
 * answers name for the vertices. There are six exchanges of values and three of counts. */
#include "bench/mesh_migrate.h"
#include "osla_sparse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Items that this rank exchanges with each rank: counts and first positions of sent items (out)
 * and of received items (in). */
typedef struct exchange {
  MPI_Comm comm;
  int ranks;
  /* [ranks + 1] elements each; one allocation, which starts at out */
  int *out, *out_start, *in, *in_start;
} exchange;

typedef struct vertex_name {
  int64_t rank, index, owner;
} vertex_name;

static void *allocate(osla_transport *t, int64_t count, size_t size)
{
  void *memory = calloc((size_t)(count + 1), size);
  if (!memory)
    osla_transport_abort(t, osla_error_set(OSLA_ERR_MEM, "%" PRId64 " items of a mesh", count));
  return memory;
}

static exchange exchange_make(osla_transport *t)
{
  exchange x = {.comm = osla_transport_comm(t), .ranks = osla_transport_size(t)};
  x.out = allocate(t, 4 * ((int64_t)x.ranks + 1), sizeof *x.out);
  x.out_start = x.out + x.ranks + 1;
  x.in = x.out_start + x.ranks + 1;
  x.in_start = x.in + x.ranks + 1;
  return x;
}

/* Exchanges the counts x->out, and computes the first positions of sent and received items. */
static osla_err exchange_count(exchange *x)
{
  OSLA_MPI(MPI_Alltoall(x->out, 1, MPI_INT, x->in, 1, MPI_INT, x->comm));
  for (int r = 0; r < x->ranks; r++) {
    x->out_start[r + 1] = x->out_start[r] + x->out[r];
    x->in_start[r + 1] = x->in_start[r] + x->in[r];
  }
  return OSLA_OK;
}

static osla_err exchange_send(const exchange *x, size_t bytes, const void *from, void *to)
{
  MPI_Datatype item;
  OSLA_MPI(MPI_Type_contiguous((int)bytes, MPI_BYTE, &item));
  OSLA_MPI(MPI_Type_commit(&item));
  OSLA_MPI(MPI_Alltoallv(from, x->out, x->out_start, item, to, x->in, x->in_start, item, x->comm));
  OSLA_MPI(MPI_Type_free(&item));
  return OSLA_OK;
}

/* Sends an answer for each item that was received. */
static osla_err exchange_answer(const exchange *x, size_t bytes, const void *from, void *to)
{
  const exchange back = {x->comm, x->ranks, x->in, x->in_start, x->out, x->out_start};
  return exchange_send(&back, bytes, from, to);
}

/* Returns an array `next`: next[rank]++ is the position of the next item for a rank among the
 * packed items. */
static int *first_positions(osla_transport *t, const exchange *x)
{
  int *next = allocate(t, x->ranks, sizeof *next);
  memcpy(next, x->out_start, (size_t)x->ranks * sizeof *next);
  return next;
}

static osla_err move_cells(osla_transport *t, const mesh_part *from, mesh_part *out)
{
  exchange x = exchange_make(t);
  for (int64_t i = 0; i < from->n_cells; i++)
    x.out[mesh_final_rank(from, from->cell[i].number, x.ranks)]++;
  osla_err err = exchange_count(&x);
  int *next = first_positions(t, &x);
  mesh_cell *packed = allocate(t, from->n_cells, sizeof *packed);
  for (int64_t i = 0; err == OSLA_OK && i < from->n_cells; i++)
    packed[next[mesh_final_rank(from, from->cell[i].number, x.ranks)]++] = from->cell[i];
  out->n_cells = x.in_start[x.ranks];
  out->cell = allocate(t, out->n_cells, sizeof *out->cell);
  if (err == OSLA_OK) err = exchange_send(&x, sizeof *packed, packed, out->cell);
  free(packed);
  free(next);
  free(x.out);
  return err;
}

/* Rank whose block of the directory has entry number `number`; the sizes of blocks differ by one
 * at most. */
static int block_with(const int64_t *start, int ranks, int64_t number)
{
  int r = (int)((double)number / (double)start[ranks] * ranks);
  while (number < start[r])
    r--;
  while (number >= start[r + 1])
    r++;
  return r;
}

/* Writes the rank and index of each vertex into the directory. This rank receives the entries of
 * its block. */
static osla_err fill_directory(osla_transport *t, const mesh_part *from, const int64_t *start,
                               vertex_name *mine)
{
  typedef struct entry {
    int64_t number, index;
  } entry;
  exchange x = exchange_make(t);
  for (int64_t i = 0; i < from->n_vertices; i++)
    x.out[block_with(start, x.ranks, from->vertex[i].number)]++;
  osla_err err = exchange_count(&x);
  int *next = first_positions(t, &x);
  entry *sent = allocate(t, from->n_vertices, sizeof *sent);
  entry *known = allocate(t, x.in_start[x.ranks], sizeof *known);
  for (int64_t i = 0; err == OSLA_OK && i < from->n_vertices; i++) {
    const int64_t number = from->vertex[i].number;
    sent[next[block_with(start, x.ranks, number)]++] = (entry){number, i};
  }
  if (err == OSLA_OK) err = exchange_send(&x, sizeof *sent, sent, known);
  for (int r = 0; err == OSLA_OK && r < x.ranks; r++)
    for (int i = x.in_start[r]; i < x.in_start[r + 1]; i++)
      mine[known[i].number - start[osla_transport_rank(t)]] =
        (vertex_name){r, known[i].index, x.ranks};
  free(sent);
  free(known);
  free(next);
  free(x.out);
  return err;
}

/* Fetches the directory entries of the corners. The corners are in ascending order, hence sorted by
 * the rank that has their entry. */
static osla_err read_directory(osla_transport *t, const int64_t *start, vertex_name *mine,
                               int64_t n, const int64_t *corner, vertex_name *name)
{
  exchange x = exchange_make(t);
  for (int64_t i = 0; i < n; i++)
    x.out[block_with(start, x.ranks, corner[i])]++;
  osla_err err = exchange_count(&x);
  const int64_t asked = x.in_start[x.ranks], first = start[osla_transport_rank(t)];
  int64_t *number = allocate(t, asked, sizeof *number);
  vertex_name *answer = allocate(t, asked, sizeof *answer);
  if (err == OSLA_OK) err = exchange_send(&x, sizeof *number, corner, number);
  for (int r = 0; err == OSLA_OK && r < x.ranks; r++)
    for (int i = x.in_start[r]; i < x.in_start[r + 1]; i++) {
      vertex_name *v = &mine[number[i] - first];
      if (r < v->owner) v->owner = r;
    }
  for (int64_t i = 0; err == OSLA_OK && i < asked; i++)
    answer[i] = mine[number[i] - first];
  if (err == OSLA_OK) err = exchange_answer(&x, sizeof *answer, answer, name);
  free(number);
  free(answer);
  free(x.out);
  return err;
}

/* Fetches the vertices from the ranks that `name` lists. */
static osla_err fetch_vertices(osla_transport *t, const mesh_part *from, const vertex_name *name,
                               mesh_part *out)
{
  exchange x = exchange_make(t);
  for (int64_t i = 0; i < out->n_vertices; i++)
    x.out[name[i].rank]++;
  osla_err err = exchange_count(&x);
  const int64_t asked = x.in_start[x.ranks];
  int *next = first_positions(t, &x);
  /* position of corner i among the received vertices */
  int *position = allocate(t, out->n_vertices, sizeof *position);
  int64_t *want = allocate(t, out->n_vertices, sizeof *want),
          *index = allocate(t, asked, sizeof *index);
  mesh_vertex *answer = allocate(t, asked, sizeof *answer);
  mesh_vertex *received = allocate(t, out->n_vertices, sizeof *received);
  for (int64_t i = 0; err == OSLA_OK && i < out->n_vertices; i++) {
    position[i] = next[name[i].rank]++;
    want[position[i]] = name[i].index;
  }
  if (err == OSLA_OK) err = exchange_send(&x, sizeof *want, want, index);
  for (int64_t i = 0; err == OSLA_OK && i < asked; i++)
    answer[i] = from->vertex[index[i]];
  if (err == OSLA_OK) err = exchange_answer(&x, sizeof *answer, answer, received);
  for (int64_t i = 0; err == OSLA_OK && i < out->n_vertices; i++) {
    out->vertex[i] = received[position[i]];
    out->owner[i] = name[i].owner;
  }
  free(next);
  free(position);
  free(want);
  free(index);
  free(answer);
  free(received);
  free(x.out);
  return err;
}

static osla_err move_vertices(osla_transport *t, const mesh_part *from, mesh_part *out)
{
  const int ranks = osla_transport_size(t), me = osla_transport_rank(t);
  int64_t *corner = NULL, *start = allocate(t, ranks, sizeof *start);
  osla_even_blocks(from->side * from->side * from->side, ranks, start);
  vertex_name *mine = allocate(t, start[me + 1] - start[me], sizeof *mine);
  osla_err err = mesh_list_corners(out, &corner, &out->n_vertices);
  if (err != OSLA_OK) osla_transport_abort(t, err);
  vertex_name *name = allocate(t, out->n_vertices, sizeof *name);
  out->vertex = allocate(t, out->n_vertices, sizeof *out->vertex);
  out->owner = allocate(t, out->n_vertices, sizeof *out->owner);
  err = fill_directory(t, from, start, mine);
  if (err == OSLA_OK) err = read_directory(t, start, mine, out->n_vertices, corner, name);
  if (err == OSLA_OK) err = fetch_vertices(t, from, name, out);
  free(start);
  free(corner);
  free(mine);
  free(name);
  return err;
}

osla_err mesh_migrate_mpi(osla_transport *t, const mesh_part *from, mesh_part *out)
{
  *out = (mesh_part){.side = from->side, .target = from->target};
  osla_err err = move_cells(t, from, out);
  if (err == OSLA_OK) err = move_vertices(t, from, out);
  if (err != OSLA_OK) mesh_part_free(out);
  return err;
}
