/* Python functions that open devices, create matrices in device memory, and register arrays of the
 * program in device memory. */
#include "python/core/core.h"

#include <stdint.h>
#include <stdlib.h>

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

/* ---- arrays of the program in device memory ---- */

/* Destructor of the capsule of a registration: unregisters the array. At the end of the process
 * the device may be closed already, which has ended the registration. */
static void unregister(PyObject *capsule)
{
  osla_py_registration *r = PyCapsule_GetPointer(capsule, osla_py_registration_name);
  osla_device *device = osla_py_unusable_reason() ? NULL : r->device->object;
  Py_BEGIN_ALLOW_THREADS;
  if (device) (void)osla_device_unregister(device, r->memory, r->bytes);
  Py_END_ALLOW_THREADS;
  osla_py_unpin(r->device);
  Py_DECREF((PyObject *)r->device);
  Py_DECREF(r->array);
  free(r);
}

/* Python function device_register(device, array, address, bytes) -> capsule. `array` is the object
 * that owns the memory. While the capsule exists, the memory is registered, and the array is not
 * deallocated. */
static PyObject *device_register(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  PyObject *array;
  unsigned long long address, bytes;
  if (!osla_py_parse(args, "O&OKK", osla_py_as_device, &h, &array, &address, &bytes)) return NULL;
  osla_py_registration *r = malloc(sizeof *r);
  if (!r) return PyErr_NoMemory();
  *r = (osla_py_registration){h, array, (void *)(uintptr_t)address, (size_t)bytes};
  osla_err err;
  OSLA_PY_RUN(err, osla_device_register(h->object, r->memory, r->bytes), h, NULL, NULL, NULL);
  PyObject *capsule =
    err == OSLA_OK ? PyCapsule_New(r, osla_py_registration_name, unregister) : osla_py_raise(err);
  if (!capsule) {
    if (err == OSLA_OK) (void)osla_device_unregister(h->object, r->memory, r->bytes);
    free(r);
    return NULL;
  }
  osla_py_pin(h);
  Py_INCREF((PyObject *)h);
  Py_INCREF(array);
  return capsule;
}

/* Python function device_follow(device, stream): later work of the device begins after the work
 * that the stream has at the time of the call. */
static PyObject *device_follow(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  unsigned long long stream;
  if (!osla_py_parse(args, "O&K", osla_py_as_device, &h, &stream)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_device_follow(h->object, (void *)(uintptr_t)stream), h, NULL, NULL, NULL);
  return osla_py_result(err);
}

PyMethodDef osla_py_device_methods[] = {{"device_open", device_open, METH_VARARGS, NULL},
                                        {"matrix_create_on", matrix_create_on, METH_VARARGS, NULL},
                                        {"matrix_address", matrix_address, METH_VARARGS, NULL},
                                        {"device_register", device_register, METH_VARARGS, NULL},
                                        {"device_follow", device_follow, METH_VARARGS, NULL},
                                        {NULL, NULL, 0, NULL}};
