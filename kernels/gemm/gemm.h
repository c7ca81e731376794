/* Data structures and functions of the distributed multiplication (internal). README.md lists the
 * files.
 *
 * Both operands are described in the same way, by an `outer` axis (the rows of op(A), the columns
 * of op(B)) and an `inner` axis (k). On the outer axis a rank needs the indices of its part of C.
 * They consist of a few `pieces`, each of which is contiguous on one process. The inner axis is cut
 * into `segments`, each contiguous on one process of A and on one process of B. A task multiplies
 * one or more segments that are on the same processes.
 *
 * An operand is a `panel` if k runs along the columns of its matrix. Then segments are whole local
 * columns, which one get can transfer. Otherwise it is a `strip`: segments are ranges of rows, and
 * only a whole local block is contiguous. So all k of a process are loaded at once if memory
 * allows. */
#ifndef OSLA_GEMM_INTERNAL_H
#define OSLA_GEMM_INTERNAL_H

#include "kernels/common/local_view.h"
#include "osla_gemm.h"
#include "osla_gemm_ablation.h"
#include "src/device/device.h"

#include <stdio.h>

/* One dimension of a part of a matrix: index i of the part is index first + i of the matrix. */
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
/* Local index on process iproc of the first of its indices that are >= i. */
static inline int64_t axis_below(const gemm_axis *x, int64_t i, int iproc)
{
  return osla_index_count(x->first + i, x->nb, iproc, x->nprocs);
}
/* Returns how many indices of the axis process iproc owns. */
static inline int64_t axis_owned(const gemm_axis *x, int iproc)
{
  return axis_below(x, x->n, iproc) - axis_below(x, 0, iproc);
}
/* Largest number of indices on one process. */
static inline int64_t axis_largest(const gemm_axis *x)
{
  int64_t most = 0;
  for (int i = 0; i < x->nprocs; i++) {
    int64_t count = axis_owned(x, i);
    if (count > most) most = count;
  }
  return most;
}

/* `n` process rows (columns) of the grid of C: first, first + step, ... */
typedef struct gemm_procs {
  int n, first, step;
} gemm_procs;

/* This rank's part of C, or a private array that replaces it (gemm_split.c). */
typedef struct gemm_target {
  gemm_axis rows_of, cols_of;
  int prow;    /* process row of this rank */
  int pcol;    /* process column of this rank */
  int64_t row; /* local row of the part's first element in the distributed array */
  int64_t col; /* local column of the part's first element in the distributed array */
  /* process rows and columns whose elements of C this rank computes: its own, or those of its group
   * (gemm_layers.c) */
  gemm_procs prows, pcols;
  int64_t rows; /* number of rows that this rank computes */
  int64_t cols; /* number of columns that this rank computes */
  /* this rank's first element of C; for a triangular C, the local array of its matrix */
  unsigned char *at;
  int64_t ld; /* leading dimension; for a triangular C, an upper bound for all its columns */
  /* the matrix of C if it is triangular, otherwise NULL; its block columns have different leading
   * dimensions */
  const osla_matrix *triangular;
} gemm_target;

/* The rows (columns) that this rank computes and that one process row (column) of C owns. */
typedef struct gemm_share {
  int64_t at;      /* number of these rows (columns) in process rows (columns) of lower index */
  int64_t size;    /* number of rows (columns) */
  int64_t n_below; /* number of pieces of the operand before those of this share */
} gemm_share;

/* Elements [at, at + size) of the local part of C correspond to local indices [local, local + size)
 * of the outer axis on one process. No piece has elements of two shares. */
typedef struct gemm_piece {
  int64_t at, size, local;
  int group;    /* index of the piece's process in gemm_operand.groups */
  int64_t base; /* offset of the piece in a load's buffer, in elements; used for strips */
} gemm_piece;

/* All pieces that lie on one process of the outer axis: local indices from lo to below hi. */
typedef struct gemm_group {
  int owner;
  int64_t lo, hi;
  /* offset of the group in a load's buffer, in elements divided by the panel width; used for
   * panels */
  int64_t base;
} gemm_group;

/* The indices k that this rank multiplies and that one process of an operand's inner axis owns. On
 * that process their local indices are at least lo and less than hi. If lo == hi, there are
 * none. */
typedef struct gemm_owner {
  int64_t lo, hi;
  int turn; /* position, from 0, at which this rank visits the process */
} gemm_owner;

/* Contents of one buffer: local indices [lo, hi) of the inner axis on process `owner` (strips), or
 * the segments of one task (panels). */
typedef struct gemm_load {
  int64_t task; /* first task that needs this load */
  int owner;
  int64_t lo, hi;
} gemm_load;

