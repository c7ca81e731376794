/* The drop-in for ScaLAPACK: what its routines share (floor 4, internal).
 *
 * libosla_scalapack.so defines some routines of PBLAS and ScaLAPACK under their own names. It
 * stands before the real library (LD_PRELOAD or link order), and hands each call to the function of
 * that name in libosla_scalapack_kernels.so (caller.h), which is everything that this header is of.
 * There a call is either offloaded, or passed on to the real routine, and counted either way. A
 * routine is a short file:
 *
 *   adapt_call call = adapt_call_begin(ADAPT_GEMM, dtype);
 *   if (!offload(&call, ...))                       fills adapt_subs, adapt_call_open, adapt_stage,
 *     ((real_routine *)adapt_call_pass(&call))(...);          osla_..., adapt_unstage
 *   adapt_call_end(&call);
 *
 *   adapt_state.c    switches, counters, callers, depth; the only mutable state
 *   adapt_report.c   the table of OSLA_SCALAPACK_VERBOSE
 *   adapt_context.c  what hangs on a BLACS context: transport, grids, buffers
 *   adapt_call.c     offloading a call or passing it on
 *   adapt_stage.c    copies between the caller's memory and memory that other ranks reach
 *
 * Which calls are offloaded must be the same on all processes of a context: it depends on arguments
 * that PBLAS calls global, and what is local (lld) is agreed upon.
 */
#ifndef OSLA_ADAPT_H
#define OSLA_ADAPT_H

#include "osla_gemm.h"
#include "scalapack_adapt/caller.h"

/* --- routines, reasons, counters (adapt_state.c) --- */

typedef enum adapt_routine {
  ADAPT_GEMM,
  ADAPT_SYRK,
  ADAPT_HERK,
  ADAPT_SYMM,
  ADAPT_HEMM,
  ADAPT_TRMM,
  ADAPT_TRSM,
  ADAPT_GEADD,
  ADAPT_GETRF,
  ADAPT_GETRS,
  ADAPT_GESV,
  ADAPT_POTRF,
  ADAPT_POTRS,
  ADAPT_POSV,
  ADAPT_ROUTINES
} adapt_routine;

/* Why a call is passed on. Their texts are in adapt_report.c. */
typedef enum adapt_reason {
  ADAPT_OFFLOADED,
  ADAPT_OFF,        /* OSLA_SCALAPACK=off */
  ADAPT_NESTED,     /* made by a routine that was passed on; not counted */
  ADAPT_CONTEXT,    /* this process is outside the context, or the context cannot be used */
  ADAPT_ARGUMENTS,  /* wrong ones: the real routine reports them */
  ADAPT_EMPTY,      /* nothing to do */
  ADAPT_SMALL,      /* too small to gain */
  ADAPT_DESCRIPTOR, /* replicated, of an unknown type, or with an odd first block */
  ADAPT_LAYOUT,     /* blocks or an alignment that the kernel does not serve */
  ADAPT_FAST,       /* the real routine is as fast */
  ADAPT_NETWORK,    /* several nodes, and transfers between them wait for computing targets */
  ADAPT_MEMORY,     /* not enough of it for the copies */
  ADAPT_FAILED,     /* another failure before the result was touched */
  ADAPT_REASONS
} adapt_reason;

typedef struct adapt_count {
  int64_t calls[ADAPT_REASONS];
  double seconds_offloaded, seconds_staging, seconds_passed;
  double bytes_staged;
} adapt_count;

typedef struct adapt_settings {
  bool off;         /* everything is passed on */
  bool verbose;     /* a table at the end */
  double min_flops; /* negative: each routine's own rule; else offloaded from that many on */
  int64_t block;    /* of factorisations, and along k of products; 0: the caller's; -1: chosen */
  size_t cache;     /* bytes of copies that a context keeps on a rank between calls, or: */
} adapt_settings;
#define ADAPT_CACHE_UNSET SIZE_MAX /* see adapt_context.c */

/* Local; reads the environment when called first. */
const adapt_settings *adapt_settings_get(void);

/* For what follows up to the next one, if several threads may call; no MPI call in between, as one
 * may call us back. */
void adapt_lock(void);
void adapt_unlock(void);
adapt_count *adapt_count_of(adapt_routine routine, osla_dtype dtype); /* under the lock */

/* Is a passed-on call running in this thread? Local. */
bool adapt_is_nested(void);
void adapt_nest(int change);

/* The routine's name without its underscore, such as "pdgemm", in a buffer of the caller. */
enum { ADAPT_NAME = 16 };
void adapt_name(adapt_routine routine, osla_dtype dtype, char name[ADAPT_NAME]);

/* Who makes the call that begins in this thread. Local. */
adapt_caller adapt_caller_get(void);

/* Prints the table to stderr. Local. */
void adapt_report(void);

/* The contexts that are alive or kept, newest first; for adapt_context.c. Under the lock. */
typedef struct adapt_registry {
  bool made;
  bool keeps; /* what a context had, for the next one: not where threads make some at a time */
  int keyval; /* of the attribute that holds a context */
  int64_t contexts; /* the number of the newest one ever */
  struct adapt_context *newest;
} adapt_registry;
adapt_registry *adapt_registry_get(void);

