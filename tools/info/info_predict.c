/* Prediction of the memory of a job that is not run, from the memory functions of the kernels. */
#include "osla_chol.h"
#include "osla_gemm.h"
#include "osla_hessian.h"
#include "osla_inverse.h"
#include "osla_lu.h"
#include "osla_solve.h"
#include "tools/info/info.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

enum { NRHS = 64 };

typedef struct row {
  const char *key, *name;
  uint64_t bytes; /* predicted memory of a rank in bytes */
} row;

/* Returns the memory of the drop-in for ScaLAPACK: copies of three operands, but at most what a
 * context caches (doc/scalapack.md). */
static uint64_t drop_in(uint64_t matrix)
{
  const uint64_t most = UINT64_C(1) << 30;
  return matrix < most / 3 ? 3 * matrix : most;
}

/* Returns the memory of the page tables of one rank: the rank maps the matrices of all ranks of its
 * node, with 8 bytes for each page of 4 KiB. */
static uint64_t page_tables(const osla_shape *s, uint64_t matrix)
{
  uint64_t share = matrix / 512;
  return share < UINT64_MAX / (uint64_t)s->per_node ? share * (uint64_t)s->per_node : UINT64_MAX;
}

static uint64_t of_node(const osla_shape *s, uint64_t bytes)
{
  uint64_t all;
  return __builtin_mul_overflow(bytes, (uint64_t)s->per_node, &all) ? UINT64_MAX : all;
}

static void print_rows(const osla_shape *s, const row *rows, int count)
{
  (void)printf("Predicted memory of %d ranks on %d node%s, %d on each: order %" PRId64
               ", double, blocks of %" PRId64 ", grid %d x %d\n\n",
               s->ranks, s->nodes, s->nodes == 1 ? "" : "s", s->per_node, s->n, s->nb, s->nprow,
               s->npcol);
  (void)printf("%-36s %14s %14s\n", "", "per rank", "per node");
  for (int i = 0; i < count; i++)
    (void)printf("%-36s %14s %14s\n", rows[i].name, format_bytes(rows[i].bytes).s,
                 format_bytes(of_node(s, rows[i].bytes)).s);
  (void)printf("\nEach kernel beside its matrices, on the rank that takes most. Not counted: MPI, "
               "the BLAS, programs.\n");
}

static json_t *rows_json(const osla_shape *s, const row *rows, int count)
{
  json_t *root =
    json_pack("{s:i, s:i, s:I, s:I, s:[i,i]}", "ranks", s->ranks, "per_node", s->per_node, "n",
              (json_int_t)s->n, "nb", (json_int_t)s->nb, "grid", s->nprow, s->npcol);
  for (int i = 0; i < count; i++)
    (void)json_object_set_new(root, rows[i].key,
                              json_pack("{s:I, s:I}", "rank_bytes", (json_int_t)rows[i].bytes,
                                        "node_bytes", (json_int_t)of_node(s, rows[i].bytes)));
  return root;
}

static int show_prediction(const osla_shape *s, const char *json_file)
{
  uint64_t matrix = osla_shape_matrix(s, s->n, s->nb);
  const row rows[] = {
    {"matrix", "matrix", matrix},
    {"triangle", "symmetric matrix, lower triangle", osla_shape_triangle(s)},
    {"gemm", "gemm, C := A B", osla_gemm_memory(s)},
    {"lu", "LU", osla_lu_memory(s)},
    {"cholesky", "Cholesky, full matrix", osla_chol_memory(s)},
    {"cholesky_triangle", "Cholesky, lower triangle", osla_chol_triangle_memory(s)},
    {"inverse", "inverse of Cholesky's factor", osla_potri_memory(s)},
    {"inverse_lu", "inverse of LU's factors", osla_getri_memory(s)},
    {"solve", "solve, 64 right-hand sides", osla_getrs_memory(s, NRHS)},
    {"accumulator", "accumulator", osla_hessian_memory(s)},
    {"drop_in", "drop-in, copies that it keeps", drop_in(matrix)},
    {"page_tables", "page tables of a matrix (4 KiB)", page_tables(s, matrix)},
  };
  enum { COUNT = sizeof rows / sizeof *rows };
  if (command_rank() == 0) print_rows(s, rows, COUNT);
  if (!json_file) return OSLA_EXIT_OK;
  json_t *root = command_rank() == 0 ? rows_json(s, rows, COUNT) : NULL;
  int status = command_write_json("info", json_file, root);
  json_decref(root);
  return status;
}

int info_predict(const info_job *job, const char *json_file)
{
  osla_shape shape;
  if (job->ranks == INFO_UNSET || job->per_node == INFO_UNSET || job->n == INFO_UNSET)
    return command_error("info", "--predict needs --ranks, --per-node and --n");
  if (job->ranks > INT_MAX || job->ranks < 1)
    return command_error("info", "--ranks: %lld is not from 1 to %d", job->ranks, INT_MAX);
  if (job->per_node > job->ranks || job->per_node < 1)
    return command_error("info", "--per-node: %lld is not from 1 to --ranks, %lld", job->per_node,
                         job->ranks);
  osla_err err =
    osla_shape_make((int)job->ranks, (int)job->per_node, job->n, job->nb, OSLA_DOUBLE, &shape);
  return err == OSLA_OK ? show_prediction(&shape, json_file) : command_fail("info", err);
}
