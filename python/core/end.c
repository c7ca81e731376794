/* Destruction of objects at the end of the process. Python's atexit lists the living objects; they
 * are destroyed after the interpreter has ended (Py_AtExit), because until then arrays may export
 * their memory, and daemon threads may use them. No Python object is accessed at that time. */
#include "python/core/core.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* What is destroyed at the end: a transport, its collective objects and its grids. */
typedef struct ending {
  osla_transport *transport;
  osla_py_deferred *objects, *local;
  /* [count] creation numbers of the objects; NULL if there was no memory for them */
  int64_t *number;
  int64_t count;
  /* number of leading entries of `number` that exist on all ranks; set by the agreement */
  int64_t common;
  osla_err err;     /* result of the agreement with the other ranks */
  pthread_t thread; /* thread that agrees with the other ranks; exists if has_thread */
  bool has_thread;
  struct ending *next;
} ending;

static ending *endings; /* list with an entry for each transport that ends, latest first */
static bool finalizes_mpi;
static bool is_closed;  /* true: collective calls are refused */
static int64_t n_calls; /* number of collective calls that have begun and not ended */

static void sleep_briefly(void)
{
  (void)nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* Destroys one object. False if the destruction is refused for now. */
static bool destroy(osla_py_deferred *d)
{
  (void)d->kind->destroy(&d->object);
  return !d->object;
}

/* Destroys the numbered objects, youngest first, and repeats this while at least one object is
 * destroyed in a pass. An object may refuse its destruction until an older object is destroyed (a
 * matrix, while a transfer is under way). True if all are destroyed. */
static bool destroy_numbered(ending *e)
{
  int64_t gone = 1, left = e->common;
  for (; left > 0 && gone > 0; left -= gone) {
    gone = 0;
    for (int64_t i = e->common - 1; i >= 0; i--)
      for (osla_py_deferred *d = e->objects; d; d = d->next)
        if (d->number == e->number[i] && d->object && destroy(d)) gone++;
  }
  return left == 0;
}

/* Lists the creation numbers of the objects, ascending. */
static void list_numbers(ending *e)
{
  int64_t n = 0;
  for (osla_py_deferred *d = e->objects; d; d = d->next)
    n++;
  e->number = malloc((size_t)(n + 1) * sizeof *e->number);
  for (osla_py_deferred *d = e->objects; d && e->number; d = d->next)
    e->number[e->count++] = d->number;
  if (e->count > 0) qsort(e->number, (size_t)e->count, sizeof *e->number, osla_py_ascending);
}

/* Agrees with the other ranks of the transport on the end of the program. If another rank is in a
 * different collective call of the transport, that rank's call fails with StateError, and this
 * rank repeats the agreement until the program of that rank ends, too. */
static void *agree_on_end(void *arg)
{
  ending *e = arg;
  do
    e->err =
      osla_meet(e->transport, OSLA_OK, "the end of the program", e->count, e->number, &e->common);
  while (e->err == OSLA_ERR_STATE);
  if (e->err != OSLA_OK) e->common = 0;
  return NULL;
}

/* Agrees with the other ranks on the end of all transports at once, with a thread for each
 * transport but the oldest. Agreeing on one transport after the other could deadlock: this rank
 * could wait on one transport for a rank whose daemon thread waits for this rank on another
 * transport. Below MPI_THREAD_MULTIPLE daemon threads make no such call. */
static void agree_on_all(void)
{
  int level = MPI_THREAD_SINGLE;
  (void)MPI_Query_thread(&level);
  for (ending *e = endings; e; e = e->next) {
    list_numbers(e);
    e->has_thread = e->next && level == MPI_THREAD_MULTIPLE &&
                    pthread_create(&e->thread, NULL, agree_on_end, e) == 0;
  }
  for (ending *e = endings; e; e = e->next)
    if (!e->has_thread) (void)agree_on_end(e);
  for (ending *e = endings; e; e = e->next)
    if (e->has_thread) (void)pthread_join(e->thread, NULL);
}

/* Destroys the objects that exist on all ranks, and then the transport, unless further objects of
 * the transport exist on this rank. */
static void end_transport(ending *e)
{
  bool is_complete = destroy_numbered(e);
  is_complete = is_complete && e->number && e->err == OSLA_OK && e->common == e->count;
  for (osla_py_deferred *d = e->local; d && is_complete; d = d->next)
    (void)destroy(d);
  if (is_complete) osla_transport_destroy(&e->transport);
}

static void free_list(osla_py_deferred *list)
{
  while (list) {
    osla_py_deferred *next = list->next;
    free(list);
    list = next;
  }
}

/* Destroys the listed objects at the end of the process. First waits until the library calls of
 * daemon threads have returned; these threads then stop, because they do not get the interpreter
 * lock any more. In a forked child nothing is destroyed, because everything belongs to the parent.
 */
static void at_end(void)
{
  const bool runs = !osla_py_unusable_reason();
  while (runs && osla_py_calls_running() > 0)
    sleep_briefly();
  if (runs) agree_on_all();
  for (ending *e = endings, *next; e; e = next) {
    next = e->next;
    if (runs) end_transport(e);
    free_list(e->objects);
    free_list(e->local);
    free(e->number);
    free(e);
  }
  endings = NULL;
  if (runs && finalizes_mpi) (void)MPI_Finalize();
}

static bool register_at_exit(void)
{
  static bool arranged;
  if (!arranged) arranged = Py_AtExit(at_end) == 0;
  return arranged;
}

/* Moves an object from the handle to the list of objects that are destroyed at the end of the
 * process. Calls can still use the handle, and deallocating the handle has no effect. The array of
 * a wrapped matrix is never released, because its memory must outlive the matrix. */
static bool list_object(ending *e, osla_py_handle *h)
{
  osla_py_deferred *node = h->kind->collective ? h->deferred : calloc(1, sizeof *node);
  if (!node) return false; /* there is no memory for the list node: this grid is not destroyed */
  osla_py_deferred **list = h->kind->collective ? &e->objects : &e->local;
  *node =
    (osla_py_deferred){.kind = h->kind, .object = h->object, .number = h->number, .next = *list};
  *list = node;
  h->deferred = NULL;
  h->retired = true;
  osla_py_unlink(h);
  return true;
}

/* Python function retire(transport) defers the destruction of the transport and its objects to the
 * end of the process. */
static PyObject *retire(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *root = osla_py_handle_of(object, &osla_py_transport);
  if (!root) return NULL;
  if (root->retired) Py_RETURN_NONE;
  ending *e = calloc(1, sizeof *e);
  if (!e || !register_at_exit()) {
    free(e);
    return PyErr_NoMemory();
  }
  e->transport = root->object;
  e->objects = root->deferred;
  e->next = endings;
  endings = e;
  root->deferred = NULL;
  root->retired = true;
  for (osla_py_handle *h = root->next, *next; h; h = next) {
    next = h->next;
    (void)list_object(e, h);
  }
  Py_RETURN_NONE;
}

/* Python functions enter() and leave() count the collective calls that run. enter() raises
 * StateError after close(). */
static PyObject *enter(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  if (is_closed)
    return osla_py_refuse(OSLA_ERR_STATE, "the program ends: collective calls come too late");
  n_calls++;
  Py_RETURN_NONE;
}

static PyObject *leave(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  n_calls--;
  Py_RETURN_NONE;
}

/* Python function close() refuses collective calls from now on, and waits until those of daemon
 * threads have ended, since other ranks take part in them. Returns False in a forked child and
 * after MPI_Finalize, where nothing must be destroyed. */
static PyObject *close_calls(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  is_closed = true;
  while (n_calls > 0 && !osla_py_unusable_reason()) {
    Py_BEGIN_ALLOW_THREADS sleep_briefly();
    Py_END_ALLOW_THREADS if (PyErr_CheckSignals() != 0) return NULL;
  }
  return PyBool_FromLong(!osla_py_unusable_reason());
}

/* Python function ends() -> True after close(), when living objects are destroyed at the end of
 * the process. */
static PyObject *ends(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  return PyBool_FromLong(is_closed);
}

static PyObject *end_mpi(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  finalizes_mpi = register_at_exit();
  Py_RETURN_NONE;
}

PyMethodDef osla_py_end_methods[] = {{"retire", retire, METH_O, NULL},
                                     {"enter", enter, METH_NOARGS, NULL},
                                     {"leave", leave, METH_NOARGS, NULL},
                                     {"close", close_calls, METH_NOARGS, NULL},
                                     {"ends", ends, METH_NOARGS, NULL},
                                     {"end_mpi", end_mpi, METH_NOARGS, NULL},
                                     {NULL, NULL, 0, NULL}};