/* --- contexts (adapt_context.c) --- */

typedef struct adapt_context adapt_context;

/* Arranges for the end: at MPI_Finalize what is left is freed, and the table printed. False: there
 * is no MPI yet. Local. */
bool adapt_finish_register(void);

/* The grid of a BLACS context as the caller's BLACS reports it; false if this process is outside of
 * it. Local. */
typedef struct adapt_position {
  int context, nprow, npcol, prow, pcol;
  const adapt_caller *caller; /* borrowed */
} adapt_position;
bool adapt_position_of(const adapt_caller *caller, int context, adapt_position *position);

/* What hangs on the context; made by the first call that asks. NULL on all processes if it cannot
 * be used. Collective over the context. It is freed with the context, or kept for the next one of
 * the same processes, or freed by MPI_Finalize. */
adapt_context *adapt_context_of(const adapt_position *position);
osla_transport *adapt_context_transport(const adapt_context *context);

/* Has some host fewer cores than processes? Then PBLAS's waits, which spin, cost more than anything
 * else. The same on all ranks. */
bool adapt_context_crowded(const adapt_context *context);

/* Are there several nodes, with a core for each process, between which a get waits until its target
 * has computed? (On two fake nodes, N = 360 to 4096: products 0.8 to 1.0 times as fast as PBLAS,
 * Cholesky 0.5 to 0.9.) The same on all ranks. */
bool adapt_context_waits(const adapt_context *context);

/* The grid whose position (0, 0) is position (prow, pcol) of the context. Borrowed; NULL: no
 * memory. */
osla_grid *adapt_context_grid(adapt_context *context, int prow, int pcol);

/* Memory for one copy, at least `bytes` on every rank; the same arguments on all ranks. Borrowed
 * until it is given back; contents are what the user before left. Collective. Errors, on all ranks
 * together: MEM, MPI. */
typedef struct adapt_buffer {
  osla_segment *segment;
  size_t bytes;
  bool used;
  uint64_t last; /* number of its last use */
} adapt_buffer;
osla_err adapt_buffer_take(adapt_context *context, size_t bytes, adapt_buffer **out);
void adapt_buffer_give(adapt_context *context, adapt_buffer *buffer); /* collective */

/* Is it time to take memory for a copy that can be done without? Getting it costs what several
 * calls gain: true if there is some, or if it will be kept and was done without twice. The same on
 * all ranks. */
bool adapt_buffer_pays(adapt_context *context, size_t bytes);

/* --- sub-matrices and calls (adapt_call.c) --- */

/* sub(X) = X(i+1 : i+m, j+1 : j+n) of a distributed array. The caller's part: */
typedef struct adapt_sub {
  void *array; /* this process's local array */
  const int *desc;
  int64_t i, j; /* from 0 */
  int64_t m, n;
  /* What adapt_call_open adds. Seen from the block that holds element (0, 0) of sub(X), sub(X) is
   * the part at (row, col) of a matrix of row + m by col + n elements in blocks of mb x nb on
   * `grid`, whose local array begins at `local`. */
  int64_t row, col, mb, nb, lld;
  int prow, pcol;    /* of that block in the context */
  int64_t local_row; /* how many of the array's rows I have before sub(X): where its IPIV begins */
  osla_grid *grid;
  unsigned char *local;
} adapt_sub;

static inline adapt_sub adapt_sub_at(const void *array, const int *i, const int *j, const int *desc,
                                     int64_t m, int64_t n)
{
  return (adapt_sub){.array = (void *)array,
                     .desc = desc,
                     .i = (int64_t)*i - 1,
                     .j = (int64_t)*j - 1,
                     .m = m,
                     .n = n};
}

typedef struct adapt_call {
  adapt_routine routine;
  osla_dtype dtype;
  adapt_reason reason; /* ADAPT_OFFLOADED as long as nothing speaks against it */
  adapt_context *context;
  bool same_operands; /* sub-matrices 0 and 1 are one, on all ranks */
  bool alone;         /* the context has one process */
  double since, staging, bytes;
  adapt_caller caller;
} adapt_call;

/* A call begins. Local. */
adapt_call adapt_call_begin(adapt_routine routine, osla_dtype dtype);

/* Notes the first reason against the call. Returns false. Local. */
bool adapt_call_refuse(adapt_call *call, adapt_reason reason);

/* Shall this call be offloaded? Then fills the sub-matrices.
 *   flops  [in] its work
 *   least  [in] below this it is not worth it (OSLA_SCALAPACK_MIN_FLOPS stands for it)
 * Collective over the context, if the global arguments allow it; the same answer everywhere. */
bool adapt_call_open(adapt_call *call, double flops, double least, int count, adapt_sub *subs);

/* From how many operations on a routine is offloaded. Measured with 2 processes (doc/scalapack.md):
 * every one gains from about 3e7 on; from `small` on if processes share the result subs[result],
 * with `one_row` in one process row alone. More processes need more, each its part. Local. */
double adapt_least_flops(const adapt_call *call, double small, bool one_row, const adapt_sub *subs,
                         int result);

