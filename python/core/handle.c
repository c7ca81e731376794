/* Handles: ownership of objects, and the time of their destruction. */
#include "python/core/core.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>

PyTypeObject *osla_py_handle_type;
static atomic_int n_running;

void osla_py_pin(osla_py_handle *h)
{
  for (; h; h = h->borrowed ? h->owner : NULL)
    h->n_pins++;
}

void osla_py_unpin(osla_py_handle *h)
{
  for (; h; h = h->borrowed ? h->owner : NULL)
    h->n_pins--;
}

static bool is_alive(const osla_py_handle *h)
{
  return h->object && (!h->borrowed || h->owner->object);
}

static bool is_claimed(const osla_py_handle *h)
{
  return h->claimed || (h->borrowed && h->owner->claimed);
}

/* True if a call may use the handle; else raises an exception. If `claimed`, a handle whose
 * destruction has begun is accepted, too. */
static bool check_usable(const osla_py_handle *h, const osla_py_kind *kind, bool claimed)
{
  if (h->kind != kind)
    PyErr_Format(PyExc_TypeError, "a handle of a %s is needed", kind->name);
  else if (osla_py_unusable_reason())
    osla_py_refuse(OSLA_ERR_STATE, "%s", osla_py_unusable_reason());
  else if (!is_alive(h))
    osla_py_refuse(OSLA_ERR_STATE, "this %s was destroyed", kind->name);
  else if (is_claimed(h) && !claimed)
    osla_py_refuse(OSLA_ERR_STATE, "this %s is being destroyed", kind->name);
  else
    return true;
  return false;
}

static void link_in(osla_py_handle *h)
{
  osla_py_handle *root = h->root;
  if (!root || h->borrowed) return;
  h->next = root->next;
  h->previous = root;
  if (h->next) h->next->previous = h;
  root->next = h;
  root->n_living++;
}

void osla_py_unlink(osla_py_handle *h)
{
  if (!h->root || !h->previous) return;
  h->previous->next = h->next;
  if (h->next) h->next->previous = h->previous;
  h->previous = h->next = NULL;
}

/* Releases the objects that a destroyed object held: the matrix of an accumulator on a caller's
 * matrix, the device of a matrix, and the array of a wrapped matrix. */
static void release_held(osla_py_handle *owner, osla_py_handle **device, osla_py_array **memory)
{
  osla_py_array *array = *memory;
  osla_py_handle *on = *device;
  *memory = NULL;
  *device = NULL;
  if (owner && owner->kind == &osla_py_matrix) owner->n_dependents--;
  if (on) on->n_dependents--;
  Py_XDECREF((PyObject *)on);
  if (array) osla_py_release(array);
  free(array);
}

void osla_py_set_device(osla_py_handle *matrix, osla_py_handle *device)
{
  Py_INCREF((PyObject *)device);
  device->n_dependents++;
  matrix->device = device;
}

void osla_py_note_destroyed(osla_py_handle *h)
{
  if (h->object || !h->root) return;
  h->root->n_living--;
  osla_py_unlink(h);
  release_held(h->owner, &h->device, &h->memory);
}

osla_err osla_py_destroy(osla_py_handle *h)
{
  osla_err err = OSLA_OK;
  if (!h->object) return err;
  void *object = h->object;
  h->object = NULL;
  Py_BEGIN_ALLOW_THREADS err = h->kind->destroy(&object);
  Py_END_ALLOW_THREADS h->object = object; /* not NULL if the library refused the destruction */
  osla_py_note_destroyed(h);
  return err;
}

void osla_py_defer_destroy(osla_py_handle *h)
{
  osla_py_deferred *node = h->deferred;
  *node = (osla_py_deferred){.kind = h->kind,
                             .object = h->object,
                             .number = h->number,
                             .owner = h->owner,
                             .device = h->device,
                             .memory = h->memory,
                             .next = h->root->deferred};
  Py_XINCREF((PyObject *)h->owner);
  osla_py_unlink(h);
  h->root->deferred = node;
  h->deferred = NULL;
  h->memory = NULL;
  h->device = NULL;
  h->object = NULL;
}

/* Removes the object with this creation number from the list of objects to destroy, and returns
 * its list node; NULL if it is not in the list. */
