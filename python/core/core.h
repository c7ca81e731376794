/* The C part of the Python package: objects as handles, arrays as buffers, and one Python function
 * for each library call. The Python interface proper is in python/osla.
 *
 * Only Python's stable interface is used (Py_LIMITED_API, PEP 384), so that one build serves Python
 * 3.11 and later (a build with 3.10 serves only 3.10). Arrays are accessed through the buffer
 * protocol, so that numpy is not needed to compile.
 */
#ifndef OSLA_PY_CORE_H
#define OSLA_PY_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "osla_unstable.h"
#include <stdbool.h>
#include <string.h>

PyMODINIT_FUNC PyInit__core(void);

/* ---- errors (errors.c) ---- */

/* Imports the exception classes. Called early, because errors may be raised while Python ends,
 * when nothing can be imported any more. False, with an exception, on failure. */
bool osla_py_errors_ready(void);
/* Raises the exception that belongs to the error code, with the text of osla_error_text; returns
 * NULL. */
PyObject *osla_py_raise(osla_err err);
/* Raises the exception that belongs to the error code, with the given text; returns NULL. */
PyObject *osla_py_refuse(osla_err err, const char *format, ...)
  __attribute__((format(printf, 2, 3)));
/* Returns None for OSLA_OK; otherwise raises the exception of the error code and returns NULL. */
PyObject *osla_py_result(osla_err err);

/* ---- use of MPI in this process (process.c) ---- */

/* Text that says why this process can make no library call any more (it is a forked child, or
 * MPI_Finalize was called); NULL if it can make calls. */
const char *osla_py_unusable_reason(void);

/* Registers a fork handler: a child that is forked while MPI runs may not make library calls.
 * False, with an exception, if memory ran out. */
bool osla_py_watch_forks(void);

/* Registers a callback of MPI_Finalize, after which no library call can be made. MPI must be
 * running. */
osla_err osla_py_watch_finalize(void);

/* State of MPI. The numbers are those of mpi_state() in Python. */
typedef enum osla_py_mpi_state {
  OSLA_PY_MPI_UNKNOWN = -1, /* state unknown, because an MPI call failed */
  OSLA_PY_MPI_NOT_STARTED,
  OSLA_PY_MPI_RUNNING,
  OSLA_PY_MPI_ENDED /* MPI has ended, or is unusable in this process */
} osla_py_mpi_state;
osla_py_mpi_state osla_py_mpi_state_now(void);

/* ---- kinds of objects (kinds.c) ---- */

/* A kind of object that a handle holds. */
typedef struct osla_py_kind {
  const char *name;
  osla_err (*destroy)(void **object);
  bool collective; /* true if the destruction is a collective call */
} osla_py_kind;

extern const osla_py_kind osla_py_transport, osla_py_grid, osla_py_matrix, osla_py_hessian,
  osla_py_file, osla_py_forest, osla_py_csr, osla_py_device;

/* ---- objects (handle.c) ---- */

typedef struct osla_py_handle {
  PyObject_HEAD const osla_py_kind *kind;
  void *object;  /* the library's object; NULL after its destruction */
  bool borrowed; /* true if another object, `owner`, destroys this object */
  /* object on which this one was created, and which must outlive it; NULL for a transport */
  struct osla_py_handle *owner;
  struct osla_py_handle *root; /* the object's transport; NULL for a transport itself */
  osla_dtype update_dtype;     /* element type of G and U; only for accumulators */
  int64_t number; /* creation number among the collective objects of its transport, from 1 */
  /* number of arrays that export the object's memory, and of calls that use it now */
  Py_ssize_t n_pins;
  /* number of objects that must be destroyed before this object: accumulators on this matrix, or
   * matrices on this device; equal on all ranks after each agreement on a call */
  int64_t n_dependents;
  /* device whose memory holds the elements of a matrix; NULL: host memory */
  struct osla_py_handle *device;
  /* array in whose memory the elements of a wrapped matrix are; NULL for other objects */
  struct osla_py_array *memory;
  bool claimed;      /* true while the ranks agree on the destruction, which has begun */
  bool retired;      /* true if the object is destroyed at the end of the process, not before */
  int64_t n_created; /* largest creation number so far; only for transports */
  /* number of objects on this transport that are not destroyed; only for transports */
  int64_t n_living;
  /* in a transport: list of objects to destroy; in other objects: list node reserved for that
   * object */
  struct osla_py_deferred *deferred;
  struct osla_py_handle *previous,
    *next; /* neighbours in the list of a transport's living objects, whose head is the transport */
} osla_py_handle;

/* List node for an object that Python has deallocated before its collective destruction. The node
 * is allocated together with the object, so that deallocation cannot fail.
 */
typedef struct osla_py_deferred {
  const osla_py_kind *kind;
  void *object;
  int64_t number;
  osla_py_handle *owner,        /* osla_py_handle.owner of the deallocated object */
    *device;                    /* osla_py_handle.device of the deallocated object */
  struct osla_py_array *memory; /* osla_py_handle.memory of the deallocated object */
  struct osla_py_deferred *next;
} osla_py_deferred;

