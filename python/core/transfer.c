/* Transfers of star forests. A transfer holds its arrays until it is complete.
 *
 * Python may deallocate a transfer that has not ended. Like any collective object it then waits
 * until all ranks have dropped it, and is ended at their next agreement. For the same reason the
 * handle of an ended transfer stays in the list of objects: all ranks must have the same objects,
 * whether a rank ended or dropped the transfer. */
#include "python/core/core.h"

#include <stdlib.h>

enum { BCAST, REDUCE, FETCH, ARRAYS = 3 };

typedef struct transfer {
  osla_forest_run
    run; /* run.forest is NULL if the transfer is complete, or while a thread waits for it */
  Py_buffer view[ARRAYS];
  int views;
  PyObject *capsule[ARRAYS]; /* capsules of arrays in device memory, from device_register */
  int capsules;
} transfer;

static void release(transfer *t)
{
  while (t->views > 0)
    PyBuffer_Release(&t->view[--t->views]);
  while (t->capsules > 0)
    Py_DECREF(t->capsule[--t->capsules]);
}

/* Ends and destroys a transfer. Called without the interpreter lock, and at the end of the process
 * without an interpreter. Arrays that are not released before the interpreter ends are never
 * freed. */
static osla_err destroy_transfer(void **object)
{
  transfer *t = *object;
  if (t->run.forest) {
    OSLA_CALL(osla_forest_end(&t->run));
    if (Py_IsInitialized()) {
      PyGILState_STATE state = PyGILState_Ensure();
      release(t);
      PyGILState_Release(state);
    }
  }
  free(t);
  *object = NULL;
  return OSLA_OK;
}

static const osla_py_kind kind = {"Transfer", destroy_transfer, true};

/* Arguments of one transfer call from Python. */
typedef struct request {
  osla_py_handle *forest;
  int what; /* kind of transfer: BCAST, REDUCE or FETCH */
  osla_unit unit;
  osla_forest_combine combine;
  void *roots, *leaves, *before;
} request;

/* Returns true if an array has the needed number of bytes; sets an exception otherwise. */
static bool is_size(const char *name, int64_t given, int64_t needed)
{
  if (given == needed) return true;
  osla_py_refuse(OSLA_ERR_ARG, "%s: %lld bytes where %lld are needed", name, (long long)given,
                 (long long)needed);
  return false;
}

/* Acquires an array of `bytes` bytes: a buffer in host memory, or the capsule of an array in device
 * memory. Sets *out to its address. On failure returns false, with an exception set. */