static osla_py_deferred *remove_deferred(osla_py_handle *root, int64_t number)
{
  osla_py_deferred **at = &root->deferred;
  while (*at && (*at)->number != number)
    at = &(*at)->next;
  osla_py_deferred *found = *at;
  if (found) *at = found->next;
  return found;
}

int osla_py_ascending(const void *x, const void *y)
{
  int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a > b) - (a < b);
}

/* Destroys one object that all ranks have dropped. False if the library refuses the destruction on
 * all ranks together, for example of a forest during its transfers. Then the object goes back to
 * the list until the next agreement of the ranks, and the current call does not fail. */
static bool destroy_deferred(osla_py_handle *root, osla_py_deferred *node, osla_err *err)
{
  osla_err own = OSLA_OK;
  Py_BEGIN_ALLOW_THREADS own = node->kind->destroy(&node->object);
  Py_END_ALLOW_THREADS if (node->object)
  {
    node->next = root->deferred;
    root->deferred = node;
    return false;
  }
  if (*err == OSLA_OK) *err = own;
  root->n_living--;
  release_held(node->owner, &node->device, &node->memory);
  Py_XDECREF((PyObject *)node->owner);
  free(node);
  return true;
}

/* Destroys objects in reverse order of creation. Makes another pass as long as a pass has destroyed
 * some objects and others were refused, since a refusal may have depended on an older object. */
static osla_err destroy_common(osla_py_handle *root, const int64_t *number, int64_t count)
{
  osla_err err = OSLA_OK;
  int64_t gone = 1;
  for (int64_t left = count; left > 0 && gone > 0; left -= gone) {
    gone = 0;
    for (int64_t i = count - 1; i >= 0; i--) {
      osla_py_deferred *node = remove_deferred(root, number[i]);
      if (node && destroy_deferred(root, node, &err)) gone++;
    }
  }
  return err;
}

static osla_err agree_and_destroy(osla_py_handle *root, osla_err local, const char *call)
{
  int64_t n = 0, common = 0;
  for (const osla_py_deferred *d = root->deferred; d; d = d->next)
    n++;
  int64_t *number = malloc((size_t)(n + 1) * sizeof *number);
  if (!number) {
    n = 0;
    if (local == OSLA_OK) local = osla_error_set(OSLA_ERR_MEM, "a list of dropped objects");
  }
  int64_t i = 0;
  for (const osla_py_deferred *d = root->deferred; d && i < n; d = d->next)
    number[i++] = d->number;
  if (n > 0) qsort(number, (size_t)n, sizeof *number, osla_py_ascending);
  osla_err err;
  osla_py_pin(root); /* the transport's own destruction may have begun */
  OSLA_PY_RUN(err, osla_meet(root->object, local, call, n, number, &common), NULL, NULL, NULL,
              NULL);
  osla_py_unpin(root);
  if (err == OSLA_OK && common > 0) err = destroy_common(root, number, common);
  free(number);
  return err;
}

/* Python function meet(transport, call, code, text), which begins each collective call; all ranks
 * call it. `code` and `text` are the code and the message of an error on this rank; code 0 means
 * that this rank has no error. Raises an error on all ranks if one rank has an error or makes
 * another call. */
static PyObject *py_meet(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *root;
  const char *call, *text;
  int code;
  if (!PyArg_ParseTuple(args, "O!sis", osla_py_handle_type, &root, &call, &code, &text) ||
      !check_usable(root, &osla_py_transport, true))
    return NULL;
  osla_err local = code == 0 ? OSLA_OK : osla_error_set((osla_err)code, "%s", text);
  return osla_py_result(agree_and_destroy(root, local, call));
}

/* Python function find(list of living transport handles), for a rank whose call fails before the
 * rank knows the transport of the call. Returns the transport on which other ranks wait for this
 * rank in meet(), or None if no rank waits. */
