/* The drop-in replacement for ScaLAPACK: declarations that its routines share (internal).
 *
 * libosla_scalapack.so defines some routines of PBLAS and ScaLAPACK under their own names. This
 * library precedes the real one (LD_PRELOAD or link order), and passes each call to the function
 * of the same name in libosla_scalapack_kernels.so (caller.h). That second library, whose
 * declarations are in this header, either offloads a call to OSLA or passes it on to the real
 * routine, and counts the call in both cases. Each routine is a short file:
 *
 *   adapt_call call = adapt_call_begin(ADAPT_GEMM, dtype);
 *   if (!offload(&call, ...))                       calls adapt_call_open, adapt_stage, osla_...,
 *     ((real_routine *)adapt_call_pass(&call))(...);               and adapt_unstage
 *   adapt_call_end(&call);
 *
 *   adapt_state.c    settings, counters, callers, nesting depth: all process-wide state
 *   adapt_report.c   prints the tables of counters if OSLA_SCALAPACK_VERBOSE is set
 *   adapt_context.c  state of a BLACS context: transport, grids, buffers
 *   adapt_call.c     the decision to offload a call or to pass it on
 *   adapt_device.c   the decision to run an offloaded call on a device
 *   adapt_stage.c    copies between the caller's memory and shared or device memory
 *
 * All processes of a context must make the same decision. Arguments that PBLAS calls global are
 * equal on all processes. The processes agree whether local arguments (the leading dimension) allow
 * offloading. */
#ifndef OSLA_ADAPT_H
#define OSLA_ADAPT_H

#include "osla_device.h"
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

/* Reasons for passing a call on; adapt_report.c has the texts of the reasons. */
typedef enum adapt_reason {
  ADAPT_OFFLOADED,
  ADAPT_OFF,       /* OSLA_SCALAPACK=off */
  ADAPT_NESTED,    /* a routine that was passed on made this call; such calls are not counted */
  ADAPT_CONTEXT,   /* this process is outside the BLACS context, or the context is unusable */
  ADAPT_ARGUMENTS, /* the arguments are invalid, which the real routine reports */
  ADAPT_EMPTY,     /* the call has nothing to compute */
  ADAPT_SMALL,     /* the work is too small for a gain of time */
  /* a matrix is replicated, has a descriptor of unknown type, or has a first block of another size
   */
  ADAPT_DESCRIPTOR,
  ADAPT_LAYOUT, /* the kernel does not support the blocks or the alignment */
  ADAPT_FAST,   /* the real routine is at least as fast as OSLA */
  /* there are several nodes, and a transfer waits until its target has computed */
  ADAPT_NETWORK,
  ADAPT_MEMORY, /* the memory does not suffice for the copies */
  ADAPT_FAILED, /* another failure before the result was changed */
  ADAPT_REASONS
} adapt_reason;

/* Place of an offloaded call: the device of OSLA_SCALAPACK_DEVICE, or the host and the reason. The
 * function place_text in adapt_report.c has the texts of the reasons. */
typedef enum adapt_place {
  ADAPT_NO_DEVICE,     /* host, because OSLA_SCALAPACK_DEVICE is not set */
  ADAPT_ON_DEVICE,     /* device */
  ADAPT_HOST_SMALL,    /* host, because copies to the device would take longer than the work */
  ADAPT_HOST_ROUTINE,  /* host, because the routine does not support devices */
  ADAPT_HOST_LAYOUT,   /* host, because the routine does not support these blocks on devices */
  ADAPT_HOST_MEMORY,   /* host, because the device has too little memory */
  ADAPT_HOST_UNSERVED, /* host, because a kernel refused device memory */
  ADAPT_PLACES
} adapt_place;

typedef struct adapt_count {
  int64_t calls[ADAPT_REASONS];
  int64_t places[ADAPT_PLACES]; /* number of offloaded calls in each place */
  double seconds_offloaded, seconds_staging, seconds_passed, seconds_on_device;
  double bytes_staged;
  /* error text of the latest call in the place ADAPT_HOST_MEMORY or ADAPT_HOST_UNSERVED */
  char device_error[200];
} adapt_count;