/* Ranks of this node that need the same loads. Each load is transferred by one of them. */
typedef struct gemm_sharers {
  int n;              /* number of sharers, including this rank */
  int me;             /* index of this rank among the sharers */
  int *ranks;         /* [n] transport ranks of the sharers */
  unsigned char **at; /* [n] addresses of the sharers' buffers */
  unsigned char *own; /* this rank's buffers; used if no loads are shared */
} gemm_sharers;

typedef struct gemm_operand {
  local_view v;
  osla_trans trans;
  bool panel;
  gemm_axis outer, inner;
  gemm_share *shares; /* [n_shares] one for each process row (column) of target.prows (pcols) */
  gemm_piece *pieces;
  gemm_group *groups;
  int n_shares;
  int64_t n_pieces;
  int n_groups;
  /* true if the rows (columns) that this rank needs for a process row (column) of C are always
   * contiguous in the memory of one process, so that no member of `shares` has two pieces */
  bool contiguous;
  gemm_owner *owners; /* [inner.nprocs] the indices k of each process of the inner axis */
  bool *far;          /* [inner.nprocs] true if this rank must transfer the data of this process */
  /* [inner.nprocs] true if the task order treats data of this process as data of another node */
  bool *outside;
  bool any_far;
  bool whole;       /* strips: whether one load contains all k of a process */
  bool may_pack;    /* true if memory allows packing this operand */
  gemm_load *loads; /* [n_loads] loads, ordered by the first task that needs them */
  int64_t n_loads;
  uint64_t load_bytes;   /* bytes of the buffer of one load */
  uint64_t packed_bytes; /* bytes of the buffer for packing */
  gemm_sharers sharers;
} gemm_operand;

enum { GEMM_A, GEMM_B };

/* Consecutive indices of k: `size` indices from local index local[x] on process owner[x] of the
 * inner axis of operand x. */
typedef struct gemm_segment {
  int64_t start, size;
  int owner[2];
  int64_t local[2];
} gemm_segment;

typedef struct gemm_task {
  int64_t first; /* index of the first segment that the task multiplies */
  int64_t count; /* number of consecutive segments that the task multiplies */
  int64_t width; /* number of indices k in these segments */
  /* index in operand.loads for A and for B; -1: the operand is read in place */
  int64_t load[2];
  bool direct[2]; /* true if one local product can read the operand without packing */
} gemm_task;

/* The layers of a product (gemm_layers.c). The group of a rank consists of the ranks of `rows` x
 * `cols` positions of the grid of C; each rank of the group is in another layer. */
typedef struct gemm_layers {
  const osla_grid *grid; /* grid of C */
  int n;                 /* number of layers: rows x cols; 1: no layers */
  int rows, cols;        /* number of process rows and columns of a group */
  int row_step;          /* distance between the process rows of a group */
  int col_step;          /* distance between the process columns of a group */
  int me;                /* layer of this rank */
  int64_t k;             /* indices of k that are divided among the layers */
  osla_segment *sums;    /* partial sums that this rank receives */
  osla_posted *posted;   /* [n] partial sums that this rank sends */
} gemm_layers;

typedef struct gemm_work {
  const char *call; /* name of the public function that the user called */
  osla_transport *t;
  osla_grid *grid; /* grid of C */
  osla_dtype dtype;
  size_t element;
  gemm_operand x[2];
  gemm_target c;
  osla_gemm_options options;
  osla_gemm_ablation ablation;
  gemm_layers layers;
  /* with layers, bytes of the partial sums of C that the rank with most of them keeps; 0 without
   * layers */
  uint64_t sum_bytes;
  /* This rank multiplies the indices k at positions from k_from to below k_to of an order of all k
   * (osli_gemm_layers_order). Without layers, the position of an index is the index itself. k_from
   * is 0 unless k is divided (gemm_split.c, gemm_layers.c). */
  int64_t k_from, k_to;
  int64_t width; /* width of the widest panel */
  bool limited;  /* true if no task may be wider than `width` */
  /* number of the owner with which this rank's order of owners begins: process row + process
   * column */
  int diagonal;
  bool sharing;        /* true if ranks share loads */
  osla_segment *store; /* buffers that other ranks of the node read */
  /* triangle of C that is computed: an osla_uplo, or a negative value for all of C */
  int triangle;
  bool hermitian; /* with a triangle: true if the diagonal of C is real */
  gemm_segment *segments;
  gemm_task *tasks;
  int64_t n_segments, n_tasks;
  unsigned char *private; /* private C of gemm_split.c, partial sums of gemm_layers.c */
  /* square at the diagonal of C in device memory, which gemm_triangle.c uses; NULL if C lies in
   * host memory */
  unsigned char *square;
  struct gemm_source *sources; /* [2] state of the run (gemm_run.c) */
} gemm_work;