static PyObject *py_find(PyObject *module, PyObject *list)
{
  (void)module;
  Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : 0;
  osla_transport **transports = calloc((size_t)n + 1, sizeof(osla_transport *)), *found = NULL;
  if (!transports) return PyErr_NoMemory();
  bool fit = true;
  for (Py_ssize_t i = 0; fit && i < n; i++) {
    osla_py_handle *h = osla_py_handle_of(PyList_GetItem(list, i), &osla_py_transport);
    fit = h != NULL;
    if (fit) transports[i] = h->object;
  }
  osla_err err = OSLA_OK;
  PyObject *answer = NULL;
  if (fit) {
    for (Py_ssize_t i = 0; i < n; i++)
      osla_py_pin((osla_py_handle *)PyList_GetItem(list, i));
    OSLA_PY_RUN(err, osla_meet_find((int)n, transports, &found), NULL, NULL, NULL, NULL);
    answer = err == OSLA_OK ? Py_None : osla_py_raise(err);
    for (Py_ssize_t i = 0; i < n; i++) {
      PyObject *item = PyList_GetItem(list, i);
      osla_py_unpin((osla_py_handle *)item);
      if (err == OSLA_OK && found && transports[i] == found) answer = item;
    }
  }
  free(transports);
  Py_XINCREF(answer);
  return answer;
}

static osla_py_handle *handle_of_any_kind(PyObject *object)
{
  if (PyObject_TypeCheck(object, osla_py_handle_type)) return (osla_py_handle *)object;
  PyErr_SetString(PyExc_TypeError, "not a handle");
  return NULL;
}

static PyObject *py_destroy(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *h = handle_of_any_kind(object);
  if (!h) return NULL;
  if (h->object && (h->n_pins > 0 || h->retired))
    return osla_py_refuse(OSLA_ERR_STATE, "this %s is in use", h->kind->name);
  if (h->object && h->n_dependents > 0 && h->kind == &osla_py_device)
    return osla_py_refuse(OSLA_ERR_STATE,
                          "%lld matrices lie on this Device: destroy the matrices first",
                          (long long)h->n_dependents);
  if (h->object && h->n_dependents > 0)
    return osla_py_refuse(OSLA_ERR_STATE,
                          "a Hessian adds to this Matrix: destroy the Hessian first");
  return osla_py_result(osla_py_destroy(h));
}

/* Python function claim(handle) -> number of its users. If it is 0, only `destroy` can use the
 * handle from now on, until `unclaim`; this rank's other threads run while the ranks agree. */
static PyObject *py_claim(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *h = handle_of_any_kind(object);
  if (!h) return NULL;
  if (h->claimed)
    return osla_py_refuse(OSLA_ERR_STATE, "another thread destroys this %s", h->kind->name);
  if (h->retired)
    return osla_py_refuse(OSLA_ERR_STATE, "this %s is destroyed at the end of the program",
                          h->kind->name);
  h->claimed = h->n_pins == 0;
  return PyLong_FromSsize_t(h->n_pins);
}

static PyObject *py_unclaim(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *h = handle_of_any_kind(object);
  if (!h) return NULL;
  h->claimed = false;
  Py_RETURN_NONE;
}

static PyObject *py_alive(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *h = handle_of_any_kind(object);
  return h ? PyBool_FromLong(is_alive(h)) : NULL;
}

/* Python function children(transport) -> number of its objects that are not destroyed, including
 * those that wait for their destruction. */
static PyObject *py_children(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *h = osla_py_handle_of(object, &osla_py_transport);
  return h ? PyLong_FromLongLong(h->n_living) : NULL;
}

PyMethodDef osla_py_lifetime_methods[] = {
  {"meet", py_meet, METH_VARARGS, NULL}, {"destroy", py_destroy, METH_O, NULL},
  {"claim", py_claim, METH_O, NULL},     {"unclaim", py_unclaim, METH_O, NULL},
  {"alive", py_alive, METH_O, NULL},     {"children", py_children, METH_O, NULL},
  {"find", py_find, METH_O, NULL},       {NULL, NULL, 0, NULL}};