typedef struct adapt_settings {
  bool off;     /* true: all calls are passed on to the real library */
  bool verbose; /* true: a table of the counters is printed at the end */
  /* smallest number of operations of a call that is offloaded; negative: each routine has its own
   * rule */
  double min_flops;
  /* block size of factorisations, and along k of products; 0: block size of the caller; -1: OSLA
   * chooses */
  int64_t block;
  size_t cache;       /* largest number of bytes of cached copy buffers of a context on a rank */
  const char *device; /* kind of the device for offloaded calls; NULL: no device */
  /* smallest number of operations for each copied element; calls with fewer run on the host */
  double device_min;
} adapt_settings;
#define ADAPT_CACHE_UNSET                                                                          \
  SIZE_MAX /* the user has not set the limit of idle copies: adapt_context.c chooses the limit */

/* Returns the settings, which the first call reads from the environment. Local. */
const adapt_settings *adapt_settings_get(void);

/* Mutex for the functions and data whose comments say "the caller must hold the lock". No MPI call
 * may be made while it is locked, since MPI may call back into this library. */
void adapt_lock(void);
void adapt_unlock(void);
/* counter of calls of a routine; the caller must hold the lock */
adapt_count *adapt_count_of(adapt_routine routine, osla_dtype dtype);

/* True while this thread is inside a call that was passed on. Local. */
bool adapt_is_nested(void);
void adapt_nest(int change);

/* Writes the routine's name without underscore, such as "pdgemm". */
enum { ADAPT_NAME = 16 };
void adapt_name(adapt_routine routine, osla_dtype dtype, char name[ADAPT_NAME]);

/* Returns the caller of the call that begins in this thread. Local. */
adapt_caller adapt_caller_get(void);

/* Prints the tables of counters to stderr. If `verbose` is false, prints only one line, and only if
 * calls that were worth the copies to a device ran on the host. Local. */
void adapt_report(bool verbose);

/* Registry of all contexts, in use or cached, newest first; for adapt_context.c. The caller must
 * hold the lock. */
typedef struct adapt_registry {
  bool made;
  /* true if contexts may be cached for later ones; false if several threads create contexts */
  bool caches;
  int keyval;       /* key of the MPI attribute that holds the state of a context */
  int64_t contexts; /* creation number of the newest context of this process */
  struct adapt_context *newest;
} adapt_registry;
adapt_registry *adapt_registry_get(void);

/* --- contexts (adapt_context.c) --- */

typedef struct adapt_context adapt_context;

/* Registers what MPI_Finalize has to do: free the remaining contexts and print the table. False if
 * MPI is not initialised yet. Local. */
bool adapt_finish_register(void);

/* Gets the shape of a BLACS context's grid and the position of this process, from the caller's
 * BLACS. False if this process is outside the context. Local. */
typedef struct adapt_position {
  int context, nprow, npcol, prow, pcol;
  const adapt_caller *caller; /* borrowed */
} adapt_position;
bool adapt_position_of(const adapt_caller *caller, int context, adapt_position *position);

/* Returns the state attached to a BLACS context, which the first call in the context creates. NULL
 * on all processes if OSLA cannot use the context. Collective over the context. The state is freed
 * with the context, cached for the next context of the same processes, or freed by MPI_Finalize. */
adapt_context *adapt_context_of(const adapt_position *position);
osla_transport *adapt_context_transport(const adapt_context *context);
/* Returns the address of the pointer to the context's device. The pointer is NULL until
 * adapt_device_choose opens the device. Local. */
osla_device **adapt_context_device(adapt_context *context);

/* True if some host has fewer cores than processes. Then PBLAS, whose waits spin, is slower than
 * any offloaded call. All ranks get the same answer. */
bool adapt_context_crowded(const adapt_context *context);

/* True if there are several nodes, with a core for each process, and a get between nodes waits
 * until its target stops computing. Then few calls gain from offloading. All ranks get the same
 * answer. */
bool adapt_context_waits(const adapt_context *context);

/* The grid whose position (0, 0) is position (prow, pcol) of the context. Borrowed; NULL if memory
 * ran out. */
osla_grid *adapt_context_grid(adapt_context *context, int prow, int pcol);

/* Memory for one copy, at least `bytes` on every rank; call it with equal arguments on all ranks.
 * Borrowed until adapt_buffer_release; the contents are arbitrary. Collective. Errors, on all ranks
 * together: MEM, MPI. */
