/* Star forests: creation, creation from other forests, and queries. */
#include "python/core/core.h"

#include <stdlib.h>

static PyObject *n_created(osla_err err, osla_forest *forest, osla_py_handle *transport)
{
  return err == OSLA_OK ? osla_py_wrap(&osla_py_forest, forest, transport, false)
                        : osla_py_raise(err);
}

/* Python function forest_create_global(transport, start, leaf or None, root) */
static PyObject *forest_create_global(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *t;
  PyObject *pstart, *pleaf, *proot;
  osla_py_array start = {.held = false}, leaf = {.held = false}, root = {.held = false};
  if (!osla_py_parse(args, "O&OOO", osla_py_as_transport, &t, &pstart, &pleaf, &proot)) return NULL;
  bool fit =
    osla_py_acquire_indices(pstart, "start", osla_transport_size(t->object) + 1, OSLA_PY_READ,
                            &start) &&
    osla_py_acquire_indices(proot, "root", OSLA_PY_ANY, OSLA_PY_READ, &root) &&
    (pleaf == Py_None || osla_py_acquire_indices(pleaf, "leaf", root.rows, OSLA_PY_READ, &leaf));
  osla_forest *forest = NULL;
  osla_err err = OSLA_OK;
  if (fit)
    OSLA_PY_RUN(
      err,
      osla_forest_create_global(t->object, start.data, root.rows, leaf.data, root.data, &forest), t,
      NULL, NULL, NULL);
  osla_py_release(&leaf);
  osla_py_release(&root);
  osla_py_release(&start);
  return fit ? n_created(err, forest, t) : NULL;
}

/* Array of osla_root, from arrays of ranks and indices. A rank outside the range of int32 becomes
 * -1, which the library refuses. */
static osla_root *pairs_of(const osla_py_array *rank, const osla_py_array *index)
{
  osla_root *pairs = malloc(((size_t)rank->rows + 1) * sizeof *pairs);
  const int64_t *r = rank->data, *i = index->data;
  for (int64_t e = 0; pairs && e < rank->rows; e++)
    pairs[e] = (osla_root){r[e] < INT32_MIN || r[e] > INT32_MAX ? -1 : (int32_t)r[e], i[e]};
  return pairs;
}

/* Python function forest_create(transport, number of this rank's roots, leaf or None, rank, root)
 */
static PyObject *forest_create(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *t;
  long long n_roots;
  PyObject *pleaf, *prank, *proot;
  osla_py_array leaf = {.held = false}, rank = {.held = false}, root = {.held = false};
  if (!osla_py_parse(args, "O&LOOO", osla_py_as_transport, &t, &n_roots, &pleaf, &prank, &proot))
    return NULL;
  bool fit =
    osla_py_acquire_indices(proot, "root", OSLA_PY_ANY, OSLA_PY_READ, &root) &&
    osla_py_acquire_indices(prank, "rank", root.rows, OSLA_PY_READ, &rank) &&
    (pleaf == Py_None || osla_py_acquire_indices(pleaf, "leaf", root.rows, OSLA_PY_READ, &leaf));
  osla_forest *forest = NULL;
  osla_root *pairs = fit ? pairs_of(&rank, &root) : NULL;
  osla_err err = fit && !pairs ? osla_error_set(OSLA_ERR_MEM, "Forest: a list of roots") : OSLA_OK;
  if (fit)
    OSLA_PY_RUN(err,
                (err = osla_agree(t->object, err)) != OSLA_OK
                  ? err
                  : osla_forest_create(t->object, n_roots, root.rows, leaf.data, pairs, &forest),
                t, NULL, NULL, NULL);
  free(pairs);
  osla_py_release(&leaf);
  osla_py_release(&rank);
  osla_py_release(&root);
  return fit ? n_created(err, forest, t) : NULL;
}

/* Python function forest_shape(transport, shape, n, rank) */
static PyObject *forest_shape(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *t;
  const char *shape;
  long long n;
  int rank;
  if (!osla_py_parse(args, "O&sLi", osla_py_as_transport, &t, &shape, &n, &rank)) return NULL;
  osla_forest *forest = NULL;
  osla_err err;
  if (strcmp(shape, "allgather") == 0)
    OSLA_PY_RUN(err, osla_forest_allgather(t->object, n, &forest), t, NULL, NULL, NULL);
  else if (strcmp(shape, "gather") == 0)
    OSLA_PY_RUN(err, osla_forest_gather(t->object, n, rank, &forest), t, NULL, NULL, NULL);
  else
    OSLA_PY_RUN(err, osla_forest_alltoall(t->object, n, &forest), t, NULL, NULL, NULL);
  return n_created(err, forest, t);
}