/* The Python type of all handles; created by osla_py_handles_ready. */
extern PyTypeObject *osla_py_handle_type;

/* Creates the handle of a new object. The handle owns the object unless it is borrowed. On failure
 * returns NULL with an exception, and destroys an object that the handle would have owned. */
PyObject *osla_py_wrap(const osla_py_kind *kind, void *object, osla_py_handle *owner,
                       bool borrowed);

/* Sets the device of a new matrix. Until the matrix is destroyed, the device cannot be
 * destroyed. */
void osla_py_set_device(osla_py_handle *matrix, osla_py_handle *device);

/* Returns the handle, if its object has this kind and exists; otherwise NULL, with an exception. */
osla_py_handle *osla_py_handle_of(PyObject *object, const osla_py_kind *kind);
/* Works as osla_py_handle_of, but also accepts a handle that the caller has begun to destroy. */
osla_py_handle *osla_py_claimed_handle_of(PyObject *object, const osla_py_kind *kind);

/* Parses like PyArg_ParseTuple. Also returns false, with an exception, if the conversion of a later
 * argument destroyed the object of an earlier handle. */
bool osla_py_parse(PyObject *args, const char *format, ...);
/* True if a call may use the handle. False, with an exception, if its object was destroyed (perhaps
 * while an array was converted) or is being destroyed. */
bool osla_py_is_usable(const osla_py_handle *handle);

/* Converters for "O&" of osla_py_parse. They store an osla_py_handle *. */
int osla_py_as_transport(PyObject *object, void *out);
int osla_py_as_grid(PyObject *object, void *out);
int osla_py_as_matrix(PyObject *object, void *out);
int osla_py_as_hessian(PyObject *object, void *out);
int osla_py_as_file(PyObject *object, void *out);
int osla_py_as_forest(PyObject *object, void *out);
int osla_py_as_csr(PyObject *object, void *out);
int osla_py_as_device(PyObject *object, void *out);

/* Converts a part of a matrix, given as the tuple (handle, i, j, m, n), and stores it as an
 * osla_part. osla_py_handle_in returns the matrix's handle. */
int osla_py_as_part(PyObject *object, void *out);
osla_py_handle *osla_py_handle_in(PyObject *part);

/* Converts a number, and stores it as an osla_complex, which is the type of alpha and beta in
 * library calls. */
int osla_py_as_complex(PyObject *object, void *out);

/* Moves a collective object to the transport's list of objects to destroy. An object in the list
 * is destroyed when all ranks have dropped it. */
void osla_py_defer_destroy(osla_py_handle *handle);
/* Updates the bookkeeping for an object that a library call has destroyed (h->object is NULL). */
void osla_py_note_destroyed(osla_py_handle *handle);
/* Destroys an object immediately, without waiting for other ranks to drop it. */
osla_err osla_py_destroy(osla_py_handle *handle);
extern PyMethodDef osla_py_lifetime_methods[];
/* Functions that count the users of the memory behind the handle. Users of a borrowed object are
 * also counted at the object's owner. */
void osla_py_pin(osla_py_handle *handle);
void osla_py_unpin(osla_py_handle *handle);
/* Removes a handle from its transport's list of living objects. */
void osla_py_unlink(osla_py_handle *handle);
/* Compares two int64_t, for qsort in ascending order. */
int osla_py_ascending(const void *x, const void *y);

/* osla_py_call_begin pins the handles and releases the interpreter lock; osla_py_call_end reverses
 * both. osla_py_call_begin returns false, with the text of OSLA_ERR_STATE set, if a handle's object
 * was destroyed, or another thread has begun to destroy it, while an argument was converted
 * (__index__ and __buffer__ may run Python code). */
enum { OSLA_PY_MOST = 4 };
typedef struct osla_py_call {
  osla_py_handle *pinned[OSLA_PY_MOST];
  PyThreadState *state;
} osla_py_call;
bool osla_py_call_begin(osla_py_call *call, osla_py_handle *a, osla_py_handle *b, osla_py_handle *c,
                        osla_py_handle *d);
void osla_py_call_end(osla_py_call *call);

/* Number of library calls that run now without the interpreter lock, on all threads. */
int osla_py_calls_running(void);

/* err := result of the library call `call`, which is made without the interpreter lock. Up to four
 * handles are pinned. */
#define OSLA_PY_RUN(err, call, a, b, c, d)                                                         \
  do {                                                                                             \
    osla_py_call under_way_;                                                                       \
    if (osla_py_call_begin(&under_way_, (a), (b), (c), (d))) {                                     \
      (err) = (call);                                                                              \
      osla_py_call_end(&under_way_);                                                               \
    } else {                                                                                       \
      (err) = OSLA_ERR_STATE;                                                                      \
    }                                                                                              \
  } while (0)