typedef struct adapt_buffer {
  osla_segment *segment;
  size_t bytes;
  bool used;
  uint64_t last; /* sequence number of the buffer's last use */
} adapt_buffer;
osla_err adapt_buffer_acquire(adapt_context *context, size_t bytes, adapt_buffer **out);
/* Returns the buffer to the context, which uses it for later copies. Collective. */
void adapt_buffer_release(adapt_context *context, adapt_buffer *buffer);

/* True if an optional copy should get a buffer. New memory costs as much as several calls gain.
 * Therefore the result is true if a free buffer exists, or if a new buffer can be cached and
 * several calls did without one. The same on all ranks. */
bool adapt_buffer_pays(adapt_context *context, size_t bytes);

/* --- sub-matrices and calls (adapt_call.c) --- */

/* The sub-matrix sub(X) = X(i+1 : i+m, j+1 : j+n) of a distributed array. The caller sets the
 * members up to n. */
typedef struct adapt_sub {
  void *array; /* this process's local array of the distributed array */
  const int *desc;
  int64_t i, j; /* first row and column of the sub-matrix, from 0 */
  int64_t m, n;
  /* adapt_call_open sets the following members. They describe sub(X) as a part of a larger matrix,
   * which begins with the block that holds element (0, 0) of sub(X). sub(X) begins at (row, col) of
   * the larger matrix, which has row + m by col + n elements in blocks of mb x nb on `grid`, and
   * whose local array begins at `local`. */
  int64_t row, col, mb, nb, lld;
  /* position in the context of the process that owns the block with element (0, 0) of sub(X) */
  int prow, pcol;
  /* number of the array's local rows before sub(X), which is where the IPIV of sub(X) begins */
  int64_t local_row;
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
  adapt_reason reason; /* ADAPT_OFFLOADED, or the first reason against offloading that was found */
  adapt_context *context;
  bool same_operands; /* true if sub-matrices 0 and 1 are identical on all ranks */
  bool alone;         /* true if the context has one process */
  /* place of an offloaded call, set by adapt_device_choose; ADAPT_NO_DEVICE for other calls */
  adapt_place place;
  osla_device *device; /* device on which the call runs; NULL: the call runs on the host */
  double since, staging, bytes;
  adapt_caller caller;
} adapt_call;

/* Begins a call. Local. */
adapt_call adapt_call_begin(adapt_routine routine, osla_dtype dtype);

/* Records a reason against offloading, unless there is one already. Returns false. Local. */
bool adapt_call_refuse(adapt_call *call, adapt_reason reason);

/* Decides whether this call is offloaded, and if so fills in the sub-matrices.
 *   flops  [in] number of operations of the call
 *   least  [in] smallest number of operations for which offloading pays; the environment variable
 *               OSLA_SCALAPACK_MIN_FLOPS replaces it
 * Collective over the context if the global arguments allow offloading; the same result on all
 * ranks. */
bool adapt_call_open(adapt_call *call, double flops, double least, int count, adapt_sub *subs);

/* Smallest number of operations for which a routine is offloaded, at most 3e7. (With 2 processes
 * every routine gains from 3e7 operations on, see doc/scalapack.md.) If several processes own parts
 * of the result subs[result], the number is `small` with 2 processes, and grows in proportion to
 * the number of processes; with one_row this holds only if the processes form one process row. In
 * all other cases the number is 3e7. Local. */
double adapt_least_flops(const adapt_call *call, double small, bool one_row, const adapt_sub *subs,
                         int result);

/* True if calls that do not reliably gain should still be offloaded, because processes outnumber
 * cores or the environment requests it. Call it after adapt_call_open; the same on all ranks. */
bool adapt_call_asked(const adapt_call *call);

/* Number of operations of a product or solve, for adapt_call_open. It is zero if a dimension is so
 * small that the copies cost as much as they save. */
static inline double adapt_work(double flops, int64_t m, int64_t n, int64_t k)
{
  enum { LEAST_SIDE = 16, LEAST_DEPTH = 32 };
  return m < LEAST_SIDE || n < LEAST_SIDE || k < LEAST_DEPTH ? 0 : flops;
}

/* Evaluates the result `err` of the steps that precede any change of the caller's data; `err` is
 * the same on all ranks. True for OSLA_OK; an error becomes a reason against offloading. */
bool adapt_call_succeeded(adapt_call *call, osla_err err);

