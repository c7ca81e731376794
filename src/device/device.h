/* Device memory: finds the device on which an address lies, queues work on device memory, and waits
 * for queued work (layer 0, internal).
 *
 * A backend of a device (src/device/fake, or the plug-in in src/device/cuda) provides a table of
 * functions. A process may have several devices open. osli_device_submit queues work and usually
 * returns at once; it waits only for copies to or from host memory, and for work whose results lie
 * in host memory (`info` and `pivots` of device_work). A backend runs the work of one lane of a
 * device in the order of submission. The results of a call may therefore be incomplete when the
 * call returns. So each function by which a rank informs another rank first waits for queued work
 * (osli_device_settle). */
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
  DEVICE_VERTICES, /* copies vertices of C to B, then combines C with A (vertices.h) */
  /* SIGNAL stores `value` in `word` when all earlier work of its lane is complete, and AWAIT lets
   * its lane wait until `word` is at least `value`. The host waits for neither. */
  DEVICE_SIGNAL,
  DEVICE_AWAIT,
  /* The kinds below work on vectors of doubles; except in SPMV a vector has m elements. *A, *B and
   * *C stand for the one double at address a, b or c in device memory. */
  DEVICE_SPMV,   /* C := alpha S B + beta C with the matrix S = *csr; C is not read if beta = 0 */
  DEVICE_DOT,    /* *C := A^T B */
  DEVICE_DIVIDE, /* *C := *A / *B */
  DEVICE_AXPY,   /* C := *B A + C */
  DEVICE_XPAY    /* C := alpha A + *B C */
} device_work_kind;

/* Lanes of a device. Work of one lane runs in the order of submission. Work of two lanes may run at
 * the same time unless `after` of device_ops orders it. LANE_PANEL factors the next panel while
 * LANE_MAIN updates the trailing matrix. LANES is the number of lanes. */
typedef enum device_lane { LANE_MAIN, LANE_PANEL, LANES } device_lane;

/* A sparse matrix of doubles on a device, in compressed rows. Entries first[i] .. first[i + 1] - 1
 * of the arrays `column` and `value` belong to row i. All three arrays lie in device memory. */
typedef struct device_csr {
  int64_t rows, columns, entries; /* numbers of rows, columns and entries; entries < 2^31 */
  const int32_t *first, *column;
  const double *value;
  void *plan; /* data that csr_plan of the backend has prepared for products, or NULL */
} device_csr;

/* One piece of work. Members that are not described below have the meaning of the arguments of the
 * BLAS and LAPACK calls in osla_blas.h. Members that a kind of work does not need are 0. */
typedef struct device_work {
  device_work_kind kind;
  osla_dtype dtype;
  size_t element; /* number of bytes of an element, for COPY only */
  osla_trans transa, transb;
  osla_side side;
  osla_uplo uplo;
  osla_diag diag;
  int64_t m, n, k;
  osla_complex alpha, beta;
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
  /* `info` and `pivots` lie in host memory. Submit of POTRF, of GETRF, and of COMBINE with `info`,
   * returns when the work is complete; submit of LASWP returns when the backend no longer reads the
   * pivots. */
  int64_t *info, /* POTRF, GETRF: receives LAPACK's info; COMBINE: the number of refused elements,
                    if not NULL */
    *pivots;     /* the min(m, n) row indices that GETRF writes, or the k that LASWP reads */
  bool backward; /* true if LASWP applies the pivots in reverse order */
  /* The members from `operation` to `n_lists` are for COMBINE only. All values are alpha if a is
   * NULL. */
  combine_operation operation;
  osla_dtype dtype_a; /* type of the values at a */
  fixed_point fixed;
  /* [n_lists] arrays target, start, begin and end of a combine_loop, with n elements each, and
   * then, unless n_lists = 4 n, its arrays row and position, with m elements each. The lists lie in
   * host memory, and submit copies them. */
  const int64_t *lists;
  int64_t n_lists;
  /* The loop of VERTICES. The bases of its vertices are a, b and c, and its index lists lie on the
   * device. */
  const vertices_loop *vertices;
  const device_csr *csr; /* matrix of SPMV, which must not change before the work is complete */
  /* SIGNAL and AWAIT: a word in host memory, which other processes may map. `pin` of device_ops
   * must have locked this memory, unless `pin` is NULL. */
  _Atomic uint64_t *word;
  uint64_t value;   /* SIGNAL: number that is stored; AWAIT: number that the lane waits for */
  device_lane lane; /* lane of the work, set by osli_device_submit */
} device_work;

