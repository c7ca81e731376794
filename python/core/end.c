/* The end of the process. What lives then is listed by Python's atexit and destroyed when the
 * interpreter has ended (Py_AtExit): until then arrays may see its memory, and daemon threads may
 * use it. No Python object is touched there. */
#include "core.h"

#include <stdlib.h>
#include <time.h>

/* A transport, its collective objects and its grids. */
typedef struct ending {
  osla_transport *transport;
  osla_py_dropped *objects, *local;
  struct ending *next;
} ending;

static ending *endings; /* the youngest first */
static bool mpi_ends;
static bool closed;   /* for collective calls */
static int64_t calls; /* collective ones that have been entered and not left */

static void nap(void)
{
  (void)nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* Is it gone? */
static bool destroy(osla_py_dropped *d)
{
  (void)d->kind->destroy(&d->object);
  return !d->object;
}

/* Are all gone? Backwards, and again while some go and some are refused: a matrix, for one, while a
 * transfer that was begun before it was made is under way. */
static bool destroy_numbered(ending *e, const int64_t *number, int64_t count)
{
  int64_t gone = 1, left = count;
  for (; left > 0 && gone > 0; left -= gone) {
    gone = 0;
    for (int64_t i = count - 1; i >= 0; i--)
      for (osla_py_dropped *d = e->objects; d; d = d->next)
        if (d->number == number[i] && d->object && destroy(d)) gone++;
  }
  return left == 0;
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
  bool whole = destroy_numbered(e, number, common);
  whole = whole && number && err == OSLA_OK && common == n;
  for (osla_py_dropped *d = e->local; d && whole; d = d->next)
    (void)destroy(d);
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

/* Daemon threads that are in a call of the library finish it, and then stop: they do not get the
 * interpreter's lock any more. In a forked child nothing is done: all of this is the parent's. */
static void at_end(void)
{
  const bool runs = !osla_py_over();
  while (runs && osla_py_under_way() > 0)
    nap();
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

/* Lists what a handle holds. The handle can still be used, but destroys nothing any more. */
static bool list_object(ending *e, osla_py_handle *h)
{
  osla_py_dropped *node = h->kind->collective ? h->dropped : calloc(1, sizeof *node);
  if (!node) return false; /* a grid, which stays then */
  osla_py_dropped **list = h->kind->collective ? &e->objects : &e->local;
  *node =
    (osla_py_dropped){.kind = h->kind, .object = h->object, .number = h->number, .next = *list};
  *list = node;
  h->dropped = NULL;
  h->retired = true;
  osla_py_unlink(h);
  return true;
}

/* retire(transport): its objects, and itself, are destroyed when the process ends. */
static PyObject *retire(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *root = osla_py_handle_of(object, &osla_py_transport);
  if (!root) return NULL;
  if (root->retired) Py_RETURN_NONE;
  ending *e = calloc(1, sizeof *e);
  if (!e || !arrange()) {
    free(e);
    return PyErr_NoMemory();
  }
  e->transport = root->object;
  e->objects = root->dropped;
  e->next = endings;
  endings = e;
  root->dropped = NULL;
  root->retired = true;
  for (osla_py_handle *h = root->next, *next; h; h = next) {
    next = h->next;
    (void)list_object(e, h);
  }
  Py_RETURN_NONE;
}

/* enter(), leave(): a collective call begins and ends. */
static PyObject *enter(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  if (closed)
    return osla_py_refuse(OSLA_ERR_STATE, "the program ends: collective calls come too late");
  calls++;
  Py_RETURN_NONE;
}

static PyObject *leave(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  calls--;
  Py_RETURN_NONE;
}

/* close(): no collective call begins any more, and those of daemon threads have ended: other ranks
 * are in them, too. False in a forked child and after MPI's end, where nothing is left to do. */
static PyObject *close_calls(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  closed = true;
  while (calls > 0 && !osla_py_over()) {
    Py_BEGIN_ALLOW_THREADS nap();
    Py_END_ALLOW_THREADS if (PyErr_CheckSignals() != 0) return NULL;
  }
  return PyBool_FromLong(!osla_py_over());
}

/* ends(): has `close` been called? Then what lives goes at the end of the process. */
static PyObject *ends(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  return PyBool_FromLong(closed);
}

static PyObject *end_mpi(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  mpi_ends = arrange();
  Py_RETURN_NONE;
}

PyMethodDef osla_py_end_methods[] = {{"retire", retire, METH_O, NULL},
                                     {"enter", enter, METH_NOARGS, NULL},
                                     {"leave", leave, METH_NOARGS, NULL},
                                     {"close", close_calls, METH_NOARGS, NULL},
                                     {"ends", ends, METH_NOARGS, NULL},
                                     {"end_mpi", end_mpi, METH_NOARGS, NULL},
                                     {NULL, NULL, 0, NULL}};