/* Evaluates the result of a kernel that may have changed the caller's data. An error ends all
 * ranks, except ARG and MEM, which kernels report before they change anything. True for OSLA_OK. */
bool adapt_call_completed(adapt_call *call, osla_err err);

/* Returns the real routine, which must be called next. Nested calls are passed on until
 * adapt_call_end. */
adapt_function *adapt_call_pass(adapt_call *call);
void adapt_call_end(adapt_call *call);

/* Functions that convert a letter of the BLAS, in lower or upper case, to an enumerator. False for
 * any other letter. */
bool adapt_trans_of(const char *letter, osla_trans *trans);
bool adapt_uplo_of(const char *letter, osla_uplo *uplo);
bool adapt_diag_of(const char *letter, osla_diag *diag);
bool adapt_side_of(const char *letter, osla_side *side);

/* Reads a scalar factor that is passed by address. Calls with alpha = 0 do not read their
 * operands; they are passed on, because they are local. */
osla_complex adapt_factor(osla_dtype dtype, const void *at);

/* --- copies (adapt_stage.c) --- */

typedef enum adapt_shape {
  ADAPT_WHOLE,
  ADAPT_LOWER, /* the lower triangle with its diagonal; requires m = n */
  ADAPT_UPPER,
  ADAPT_NOTHING /* no elements: nothing is copied */
} adapt_shape;

/* What the copy contains in those rows and columns of the first blocks that precede the sub-matrix.
 * With ADAPT_IDENTITY, a triangular solve with the whole matrix of the copy also solves with the
 * sub-matrix.
 */
typedef enum adapt_border { ADAPT_UNDEFINED, ADAPT_ZEROS, ADAPT_IDENTITY } adapt_border;

/* Copy of a sub-matrix that every rank can access: a matrix of row + m by col + n elements. */
typedef struct adapt_staged {
  osla_matrix *matrix; /* matrix that is passed to the kernel */
  /* matrix in host memory from which `matrix` was copied to a device: the caller's array or a copy;
   * NULL if `matrix` is in host memory */
  osla_matrix *host;
  adapt_buffer *buffer;
  const adapt_sub *sub;
} adapt_staged;

/* Creates a copy of the sub-matrix `sub` and copies the elements of `shape` into it; the other
 * elements are undefined. ADAPT_IDENTITY requires row = col and mb = nb, and on a device row = 0.
 * If the call runs on a device, the copy is on the device. Rows and columns before the sub-matrix
 * are then zero, and blocks on the diagonal of a triangle are copied whole. Collective. Errors, on
 * all ranks together: MEM, MPI. */
osla_err adapt_stage(adapt_call *call, const adapt_sub *sub, adapt_shape shape, adapt_border border,
                     adapt_staged *out);

/* Creates a copy of the whole sub-matrix `sub` in the block sizes of `wide`; apart from the block
 * sizes `wide` equals `sub`. Collective; the kernel that follows must synchronise the ranks.
 * Errors as for adapt_stage. */
osla_err adapt_stage_redistributed(adapt_call *call, const adapt_sub *sub, const adapt_sub *wide,
                                   adapt_staged *out);

/* Copies a redistributed copy back into the caller's array. Collective; all ranks must have
 * finished using the copy. */
osla_err adapt_unstage_redistributed(adapt_call *call, const adapt_sub *sub, adapt_staged *staged);

/* Copies the elements of `shape` from the copy to the caller's array. Does nothing if the kernel
 * worked on the caller's array itself. A failure of the device ends all ranks. Collective. */
void adapt_unstage(adapt_call *call, adapt_staged *staged, adapt_shape shape);

/* Releases the copy; no rank may access it any more. Accepts a copy that was never created.
 * Collective. */
void adapt_stage_free(adapt_call *call, adapt_staged *staged);

/* Where the local elements of `sub` are in a matrix that adapt_stage made from `sub`. Local. */
typedef struct adapt_rectangle {
  osla_layout layout;
  int prow, pcol;
  int64_t row, col; /* local indices of the first local element of the sub-matrix */
  int64_t rows,     /* number of rows of the whole local array */
    cols,           /* number of columns of the whole local array */
    lld;            /* leading dimension of the local array */
} adapt_rectangle;
adapt_rectangle adapt_rectangle_of(const adapt_sub *sub, const osla_matrix *matrix);

