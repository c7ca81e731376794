/* Defines the Python type of handles. Handles export memory as Python buffers: the local
 * elements of a matrix, or the gradient of an accumulator. */
#include "python/core/core.h"

#include <stdlib.h>
#include <string.h>

/* The memory that a handle exports as a buffer. */
typedef struct exported_memory {
  void *data;
  osla_dtype dtype;
  int dimensions;                  /* number of dimensions, 1 or 2 */
  Py_ssize_t shape[2], strides[2]; /* distances in bytes to the next row and column */
  bool readonly;
} exported_memory;

static const char *const formats[] = {"f", "d", "Zf", "Zd"};
static char nothing[16]; /* address that buffers without elements get */

static void of_matrix(const osla_matrix *matrix, exported_memory *out)
{
  int rank = osla_transport_rank(osla_grid_transport(osla_matrix_grid(matrix)));
  osla_dtype dtype = osla_matrix_dtype(matrix);
  Py_ssize_t bytes = (Py_ssize_t)osla_dtype_size(dtype);
  *out = (exported_memory){.data = osla_matrix_local(matrix), .dtype = dtype, .dimensions = 2};
  out->shape[0] = (Py_ssize_t)osla_matrix_local_rows(matrix);
  out->shape[1] = (Py_ssize_t)osla_matrix_local_cols(matrix);
  out->strides[0] = bytes;
  out->strides[1] = bytes * (Py_ssize_t)osla_matrix_lld(matrix, rank);
}

/* Describes the gradient, whose length is the order of the accumulator's matrix. */
static bool of_hessian(osla_hessian *hessian, exported_memory *out)
{
  osla_matrix *matrix = NULL;
  osla_err err = osla_hessian_matrix(hessian, &matrix);
  if (err != OSLA_OK) {
    osla_py_raise(err);
    return false;
  }
  *out = (exported_memory){.data = (void *)(uintptr_t)osla_hessian_gradient(hessian),
                           .dtype = OSLA_DOUBLE,
                           .dimensions = 1,
                           .readonly = true};
  out->shape[0] = (Py_ssize_t)osla_matrix_layout(matrix).n;
  out->strides[0] = (Py_ssize_t)sizeof(double);
  return true;
}

static bool memory_of(const osla_py_handle *h, exported_memory *out)
{
  if (!osla_py_handle_of((PyObject *)(uintptr_t)h, h->kind)) return false;
  if (h->kind == &osla_py_hessian) return of_hessian(h->object, out);
  if (h->device) {
    osla_py_refuse(OSLA_ERR_UNSUPPORTED,
                   "local: this Matrix lies in device memory, which numpy cannot access: "
                   "to_numpy(), get() and copy(device=\"host\") copy its elements to host memory, "
                   "and cupy.asarray(matrix) uses them on a CUDA device");
    return false;
  }
  if (h->kind == &osla_py_matrix && osla_matrix_is_triangle(h->object)) {
    osla_py_refuse(
      OSLA_ERR_UNSUPPORTED,
      "local: this Matrix stores its lower triangle alone, which numpy cannot describe "
      "as an array: to_numpy() and get() copy its elements");
    return false;
  }
  if (h->kind == &osla_py_matrix) {
    of_matrix(h->object, out);
    return true;
  }
  PyErr_Format(PyExc_BufferError, "a %s has no memory that an array can use", h->kind->name);
  return false;
}

static int export(PyObject *self, Py_buffer *view, int flags)
{
  exported_memory memory;
  view->obj = NULL;
  if (!memory_of((osla_py_handle *)self, &memory)) return -1;
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES || (memory.readonly && (flags & PyBUF_WRITABLE))) {
    PyErr_SetString(PyExc_BufferError,
                    memory.readonly ? "this memory is read only" : "this memory has strides");
    return -1;
  }
  /* shape and strides must live as long as the view */
  exported_memory *kept = malloc(sizeof *kept);
  if (!kept) {
    PyErr_NoMemory();
    return -1;
  }
  *kept = memory;
  Py_ssize_t bytes = (Py_ssize_t)osla_dtype_size(memory.dtype);
  *view = (Py_buffer){.buf = memory.data ? memory.data : nothing,
                      .len = bytes * memory.shape[0],
                      .itemsize = bytes,
                      .readonly = memory.readonly,
                      .ndim = memory.dimensions,
                      .format = (char *)(uintptr_t)formats[memory.dtype],
                      .shape = kept->shape,
                      .strides = kept->strides,
                      .internal = kept};
  if (memory.dimensions == 2) view->len *= memory.shape[1];
  view->obj = self;
  Py_INCREF(self);
  osla_py_pin((osla_py_handle *)self);
  return 0;
}

static void unexport(PyObject *self, Py_buffer *view)
{
  free(view->internal);
  osla_py_unpin((osla_py_handle *)self);
}

static void dealloc(PyObject *self)
{
  osla_py_handle *h = (osla_py_handle *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (h->object && !h->borrowed && !h->retired) {
    if (h->root && h->kind->collective) osla_py_defer_destroy(h);
    /* a transport is destroyed only after all ranks have dropped it */
    else if (h->root && !osla_py_unusable_reason())
      (void)osla_py_destroy(h);
  }
  if (h->root) free(h->deferred);
  Py_XDECREF((PyObject *)h->owner);
  Py_XDECREF((PyObject *)h->root);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF((PyObject *)type);
}

bool osla_py_handles_ready(PyObject *module)
{
  static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dealloc},
                                {Py_bf_getbuffer, (void *)export},
                                {Py_bf_releasebuffer, (void *)unexport},
                                {0, NULL}};
  static PyType_Spec spec = {"osla._core.Handle", sizeof(osla_py_handle), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject *type = PyType_FromSpec(&spec);
  osla_py_handle_type = (PyTypeObject *)type;
  return type && PyModule_AddObjectRef(module, "Handle", type) == 0;
}
