/* Acquires arrays in host memory through the buffer protocol, and matrices in device memory from
 * tuples. Arrays are checked, and never copied. */
#include "python/core/core.h"

#include <complex.h>

int osla_py_as_complex(PyObject *object, void *out)
{
  double re = PyComplex_RealAsDouble(object);
  double im = PyErr_Occurred() ? 0 : PyComplex_ImagAsDouble(object);
  if (PyErr_Occurred()) return 0;
  *(osla_complex *)out = CMPLX(re, im);
  return 1;
}

static const char *dtype_name(osla_dtype dtype)
{
  static const char *const names[] = {"float32", "float64", "complex64", "complex128"};
  return names[dtype];
}

/* Compares the format of a buffer with the native format characters of Python's module struct, and
 * for complex numbers with the formats of numpy. */
static bool is_dtype(const char *format, osla_dtype dtype)
{
  static const char *const formats[] = {"f", "d", "Zf", "Zd"};
  return strcmp(format, formats[dtype]) == 0;
}

static bool is_int64(const Py_buffer *view)
{
  return view->itemsize == 8 && (strcmp(view->format, "l") == 0 || strcmp(view->format, "q") == 0);
}

static bool acquire(PyObject *object, const char *name, const char *wanted, osla_py_use use,
                    osla_py_array *out)
{
  const bool write = use == OSLA_PY_WRITE;
  int flags = write ? PyBUF_RECORDS : PyBUF_RECORDS_RO;
  memset(out, 0, sizeof *out);
  if (!PyObject_CheckBuffer(object)) {
    if (PyObject_HasAttrString(object, "__cuda_array_interface__"))
      osla_py_refuse(OSLA_ERR_ARG,
                     "%s: the array lies on a device, and here an array in host memory is needed: "
                     "copy it to the host first",
                     name);
    else if (use == OSLA_PY_READ_OR_COPY)
      osla_py_refuse(OSLA_ERR_ARG, "%s: an array of %s is needed; with copy=True one is made", name,
                     wanted);
    else
      osla_py_refuse(OSLA_ERR_ARG,
                     "%s: an array of %s is needed; numpy.asarray(%s, numpy.%s) makes one", name,
                     wanted, name, wanted);
    return false;
  }
  if (PyObject_GetBuffer(object, &out->view, flags) != 0) {
    if (!write) return false;
    PyErr_Clear();
    osla_py_refuse(OSLA_ERR_ARG,
                   "%s: the array cannot be written to: pass a writable array (numpy.memmap: "
                   "mode='r+')",
                   name);
    return false;
  }
  out->held = true;
  if (!out->view.format) out->view.format = (char *)(uintptr_t) "B";
  return true;
}

/* Checks the alignment of an array, because fields of record arrays may have any address. */
static bool is_aligned(const osla_py_array *array, const char *name)
{
  Py_ssize_t item = array->view.itemsize, part = item > 8 ? 8 : item;
  if ((uintptr_t)array->view.buf % (uintptr_t)part == 0) return true;
  osla_py_refuse(OSLA_ERR_ARG, "%s: its memory is not aligned to %d bytes", name, (int)part);
  return false;
}

void osla_py_release(osla_py_array *array)
{
  if (array->held && array->capsule)
    Py_DECREF(array->capsule);
  else if (array->held)
    PyBuffer_Release(&array->view);
  array->held = false;
}

static bool release_and_fail(osla_py_array *array)
{
  osla_py_release(array);
  return false;
}

static bool wrong_type(osla_py_array *array, const char *name, const char *wanted)
{
  osla_py_refuse(OSLA_ERR_ARG, "%s: elements of type '%s' (%d bytes) where %s is needed", name,
                 array->view.format, (int)array->view.itemsize, wanted);
  return release_and_fail(array);
}