/* True if the rows (columns) of the two sub-matrices are distributed identically. Local. */
bool adapt_same_rows(const adapt_sub *x, const adapt_sub *y);
bool adapt_same_columns(const adapt_sub *x, const adapt_sub *y);

/* Makes a matrix of the sub-matrix itself, without a copy. Only owners may access its elements, as
 * they do with the result C of a product. Collective. */
osla_err adapt_wrap(adapt_call *call, const adapt_sub *sub, osla_matrix **out);

/* Makes a matrix of an operand that is only read. If only owners read it (`own`, or a single
 * process), the matrix is the sub-matrix itself; otherwise it is a copy as from adapt_stage.
 * Collective. Errors as for adapt_stage. */
osla_err adapt_stage_input(adapt_call *call, const adapt_sub *sub, bool own, adapt_staged *out);

/* Makes a matrix of a result whose elements only their owners access. On the host the matrix is the
 * sub-matrix itself; on a device it is a copy from adapt_stage. After the kernel, adapt_unstage
 * completes the result in both cases. Collective. Errors as for adapt_stage. */
osla_err adapt_stage_result(adapt_call *call, const adapt_sub *sub, adapt_shape shape,
                            adapt_staged *out);

/* --- devices (adapt_device.c) --- */

/* Block size of matrices on a device if there is one process or the caller's blocks are small. */
enum { ADAPT_DEVICE_BLOCK = 512 };

/* Decides whether an offloaded call runs on the device of OSLA_SCALAPACK_DEVICE, and sets
 * call->place and call->device. With one process the sub-matrices then get blocks that suit a
 * device. If the device cannot be opened for lack of memory, the call runs on the host; any other
 * failure prints a message and ends all ranks.
 *   flops   [in] number of operations of the call
 *   moved   [in] number of elements that are copied to the device and back
 *   place   [in] ADAPT_ON_DEVICE, or the reason why the kernel cannot run on a device
 * Collective; the same result on all ranks. */
void adapt_device_choose(adapt_call *call, double flops, double moved, adapt_place place, int count,
                         adapt_sub *subs);

/* Evaluates the result `err` of steps on a device that precede any change of the caller's data.
 * True if the call must be repeated on the host, because the device has too little memory or a
 * kernel refused device memory; the counters then hold the reason. Any other error ends all ranks.
 * False if `err` is OSLA_OK or if the call runs on the host. */
bool adapt_device_lacks(adapt_call *call, osla_err err);

/* Number of elements of a sub-matrix. */
static inline double adapt_elements(const adapt_sub *sub)
{
  return (double)sub->m * (double)sub->n;
}

/* The part of `matrix` that is the sub-matrix; `matrix` was made from `sub`. */
static inline osla_part adapt_part(const adapt_sub *sub, osla_matrix *matrix)
{
  return osla_part_at(matrix, sub->row, sub->col, sub->m, sub->n);
}

/* Defines the entry point `entry` with the parenthesised list `parameters`. It calls
 * function(dtype, ...) with the names of the parameters. */
#define ADAPT_ENTRY(entry, dtype, function, parameters, ...)                                       \
  void entry parameters;                                                                           \
  void entry parameters                                                                            \
  {                                                                                                \
    function(dtype, __VA_ARGS__);                                                                  \
  }

/* Defines the entry points of a routine for real and for complex types: psNAME_ and pdNAME_,
 * pcNAME_ and pzNAME_. */
#define ADAPT_ENTRIES_REAL(name, function, parameters, ...)                                        \
  ADAPT_ENTRY(ps##name##_, OSLA_FLOAT, function, parameters, __VA_ARGS__)                          \
  ADAPT_ENTRY(pd##name##_, OSLA_DOUBLE, function, parameters, __VA_ARGS__)
#define ADAPT_ENTRIES_COMPLEX(name, function, parameters, ...)                                     \
  ADAPT_ENTRY(pc##name##_, OSLA_COMPLEX_FLOAT, function, parameters, __VA_ARGS__)                  \
  ADAPT_ENTRY(pz##name##_, OSLA_COMPLEX_DOUBLE, function, parameters, __VA_ARGS__)
#define ADAPT_ENTRIES(name, function, parameters, ...)                                             \
  ADAPT_ENTRIES_REAL(name, function, parameters, __VA_ARGS__)                                      \
  ADAPT_ENTRIES_COMPLEX(name, function, parameters, __VA_ARGS__)

#endif