/* Description of a piece of device memory by which another process of the node maps the piece. */
typedef struct device_handle {
  unsigned char bytes[64];
} device_handle;

/* State of an open device, defined by its backend. */
typedef struct device_state device_state;

/* Table of the functions of libosla that a plug-in may call. The plug-in cannot call libosla in any
 * other way, because it is not linked with libosla. */
typedef struct device_host {
  osla_err (*error_set)(osla_err err, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* the function osla_error_set */
} device_host;

/* Version of the interface between libosla and a plug-in. Each change of device_host, device_work
 * or device_ops raises this number. */
enum { DEVICE_INTERFACE = 8 };

/* The functions of a backend. A later submit or wait returns the errors of queued work. */
typedef struct device_ops {
  int version; /* DEVICE_INTERFACE when the backend was compiled; stays the first member */
  const char *name;
  bool has_kernels; /* true if the backend can do work of kind COMBINE and VERTICES */
  /* Stores the number of devices that this process can open. Errors: UNSUPPORTED (no driver). */
  osla_err (*count)(int *out);
  /* Writes a line with the name of a device and the sizes of its whole and its free memory. */
  osla_err (*describe)(int ordinal, char *text, size_t size);
  osla_err (*open)(int ordinal, void *stream, device_state **out);
  void (*close)(device_state *state);
  uint64_t (*available)(device_state *state); /* returns the free device memory in bytes */
  /* Allocates device memory, which holds zeros if `zeroed` is true and is undefined otherwise.
   * `release` frees it. Errors: MEM. */
  osla_err (*alloc)(device_state *state, size_t bytes, bool zeroed, void **out);
  void (*release)(device_state *state, void *memory, size_t bytes);
  /* `expose` describes memory of `alloc` for other processes. `import` maps memory that another
   * process has described, and `drop` unmaps it. */
  osla_err (*expose)(device_state *state, const void *memory, device_handle *out);
  osla_err (*import)(device_state *state, const device_handle *handle, size_t bytes, void **out);
  void (*drop)(device_state *state, void *memory, size_t bytes);
  /* Returns the number of the device in whose memory an address lies, or -1 for host memory. The
   * library or the program may have allocated the memory, also on a device that is not open. */
  int (*ordinal_of)(device_state *state, const void *address);
  /* `pin` locks host memory, so that copies between this memory and the device are fast, and so
   * that the device can access words of signals there; `unpin` ends this. Both are NULL if the
   * backend needs no locked memory. */
  osla_err (*pin)(device_state *state, void *memory, size_t bytes);
  void (*unpin)(device_state *state, void *memory);
  /* Copies bytes between device memory and host memory. The copy does not wait for queued work and
   * is complete on return. Any thread may call it. */
  osla_err (*copy_now)(device_state *state, const void *from, void *to, size_t bytes);
  /* `csr_plan` prepares products with a matrix, and `csr_drop` frees the prepared data. */
  osla_err (*csr_plan)(device_state *state, device_csr *csr);
  void (*csr_drop)(device_state *state, device_csr *csr);
  /* Queues work in its lane. Errors: UNSUPPORTED (the device does not have this kind of work),
   * those of queued work. */
  osla_err (*submit)(device_state *state, const device_work *work);
  /* `mark` returns a mark, which names all work that was submitted to a lane so far. Its value is
   * LANES * number + lane, where `number` never decreases and is 0 before the first work. `wait`
   * returns when the work of a mark is complete. `after` orders lanes: work that is submitted to
   * `lane` later starts after the work of the mark, which may belong to the other lane. */
  uint64_t (*mark)(device_state *state, device_lane lane);
  osla_err (*wait)(device_state *state, uint64_t mark);
  osla_err (*after)(device_state *state, device_lane lane, uint64_t mark);
  /* Lets work that is submitted to any lane later start after all work that a stream of the caller
   * has so far. NULL if the backend has no streams. Errors: ARG (a stream of another device, or one
   * that was destroyed). */
  osla_err (*follow)(device_state *state, void *stream);
} device_ops;

/* Scratch memory of a device, which osli_device_scratch replaces by larger memory if necessary. */
typedef struct device_scratch {
  void *memory;
  size_t bytes;
} device_scratch;
enum { DEVICE_SCRATCHES = 2 };

/* An open device. */
typedef struct device_queue {
  const device_ops *ops;
  device_state *state;
  int ordinal; /* number of the device in its backend, from 0 */
  uint64_t id; /* number of the device in the order in which this process opens devices, from 1 */
  device_scratch scratch[DEVICE_SCRATCHES];
  _Atomic(_Atomic uint64_t *) word; /* word of the latest signal; NULL before the first signal */
  _Atomic uint64_t value;           /* number that the latest signal stores in the word */
  struct device_queue *next; /* next device in the list of all open devices of this process */
} device_queue;

/* ---- open devices and their memory ---- */

/* osli_device_queue_open opens device number `ordinal` of a backend. osli_device_queue_close waits
 * for the device's work, closes the device, and frees all of its memory that is still allocated.
 * Callers must have freed all memory but caches. Local. Errors: MEM, those of the backend. */
osla_err osli_device_queue_open(const device_ops *ops, int ordinal, void *stream,
                                device_queue **out);
void osli_device_queue_close(device_queue **queue);

/* osli_device_alloc allocates device memory, and osli_device_import maps device memory of another
 * process; both enter the memory in the table of device addresses. osli_device_free waits for the
 * device's work, removes the memory from the table, and frees or unmaps it; it accepts NULL. Local.
 * Errors: MEM (with the bytes that are needed and available), those of the backend. */
osla_err osli_device_alloc(device_queue *queue, size_t bytes, bool zeroed, void **out);
osla_err osli_device_import(device_queue *queue, const device_handle *handle, size_t bytes,
                            void **out);
void osli_device_free(void *memory);

/* Enters memory that the program has allocated on the device in the table of device memory, by the
 * rules of osla_device_register. Local. */
osla_err osli_device_register(device_queue *queue, const void *memory, size_t bytes);
/* Waits for the device's work and removes registered memory from the table, by the rules of
 * osla_device_unregister. Local. */
osla_err osli_device_unregister(device_queue *queue, const void *memory, size_t bytes);

/* osli_devices_open is the number of open devices of this process. osli_device_any returns whether
 * there is one; if not, no address lies on a device, and there is no queued work. A program without
 * devices therefore loads only this variable, and searches no table. */
extern atomic_int osli_devices_open;
static inline bool osli_device_any(void)
{
  return __builtin_expect(atomic_load_explicit(&osli_devices_open, memory_order_relaxed) != 0, 0);
}

/* Returns the device in whose memory an address lies; NULL if no piece in the table of device
 * memory contains the address. The address just after the last byte of an allocation counts as part
 * of the allocation. Local, thread-safe. */
device_queue *osli_device_find(const void *address);
static inline device_queue *osli_device_of(const void *address)
{
  return osli_device_any() ? osli_device_find(address) : NULL;
}

/* Sets *out to the device in whose memory an array of `bytes` bytes lies, or to NULL if the array
 * lies in host memory. The address may be NULL. Device memory must lie in one piece that this
 * process has allocated or registered. `what` names the array in error texts. Local, thread-safe.
 * Errors: ARG (memory of another rank, memory that is too small or not registered, memory of a
 * device that this rank has not opened). */
osla_err osli_device_locate_any(const void *address, size_t bytes, const char *what,
                                device_queue **out);
static inline osla_err osli_device_locate(const void *address, size_t bytes, const char *what,
                                          device_queue **out)
{
  *out = NULL;
  return osli_device_any() ? osli_device_locate_any(address, bytes, what, out) : OSLA_OK;
}
/* Sets and returns the error ARG, whose text says that array `what` does not lie in the memory in
 * which array `other` lies. `queue` and `of_other` are the devices of the two arrays, as
 * osli_device_locate finds them; NULL stands for host memory. Local. */
osla_err osli_device_differ(const char *what, const device_queue *queue, const char *other,
                            const device_queue *of_other);
/* Checks that a device has kernels. `what` names, in error texts, an array on the device. Local.
 * Errors: UNSUPPORTED. */
osla_err osli_device_check_kernels(const device_queue *queue, const char *what);

/* Returns scratch memory number `which` (from 0) of a device, with at least `bytes` bytes; NULL if
 * there is not enough memory. Only work in LANE_MAIN may use the scratch memory, and later work in
 * LANE_MAIN may overwrite it. The caller makes sure that no other thread of the process uses the
 * scratch memory meanwhile. Local. */
void *osli_device_scratch(device_queue *queue, int which, size_t bytes);

/* Returns whether at least one of three addresses lies on a device. NULL lies on no device. */
static inline bool osli_on_device(const void *a, const void *b, const void *c)
{
  return osli_device_any() && (osli_device_find(a) || osli_device_find(b) || osli_device_find(c));
}

/* osli_alloc_like allocates memory on the device on which `like` lies, or by malloc if `like` is an
 * address in host memory. The contents are undefined. Returns NULL if there is not enough memory;
 * osli_alloc_like_failed then returns MEM, with a text that names the purpose and the bytes.
 * osli_free_like frees memory of osli_alloc_like, and accepts NULL. Local. */
void *osli_alloc_like(const void *like, size_t bytes);
osla_err osli_alloc_like_failed(const void *like, size_t bytes, const char *purpose);
void osli_free_like(void *memory);

/* Refuses device memory at the begin of a call that works on host memory only: returns UNSUPPORTED,
 * with the name of the call, from the enclosing function if one of at most three addresses lies on
 * a device. Local. */
#define OSLA_REFUSES_DEVICE(call, ...)                                                             \
  do {                                                                                             \
    const void *const osli_list[3] = {__VA_ARGS__};                                                \
    if (osli_on_device(osli_list[0], osli_list[1], osli_list[2])) return osli_device_refuse(call); \
  } while (0)
osla_err osli_device_refuse(const char *call);

/* ---- work ---- */

/* Makes a lane current for this thread, and returns the lane that was current before. A thread
 * begins in LANE_MAIN. While LANE_PANEL is current, osli_device_settle waits for the work of
 * LANE_PANEL alone, so a notify about a panel does not wait for the update of the trailing matrix.
 * Local. */
device_lane osli_device_lane(device_lane lane);

/* Orders the lanes of a device: work that is submitted to `lane` later starts after all work that
 * the other lane has so far. Local. Errors: those of the backend. */
osla_err osli_device_after(const device_queue *queue, device_lane lane);

/* Returns the loop of a piece of work of kind COMBINE. The backend gives the addresses at which it
 * accesses the lists, the values and the elements. Pure. */
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

/* Queues work in the current lane of the device on which work->c lies; for COPY work->a may lie on
 * the device instead. Copies to or from host memory are complete on return. Local. Errors: ARG (an
 * operand lies in host memory or on another device), MEM, those of the backend. */
osla_err osli_device_submit(const device_work *work);

/* Waits for the work that the current lane of a device has so far. Local. Errors: those of queued
 * work. */
osla_err osli_device_finish(const device_queue *queue);

/* Waits for all work that all lanes of a device have so far. Local. Errors: those of queued work,
 * and the error that osli_device_keep_error has stored, which the call clears. */
osla_err osli_device_wait(const device_queue *queue);

/* Queues a signal in the current lane: the device stores `value` in `word` when all work that the
 * lane has so far is complete. By signals, ranks of a node order work of their devices, and no host
 * waits. The word lies in host memory that the device has pinned. If the device fails, the next
 * call that waits for the device stores `value`, because other ranks would otherwise wait forever.
 * Local. Errors: UNSUPPORTED (the device has no signals), those of the backend. */
osla_err osli_device_signal(device_queue *queue, _Atomic uint64_t *word, uint64_t value);
/* Lets work that is queued later in the current lane wait until `word` is at least `value`. The
 * word lies in host memory that the device has pinned. The signal with this value must have been
 * submitted already, so that no circle of waits can form. Local. Errors: as osli_device_signal. */
osla_err osli_device_await(const device_queue *queue, _Atomic uint64_t *word, uint64_t value);

/* Queues C (m x n) := alpha A + beta C on device memory; C is not read if beta = 0. Local. Errors:
 * as osli_device_submit. */
osla_err osli_device_add(osla_dtype dtype, int64_t m, int64_t n, osla_complex alpha, const void *a,
                         int64_t lda, osla_complex beta, void *c, int64_t ldc);

/* Copies m x n elements of `element` bytes between two arrays, of which one or both lie on a
 * device. from_ld and to_ld are their leading dimensions. The next osli_device_settle returns an
 * error of the copy. Local. */
void osli_device_copy(size_t element, int64_t m, int64_t n, const void *from, int64_t from_ld,
                      void *to, int64_t to_ld);

/* Copies adjacent bytes as osli_device_copy copies elements. Local. */
static inline void osli_device_copy_bytes(size_t bytes, const void *from, void *to)
{
  osli_device_copy(1, (int64_t)bytes, 1, from, 0, to, 0);
}

/* True if osla_lapack_potrf and osla_lapack_getrf copy a matrix on a device to host memory, factor
 * the copy there, and copy it back. osla_device_open sets it from OSLA_DEVICE_PANELS. */
extern bool osli_device_panels_on_host;

/* The ways in which a rank informs another rank or its caller, before each of which it waits for
 * queued work (osli_device_settle). */
typedef enum device_settle_reason {
  SETTLE_NOTIFY,     /* a notify, a post, a put, a word or a wake-up */
  SETTLE_COLLECTIVE, /* a collective call, a message, an exchange or a counter */
  SETTLE_COPY,       /* the return of a call that has copied from or to a device for its caller */
  SETTLE_ANNOUNCE,   /* a notify that other ranks may now read values of this rank in place */
  SETTLE_READ        /* a notify that this rank has read the values of another rank in place */
} device_settle_reason;

/* osli_device_settle waits for all work that this process has queued so far; if LANE_PANEL is
 * current, for the work of LANE_PANEL only. Every function by which a rank informs another rank
 * first calls osli_device_settle or osli_device_settle_kept. osli_device_settle_all does the
 * waiting when a device is open. Local. Errors: those of queued work, and the error that
 * osli_device_keep_error has stored. */
osla_err osli_device_settle_all(device_settle_reason reason);
static inline osla_err osli_device_settle(device_settle_reason reason)
{
  return osli_device_any() ? osli_device_settle_all(reason) : OSLA_OK;
}

/* Stores an error and its text, which the next osli_device_settle returns. OK, and an error while
 * another one is stored, change nothing. Local. */
void osli_device_keep_error(osla_err err);

/* Waits as osli_device_settle does, but stores an error by osli_device_keep_error instead of
 * returning it. It serves calls that must inform another rank even after an error, because the
 * other rank would otherwise wait forever. The next osla_agree returns the error on all ranks.
 * Local. */
static inline void osli_device_settle_kept(device_settle_reason reason)
{
  if (osli_device_any()) osli_device_keep_error(osli_device_settle_all(reason));
}

/* ---- planted faults ---- */

/* osli_device_faults is a sum of the faults below, or 0. tests/device sets it to test that the fake
 * device shows each fault; each comment says what the library then does wrong. */
enum {
  DEVICE_FAULT_NOTIFY = 1,      /* osli_device_settle(SETTLE_NOTIFY) does not wait */
  DEVICE_FAULT_COLLECTIVE = 2,  /* osli_device_settle(SETTLE_COLLECTIVE) does not wait */
  DEVICE_FAULT_COPY = 4,        /* a copy to or from host memory does not wait for earlier work */
  DEVICE_FAULT_HOST_BUFFER = 8, /* osli_alloc_like allocates host memory for a device address */
  DEVICE_FAULT_MEMCPY = 16,     /* osli_device_copy calls memcpy on the host */
  DEVICE_FAULT_AFTER = 32,      /* osli_device_after does nothing */
  DEVICE_FAULT_FINISH = 64,     /* osli_device_finish does not wait */
  DEVICE_FAULT_ANNOUNCE = 128,  /* osli_device_settle(SETTLE_ANNOUNCE) does not wait */
  DEVICE_FAULT_READ = 256,      /* osli_device_settle(SETTLE_READ) does not wait */
  DEVICE_FAULT_SIGNAL = 512,    /* a signal does not wait for earlier work of its lane */
  DEVICE_FAULT_AWAIT = 1024,    /* osli_device_await does nothing */
  DEVICE_FAULT_END = 2048       /* the end of a transfer does not let later work wait for readers */
};
extern int osli_device_faults;

#endif
