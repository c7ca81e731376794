/* Device memory: which addresses lie on a device, work on them, and the wait for that work (layer
 * 0, internal).
 *
 * A backend of a device (src/device/fake, or the plug-in in src/device/cuda) provides a table of
 * functions. A process may have several devices open. Work is queued: osli_device_submit returns at
 * once, and a backend runs the work of one lane of a device in its order. Nobody may conclude from
 * the return of a call that its results are there. So each function by which a rank informs another
 * rank settles first. */
#ifndef OSLA_DEVICE_WORK_H
#define OSLA_DEVICE_WORK_H

#include "osla_error.h"
#include "osla_types.h"
#include "src/device/combine.h"
#include "src/device/vertices.h"

#include <complex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum device_work_kind {
  DEVICE_GEMM,
  DEVICE_SYRK,
  DEVICE_TRSM,
  DEVICE_POTRF,
  DEVICE_GETRF,
  DEVICE_LASWP,
  DEVICE_ADD,      /* C (m x n) := alpha A + beta C; C is not read if beta = 0 */
  DEVICE_COPY,     /* C (m x n) := A, elements of `element` bytes; A or C may be host memory */
  DEVICE_COMBINE,  /* combines listed values A with listed elements of C (combine.h) */
  DEVICE_VERTICES, /* combines vertices of A with those of C; B gets the old ones (vertices.h) */
  /* For vectors of m doubles. A scalar that a name with * denotes is a double in device memory. */
  DEVICE_SPMV,   /* C := alpha (matrix csr) B + beta C; C is not read if beta = 0 */
  DEVICE_DOT,    /* *C := A^T B */
  DEVICE_DIVIDE, /* *C := *A / *B */
  DEVICE_AXPY,   /* C := *B A + C */
  DEVICE_XPAY    /* C := alpha A + *B C */
} device_work_kind;

/* Lanes of a device. Work of one lane runs in its order. Work of two lanes may run at the same time
 * unless `after` of device_ops orders it. A panel is factored ahead in LANE_PANEL while LANE_MAIN
 * updates the trailing matrix. */
typedef enum device_lane { LANE_MAIN, LANE_PANEL, LANES } device_lane;

/* A sparse matrix of doubles on a device, in compressed rows: row i has the entries first[i] ..
 * first[i + 1] - 1. The arrays are device memory. */
typedef struct device_csr {
  int64_t rows, columns, entries; /* entries < 2^31 */
  const int32_t *first, *column;
  const double *value;
  void *plan; /* what the backend prepared for products; NULL: nothing */
} device_csr;

/* One piece of work. Members have the meaning of the arguments of the BLAS and LAPACK calls in
 * osla_blas.h; members that a kind does not need are 0. */
typedef struct device_work {
  device_work_kind kind;
  osla_dtype dtype;
  size_t element; /* COPY: bytes of an element */
  osla_trans transa, transb;
  osla_side side;
  osla_uplo uplo;
  osla_diag diag;
  int64_t m, n, k;
  osla_complex alpha, beta;
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
  /* both in host memory. info: LAPACK's info, set by POTRF and GETRF. pivots: written by GETRF,
   * read by LASWP. Submit of POTRF and GETRF returns when the results are there; submit of LASWP
   * returns when the backend no longer reads the pivots. */
  int64_t *info, *pivots;
  bool backward;
  /* COMBINE. dtype_a: type of the values. alpha: the value if a = NULL. lists: [4 n + 2 m] arrays
   * target, start, begin, end, row and position of combine_loop, or [4 n] without the last two. The
   * lists lie in host memory, and submit copies them. info: NULL, or where to store the number of
   * refused elements. */
  combine_operation operation;
  osla_dtype dtype_a;
  fixed_point fixed;
  const int64_t *lists;
  int64_t n_lists;
  /* VERTICES: the loop, whose bases are A, B and C; its index lists lie on the device */
  const vertices_loop *vertices;
  const device_csr *csr; /* SPMV; the matrix must not change before the work is complete */
  device_lane lane;      /* set by osli_device_submit */
} device_work;

