/* What the multiplication's files share (internal).
 *
 *   gemm.c           contract: checks, dispatch
 *   gemm_operand.c   how the rows of op(A), the columns of op(B) lie for a rank's part of C
 *   gemm_plan.c      the list of tasks, the loads and buffers they need
 *   gemm_load.c      nonblocking gets into buffers, and packing
 *   gemm_sharing.c     loads got once for ranks of a node
 *   gemm_run.c       the run over the list
 *   gemm_triangle.c  the local product of osla_syrk, osla_herk
 *   gemm_split.c     products whose C is too small to feed all ranks
 *
 * Both operands are seen in the same way: an `outer` axis (the rows of op(A), the columns of op(B))
 * and an `inner` axis, k. What this rank needs of the outer axis are the indices of its part of C:
 * a few `pieces`, each contiguous on one process. The inner axis is cut into `segments`, each
 * contiguous on one process of A and of B. A task multiplies one or more segments that lie on the
 * same processes.
 *
 * An operand is a `panel` if k runs along the columns of its matrix: segments are then whole local
 * columns, contiguous for a get. Else it is a `strip`: its rows are cut, and only a whole local
 * block is contiguous; so all of a process's k is loaded at once, if memory allows.
 */
#ifndef OSLA_GEMM_INTERNAL_H
#define OSLA_GEMM_INTERNAL_H

#include "kernels/common/local_view.h"
#include "osla_gemm.h"
#include "osla_gemm_ablation.h"

/* Index i of a part is index first + i of its matrix. */
typedef struct gemm_axis {
  int64_t n, first, nb;
  int nprocs;
} gemm_axis;

static inline int axis_owner(const gemm_axis *x, int64_t i)
{
  return osla_index_owner(x->first + i, x->nb, x->nprocs);
}
static inline int64_t axis_local(const gemm_axis *x, int64_t i)
{
  return osla_index_local(x->first + i, x->nb, x->nprocs);
}
static inline int64_t axis_run(const gemm_axis *x, int64_t i)
{
  return osla_index_run(x->first + i, x->first + x->n, x->nb);
}
/* Local index, on a process, of the first of its indices that is not below i. */
static inline int64_t axis_below(const gemm_axis *x, int64_t i, int iproc)
{
  return osla_index_count(x->first + i, x->nb, iproc, x->nprocs);
}

/* This rank's part of C, or a private array in its place (gemm_split.c). */
typedef struct gemm_target {
  gemm_axis rows_of, cols_of;
  int prow, pcol;     /* coordinates on these axes */
  int64_t row, col;   /* local indices of the first element in the distributed array */
  int64_t rows, cols; /* of the local part */
  unsigned char *at;
  int64_t ld;
} gemm_target;

/* Elements [at, at + size) of the local part of C correspond to local indices [local, local + size)
 * of the outer axis on process `owner` of it. */
typedef struct gemm_piece {
  int64_t at, size, local;
  int group;    /* index of the owner in gemm_operand.groups */
  int64_t base; /* strips: first element in a load's buffer */
} gemm_piece;

/* The pieces of one process of the outer axis: local indices from lo to below hi. */
typedef struct gemm_group {
  int owner;
  int64_t lo, hi;
  int64_t base; /* panels: first element in a load's buffer, for panels of width 1 */
} gemm_group;

/* What one buffer holds at a time: local indices [lo, hi) of the inner axis on process `owner`
 * (strips), or the segments of one task (panels). */
typedef struct gemm_load {
  int64_t task; /* the first that needs it */
  int owner;
  int64_t lo, hi;
} gemm_load;

/* Ranks of my node that need the same loads as I: each load is got by one of them. */
typedef struct gemm_sharers {
  int n, me;          /* with me; my index */
  int *ranks;         /* [n] */
  unsigned char **at; /* [n] their buffers */
  unsigned char *own; /* mine, if none are shared */
} gemm_sharers;

typedef struct gemm_operand {
  local_view v;
  osla_trans trans;
  bool panel;
  gemm_axis outer, inner;
  gemm_piece *pieces;
  gemm_group *groups;
  int64_t n_pieces;
  int n_groups;
  bool *far;     /* [inner.nprocs] must what lies there be loaded? */
  bool *outside; /* [inner.nprocs] for the order: does it count as another node's? */
  bool any_far;
  bool whole;       /* strips: all k of a process is one load */
  bool may_pack;    /* there is memory to pack it */
  gemm_load *loads; /* in the order of the tasks */
  int64_t n_loads;
  uint64_t load_bytes;   /* of the buffer of one load */
  uint64_t packed_bytes; /* of the buffer for packing */
  gemm_sharers sharers;
} gemm_operand;

enum { GEMM_A, GEMM_B };

/* Indices of k: `size` from local index local[x] on process owner[x] of the inner axis. */
typedef struct gemm_segment {
  int64_t start, size;
  int owner[2];
  int64_t local[2];
} gemm_segment;

typedef struct gemm_task {
  int64_t first, count; /* segments */
  int64_t width;        /* their k */
  int64_t load[2];      /* index in operand.loads; -1: in place */
  bool direct[2];       /* one product can read it as it lies (else: packed first) */
} gemm_task;

