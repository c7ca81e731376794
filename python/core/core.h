/* The C part of the Python package: objects as handles, arrays as buffers, one function for one
 * call of the library. What makes it Python is in python/osla.
 *
 * Only what Python's stable interface has is used (Py_LIMITED_API, PEP 384), so that one build
 * serves Python 3.11 and later (built with 3.10 it serves that alone); arrays come by the buffer
 * protocol, so that no numpy is compiled in.
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

/* Imports the exception classes now, because nothing can be imported while Python ends and errors
 * may still be raised then. */
bool osla_py_errors_ready(void);
/* Raises the exception of that code with osla_error_text; returns NULL. */
PyObject *osla_py_raise(osla_err err);
/* The same with a text of its own. */
PyObject *osla_py_refuse(osla_err err, const char *format, ...)
  __attribute__((format(printf, 2, 3)));
/* None, or the exception. */
PyObject *osla_py_result(osla_err err);

/* ---- objects (handle.c) ---- */

/* What a handle holds, and how it is destroyed. */
typedef struct osla_py_kind {
  const char *name;
  osla_err (*destroy)(void **object);
  bool collective; /* its destruction is */
} osla_py_kind;

extern const osla_py_kind osla_py_transport, osla_py_grid, osla_py_matrix, osla_py_hessian,
  osla_py_file, osla_py_forest, osla_py_csr;

typedef struct osla_py_handle {
  PyObject_HEAD const osla_py_kind *kind;
  void *object;                 /* NULL: destroyed */
  bool borrowed;                /* `owner` destroys it */
  struct osla_py_handle *owner; /* what it is made from and must not outlive; NULL: a transport */
  struct osla_py_handle *root;  /* the transport; of a transport itself NULL */
  osla_dtype update_dtype;      /* accumulator: of G and U */
  int64_t number;               /* of the collective objects of a transport, from 1 */
  Py_ssize_t pins;              /* arrays that see its memory, calls that are under way */
  bool claimed;                 /* by its destruction, for which the ranks meet */
  bool retired;                 /* destroyed when the process ends, and not before */
  int64_t made;                 /* transport: numbers given so far */
  int64_t children;             /* transport: objects of it that are not destroyed */
  struct osla_py_dropped *dropped; /* transport: what waits for its destruction; else: mine */
  struct osla_py_handle *previous, *next; /* transport: the first living one is next */
} osla_py_handle;

/* An object that Python has dropped, or will: made with the object, so that dropping cannot fail.
 */
typedef struct osla_py_dropped {
  const osla_py_kind *kind;
  void *object;
  int64_t number;
  osla_py_handle *owner;
  struct osla_py_dropped *next;
} osla_py_dropped;

extern PyTypeObject *osla_py_handle_type;
bool osla_py_handles_ready(PyObject *module);

/* The handle of a new object. Owns the object (unless borrowed): on failure it is destroyed. */
PyObject *osla_py_wrap(const osla_py_kind *kind, void *object, osla_py_handle *owner,
                       bool borrowed);

/* The handle, if it is one of that kind and alive; else NULL and an exception. */
osla_py_handle *osla_py_handle_of(PyObject *object, const osla_py_kind *kind);
/* Accepts also a handle that the caller has claimed. */
osla_py_handle *osla_py_claimed_handle_of(PyObject *object, const osla_py_kind *kind);

/* Parses as PyArg_ParseTuple does, and returns false with an exception also where a handle among
 * the arguments is no longer alive: converting a later argument may have destroyed it. */
bool osla_py_parse(PyObject *args, const char *format, ...);
/* True: a call may use the handle. False, with an exception: it was destroyed, perhaps while an
 * array was converted, or is being destroyed. */
bool osla_py_is_usable(const osla_py_handle *handle);

/* For osla_py_parse's "O&": osla_py_handle **. "_or_none": None gives NULL. */
int osla_py_as_transport(PyObject *object, void *out);
int osla_py_as_grid(PyObject *object, void *out);
int osla_py_as_matrix(PyObject *object, void *out);
int osla_py_as_hessian(PyObject *object, void *out);
int osla_py_as_file(PyObject *object, void *out);
int osla_py_as_forest(PyObject *object, void *out);
int osla_py_as_csr(PyObject *object, void *out);

/* Part of a matrix: the tuple (handle, i, j, m, n) gives osla_part *; and its handle. */
int osla_py_as_part(PyObject *object, void *out);
osla_py_handle *osla_py_handle_in(PyObject *part);

/* A number, as the library's factors are: osla_complex *. */
int osla_py_as_complex(PyObject *object, void *out);

/* Gives a collective object to the list of what its transport's ranks destroy when they meet. */
void osla_py_drop(osla_py_handle *handle);
/* For an object that a call of its own has ended and nulled. */
void osla_py_closed(osla_py_handle *handle);
/* Destroys an object here and now. */
osla_err osla_py_destroy(osla_py_handle *handle);
extern PyMethodDef osla_py_life_methods[];
/* Takes a handle from the list of its transport's living ones. */
void osla_py_unlink(osla_py_handle *handle);
int osla_py_ascending(const void *x, const void *y); /* of int64_t, for qsort */

/* The memory that an array sees: fills shape (two numbers) and strides in bytes. NULL and an
 * exception where a kind has none. */