static bool take_values(PyObject *object, const char *name, int64_t bytes, bool write, transfer *t,
                        void **out)
{
  Py_buffer *view = &t->view[t->views];
  size_t registered;
  *out = osla_py_registered(object, &registered);
  if (*out) {
    Py_INCREF(object);
    t->capsule[t->capsules++] = object;
    return is_size(name, (int64_t)registered, bytes);
  }
  if (PyObject_GetBuffer(object, view, write ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0) return false;
  t->views++;
  *out = view->buf;
  return is_size(name, view->len, bytes);
}

/* Converts the arguments (forest, what, type, count, bytes of a vertex, combine, roots, leaves,
 * before or None), and acquires the arrays in t. On failure returns false, with an exception set
 * and no array acquired. */
static bool convert_request(PyObject *args, request *r, transfer *t)
{
  int type, combine;
  long long bytes;
  PyObject *roots, *leaves, *before;
  if (!osla_py_parse(args, "O&iiiLiOOO", osla_py_as_forest, &r->forest, &r->what, &type,
                     &r->unit.count, &bytes, &combine, &roots, &leaves, &before))
    return false;
  r->unit.type = (osla_unit_type)type;
  r->combine = (osla_forest_combine)combine;
  int64_t of_roots = osla_forest_n_roots(r->forest->object) * bytes;
  int64_t of_leaves = osla_forest_leaf_space(r->forest->object) * bytes;
  if (take_values(roots, "roots", of_roots, r->what != BCAST, t, &r->roots) &&
      take_values(leaves, "leaves", of_leaves, r->what == BCAST, t, &r->leaves) &&
      (r->what != FETCH || take_values(before, "before", of_leaves, true, t, &r->before)))
    return true;
  release(t);
  return false;
}

static osla_err begin(const request *r, osla_forest_run *run)
{
  osla_forest *f = r->forest->object;
  switch (r->what) {
    case BCAST: return osla_forest_bcast_begin(f, r->unit, r->roots, r->leaves, r->combine, run);
    case REDUCE: return osla_forest_reduce_begin(f, r->unit, r->leaves, r->roots, r->combine, run);
    default:
      return osla_forest_fetch_begin(f, r->unit, r->roots, r->leaves, r->before, r->combine, run);
  }
}

static osla_err check(const request *r)
{
  osla_forest *f = r->forest->object;
  switch (r->what) {
    case BCAST: return osla_forest_bcast_check(f, r->unit, r->roots, r->leaves, r->combine);
    case REDUCE: return osla_forest_reduce_check(f, r->unit, r->leaves, r->roots, r->combine);
    default: return osla_forest_fetch_check(f, r->unit, r->roots, r->leaves, r->before, r->combine);
  }
}

static osla_err begin_and_end(const request *r)
{
  osla_forest_run run;
  OSLA_CALL(begin(r, &run));
  return osla_forest_end(&run);
}

/* Python function forest_check(arguments of convert_request) raises the exception that the
 * transfer would raise. */
static PyObject *forest_check(PyObject *module, PyObject *args)
{
  (void)module;
  request r = {.what = BCAST};
  transfer held = {.views = 0};
  if (!convert_request(args, &r, &held)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, check(&r), r.forest, NULL, NULL, NULL);
  release(&held);
  return osla_py_result(err);
}

/* Python function forest_move(arguments of convert_request) begins and ends a transfer. */
static PyObject *forest_move(PyObject *module, PyObject *args)
{
  (void)module;
  request r = {.what = BCAST};
  transfer held = {.views = 0};
  if (!convert_request(args, &r, &held)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, begin_and_end(&r), r.forest, NULL, NULL, NULL);
  release(&held);
  return osla_py_result(err);
}

/* Python function forest_begin(arguments of convert_request) -> the transfer */
static PyObject *forest_begin(PyObject *module, PyObject *args)
{
  (void)module;
  request r = {.what = BCAST};
  transfer *t = calloc(1, sizeof *t);
  if (!t) return PyErr_NoMemory();
  if (!convert_request(args, &r, t)) {
    free(t);
    return NULL;
  }
  osla_err err;
  OSLA_PY_RUN(err, begin(&r, &t->run), r.forest, NULL, NULL, NULL);
  if (err != OSLA_OK) {
    release(t);
    free(t);
    return osla_py_raise(err);
  }
  return osla_py_wrap(&kind, t, r.forest, false);
}

/* Waits for the end of the transfer, or tests for it; returns whether it has ended. */
static PyObject *end_transfer(PyObject *object, bool wait)
{
  osla_py_handle *h = osla_py_handle_of(object, &kind);
  if (!h) return NULL;
  transfer *t = h->object;
  /* NULL in t->run.forest, set below, keeps other threads from using this transfer */
  osla_forest_run run = t->run;
  if (!run.forest) return osla_py_refuse(OSLA_ERR_STATE, "this transfer has ended");
  t->run.forest = NULL;
  bool done = wait;
  osla_err err;
  OSLA_PY_RUN(err, wait ? osla_forest_end(&run) : osla_forest_test(&run, &done), h, h->owner, NULL,
              NULL);
  if (err == OSLA_OK && done)
    release(t);
  else
    t->run = run;
  return err == OSLA_OK ? PyBool_FromLong(done) : osla_py_raise(err);
}

static PyObject *transfer_end(PyObject *module, PyObject *object)
{
  (void)module;
  return end_transfer(object, true);
}

static PyObject *transfer_test(PyObject *module, PyObject *object)
{
  (void)module;
  return end_transfer(object, false);
}

PyMethodDef osla_py_transfer_methods[] = {{"forest_check", forest_check, METH_VARARGS, NULL},
                                          {"forest_move", forest_move, METH_VARARGS, NULL},
                                          {"forest_begin", forest_begin, METH_VARARGS, NULL},
                                          {"transfer_end", transfer_end, METH_O, NULL},
                                          {"transfer_test", transfer_test, METH_O, NULL},
                                          {NULL, NULL, 0, NULL}};
