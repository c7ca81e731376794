/* Transfers of star forests. A transfer holds its arrays until it is complete.
 *
 * Python may deallocate a transfer that has not ended. Like any collective object it then waits
 * until all ranks have dropped it, and is ended at their next agreement. For the same reason the
 * handle of an ended transfer stays in the list of objects: all ranks must have the same objects,
 * whether a rank ended or dropped the transfer. */
#include "python/core/core.h"

#include <stdlib.h>

enum { BCAST, REDUCE, FETCH };
enum { ROOTS, LEAVES, BEFORE, ARRAYS };

typedef struct transfer {
  osla_forest_run
    run; /* run.forest is NULL if the transfer is complete, or while a thread waits for it */
  osla_py_array array[ARRAYS]; /* indexed by ROOTS, LEAVES, BEFORE */
} transfer;

static void release(transfer *t)
{
  for (int i = 0; i < ARRAYS; i++)
    osla_py_release(&t->array[i]);
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
  const int64_t of_roots = osla_forest_n_roots(r->forest->object) * bytes;
  const int64_t of_leaves = osla_forest_leaf_space(r->forest->object) * bytes;
  const bool to_leaves = r->what == BCAST;
  const osla_py_use use[] = {to_leaves ? OSLA_PY_READ : OSLA_PY_WRITE,
                             to_leaves ? OSLA_PY_WRITE : OSLA_PY_READ};
  osla_py_array *x = t->array;
  const bool fit = osla_py_acquire_bytes(roots, "roots", of_roots, use[ROOTS], &x[ROOTS]) &&
                   osla_py_acquire_bytes(leaves, "leaves", of_leaves, use[LEAVES], &x[LEAVES]) &&
                   (r->what != FETCH ||
                    osla_py_acquire_bytes(before, "before", of_leaves, OSLA_PY_WRITE, &x[BEFORE]));
  if (!fit) release(t);
  r->roots = x[ROOTS].data;
  r->leaves = x[LEAVES].data;
  r->before = x[BEFORE].data;
  return fit;
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
  transfer held = {.run = {0}};
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
  transfer held = {.run = {0}};
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