/* For calls that are not known to gain by themselves: shall they be offloaded? Where
 * processes outnumber cores, or the environment asks for it. After adapt_call_open; the same on all
 * ranks. */
bool adapt_call_asked(const adapt_call *call);

/* The operations of a product or solve for adapt_call_open; none if it is too thin to be offloaded:
 * where a side of an operand is short, copies cost as much as they save. */
static inline double adapt_work(double flops, int64_t m, int64_t n, int64_t k)
{
  enum { LEAST_SIDE = 16, LEAST_DEPTH = 32 };
  return m < LEAST_SIDE || n < LEAST_SIDE || k < LEAST_DEPTH ? 0 : flops;
}

/* The outcome of what was done for the call, the same on all ranks, with its result untouched:
 * OSLA_OK gives true; an error speaks against the call. */
bool adapt_call_succeeded(adapt_call *call, osla_err err);

/* The same where the result may be half done: ends all ranks, but for a wrong argument and a lack
 * of memory, which kernels notice before. */
bool adapt_call_completed(adapt_call *call, osla_err err);

/* The real routine, which the caller runs next; nested calls are passed on until adapt_call_end. */
adapt_function *adapt_call_pass(adapt_call *call);
void adapt_call_end(adapt_call *call);

/* Letters of BLAS, in either case; false: not one of them. */
bool adapt_trans_of(const char *letter, osla_trans *trans);
bool adapt_uplo_of(const char *letter, osla_uplo *uplo);
bool adapt_diag_of(const char *letter, osla_diag *diag);
bool adapt_side_of(const char *letter, osla_side *side);

/* A factor that is passed by address. Calls with alpha = 0, which do not read their operands, are
 * passed on: what is left to do is local. */
osla_complex adapt_factor(osla_dtype dtype, const void *at);

/* --- copies (adapt_stage.c) --- */

typedef enum adapt_shape {
  ADAPT_WHOLE,
  ADAPT_LOWER, /* the lower triangle with its diagonal; needs m = n */
  ADAPT_UPPER,
  ADAPT_NOTHING /* nothing is copied */
} adapt_shape;

/* What stands in the rows and columns of sub's first blocks that are not its own: with an identity
 * there, a triangular solve with the whole is one with sub. */
typedef enum adapt_border { ADAPT_UNDEFINED, ADAPT_ZEROS, ADAPT_IDENTITY } adapt_border;

/* A copy of a sub-matrix that every rank reaches: a matrix of row + m by col + n elements. */
typedef struct adapt_staged {
  osla_matrix *matrix;
  adapt_buffer *buffer;
  const adapt_sub *sub;
} adapt_staged;

/* Makes it, and copies `shape` of sub into it; the rest is undefined. ADAPT_IDENTITY needs row =
 * col and mb = nb. Collective. Errors, on all ranks together: MEM, MPI. */
osla_err adapt_stage(adapt_call *call, const adapt_sub *sub, adapt_shape shape, adapt_border border,
                     adapt_staged *out);

/* The same of a whole sub in other blocks: those of `wide`, which is else the same as sub.
 * Collective; a kernel follows, which waits for all ranks. */
osla_err adapt_stage_redistributed(adapt_call *call, const adapt_sub *sub, const adapt_sub *wide,
                                   adapt_staged *out);

/* The whole of it back into the caller's array. Collective; all ranks have finished with it. */
osla_err adapt_unstage_redistributed(adapt_call *call, const adapt_sub *sub,
                                     const adapt_staged *staged);

/* Copies `shape` back into the caller's array, unless it is there. Local. */
void adapt_unstage(adapt_call *call, const adapt_staged *staged, adapt_shape shape);

/* Gives the buffer back; nobody may read it any more. Accepts what was never made. Collective. */
void adapt_stage_free(adapt_call *call, adapt_staged *staged);

/* Where sub's elements on this process are in such a matrix. Local. */
typedef struct adapt_rectangle {
  osla_layout layout;
  int prow, pcol;
  int64_t row, col;        /* local indices of the first one */
  int64_t rows, cols, lld; /* of the whole local array */
} adapt_rectangle;
adapt_rectangle adapt_rectangle_of(const adapt_sub *sub, const osla_matrix *matrix);

/* Are the rows (columns) of the two distributed alike? Local. */
bool adapt_same_rows(const adapt_sub *x, const adapt_sub *y);
bool adapt_same_columns(const adapt_sub *x, const adapt_sub *y);

/* sub itself as a matrix that only its owners reach: for the C of products. Collective. */
osla_err adapt_wrap(adapt_call *call, const adapt_sub *sub, osla_matrix **out);

/* What is read: a copy, or sub itself where only its owners read it (`own`; on one process always).
 * As adapt_stage. */
osla_err adapt_stage_input(adapt_call *call, const adapt_sub *sub, bool own, adapt_staged *out);

/* sub as a part of a matrix that was made from it. */
static inline osla_part adapt_part(const adapt_sub *sub, osla_matrix *matrix)
{
  return osla_part_at(matrix, sub->row, sub->col, sub->m, sub->n);
}

#endif