typedef struct gemm_work {
  osla_transport *t;
  osla_grid *grid; /* of C */
  osla_dtype dtype;
  size_t element;
  gemm_operand x[2];
  gemm_target c;
  osla_gemm_options options;
  osla_gemm_ablation ablation;
  int64_t k_from, k_to; /* the k that this rank multiplies; all, but for gemm_split.c */
  int64_t width;        /* of the widest panel */
  bool limited;         /* must every task keep to that width? */
  int diagonal;         /* where this rank begins: process row + column */
  bool sharing;         /* do ranks look for mates? */
  osla_segment *store;  /* buffers that mates read */
  int triangle;         /* of C: -1 both, else an osla_uplo */
  bool hermitian;       /* with a triangle: C's diagonal is real */
  gemm_segment *segments;
  gemm_task *tasks;
  int64_t n_segments, n_tasks;
  unsigned char *private;      /* gemm_split.c's C */
  struct gemm_source *sources; /* [2] memory of the run (gemm_run.c) */
} gemm_work;

/* Buffers of an operand on a rank: for the load in use, and for the next. */
static inline int gemm_n_slots(const gemm_work *w)
{
  return w->ablation.blocking ? 1 : 2;
}

/* Local indices of C that the pieces make up. */
static inline int64_t gemm_outer_count(const gemm_operand *x)
{
  const gemm_piece *last = x->pieces + x->n_pieces - 1;
  return x->n_pieces > 0 ? last->at + last->size : 0;
}

/* The rank that holds piece `group` of segments on inner process `owner`. */
static inline int gemm_rank(const gemm_operand *x, int group, int owner)
{
  int outer = x->groups[group].owner;
  return x->panel ? rank_at(&x->v, outer, owner) : rank_at(&x->v, owner, outer);
}

/* Leading dimension in a buffer of a rectangle of `rows` rows from that rank: its own, so that one
 * get brings the whole span; or dense, a get for each column, if the span is mostly waste. */
static inline int64_t gemm_buffer_ld(const gemm_operand *x, int rank, int64_t rows)
{
  int64_t lld = osla_matrix_lld(x->v.matrix, rank);
  return rows >= lld / 4 ? lld : rows;
}

/* ---- gemm_operand.c ---- */

/* The part of C on this rank. Local. */
gemm_target osli_gemm_target_of(const osla_part *c);

/* Fills x for an operand of the product. Local. Errors: MEM. */
osla_err osli_gemm_operand_make(gemm_operand *x, osla_trans trans, bool is_a, const osla_part *part,
                                const gemm_target *c, const osla_gemm_ablation *ablation);
/* The largest leading dimension from which it is read. Local. */
int64_t osli_gemm_operand_ld(const gemm_operand *x);
void osli_gemm_operand_free(gemm_operand *x);

/* ---- gemm_load.c ---- */

/* A get of a load: `bytes` from `offset` of a rank's local array to `to` of the buffer. */
typedef osla_err gemm_get(void *arg, int rank, size_t offset, size_t to, size_t bytes);
osla_err osli_gemm_load_walk(const gemm_work *w, int which, const gemm_load *load, gemm_get *visit,
                             void *arg);

/* ---- gemm_plan.c ---- */

/* Makes the list of tasks for work whose operands, target and options are set. Local. */
osla_err osli_gemm_plan_make(gemm_work *w);
void osli_gemm_plan_free(gemm_work *w); /* also the operands, and the memory of the run */

/* ---- gemm_run.c ---- */

/* Gets all memory that the run of a plan needs. Local. Errors: MEM. */
osla_err osli_gemm_run_open(gemm_work *w);
void osli_gemm_run_close(gemm_work *w);

/* Runs the list: c := alpha op(A) op(B) + beta c. Local: one-sided. Errors: MPI. */
osla_err osli_gemm_run(const gemm_work *w, osla_complex alpha, osla_complex beta);

/* Floating-point operations of a task, both triangles of C. */
static inline double gemm_flops(const gemm_work *w, const gemm_task *task)
{
  double one = w->dtype == OSLA_FLOAT || w->dtype == OSLA_DOUBLE ? 2 : 8; /* multiply and add */
  return one * (double)w->c.rows * (double)w->c.cols * (double)task->width;
}

/* ---- gemm_triangle.c ---- */

/* An operand as the BLAS gets it. */
typedef struct gemm_array {
  osla_trans trans;
  const unsigned char *at;
  int64_t ld;
} gemm_array;

/* The local product of a task, for one triangle of C. Local. */
osla_err osli_gemm_triangle(const gemm_work *w, osla_complex alpha, gemm_array a, gemm_array b,
                            int64_t k, osla_complex beta);

/* ---- gemm_split.c ---- */

/* Is C so small that too few ranks own a part of it, and can all read A and B? The same on all
 * ranks. Local. */
bool osli_gemm_is_split(const osla_part *a, const osla_part *b, const osla_part *c, int64_t k,
                        const osla_gemm_options *options);
/* Makes a private array of C's size the target, and a share of k the range. Before the plan. */
void osli_gemm_split_assign(gemm_work *w, const osla_part *c);
/* Gets that array. Local. Errors: MEM. */
osla_err osli_gemm_split_allocate(gemm_work *w);
/* Runs such a plan: C := alpha op(A) op(B) + beta C. Collective; fails on all ranks together.
 * Errors: MPI. */
osla_err osli_gemm_split_run(gemm_work *w, osla_complex alpha, osla_complex beta,
                             const osla_part *c);

#endif