/* Range number `i` if k indices are divided into n ranges: indices [*from, *to). */
static inline void gemm_range(int64_t k, int i, int n, int64_t *from, int64_t *to)
{
  *from = k / n * i + k % n * i / n;
  *to = k / n * (i + 1) + k % n * (i + 1) / n;
}

/* Returns the error MEM after osli_alloc_like(like, bytes) has returned NULL. The text names the
 * call and the purpose of the memory. */
static inline osla_err gemm_lacks(const gemm_work *w, const void *like, size_t bytes,
                                  const char *purpose)
{
  char text[96];
  (void)snprintf(text, sizeof text, "%s, %s", w->call, purpose);
  return osli_alloc_like_failed(like, bytes, text);
}

/* Number of load buffers of an operand: one for the load in use and one for the next load. */
static inline int gemm_n_slots(const gemm_work *w)
{
  return w->ablation.blocking ? 1 : 2;
}

/* Number of local rows or columns of C that the pieces cover. */
static inline int64_t gemm_outer_count(const gemm_operand *x)
{
  const gemm_piece *last = x->pieces + x->n_pieces - 1;
  return x->n_pieces > 0 ? last->at + last->size : 0;
}

/* Transport rank that has the data of piece group `group` for segments of inner process `owner`. */
static inline int gemm_rank(const gemm_operand *x, int group, int owner)
{
  int outer = x->groups[group].owner;
  return x->panel ? rank_at(&x->v, outer, owner) : rank_at(&x->v, owner, outer);
}

/* Leading dimension in a load buffer of a rectangle with `rows` rows that are loaded from `rank`.
 * Usually it is the leading dimension of the array of `rank`, so that one get transfers the whole
 * rectangle. If most of the data that this get would transfer lie between the columns of the
 * rectangle, it is `rows`, and each column is transferred by a get of its own. */
static inline int64_t gemm_buffer_ld(const gemm_operand *x, int rank, int64_t rows)
{
  int64_t lld = osla_matrix_lld(x->v.matrix, rank);
  return rows >= lld / 4 ? lld : rows;
}

/* ---- gemm.c ---- */

/* Computes a product as osla_gemm does, with the same parameters, errors and order of additions,
 * for another public function. Error messages begin with `call`, the name of that function.
 * Collective. */
osla_err osli_gemm_for(const char *call, osla_trans transa, osla_trans transb, osla_complex alpha,
                       osla_part a, osla_part b, osla_complex beta, osla_part c,
                       const osla_gemm_options *options);

/* ---- gemm_operand.c ---- */

/* Returns this rank's part of C. Local. */
gemm_target osli_gemm_target_of(const osla_part *c);

/* Sets up operand `which` of the product (0: A, 1: B), whose elements are op(part). Local.
 * Errors: MEM, ARG (data of other ranks are needed, but only their owners can reach them). */
osla_err osli_gemm_operand_make(gemm_work *w, int which, osla_trans trans, const osla_part *part);
/* Largest leading dimension of the local arrays that the operand is read from. Local. */
int64_t osli_gemm_operand_ld(const gemm_operand *x);
void osli_gemm_operand_free(gemm_operand *x);

/* ---- gemm_load.c ---- */

/* Called for each get of a load: `bytes` bytes from offset `offset` of a rank's local array go to
 * offset `to` of the buffer. */
typedef osla_err gemm_get(void *arg, int rank, size_t offset, size_t to, size_t bytes);
osla_err osli_gemm_load_walk(const gemm_work *w, int which, const gemm_load *load, gemm_get *visit,
                             void *arg);

/* ---- gemm_plan.c ---- */

/* Makes the task list of a product whose operands, target and options are set. Local. */
osla_err osli_gemm_plan_make(gemm_work *w);
/* Frees the plan, the operands and the memory of the run. */
void osli_gemm_plan_free(gemm_work *w);

/* ---- gemm_run.c ---- */

/* Allocates all memory that the run needs. Local. Errors: MEM. */
osla_err osli_gemm_run_open(gemm_work *w);
void osli_gemm_run_close(gemm_work *w);

/* Runs all tasks: c := alpha op(A) op(B) + beta c. Local, one-sided. Errors: MPI. */
osla_err osli_gemm_run(const gemm_work *w, osla_complex alpha, osla_complex beta);