/* ---- the Python type of handles (handle_type.c) ---- */

/* Creates the Python type of handles and adds it to the module. False, with an exception, if memory
 * ran out. */
bool osla_py_handles_ready(PyObject *module);

/* ---- arrays (arrays.c) ---- */

typedef struct osla_py_array {
  Py_buffer view;
  PyObject *capsule; /* capsule of an array in device memory; NULL if `view` holds the array */
  void *data;
  int64_t rows, cols, ld; /* ld: leading dimension, elements from one column to the next */
  bool held;
} osla_py_array;

enum { OSLA_PY_ANY = -1 };

/* How a call uses an array. OSLA_PY_READ_OR_COPY: the call reads the array; if the array does not
 * fit, the error message recommends the argument copy=True. */
typedef enum osla_py_use { OSLA_PY_READ, OSLA_PY_WRITE, OSLA_PY_READ_OR_COPY } osla_py_use;

/* Acquire a contiguous one-dimensional array, of int64 or of the given dtype; osla_py_release
 * releases it. `count` is the required length, or OSLA_PY_ANY. False, with an exception, if the
 * array does not fit. */
bool osla_py_acquire_indices(PyObject *object, const char *name, int64_t count, osla_py_use use,
                             osla_py_array *out);
bool osla_py_acquire_vector(PyObject *object, const char *name, osla_dtype dtype, int64_t count,
                            osla_py_use use, osla_py_array *out);

/* Acquires a matrix in column-major (Fortran) order: the elements of a column are contiguous, and
 * columns may be apart. `object` is an array in host memory, or for a matrix in device memory the
 * tuple (capsule of device_register, rows, columns, leading dimension) that osla/_device_arrays.py
 * makes, with None instead of a capsule if the matrix is empty. A one-dimensional array is treated
 * as a row if `row` is true, else as a column. Returns false, with an exception set, if the array
 * does not fit. */
bool osla_py_acquire_columns(PyObject *object, const char *name, osla_dtype dtype, int64_t rows,
                             int64_t cols, bool row, osla_py_use use, osla_py_array *out);
/* Acquires an array of `bytes` bytes for reading or writing (`use`): a buffer in host memory, or
 * the capsule of device_register. Sets out->rows to the number of bytes. Returns false, with an
 * exception set, if the array has another size. osla_py_release releases the array. */
bool osla_py_acquire_bytes(PyObject *object, const char *name, int64_t bytes, osla_py_use use,
                           osla_py_array *out);
void osla_py_release(osla_py_array *array);

/* An array of the program in device memory that is registered with a device. Python code holds it
 * as a PyCapsule (a Python object that holds a C pointer) called osla_py_registration_name. */
typedef struct osla_py_registration {
  osla_py_handle *device; /* pinned until the array is unregistered, so that it is not destroyed */
  PyObject *array;        /* owner of the memory */
  void *memory;
  size_t bytes;
} osla_py_registration;
extern const char osla_py_registration_name[];

/* Returns the address of the registered array of a capsule, and sets *bytes to its size. Returns
 * NULL, and leaves *bytes unchanged, if `object` is not a capsule of device_register. */
void *osla_py_registered(PyObject *object, size_t *bytes);

/* Python functions that check arrays before the ranks agree on a call. */
extern PyMethodDef osla_py_array_methods[];

/* ---- options (options.c) ---- */

/* Python function options(name, {field: value}) -> the options struct as bytes; fields that are
 * not given have their defaults. */
PyObject *osla_py_options(PyObject *module, PyObject *args);

/* Returns the struct stored in a Python bytes object; NULL, with an exception, if the size is
 * wrong. */
const void *osla_py_struct(PyObject *bytes, size_t size);

/* ---- iterations (iterate.c) ---- */

/* Sweeps of block Jacobi as a preconditioner. Creation and freeing are collective; freeing accepts
 * sweeps whose creation failed. */
typedef struct osla_py_sweeps {
  double *right;
  osla_splitting *split;
  osla_sweeps *sweeps;
} osla_py_sweeps;
osla_err osla_py_sweeps_make(osla_csr *matrix, int64_t block, int sweeps, osla_iterate_mode mode,
                             osla_py_sweeps *out);
void osla_py_sweeps_free(osla_py_sweeps *s);

/* ---- MPI (mpi.c) ---- */

/* Checks that this module uses the MPI implementation for which it was compiled. False, with an
 * ImportError, if not. */
bool osla_py_mpi_is_ours(void);

/* ---- method tables of the module ---- */

extern PyMethodDef osla_py_end_methods[], osla_py_mpi_methods[], osla_py_transport_methods[],
  osla_py_matrix_methods[], osla_py_kernel_methods[], osla_py_product_methods[],
  osla_py_solve_methods[], osla_py_hessian_methods[], osla_py_file_methods[],
  osla_py_forest_methods[], osla_py_transfer_methods[], osla_py_sparse_methods[],
  osla_py_iterate_methods[], osla_py_device_methods[];

#endif
