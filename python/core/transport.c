/* Transports and grids. */
#include "python/core/core.h"

#include <string.h>

/* Python function transport_create(comm or None, progress_thread, threads_per_rank, name or None)
 */
static PyObject *transport_create(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *bytes;
  int progress, threads;
  const char *name;
  if (!osla_py_parse(args, "Opiz", &bytes, &progress, &threads, &name)) return NULL;
  MPI_Comm comm = MPI_COMM_WORLD;
  if (bytes != Py_None) {
    const void *given = osla_py_struct(bytes, sizeof comm);
    if (!given) return NULL;
    memcpy(&comm, given, sizeof comm);
  }
  osla_transport_options options = {
    .progress_thread = progress != 0, .threads_per_rank = threads, .transport = name};
  osla_transport *t = NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_transport_create(comm, &options, &t), NULL, NULL, NULL, NULL);
  return err == OSLA_OK ? osla_py_wrap(&osla_py_transport, t, NULL, false) : osla_py_raise(err);
}

/* Python function transport_facts(transport) -> rank, size, node, number of nodes, ranks of this
 * node, name, free bytes */
static PyObject *transport_facts(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  if (!osla_py_parse(args, "O&", osla_py_as_transport, &h)) return NULL;
  const osla_transport *t = h->object;
  return Py_BuildValue("iiiiisK", osla_transport_rank(t), osla_transport_size(t),
                       osla_transport_node(t), osla_transport_n_nodes(t),
                       osla_transport_node_size(t), osla_transport_name(t),
                       (unsigned long long)osla_transport_memory_share(t));
}

static PyObject *barrier(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  if (!osla_py_parse(args, "O&", osla_py_as_transport, &h)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_barrier(h->object), h, NULL, NULL, NULL);
  return osla_py_result(err);
}

static PyObject *progress(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  if (!osla_py_parse(args, "O&", osla_py_as_transport, &h)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, (osla_progress(h->object), OSLA_OK), h, NULL, NULL, NULL);
  return osla_py_result(err);
}

/* Python function allreduce(transport, array); array is float64, and summed in place */
static PyObject *allreduce(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  PyObject *array;
  osla_py_array a;
  if (!osla_py_parse(args, "O&O", osla_py_as_transport, &h, &array)) return NULL;
  if (!osla_py_acquire_vector(array, "array", OSLA_DOUBLE, OSLA_PY_ANY, OSLA_PY_WRITE, &a))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_allreduce(h->object, a.data, a.rows, MPI_DOUBLE, MPI_SUM), h, NULL, NULL,
              NULL);
  osla_py_release(&a);
  return osla_py_result(err);
}

static PyObject *grid_create(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  int nprow, npcol, order;
  if (!osla_py_parse(args, "O&iii", osla_py_as_transport, &h, &nprow, &npcol, &order)) return NULL;
  osla_grid *grid = NULL;
  osla_err err;
  if (order < 0) order = (int)osla_grid_choose_order(h->object, nprow, npcol);
  OSLA_PY_RUN(err, osla_grid_create_ordered(h->object, nprow, npcol, (osla_grid_order)order, &grid),
              h, NULL, NULL, NULL);
  return err == OSLA_OK ? osla_py_wrap(&osla_py_grid, grid, h, false) : osla_py_raise(err);
}

/* Python function grid_facts(grid) -> process rows, process columns, this rank's row and column */
static PyObject *grid_facts(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  if (!osla_py_parse(args, "O&", osla_py_as_grid, &h)) return NULL;
  const osla_grid *g = h->object;
  return Py_BuildValue("iiii", osla_grid_nprow(g), osla_grid_npcol(g), osla_grid_prow(g),
                       osla_grid_pcol(g));
}

PyMethodDef osla_py_transport_methods[] = {
  {"transport_create", transport_create, METH_VARARGS, NULL},
  {"transport_facts", transport_facts, METH_VARARGS, NULL},
  {"barrier", barrier, METH_VARARGS, NULL},
  {"progress", progress, METH_VARARGS, NULL},
  {"allreduce", allreduce, METH_VARARGS, NULL},
  {"grid_create", grid_create, METH_VARARGS, NULL},
  {"grid_facts", grid_facts, METH_VARARGS, NULL},
  {NULL, NULL, 0, NULL}};