typedef struct osla_py_memory {
  void *data;
  osla_dtype dtype;
  int dimensions;
  Py_ssize_t shape[2], strides[2];
  bool readonly;
} osla_py_memory;
bool osla_py_memory_of(const osla_py_handle *handle, osla_py_memory *out);

/* osla_py_begin releases the interpreter's lock and pins the handles; osla_py_end takes it back.
 * Returns false, with the text of OSLA_ERR_STATE set, if a handle was destroyed, or another thread
 * has begun to destroy it, while an argument was converted (__index__ and __buffer__ may run Python
 * code). */
enum { OSLA_PY_MOST = 4 };
typedef struct osla_py_call {
  osla_py_handle *pinned[OSLA_PY_MOST];
  PyThreadState *state;
} osla_py_call;
bool osla_py_begin(osla_py_call *call, osla_py_handle *a, osla_py_handle *b, osla_py_handle *c,
                   osla_py_handle *d);
void osla_py_end(osla_py_call *call);

/* Calls of the library that run now, without the interpreter's lock, on all threads. */
int osla_py_under_way(void);

/* err := the call of the library, without the interpreter's lock; pins up to four handles. */
#define OSLA_PY_RUN(err, call, a, b, c, d)                                                         \
  do {                                                                                             \
    osla_py_call under_way_;                                                                       \
    if (osla_py_begin(&under_way_, (a), (b), (c), (d))) {                                          \
      (err) = (call);                                                                              \
      osla_py_end(&under_way_);                                                                    \
    } else {                                                                                       \
      (err) = OSLA_ERR_STATE;                                                                      \
    }                                                                                              \
  } while (0)

/* ---- arrays (arrays.c) ---- */

typedef struct osla_py_array {
  Py_buffer view;
  void *data;
  int64_t rows, cols, ld; /* ld: elements from one column to the next */
  bool held;
} osla_py_array;

enum { OSLA_PY_ANY = -1 };

/* How the call uses the array. OSLA_PY_READ_OR_COPY: the call has copy=True, which the text of a
 * refusal recommends. */
typedef enum osla_py_use { OSLA_PY_READ, OSLA_PY_WRITE, OSLA_PY_READ_OR_COPY } osla_py_use;

/* An array of int64 or of a dtype with one dimension, contiguous. The library's memory must not be
 * an array's that has been given back: osla_py_give_back. False: an exception. */
bool osla_py_take_indices(PyObject *object, const char *name, int64_t count, osla_py_use use,
                          osla_py_array *out);
bool osla_py_take_vector(PyObject *object, const char *name, osla_dtype dtype, int64_t count,
                         osla_py_use use, osla_py_array *out);

/* A matrix by columns (Fortran order): elements of a column follow one another, columns may be
 * apart. One dimension: a column, or with `row` a row. */
bool osla_py_take_columns(PyObject *object, const char *name, osla_dtype dtype, int64_t rows,
                          int64_t cols, bool row, osla_py_use use, osla_py_array *out);
void osla_py_give_back(osla_py_array *array);

/* Before all ranks meet: would the call take this array? */
extern PyMethodDef osla_py_array_methods[];

/* ---- options (options.c) ---- */

/* options(name, {field: value}): the struct of that name as bytes, defaults where not said. */
PyObject *osla_py_options(PyObject *module, PyObject *args);

/* The struct in such bytes, or NULL and an exception where they are of another size. */
const void *osla_py_struct(PyObject *bytes, size_t size);

/* ---- buffers that handles export (export.c) ---- */

int osla_py_export(PyObject *self, Py_buffer *view, int flags);
void osla_py_unexport(PyObject *self, Py_buffer *view);

/* Counts what sees the memory of a handle, also at the one that owns it. */
void osla_py_pin(osla_py_handle *handle);
void osla_py_unpin(osla_py_handle *handle);

/* ---- iterations (iterate.c) ---- */

/* Sweeps of block Jacobi as a preconditioner. Both are collective; freeing takes what was never
 * made, too. */
typedef struct osla_py_sweeps {
  double *right;
  osla_splitting *split;
  osla_sweeps *sweeps;
} osla_py_sweeps;
osla_err osla_py_sweeps_make(osla_csr *matrix, int64_t block, int sweeps, osla_iterate_mode mode,
                             osla_py_sweeps *out);
void osla_py_sweeps_free(osla_py_sweeps *s);

/* ---- MPI (mpi.c) ---- */

/* Why no call of the package can be made in this process any more; NULL: calls can be made. */
const char *osla_py_over(void);
/* Learns of forks from now on, and of MPI_Finalize once MPI runs. */
bool osla_py_watch_forks(void);

/* Is the MPI that calls of this module reach the one that it was compiled for? Else ImportError. */
bool osla_py_mpi_is_ours(void);

/* ---- the module's functions ---- */

extern PyMethodDef osla_py_end_methods[], osla_py_mpi_methods[], osla_py_transport_methods[],
  osla_py_matrix_methods[], osla_py_kernel_methods[], osla_py_product_methods[],
  osla_py_solve_methods[], osla_py_hessian_methods[], osla_py_file_methods[],
  osla_py_forest_methods[], osla_py_transfer_methods[], osla_py_sparse_methods[],
  osla_py_iterate_methods[];

#endif