/* Python function forest_of_one(forest, "inverse" or "split") */
static PyObject *forest_of_one(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  const char *how;
  if (!osla_py_parse(args, "O&s", osla_py_as_forest, &h, &how)) return NULL;
  bool inverse = strcmp(how, "inverse") == 0;
  osla_forest *forest = NULL;
  osla_err err;
  OSLA_PY_RUN(
    err, inverse ? osla_forest_inverse(h->object, &forest) : osla_forest_split(h->object, &forest),
    h, NULL, NULL, NULL);
  return n_created(err, forest, h->root);
}

/* Python function forest_compose(a, b, inverse); inverse: compose with the inverse of b */
static PyObject *forest_compose(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *a, *b;
  int inverse;
  if (!osla_py_parse(args, "O&O&p", osla_py_as_forest, &a, osla_py_as_forest, &b, &inverse))
    return NULL;
  osla_forest *forest = NULL;
  osla_err err;
  OSLA_PY_RUN(err,
              inverse ? osla_forest_compose_inverse(a->object, b->object, &forest)
                      : osla_forest_compose(a->object, b->object, &forest),
              a, b, NULL, NULL);
  return n_created(err, forest, a->root);
}

/* Python function forest_embed(forest, of_leaves, chosen) */
static PyObject *forest_embed(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  int leaves;
  PyObject *pchosen;
  osla_py_array chosen;
  if (!osla_py_parse(args, "O&pO", osla_py_as_forest, &h, &leaves, &pchosen) ||
      !osla_py_acquire_indices(pchosen, "chosen", OSLA_PY_ANY, OSLA_PY_READ, &chosen))
    return NULL;
  osla_forest *forest = NULL;
  osla_err err;
  OSLA_PY_RUN(err,
              leaves ? osla_forest_embed_leaves(h->object, chosen.rows, chosen.data, &forest)
                     : osla_forest_embed_roots(h->object, chosen.rows, chosen.data, &forest),
              h, NULL, NULL, NULL);
  osla_py_release(&chosen);
  return n_created(err, forest, h->root);
}

/* Python function forest_strided(forest, count, root_stride, leaf_stride) */
static PyObject *forest_strided(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  long long count, root_stride, leaf_stride;
  if (!osla_py_parse(args, "O&LLL", osla_py_as_forest, &h, &count, &root_stride, &leaf_stride))
    return NULL;
  osla_forest *forest = NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_forest_strided(h->object, count, root_stride, leaf_stride, &forest), h,
              NULL, NULL, NULL);
  return n_created(err, forest, h->root);
}

/* Python function forest_sections(forest, root_start, leaf_start) */
static PyObject *forest_sections(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  PyObject *proots, *pleaves;
  osla_py_array roots = {.held = false}, leaves = {.held = false};
  if (!osla_py_parse(args, "O&OO", osla_py_as_forest, &h, &proots, &pleaves)) return NULL;
  bool fit = osla_py_acquire_indices(proots, "root_start", osla_forest_n_roots(h->object) + 1,
                                     OSLA_PY_READ, &roots) &&
             osla_py_acquire_indices(pleaves, "leaf_start", osla_forest_leaf_space(h->object) + 1,
                                     OSLA_PY_READ, &leaves);
  osla_forest *forest = NULL;
  osla_err err = OSLA_OK;
  if (fit)
    OSLA_PY_RUN(err, osla_forest_sections(h->object, roots.data, leaves.data, &forest), h, NULL,
                NULL, NULL);
  osla_py_release(&leaves);
  osla_py_release(&roots);
  return fit ? n_created(err, forest, h->root) : NULL;
}

/* Python function forest_concatenate(nonempty list, same_roots) */
static PyObject *forest_concatenate(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *list;
  int same_roots;
  if (!osla_py_parse(args, "O!p", &PyList_Type, &list, &same_roots)) return NULL;
  Py_ssize_t n = PyList_Size(list), living = 0;
  osla_forest **forests = calloc((size_t)n + 1, sizeof(osla_forest *)), *forest = NULL;
  if (!forests) return PyErr_NoMemory();
  osla_py_handle *h = NULL;
  for (; living < n; living++) {
    h = osla_py_handle_of(PyList_GetItem(list, living), &osla_py_forest);
    if (!h) break;
    forests[living] = h->object;
  }
  osla_err err = OSLA_OK;
  if (h) {
    for (Py_ssize_t i = 0; i < n; i++)
      osla_py_pin((osla_py_handle *)PyList_GetItem(list, i));
    OSLA_PY_RUN(err, osla_forest_concatenate((int)n, forests, same_roots, &forest), NULL, NULL,
                NULL, NULL);
    for (Py_ssize_t i = 0; i < n; i++)
      osla_py_unpin((osla_py_handle *)PyList_GetItem(list, i));
  }
  free(forests);
  return h ? n_created(err, forest, h->root) : NULL;
}

