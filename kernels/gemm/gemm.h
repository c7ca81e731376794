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

/* One dimension of a part of a matrix: index i of the part, for 0 <= i < n, is index first + i of
 * the matrix, which is distributed over nprocs processes in blocks of nb indices. */
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
/* Returns the largest number of indices of the part that one process owns. */
static inline int64_t axis_largest(const gemm_axis *x)
{
  int64_t most = 0;
  for (int i = 0; i < x->nprocs; i++) {
    int64_t count = axis_below(x, x->n, i) - axis_below(x, 0, i);
    if (count > most) most = count;
  }
  return most;
}

/* `n` process rows (or columns) of the grid of C: first, first + step, first + 2 step and so on. */
typedef struct gemm_procs {
  int n, first, step;
} gemm_procs;

/* The elements of C that this rank computes. With layers they also contain elements of other ranks
 * (gemm_layers.c). In a split product they are a private array of C's size (gemm_split.c). */
typedef struct gemm_target {
  gemm_axis rows_of, cols_of;
  int prow;    /* process row of this rank */
  int pcol;    /* process column of this rank */
  int64_t row; /* number of this rank's local rows of the matrix that lie above the part */
  int64_t col; /* number of this rank's local columns of the matrix that lie before the part */
  /* process rows and columns whose elements of C this rank computes: without layers its own process
   * row and column, with layers those of its group of ranks */
  gemm_procs prows, pcols;
  int64_t rows; /* number of rows that this rank computes */
  int64_t cols; /* number of columns that this rank computes */
  /* address of the first element of C that this rank owns; for a triangular C, address of this
   * rank's local array */
  unsigned char *at;
  /* leading dimension of C; for a triangular C, an upper bound of those of its block columns */
  int64_t ld;
  /* the matrix of C if it is triangular, otherwise NULL; its block columns have different leading
   * dimensions */
  const osla_matrix *triangular;
} gemm_target;

/* A share: the rows (columns) of C that this rank computes and that one process row (column) of the
 * grid of C owns. Without layers, A and B have one share each; with layers, A has a share for each
 * process row, and B for each process column, of this rank's group. */
typedef struct gemm_share {
  int64_t at;      /* number of rows (columns) in all earlier shares */
  int64_t size;    /* number of rows (columns) */
  int64_t n_below; /* number of pieces in all earlier shares of the operand */
} gemm_share;

/* A piece: consecutive rows (columns) of one share that are also consecutive in the local array of
 * one process of the operand's outer axis. Rows (columns) [at, at + size) of those that this rank
 * computes have local indices [local, local + size) on that process. */
typedef struct gemm_piece {
  int64_t at, size, local;
  int group;    /* index in gemm_operand.groups of the group to which the piece belongs */
  int64_t base; /* offset of the piece in a load's buffer, in elements; used for strips */
} gemm_piece;

/* A group of pieces (not of ranks): all pieces on process `owner` of the outer axis. Their local
 * indices are in [lo, hi). */
typedef struct gemm_group {
  int owner;
  int64_t lo, hi;
  /* offset of the group in a load's buffer, in elements divided by the panel width; used for
   * panels */
  int64_t base;
} gemm_group;

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
  bool contiguous; /* true if no share has more than one piece */
  bool *far;       /* [inner.nprocs] whether data of this process must be loaded */
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

/* The indices [start, start + size) of k. In operand x, which is GEMM_A or GEMM_B, they have local
 * indices from local[x] on process owner[x] of the inner axis. */
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

/* The layers of a product (gemm_layers.c). The process grid of C is cut into groups of `rows` x
 * `cols` ranks, and k is divided into n = rows x cols ranges, one for each layer. Each rank of a
 * group is in another layer. For each element of C of its group, a rank computes a partial sum: the
 * terms whose k is in the range of its layer. */
typedef struct gemm_layers {
  const osla_grid *grid; /* grid of C */
  int n;                 /* number of layers; 1 if a product has no layers */
  int rows, cols;        /* number of process rows and columns of a group */
  int row_step;          /* difference between the indices of successive process rows of a group */
  /* difference between the indices of successive process columns of a group */
  int col_step;
  int me;             /* layer of this rank */
  int64_t k;          /* number of indices of k, which are divided among the layers */
  osla_segment *sums; /* memory in which this rank receives partial sums of its elements of C */
  /* [n] element i: transfer of partial sums to the rank of layer i in this rank's group */
  osla_posted *posted;
} gemm_layers;