static bool acquire_line(PyObject *object, const char *name, int dtype, int64_t count,
                         osla_py_use use, osla_py_array *out)
{
  const char *wanted = dtype < 0 ? "int64" : dtype_name((osla_dtype)dtype);
  if (!acquire(object, name, wanted, use, out)) return false;
  Py_buffer *v = &out->view;
  if (dtype < 0 ? !is_int64(v) : !is_dtype(v->format, (osla_dtype)dtype))
    return wrong_type(out, name, wanted);
  if (v->ndim != 1) {
    osla_py_refuse(OSLA_ERR_ARG, "%s: %d dimensions where 1 is needed", name, v->ndim);
    return release_and_fail(out);
  }
  out->rows = out->ld = v->shape[0];
  out->cols = 1;
  out->data = v->buf;
  if (!is_aligned(out, name)) return release_and_fail(out);
  if (count != OSLA_PY_ANY && out->rows != count) {
    osla_py_refuse(OSLA_ERR_ARG, "%s: %lld elements where %lld are needed", name,
                   (long long)out->rows, (long long)count);
    return release_and_fail(out);
  }
  if (out->rows > 1 && v->strides[0] != v->itemsize) {
    osla_py_refuse(OSLA_ERR_ARG, "%s: the elements do not follow one another in memory", name);
    return release_and_fail(out);
  }
  return true;
}

bool osla_py_acquire_indices(PyObject *object, const char *name, int64_t count, osla_py_use use,
                             osla_py_array *out)
{
  return acquire_line(object, name, -1, count, use, out);
}

bool osla_py_acquire_vector(PyObject *object, const char *name, osla_dtype dtype, int64_t count,
                            osla_py_use use, osla_py_array *out)
{
  return acquire_line(object, name, (int)dtype, count, use, out);
}

bool osla_py_acquire_bytes(PyObject *object, const char *name, int64_t bytes, osla_py_use use,
                           osla_py_array *out)
{
  size_t registered = 0;
  memset(out, 0, sizeof *out);
  out->data = osla_py_registered(object, &registered);
  if (out->data) {
    Py_INCREF(object);
    out->capsule = object;
    out->rows = (int64_t)registered;
  } else {
    const int flags = use == OSLA_PY_WRITE ? PyBUF_WRITABLE : PyBUF_SIMPLE;
    if (PyObject_GetBuffer(object, &out->view, flags) != 0) return false;
    out->data = out->view.buf;
    out->rows = out->view.len;
  }
  out->held = true;
  if (out->rows == bytes) return true;
  osla_py_refuse(OSLA_ERR_ARG, "%s: %lld bytes where %lld are needed", name, (long long)out->rows,
                 (long long)bytes);
  return release_and_fail(out);
}

/* Gets the numbers of rows and columns of an array with one or two dimensions, and the bytes
 * between rows and between columns. */
static bool shape_of(osla_py_array *a, bool row, Py_ssize_t *down, Py_ssize_t *across)
{
  const Py_buffer *v = &a->view;
  if (v->ndim == 2) {
    a->rows = v->shape[0];
    a->cols = v->shape[1];
    *down = v->strides[0];
    *across = v->strides[1];
  } else if (v->ndim == 1) {
    a->rows = row ? 1 : v->shape[0];
    a->cols = row ? v->shape[0] : 1;
    *down = row ? v->itemsize : v->strides[0];
    *across = row ? v->strides[0] : v->itemsize * v->shape[0];
  } else {
    return false;
  }
  return true;
}

/* Returns true if an array has `rows` rows and `cols` columns; OSLA_PY_ANY allows any number. Sets
 * an exception otherwise. */
static bool check_size(const osla_py_array *array, const char *name, int64_t rows, int64_t cols)
{
  if ((rows == OSLA_PY_ANY || array->rows == rows) && (cols == OSLA_PY_ANY || array->cols == cols))
    return true;
  osla_py_refuse(OSLA_ERR_ARG, "%s: %lld x %lld where %lld x %lld is needed", name,
                 (long long)array->rows, (long long)array->cols,
                 (long long)(rows == OSLA_PY_ANY ? array->rows : rows),
                 (long long)(cols == OSLA_PY_ANY ? array->cols : cols));
  return false;
}

/* Returns whether an argument is a tuple (capsule or None, rows, columns, leading dimension), which
 * describes a matrix in device memory. */
static bool is_device_matrix(PyObject *object)
{
  size_t bytes;
  if (!PyTuple_Check(object) || PyTuple_Size(object) != 4) return false;
  PyObject *capsule = PyTuple_GetItem(object, 0);
  return capsule == Py_None || osla_py_registered(capsule, &bytes);
}

