/* Python functions that open devices and create matrices in device memory. */
#include "python/core/core.h"

#include <stdint.h>

/* Python function device_open(transport, kind, ordinal, stream) -> device. If kind is None,
 * OSLA_DEVICE gives the kind. If ordinal is -1, the rank's index on its node selects the device. If
 * stream is 0, the device creates a stream. */
static PyObject *device_open(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  const char *kind;
  int ordinal;
  unsigned long long stream;
  if (!osla_py_parse(args, "O&ziK", osla_py_as_transport, &h, &kind, &ordinal, &stream))
    return NULL;
  const osla_device_options options = {
    .kind = kind, .chosen = ordinal != -1, .ordinal = ordinal, .stream = (void *)(uintptr_t)stream};
  osla_device *device = NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_device_open(h->object, &options, &device), h, NULL, NULL, NULL);
  return err == OSLA_OK ? osla_py_wrap(&osla_py_device, device, h, false) : osla_py_raise(err);
}

/* Python function matrix_create_on(device, grid, dtype, m, n, mb, nb) -> matrix */
static PyObject *matrix_create_on(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *on, *grid;
  int dtype;
  long long m, n, mb, nb;
  if (!osla_py_parse(args, "O&O&iLLLL", osla_py_as_device, &on, osla_py_as_grid, &grid, &dtype, &m,
                     &n, &mb, &nb))
    return NULL;
  osla_matrix *matrix = NULL;
  osla_err err;
  OSLA_PY_RUN(
    err, osla_matrix_create_on(on->object, grid->object, (osla_dtype)dtype, m, n, mb, nb, &matrix),
    on, grid, NULL, NULL);
  if (err != OSLA_OK) return osla_py_raise(err);
  PyObject *handle = osla_py_wrap(&osla_py_matrix, matrix, grid, false);
  if (handle) osla_py_set_device((osla_py_handle *)handle, on);
  return handle;
}

/* Python function matrix_address(matrix) -> address of this rank's first element, which is in host
 * memory or in device memory. */
static PyObject *matrix_address(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  if (!osla_py_parse(args, "O&", osla_py_as_matrix, &h)) return NULL;
  return PyLong_FromVoidPtr(osla_matrix_local(h->object));
}

PyMethodDef osla_py_device_methods[] = {{"device_open", device_open, METH_VARARGS, NULL},
                                        {"matrix_create_on", matrix_create_on, METH_VARARGS, NULL},
                                        {"matrix_address", matrix_address, METH_VARARGS, NULL},
                                        {NULL, NULL, 0, NULL}};