/* Floating-point operations of a product of rows x k by k x cols elements. */
static inline double gemm_flops(const gemm_work *w, int64_t rows, int64_t cols, int64_t k)
{
  /* operations of one multiplication and one addition */
  double one = w->dtype == OSLA_FLOAT || w->dtype == OSLA_DOUBLE ? 2 : 8;
  return one * (double)rows * (double)cols * (double)k;
}

/* ---- gemm_triangle.c ---- */

/* An operand in the form in which BLAS takes it. */
typedef struct gemm_array {
  osla_trans trans;
  const unsigned char *at;
  int64_t ld;
} gemm_array;

/* Allocates w->square if C lies on a device and only one triangle of C is computed. Local. Errors:
 * MEM. */
osla_err osli_gemm_triangle_allocate(gemm_work *w);
/* Computes the local product of a task for one triangle of C. Local. */
osla_err osli_gemm_triangle(const gemm_work *w, osla_complex alpha, gemm_array a, gemm_array b,
                            int64_t k, osla_complex beta);

/* ---- gemm_split.c ---- */

/* True if k is split over the ranks: C is so small that too few ranks own a part of it, and all
 * ranks can read A and B. The result is the same on all ranks. Local. */
bool osli_gemm_is_split(const osla_part *a, const osla_part *b, const osla_part *c, int64_t k,
                        const osla_gemm_options *options);
/* Prepares a split product: the target becomes a private array of C's size, and the range of k
 * becomes this rank's share of k. Called before the plan is made. Local. */
void osli_gemm_split_assign(gemm_work *w, const osla_part *c);
/* Allocates the private array. Local. Errors: MEM. */
osla_err osli_gemm_split_allocate(gemm_work *w);
/* Runs a split product: C := alpha op(A) op(B) + beta C. Collective; fails on all ranks together.
 * Errors: MPI. */
osla_err osli_gemm_split_run(gemm_work *w, osla_complex alpha, osla_complex beta,
                             const osla_part *c);

/* ---- gemm_layers.c ---- */

/* Checks the option `layers` of a product. `is_whole` is true if all of C is computed. Local.
 * Errors: ARG, MEM (options->memory does not hold the partial sums), UNSUPPORTED. */
osla_err osli_gemm_layers_check(const char *call, const osla_part *c, bool is_whole,
                                const osla_gemm_options *options);
/* Sets w->layers if the caller requested layers. The result is the same on all ranks, except for
 * w->layers.me. The target becomes the part of C of this rank's group. Called before the operands
 * are made. Local. */
void osli_gemm_layers_assign(gemm_work *w, const osla_part *c);
/* Returns the inner axis by which the indices k are ordered before layers divide them: first all k
 * that process 0 of the axis owns, then those of process 1, and so on. NULL: k keeps the order of
 * its indices. Local. */
const gemm_axis *osli_gemm_layers_order(const gemm_work *w);
/* With layers, sets the range of k of this rank's layer. Called when the operands are made, before
 * the plan is made. Local. */
void osli_gemm_layers_divide(gemm_work *w);
/* Largest number of bytes of partial sums on a rank. Local. */
uint64_t osli_gemm_layers_bytes(const gemm_work *w, const osla_part *c);
/* Allocates the partial sums that this rank computes. Local. Errors: MEM. */
osla_err osli_gemm_layers_allocate(gemm_work *w);
/* Allocates the partial sums that this rank receives. Collective. Errors, on all ranks together:
 * MEM, MPI. */
osla_err osli_gemm_layers_open(gemm_work *w);
/* Frees the memory of osli_gemm_layers_open and the list of posted transfers. Collective if there
 * are layers. */
void osli_gemm_layers_close(gemm_work *w);

/* Elements of C that the rank of layer `layer` in this rank's group owns: in C if that is this
 * rank, otherwise in this rank's partial sums. *rows and *cols are their numbers of rows and
 * columns. Local. */
operand osli_gemm_layers_target(const gemm_work *w, int layer, int64_t *rows, int64_t *cols);
/* Sends a complete partial sum to its owner, the rank of layer `layer` in this rank's group. Local.
 * Errors: MPI, MEM. */
osla_err osli_gemm_layers_send(const gemm_work *w, int layer);
/* Adds the partial sums of the other layers to this rank's part of C, in the order of the layers,
 * and waits until the partial sums of this rank are sent. Local. Errors: MPI. */
osla_err osli_gemm_layers_add(const gemm_work *w);
/* Adds the partial sums that this rank sends, and the memory for partial sums, to a prediction.
 * Local. */
void osli_gemm_layers_describe(const gemm_work *w, osla_gemm_plan *plan);

#endif