/* Acquires a matrix in device memory from a tuple for which is_device_matrix is true. */
static bool acquire_device_matrix(PyObject *tuple, const char *name, osla_dtype dtype, int64_t rows,
                                  int64_t cols, osla_py_array *out)
{
  PyObject *capsule;
  long long n_rows, n_cols, ld;
  size_t bytes = 0;
  memset(out, 0, sizeof *out);
  if (!PyArg_ParseTuple(tuple, "OLLL", &capsule, &n_rows, &n_cols, &ld)) return false;
  out->rows = n_rows;
  out->cols = n_cols;
  out->ld = ld;
  if (!check_size(out, name, rows, cols)) return false;
  out->data = osla_py_registered(capsule, &bytes);
  const __int128 needed = (__int128)(n_cols - 1) * ld + n_rows;
  if (n_rows > 0 && n_cols > 0 &&
      (ld < n_rows || needed * (__int128)osla_dtype_size(dtype) > (__int128)bytes)) {
    osla_py_refuse(OSLA_ERR_ARG,
                   "%s: %lld x %lld elements with leading dimension %lld do not fit into the %zu "
                   "bytes of device memory that are registered",
                   name, n_rows, n_cols, ld, bytes);
    return false;
  }
  Py_INCREF(capsule);
  out->capsule = capsule;
  out->held = true;
  return true;
}

bool osla_py_acquire_columns(PyObject *object, const char *name, osla_dtype dtype, int64_t rows,
                             int64_t cols, bool row, osla_py_use use, osla_py_array *out)
{
  if (is_device_matrix(object)) return acquire_device_matrix(object, name, dtype, rows, cols, out);
  if (!acquire(object, name, dtype_name(dtype), use, out)) return false;
  const Py_buffer *v = &out->view;
  Py_ssize_t down = 0, across = 0;
  if (!is_dtype(v->format, dtype)) return wrong_type(out, name, dtype_name(dtype));
  if (!shape_of(out, row, &down, &across)) {
    osla_py_refuse(OSLA_ERR_ARG, "%s: %d dimensions where 1 or 2 are needed", name, v->ndim);
    return release_and_fail(out);
  }
  if (!check_size(out, name, rows, cols)) return release_and_fail(out);
  if (!is_aligned(out, name)) return release_and_fail(out);
  out->data = v->buf;
  int64_t least = out->rows > 1 ? out->rows : 1;
  if (out->rows == 0 || out->cols == 0) {
    out->ld = least;
    return true;
  }
  bool tight = out->rows <= 1 || down == v->itemsize;
  bool apart = out->cols <= 1 || (across % v->itemsize == 0 && across / v->itemsize >= least);
  if (!tight || !apart) {
    osla_py_refuse(OSLA_ERR_ARG,
                   "%s: not by columns (Fortran order) in memory; numpy.asfortranarray makes such "
                   "an array%s",
                   name, use == OSLA_PY_READ_OR_COPY ? ", and copy=True does it here" : "");
    return release_and_fail(out);
  }
  out->ld = out->cols > 1 ? across / v->itemsize : least;
  return true;
}

/* Python functions check_line(array, name, dtype or -1 for int64, count, write) and
 * check_columns(array, name, dtype, rows, columns, write) raise the exception that a call with
 * this array would raise. */
static PyObject *check_line(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *object;
  const char *name;
  int dtype, write;
  long long count;
  osla_py_array array;
  if (!PyArg_ParseTuple(args, "OsiLp", &object, &name, &dtype, &count, &write) ||
      !acquire_line(object, name, dtype, count, write ? OSLA_PY_WRITE : OSLA_PY_READ, &array))
    return NULL;
  osla_py_release(&array);
  Py_RETURN_NONE;
}

static PyObject *check_columns(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *object;
  const char *name;
  int dtype, write;
  long long rows, cols;
  osla_py_array array;
  if (!PyArg_ParseTuple(args, "OsiLLp", &object, &name, &dtype, &rows, &cols, &write) ||
      !osla_py_acquire_columns(object, name, (osla_dtype)dtype, rows, cols, false,
                               write ? OSLA_PY_WRITE : OSLA_PY_READ, &array))
    return NULL;
  osla_py_release(&array);
  Py_RETURN_NONE;
}

PyMethodDef osla_py_array_methods[] = {{"check_line", check_line, METH_VARARGS, NULL},
                                       {"check_columns", check_columns, METH_VARARGS, NULL},
                                       {NULL, NULL, 0, NULL}};