typedef struct gemm_work {
  osla_transport *t;
  osla_grid *grid; /* grid of C */
  osla_dtype dtype;
  size_t element;
  gemm_operand x[2];
  gemm_target c;
  osla_gemm_options options;
  osla_gemm_ablation ablation;
  gemm_layers layers;
  uint64_t sum_bytes; /* largest number of bytes of partial sums on a rank */
  /* first index of k that this rank multiplies; 0 unless k is divided (gemm_split.c,
   * gemm_layers.c) */
  int64_t k_from;
  int64_t k_to;  /* index behind the last index of k that this rank multiplies */
  int64_t width; /* width of the widest panel */
  bool limited;  /* true if no task may be wider than `width` */
  /* position, in the order in which processes own k, of the process whose data this rank multiplies
   * first. Without layers and shared loads: process row + process column */
  int diagonal;
  bool sharing;        /* true if ranks share loads */
  osla_segment *store; /* buffers that other ranks of the node read */
  /* triangle of C that is computed: an osla_uplo, or a negative value for all of C */
  int triangle;
  bool hermitian; /* true if only a triangle of C is computed and the diagonal of C is real */
  gemm_segment *segments;
  gemm_task *tasks;
  int64_t n_segments, n_tasks;
  /* private C of gemm_split.c, or the partial sums that this rank computes for other ranks of its
   * group (gemm_layers.c) */
  unsigned char *private;
  /* square at the diagonal of C in device memory, which gemm_triangle.c uses; NULL if C lies in
   * host memory */
  unsigned char *square;
  struct gemm_source *sources; /* [2] state of A and of B while tasks run (gemm_run.c) */
} gemm_work;

/* Divides the indices 0 to k - 1 into n ranges of almost equal length, and sets *from and *to to
 * range number i, counted from 0: indices [*from, *to). */
static inline void gemm_range(int64_t k, int i, int n, int64_t *from, int64_t *to)
{
  *from = k / n * i + k % n * i / n;
  *to = k / n * (i + 1) + k % n * (i + 1) / n;
}

/* Number of load buffers of an operand: one for the load in use and one for the next load. */
static inline int gemm_n_slots(const gemm_work *w)
{
  return w->ablation.blocking ? 1 : 2;
}

/* Returns the number of rows (columns) of C in all pieces of the operand. */
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

/* ---- gemm_operand.c ---- */

/* Returns this rank's part of C. Local. */
gemm_target osli_gemm_target_of(const osla_part *c);

/* Sets up an operand of the product. Local. Errors: MEM, ARG (data of other ranks are needed, but
 * only their owners can reach them). */
osla_err osli_gemm_operand_make(gemm_operand *x, osla_trans trans, bool is_a, const osla_part *part,
                                const gemm_target *c, const osla_gemm_ablation *ablation);
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

/* Returns the number of floating-point operations that multiply a rows x k matrix by a k x cols
 * matrix. */
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

/* Checks the option `layers` of a product. `is_whole` is true if all of C is computed, and false if
 * only a triangle of C is. Local. Errors: ARG, MEM (partial sums leave nothing of options->memory),
 * UNSUPPORTED. */
osla_err osli_gemm_layers_check(const char *call, const osla_part *c, bool is_whole,
                                const osla_gemm_options *options);
/* If the caller requested layers, sets w->layers, w->c to the elements of C of this rank's group,
 * and w->k_from and w->k_to to the range of this rank's layer. The number of layers and the shape
 * of the groups are equal on all ranks. Called before the plan is made. Local. */
void osli_gemm_layers_assign(gemm_work *w, const osla_part *c);
/* Returns the largest number of bytes that a rank needs for partial sums, those that it computes
 * for other ranks and those that it receives; 0 without layers. Local. */
uint64_t osli_gemm_layers_bytes(const gemm_work *w, const osla_part *c);
/* Allocates the memory in which this rank computes partial sums for other ranks. Local. Errors:
 * MEM. */
osla_err osli_gemm_layers_allocate(gemm_work *w);
/* Allocates the memory in which this rank receives partial sums from other ranks. Collective.
 * Errors, on all ranks together: MEM, MPI. */
osla_err osli_gemm_layers_open(gemm_work *w);
/* Frees the memory of osli_gemm_layers_open and the list of posted transfers. Collective if there
 * are layers. */
void osli_gemm_layers_close(gemm_work *w);

/* Returns where this rank computes for the elements of C that the rank of layer `layer` in this
 * rank's group owns: in C for this rank's own elements, in the memory for partial sums for those of
 * another rank. Sets *rows and *cols to the numbers of their rows and columns. Local. */
operand osli_gemm_layers_target(const gemm_work *w, int layer, int64_t *rows, int64_t *cols);
/* Begins to send complete partial sums to the rank that owns their elements of C: the rank of layer
 * `layer` in this rank's group. Local. Errors: MPI, MEM. */
osla_err osli_gemm_layers_send(const gemm_work *w, int layer);
/* Adds the partial sums that the other ranks of the group have computed to this rank's elements of
 * C, in ascending order of their layers. Then waits until this rank's partial sums have been sent.
 * Local. Errors: MPI. */
osla_err osli_gemm_layers_add(const gemm_work *w);
/* Adds to a prediction the bytes of the partial sums that this rank sends, and of the memory that
 * it needs for partial sums. Local. */
void osli_gemm_layers_describe(const gemm_work *w, osla_gemm_plan *plan);

#endif