/* Python function forest_facts(forest) -> number of roots, number of edges, leaf space */
static PyObject *forest_facts(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *h = osla_py_handle_of(object, &osla_py_forest);
  if (!h) return NULL;
  return Py_BuildValue("LLL", (long long)osla_forest_n_roots(h->object),
                       (long long)osla_forest_n_edges(h->object),
                       (long long)osla_forest_leaf_space(h->object));
}

/* Python function forest_edges(forest, leaf, rank, root) fills the three arrays */
static PyObject *forest_edges(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  PyObject *pleaf, *prank, *proot;
  osla_py_array leaf = {.held = false}, rank = {.held = false}, root = {.held = false};
  if (!osla_py_parse(args, "O&OOO", osla_py_as_forest, &h, &pleaf, &prank, &proot)) return NULL;
  int64_t n = osla_forest_n_edges(h->object);
  bool fit = osla_py_acquire_indices(pleaf, "leaf", n, OSLA_PY_WRITE, &leaf) &&
             osla_py_acquire_indices(prank, "rank", n, OSLA_PY_WRITE, &rank) &&
             osla_py_acquire_indices(proot, "root", n, OSLA_PY_WRITE, &root) &&
             osla_py_is_usable(h);
  osla_root *pairs = malloc(((size_t)n + 1) * sizeof *pairs);
  if (fit && pairs) {
    osla_forest_edges(h->object, leaf.data, pairs);
    for (int64_t e = 0; e < n; e++) {
      ((int64_t *)rank.data)[e] = pairs[e].rank;
      ((int64_t *)root.data)[e] = pairs[e].index;
    }
  } else if (fit) {
    PyErr_NoMemory();
  }
  bool done = fit && pairs;
  free(pairs);
  osla_py_release(&leaf);
  osla_py_release(&rank);
  osla_py_release(&root);
  if (!done) return NULL;
  Py_RETURN_NONE;
}

/* Python function forest_degrees(forest, out) */
static PyObject *forest_degrees(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  PyObject *object;
  osla_py_array out;
  if (!osla_py_parse(args, "O&O", osla_py_as_forest, &h, &object) ||
      !osla_py_acquire_indices(object, "out", osla_forest_n_roots(h->object), OSLA_PY_WRITE, &out))
    return NULL;
  bool usable = osla_py_is_usable(h);
  if (usable) osla_forest_degrees(h->object, out.data);
  osla_py_release(&out);
  if (!usable) return NULL;
  Py_RETURN_NONE;
}

/* Python function forest_ranks(forest, of_leaves) -> list of ranks. If of_leaves is True, these
 * ranks own the leaves of this rank's roots; otherwise they own the roots of this rank's leaves. */
static PyObject *forest_ranks(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  int leaves;
  if (!osla_py_parse(args, "O&p", osla_py_as_forest, &h, &leaves)) return NULL;
  const int *ranks = NULL;
  int n =
    leaves ? osla_forest_leaf_ranks(h->object, &ranks) : osla_forest_root_ranks(h->object, &ranks);
  PyObject *list = PyList_New(0);
  for (int i = 0; list && i < n; i++) {
    PyObject *number = PyLong_FromLong(ranks[i]);
    if (!number || PyList_Append(list, number) != 0) Py_CLEAR(list);
    Py_XDECREF(number);
  }
  return list;
}

/* Python function forest_view(forest, edges) -> text */
static PyObject *forest_view(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  int edges;
  if (!osla_py_parse(args, "O&p", osla_py_as_forest, &h, &edges)) return NULL;
  char none[1];
  size_t length = osla_forest_view(h->object, edges, none, sizeof none);
  char *text = malloc(length + 1);
  if (!text) return PyErr_NoMemory();
  (void)osla_forest_view(h->object, edges, text, length + 1);
  PyObject *string = PyUnicode_FromString(text);
  free(text);
  return string;
}

PyMethodDef osla_py_forest_methods[] = {
  {"forest_create", forest_create, METH_VARARGS, NULL},
  {"forest_create_global", forest_create_global, METH_VARARGS, NULL},
  {"forest_shape", forest_shape, METH_VARARGS, NULL},
  {"forest_of_one", forest_of_one, METH_VARARGS, NULL},
  {"forest_compose", forest_compose, METH_VARARGS, NULL},
  {"forest_embed", forest_embed, METH_VARARGS, NULL},
  {"forest_strided", forest_strided, METH_VARARGS, NULL},
  {"forest_sections", forest_sections, METH_VARARGS, NULL},
  {"forest_concatenate", forest_concatenate, METH_VARARGS, NULL},
  {"forest_facts", forest_facts, METH_O, NULL},
  {"forest_edges", forest_edges, METH_VARARGS, NULL},
  {"forest_degrees", forest_degrees, METH_VARARGS, NULL},
  {"forest_ranks", forest_ranks, METH_VARARGS, NULL},
  {"forest_view", forest_view, METH_VARARGS, NULL},
  {NULL, NULL, 0, NULL}};
