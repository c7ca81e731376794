/* The end of the process. What lives then is taken from its handles by Python's atexit, and
 * destroyed when the interpreter has ended (Py_AtExit): until then arrays may see its memory. No
 * Python object is touched there. */
#include "core.h"

#include <stdlib.h>

/* A transport, its collective objects and its grids. */
typedef struct ending {
  osla_transport *transport;
  osla_py_dropped *objects, *local;
  struct ending *next;
} ending;

static ending *endings; /* the youngest first */
static bool mpi_ends;

static void destroy(osla_py_dropped *d)
{
  (void)d->kind->destroy(&d->object);
}

static void destroy_numbered(ending *e, int64_t number)
{
  for (osla_py_dropped *d = e->objects; d; d = d->next)
    if (d->number == number && d->object) destroy(d);
}

/* All ranks have the same objects: each was made, and perhaps destroyed, on all of them. */
static void end_transport(ending *e)
{
  int64_t n = 0, i = 0, common = 0;
  for (osla_py_dropped *d = e->objects; d; d = d->next)
    n++;
  int64_t *number = malloc((size_t)(n + 1) * sizeof *number);
  if (!number) n = 0;
  for (osla_py_dropped *d = e->objects; d && i < n; d = d->next)
    number[i++] = d->number;
  if (n > 0) qsort(number, (size_t)n, sizeof *number, osla_py_ascending);
  osla_err err;
  do /* while others are at another call: they get that as an error, and come here, or end the job
      */
    err = osla_meet(e->transport, OSLA_OK, "the end of the program", n, number, &common);
  while (err == OSLA_ERR_STATE);
  if (err != OSLA_OK) common = 0;
  for (i = common - 1; i >= 0; i--)
    destroy_numbered(e, number[i]);
  bool whole = number && err == OSLA_OK && common == n;
  for (osla_py_dropped *d = e->local; d && whole; d = d->next)
    destroy(d);
  if (whole) osla_transport_destroy(&e->transport);
  free(number);
}

static void free_list(osla_py_dropped *list)
{
  while (list) {
    osla_py_dropped *next = list->next;
    free(list);
    list = next;
  }
}

static void at_end(void)
{
  int started = 0, ended = 0;
  bool runs = MPI_Initialized(&started) == MPI_SUCCESS && MPI_Finalized(&ended) == MPI_SUCCESS &&
              started && !ended;
  for (ending *e = endings, *next; e; e = next) {
    next = e->next;
    if (runs) end_transport(e);
    free_list(e->objects);
    free_list(e->local);
    free(e);
  }
  endings = NULL;
  if (runs && mpi_ends) (void)MPI_Finalize();
}

static bool arrange(void)
{
  static bool arranged;
  if (!arranged) arranged = Py_AtExit(at_end) == 0;
  return arranged;
}

/* Grids have no list to wait in. */
static void keep_local(ending *e, osla_py_handle *h)
{
  osla_py_dropped *node = calloc(1, sizeof *node);
  if (node) *node = (osla_py_dropped){.kind = h->kind, .object = h->object, .next = e->local};
  if (node) e->local = node;
  osla_py_unlink(h);
  h->object = NULL;
}

/* retire(transport): its objects, and itself, are destroyed when the process ends. */
static PyObject *retire(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *root = osla_py_handle_of(object, &osla_py_transport);
  if (!root) return NULL;
  ending *e = calloc(1, sizeof *e);
  if (!e || !arrange()) {
    free(e);
    return PyErr_NoMemory();
  }
  for (osla_py_handle *h = root->next, *next; h; h = next) {
    next = h->next;
    if (h->kind->collective)
      osla_py_drop(h);
    else
      keep_local(e, h);
  }
  e->transport = root->object;
  e->objects = root->dropped;
  e->next = endings;
  endings = e;
  root->object = NULL;
  root->dropped = NULL;
  Py_RETURN_NONE;
}

static PyObject *end_mpi(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  mpi_ends = arrange();
  Py_RETURN_NONE;
}

PyMethodDef osla_py_end_methods[] = {
  {"retire", retire, METH_O, NULL}, {"end_mpi", end_mpi, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
