/* What a handle lets arrays see: a matrix's local elements, an accumulator's gradient. */
#include "python/core/core.h"

#include <stdlib.h>
#include <string.h>

static const char *const formats[] = {"f", "d", "Zf", "Zd"};
static char nothing[16]; /* where there are no elements */

static void of_matrix(const osla_matrix *matrix, osla_py_memory *out)
{
  int rank = osla_transport_rank(osla_grid_transport(osla_matrix_grid(matrix)));
  osla_dtype dtype = osla_matrix_dtype(matrix);
  Py_ssize_t bytes = (Py_ssize_t)osla_dtype_size(dtype);
  *out = (osla_py_memory){.data = osla_matrix_local(matrix), .dtype = dtype, .dimensions = 2};
  out->shape[0] = (Py_ssize_t)osla_matrix_local_rows(matrix);
  out->shape[1] = (Py_ssize_t)osla_matrix_local_cols(matrix);
  out->strides[0] = bytes;
  out->strides[1] = bytes * (Py_ssize_t)osla_matrix_lld(matrix, rank);
}

/* The order is that of the matrix. */
static bool of_hessian(osla_hessian *hessian, osla_py_memory *out)
{
  osla_matrix *matrix = NULL;
  osla_err err = osla_hessian_matrix(hessian, &matrix);
  if (err != OSLA_OK) {
    osla_py_raise(err);
    return false;
  }
  *out = (osla_py_memory){.data = (void *)(uintptr_t)osla_hessian_gradient(hessian),
                          .dtype = OSLA_DOUBLE,
                          .dimensions = 1,
                          .readonly = true};
  out->shape[0] = (Py_ssize_t)osla_matrix_layout(matrix).n;
  out->strides[0] = (Py_ssize_t)sizeof(double);
  return true;
}

bool osla_py_memory_of(const osla_py_handle *h, osla_py_memory *out)
{
  if (!osla_py_handle_of((PyObject *)(uintptr_t)h, h->kind)) return false;
  if (h->kind == &osla_py_hessian) return of_hessian(h->object, out);
  if (h->kind == &osla_py_matrix) {
    of_matrix(h->object, out);
    return true;
  }
  PyErr_Format(PyExc_BufferError, "a %s has no memory to be seen", h->kind->name);
  return false;
}

int osla_py_export(PyObject *self, Py_buffer *view, int flags)
{
  osla_py_memory memory;
  view->obj = NULL;
  if (!osla_py_memory_of((osla_py_handle *)self, &memory)) return -1;
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES || (memory.readonly && (flags & PyBUF_WRITABLE))) {
    PyErr_SetString(PyExc_BufferError,
                    memory.readonly ? "this memory is read only" : "this memory has strides");
    return -1;
  }
  osla_py_memory *kept = malloc(sizeof *kept); /* shape and strides live as long as the view */
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

void osla_py_unexport(PyObject *self, Py_buffer *view)
{
  free(view->internal);
  osla_py_unpin((osla_py_handle *)self);
}