/* Description of device memory by which another process of the node maps it. */
typedef struct device_handle {
  unsigned char bytes[64];
} device_handle;

/* State of an open device, defined by its backend. */
typedef struct device_state device_state;

/* What libosla provides to a plug-in, which imports no function of libosla. */
typedef struct device_host {
  osla_err (*error_set)(osla_err err, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* osla_error_set */
} device_host;

/* Version of device_host, device_work and device_ops. Each change of one of them raises it. */
enum { DEVICE_INTERFACE = 5 };

/* The functions of a backend. Errors of queued work are returned by a later submit or wait. */
typedef struct device_ops {
  int version; /* DEVICE_INTERFACE; first member in all versions */
  const char *name;
  bool has_kernels; /* true if the backend serves work of kind VERTICES */
  /* Number of devices that this process can open. Errors: UNSUPPORTED (no driver). */
  osla_err (*count)(int *out);
  /* Writes one line about a device: its name, and its memory in all and free. */
  osla_err (*describe)(int ordinal, char *text, size_t size);
  osla_err (*open)(int ordinal, void *stream, device_state **out);
  void (*close)(device_state *state);
  uint64_t (*available)(device_state *state); /* free device memory in bytes */
  /* Allocates device memory: zeros if `zeroed`, otherwise anything. Errors: MEM. */
  osla_err (*alloc)(device_state *state, size_t bytes, bool zeroed, void **out);
  void (*release)(device_state *state, void *memory, size_t bytes);
  /* Describes memory of alloc for other processes; maps and unmaps memory of another process. */
  osla_err (*expose)(device_state *state, const void *memory, device_handle *out);
  osla_err (*import)(device_state *state, const device_handle *handle, size_t bytes, void **out);
  void (*drop)(device_state *state, void *memory, size_t bytes);
  /* Pins host memory, so that copies between it and the device are fast, and unpins it. Both are
   * NULL if pinned memory is no faster. */
  osla_err (*pin)(device_state *state, void *memory, size_t bytes);
  void (*unpin)(device_state *state, void *memory);
  /* Copies bytes between device memory and host memory. The copy does not wait for queued work and
   * is complete on return. Any thread may call it. */
  osla_err (*copy_now)(device_state *state, const void *from, void *to, size_t bytes);
  /* Prepares products with a matrix, and frees what it prepared after the last product. */
  osla_err (*csr_plan)(device_state *state, device_csr *csr);
  void (*csr_drop)(device_state *state, device_csr *csr);
  osla_err (*submit)(device_state *state, const device_work *work);
  /* A mark names all work that was submitted to a lane so far; its value is LANES * number + lane,
   * where `number` never decreases and is 0 before the first work. `wait` returns when this work,
   * and the work after which it starts, is complete. `after`: work that is submitted to `lane`
   * later starts after the work of the mark, which may be of the other lane. */
  uint64_t (*mark)(device_state *state, device_lane lane);
  osla_err (*wait)(device_state *state, uint64_t mark);
  osla_err (*after)(device_state *state, device_lane lane, uint64_t mark);
} device_ops;

/* Scratch memory of a device, which grows when it is needed. */
typedef struct device_scratch {
  void *memory;
  size_t bytes;
} device_scratch;
enum { DEVICE_SCRATCHES = 2 };

/* An open device. */
typedef struct device_queue {
  const device_ops *ops;
  device_state *state;
  uint64_t id; /* no other device that this process opens has this number; from 1 */
  device_scratch scratch[DEVICE_SCRATCHES];
  struct device_queue *next; /* list of all open devices of this process */
} device_queue;

/* ---- open devices and their memory ---- */

/* Opens device `ordinal` of a backend, and closes it. Closing frees the memory that is left, which
 * may only be caches. Local. Errors: MEM, those of the backend. */
osla_err osli_device_queue_open(const device_ops *ops, int ordinal, void *stream,
                                device_queue **out);
void osli_device_queue_close(device_queue **queue);

/* osli_device_alloc allocates device memory, osli_device_import maps memory of another process, and
 * osli_device_free gives back the memory of both. They enter the addresses in the table or remove
 * them. osli_device_free waits for the device's work first, and accepts NULL. Local. Errors: MEM
 * (with the bytes that are needed and available), those of the backend. */
osla_err osli_device_alloc(device_queue *queue, size_t bytes, bool zeroed, void **out);
osla_err osli_device_import(device_queue *queue, const device_handle *handle, size_t bytes,
                            void **out);
void osli_device_free(void *memory);

/* True if a device is open; otherwise no address lies on a device, and there is no queued work. One
 * look at this variable is all that host programs pay. */
extern atomic_int osli_devices_open;
static inline bool osli_device_any(void)
{
  return __builtin_expect(atomic_load_explicit(&osli_devices_open, memory_order_relaxed) != 0, 0);
}

/* The device in whose memory an address lies; NULL for host memory. An address behind the last byte
 * of a piece of device memory counts as part of it. Local, thread-safe. */
device_queue *osli_device_find(const void *address);
static inline device_queue *osli_device_of(const void *address)
{
  return osli_device_any() ? osli_device_find(address) : NULL;
}

/* Fails if `bytes` bytes of device memory from an address on are not in one piece that this process
 * has allocated, or if the device has no kernels. Succeeds for host memory. `what` names the
 * memory. Local. Errors: ARG, UNSUPPORTED. */
osla_err osli_device_check_own(const void *address, size_t bytes, const char *what);

/* Returns scratch memory number `which` of a device, with at least `bytes` bytes; NULL if there is
 * not enough memory. Later work in the order of LANE_MAIN may overwrite it. The caller makes sure
 * that no other thread of the process uses it meanwhile. Local. */
void *osli_device_scratch(device_queue *queue, int which, size_t bytes);

/* True if one of three addresses lies on a device. NULL does not. */
static inline bool osli_on_device(const void *a, const void *b, const void *c)
{
  return osli_device_any() && (osli_device_find(a) || osli_device_find(b) || osli_device_find(c));
}

/* Memory of the kind in which `like` lies: device memory for a device address, else malloc. The
 * contents are undefined. NULL if there is not enough memory. osli_free_like accepts NULL. Local.
 */
void *osli_alloc_like(const void *like, size_t bytes);
void osli_free_like(void *memory);

/* Returns UNSUPPORTED, with the name of the call, from the enclosing function if one of the
 * addresses (at most three) lies on a device. For calls that work on host memory only. Local. */
#define OSLA_REFUSES_DEVICE(call, ...)                                                             \
  do {                                                                                             \
    const void *const osli_list[3] = {__VA_ARGS__};                                                \
    if (osli_on_device(osli_list[0], osli_list[1], osli_list[2])) return osli_device_refuse(call); \
  } while (0)
osla_err osli_device_refuse(const char *call);

/* ---- work ---- */

/* Makes a lane current for this thread, and returns the lane that was current before. A thread
 * begins in LANE_MAIN. In LANE_PANEL osli_device_settle waits for the work of this lane alone, so a
 * notify about a panel does not wait for the update of the trailing matrix. Local. */
device_lane osli_device_lane(device_lane lane);

/* Work that is submitted to `lane` later starts after all work that the other lane has so far.
 * Local. Errors: those of the backend. */
osla_err osli_device_after(const device_queue *queue, device_lane lane);

/* The loop of a piece of COMBINE work whose lists, values and elements a backend has at these
 * addresses. Pure. */
static inline combine_loop osli_combine_loop(const device_work *w, const int64_t *lists,
                                             const void *values, void *elements)
{
  const int64_t *row = w->n_lists > 4 * w->n ? lists + 4 * w->n : NULL;
  return (combine_loop){.operation = w->operation,
                        .single = w->dtype == OSLA_FLOAT,
                        .single_values = w->dtype_a == OSLA_FLOAT,
                        .rows = w->m,
                        .cols = w->n,
                        .constant = creal(w->alpha),
                        .fixed = w->fixed,
                        .target = lists,
                        .start = lists + w->n,
                        .begin = lists + 2 * w->n,
                        .end = lists + 3 * w->n,
                        .row = row,
                        .position = row ? row + w->m : NULL,
                        .values = values,
                        .elements = elements};
}

/* Queues work in the current lane of the device of work->c (COPY: of whichever address lies on a
 * device). Copies to or from host memory are complete on return. Local. Errors: ARG (an operand
 * lies in host memory or on another device), MEM, those of the backend. */
osla_err osli_device_submit(const device_work *work);

/* Waits for the work that the current lane of a device has so far. Local. Errors: those of queued
 * work. */
osla_err osli_device_finish(const device_queue *queue);

/* Queues C (m x n) := alpha A + beta C on device memory; C is not read if beta = 0. Local. Errors:
 * as osli_device_submit. */
osla_err osli_device_add(osla_dtype dtype, int64_t m, int64_t n, osla_complex alpha, const void *a,
                         int64_t lda, osla_complex beta, void *c, int64_t ldc);

/* Copies m x n elements between two arrays of which one or both lie on a device. An error is
 * reported by the next osli_device_settle. Local. */
void osli_device_copy(size_t element, int64_t m, int64_t n, const void *from, int64_t from_ld,
                      void *to, int64_t to_ld);

/* True if osla_lapack_potrf and osla_lapack_getrf factor device memory on the host, in a copy. Set
 * by osla_device_open. */
extern bool osli_device_panels_on_host;

/* The ways in which a rank informs another rank or its caller. */
typedef enum device_settle_reason {
  SETTLE_NOTIFY,     /* notifies, posts, puts, words, wake-ups */
  SETTLE_COLLECTIVE, /* collective calls, messages, exchanges, counters */
  SETTLE_COPY,       /* a copy from a device to host memory */
  SETTLE_ANNOUNCE,   /* the announcement of values that other ranks read in place */
  SETTLE_READ        /* the notice that values of other ranks were read in place */
} device_settle_reason;

/* Waits for all work that this process has queued so far (in LANE_PANEL: in that lane). Every
 * function by which a rank informs another one calls this function, or osli_device_settle_kept,
 * first. Local. Errors: those of queued work, and the first kept error. */
osla_err osli_device_settle_all(device_settle_reason reason);
static inline osla_err osli_device_settle(device_settle_reason reason)
{
  return osli_device_any() ? osli_device_settle_all(reason) : OSLA_OK;
}

/* Keeps an error, with its text, until the next osli_device_settle reports it. */
void osli_device_keep_error(osla_err err);

/* As osli_device_settle, but keeps an error. For calls that must inform the other rank in any case,
 * because it would wait forever. osla_agree then reports the error on all ranks. */
static inline void osli_device_settle_kept(device_settle_reason reason)
{
  if (osli_device_any()) osli_device_keep_error(osli_device_settle_all(reason));
}

/* ---- planted faults ---- */

/* Faults that tests/device plants to test the fake device; 0 otherwise. */
enum {
  DEVICE_FAULT_NOTIFY = 1,      /* a notify does not settle */
  DEVICE_FAULT_COLLECTIVE = 2,  /* a collective call does not settle */
  DEVICE_FAULT_COPY = 4,        /* a copy to or from host memory does not wait for earlier work */
  DEVICE_FAULT_HOST_BUFFER = 8, /* osli_alloc_like allocates host memory for a device address */
  DEVICE_FAULT_MEMCPY = 16,     /* osli_device_copy is memcpy */
  DEVICE_FAULT_AFTER = 32,      /* osli_device_after does nothing */
  DEVICE_FAULT_FINISH = 64,     /* osli_device_finish does not wait */
  DEVICE_FAULT_ANNOUNCE = 128,  /* an announcement of values does not settle */
  DEVICE_FAULT_READ = 256       /* a notice that values were read does not settle */
};
extern int osli_device_faults;

#endif