PyObject *osla_py_wrap(const osla_py_kind *kind, void *object, osla_py_handle *owner, bool borrowed)
{
  bool waits = kind->collective && !borrowed && owner;
  osla_py_deferred *node = waits ? calloc(1, sizeof *node) : NULL;
  osla_py_handle *h =
    waits && !node ? NULL : (osla_py_handle *)PyType_GenericAlloc(osla_py_handle_type, 0);
  if (!h) {
    free(node);
    if (!PyErr_Occurred()) PyErr_NoMemory();
    if (!borrowed) (void)kind->destroy(&object);
    return NULL;
  }
  h->kind = kind;
  h->object = object;
  h->borrowed = borrowed;
  h->owner = owner;
  h->root = owner ? (owner->root ? owner->root : owner) : NULL;
  h->deferred = node;
  Py_XINCREF((PyObject *)owner);
  Py_XINCREF((PyObject *)h->root);
  if (waits) h->number = ++h->root->n_created;
  if (!borrowed && owner && owner->kind == &osla_py_matrix) owner->n_dependents++;
  link_in(h);
  return (PyObject *)h;
}

osla_py_handle *osla_py_handle_of(PyObject *object, const osla_py_kind *kind)
{
  osla_py_handle *h = (osla_py_handle *)object;
  if (!PyObject_TypeCheck(object, osla_py_handle_type)) {
    PyErr_Format(PyExc_TypeError, "a handle of a %s is needed", kind->name);
    return NULL;
  }
  return check_usable(h, kind, false) ? h : NULL;
}

osla_py_handle *osla_py_claimed_handle_of(PyObject *object, const osla_py_kind *kind)
{
  osla_py_handle *h = handle_of_any_kind(object);
  return h && check_usable(h, kind, true) ? h : NULL;
}

bool osla_py_is_usable(const osla_py_handle *h)
{
  return check_usable(h, h->kind, false);
}

bool osla_py_parse(PyObject *args, const char *format, ...)
{
  va_list out;
  va_start(out, format);
  bool fit = PyArg_VaParse(args, format, out) != 0;
  va_end(out);
  for (Py_ssize_t i = 0, n = PyTuple_Size(args); fit && i < n; i++) {
    PyObject *item = PyTuple_GetItem(args, i);
    if (PyObject_TypeCheck(item, osla_py_handle_type))
      fit = osla_py_is_usable((const osla_py_handle *)item);
  }
  return fit;
}

static int convert(PyObject *object, const osla_py_kind *kind, void *out)
{
  osla_py_handle *h = osla_py_handle_of(object, kind);
  *(osla_py_handle **)out = h;
  return h != NULL;
}

/* Defines the converter osla_py_as_KIND. */
#define CONVERTER(kind)                                                                            \
  int osla_py_as_##kind(PyObject *object, void *out)                                               \
  {                                                                                                \
    return convert(object, &osla_py_##kind, out);                                                  \
  }

CONVERTER(transport)
CONVERTER(grid)
CONVERTER(matrix)
CONVERTER(hessian)
CONVERTER(file)
CONVERTER(forest)
CONVERTER(csr)
CONVERTER(device)

int osla_py_calls_running(void)
{
  return atomic_load(&n_running);
}

bool osla_py_call_begin(osla_py_call *call, osla_py_handle *a, osla_py_handle *b, osla_py_handle *c,
                        osla_py_handle *d)
{
  *call = (osla_py_call){.pinned = {a, b, c, d}};
  for (int i = 0; i < OSLA_PY_MOST; i++) {
    const osla_py_handle *h = call->pinned[i];
    if (!h || (is_alive(h) && !is_claimed(h))) continue;
    (void)osla_error_set(OSLA_ERR_STATE,
                         is_alive(h) ? "this %s is being destroyed"
                                     : "this %s was destroyed by the arguments of its call",
                         h->kind->name);
    return false;
  }
  for (int i = 0; i < OSLA_PY_MOST; i++)
    osla_py_pin(call->pinned[i]);
  (void)atomic_fetch_add(&n_running, 1);
  call->state = PyEval_SaveThread();
  return true;
}

/* Ends the use of MPI without the interpreter lock. If the interpreter has ended, a daemon thread
 * does not return from here, because it does not get the lock. */
void osla_py_call_end(osla_py_call *call)
{
  (void)atomic_fetch_sub(&n_running, 1);
  PyEval_RestoreThread(call->state);
  for (int i = 0; i < OSLA_PY_MOST; i++)
    osla_py_unpin(call->pinned[i]);
}
