/* Distributed matrices: creation, filling, access by blocks, norms and sums. */
#include "python/core/core.h"

#include <stdlib.h>

/* Python function matrix_create(grid, dtype, m, n, mb, nb) */
static PyObject *matrix_create(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  int dtype;
  long long m, n, mb, nb;
  if (!osla_py_parse(args, "O&iLLLL", osla_py_as_grid, &h, &dtype, &m, &n, &mb, &nb)) return NULL;
  osla_matrix *matrix = NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_matrix_create(h->object, (osla_dtype)dtype, m, n, mb, nb, &matrix), h, NULL,
              NULL, NULL);
  return err == OSLA_OK ? osla_py_wrap(&osla_py_matrix, matrix, h, false) : osla_py_raise(err);
}

/* Python function matrix_create_triangle(grid, dtype, n, nb) -> matrix of which only the lower
 * triangle is stored */
static PyObject *matrix_create_triangle(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  int dtype;
  long long n, nb;
  if (!osla_py_parse(args, "O&iLL", osla_py_as_grid, &h, &dtype, &n, &nb)) return NULL;
  osla_matrix *matrix = NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_matrix_create_triangle(h->object, (osla_dtype)dtype, n, nb, &matrix), h,
              NULL, NULL, NULL);
  return err == OSLA_OK ? osla_py_wrap(&osla_py_matrix, matrix, h, false) : osla_py_raise(err);
}

/* Python function matrix_is_triangle(matrix) -> whether only the lower triangle is stored */
static PyObject *matrix_is_triangle(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  if (!osla_py_parse(args, "O&", osla_py_as_matrix, &h)) return NULL;
  return PyBool_FromLong(osla_matrix_is_triangle(h->object));
}

/* Python function matrix_local_shape(grid, m, n, mb, nb) -> rows and columns of this rank's part of
 * such a matrix */
static PyObject *matrix_local_shape(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  long long m, n, mb, nb;
  if (!osla_py_parse(args, "O&LLLL", osla_py_as_grid, &h, &m, &n, &mb, &nb)) return NULL;
  const osla_grid *grid = h->object;
  return Py_BuildValue(
    "LL", (long long)osla_index_count(m, mb, osla_grid_prow(grid), osla_grid_nprow(grid)),
    (long long)osla_index_count(n, nb, osla_grid_pcol(grid), osla_grid_npcol(grid)));
}

/* Python function matrix_wrap(grid, dtype, m, n, mb, nb, local): a matrix in the memory of the
 * array `local`, which the handle of the matrix holds until the matrix is destroyed */
static PyObject *matrix_wrap(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  int dtype;
  long long m, n, mb, nb;
  PyObject *local;
  if (!osla_py_parse(args, "O&iLLLLO", osla_py_as_grid, &h, &dtype, &m, &n, &mb, &nb, &local))
    return NULL;
  osla_py_array *memory = calloc(1, sizeof *memory);
  if (!memory) return PyErr_NoMemory();
  PyObject *handle = NULL;
  if (osla_py_acquire_columns(local, "local", (osla_dtype)dtype, OSLA_PY_ANY, OSLA_PY_ANY, false,
                              OSLA_PY_WRITE, memory)) {
    osla_matrix *matrix = NULL;
    osla_err err;
    OSLA_PY_RUN(err,
                osla_matrix_wrap(h->object, (osla_dtype)dtype, m, n, mb, nb, memory->data,
                                 memory->ld, &matrix),
                h, NULL, NULL, NULL);
    handle = err == OSLA_OK ? osla_py_wrap(&osla_py_matrix, matrix, h, false) : osla_py_raise(err);
    if (!handle) osla_py_release(memory);
  }
  if (handle)
    ((osla_py_handle *)handle)->memory = memory;
  else
    free(memory);
  return handle;
}

/* Python function matrix_facts(matrix) -> dtype, m, n, mb, nb, local rows, local columns, leading
 * dimension */
static PyObject *matrix_facts(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  if (!osla_py_parse(args, "O&", osla_py_as_matrix, &h)) return NULL;
  const osla_matrix *a = h->object;
  osla_layout l = osla_matrix_layout(a);
  int rank = osla_transport_rank(osla_grid_transport(osla_matrix_grid(a)));
  return Py_BuildValue("iLLLLLLL", (int)osla_matrix_dtype(a), (long long)l.m, (long long)l.n,
                       (long long)l.mb, (long long)l.nb, (long long)osla_matrix_local_rows(a),
                       (long long)osla_matrix_local_cols(a), (long long)osla_matrix_lld(a, rank));
}

/* Python function matrix_indices(matrix, rows, out) fills out with the global indices of this
 * rank's rows, or columns */
static PyObject *matrix_indices(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  int rows;
  PyObject *array;
  osla_py_array out;
  if (!osla_py_parse(args, "O&pO", osla_py_as_matrix, &h, &rows, &array)) return NULL;
  const osla_matrix *a = h->object;
  const osla_grid *grid = osla_matrix_grid(a);
  osla_layout l = osla_matrix_layout(a);
  int64_t count = rows ? osla_matrix_local_rows(a) : osla_matrix_local_cols(a);
  int64_t nb = rows ? l.mb : l.nb;
  int here = rows ? osla_grid_prow(grid) : osla_grid_pcol(grid),
      processes = rows ? l.nprow : l.npcol;
  if (!osla_py_acquire_indices(array, "out", count, OSLA_PY_WRITE, &out)) return NULL;
  for (int64_t i = 0; i < count; i++)
    ((int64_t *)out.data)[i] = osla_index_global(i, nb, here, processes);
  osla_py_release(&out);
  Py_RETURN_NONE;
}

static bool block_args(PyObject *args, osla_py_use use, osla_py_handle **h, long long at[2],
                       osla_py_array *block)
{
  PyObject *array;
  if (!osla_py_parse(args, "O&LLO", osla_py_as_matrix, h, &at[0], &at[1], &array)) return false;
  return osla_py_acquire_columns(array, "block", osla_matrix_dtype((*h)->object), OSLA_PY_ANY,
                                 OSLA_PY_ANY, false, use, block);
}

/* Python function matrix_get(matrix, i, j, out) */
static PyObject *matrix_get(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  long long at[2];
  osla_py_array b;
  if (!block_args(args, OSLA_PY_WRITE, &h, at, &b)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_matrix_get_block(h->object, at[0], at[1], b.rows, b.cols, b.data, b.ld), h,
              NULL, NULL, NULL);
  osla_py_release(&b);
  return osla_py_result(err);
}

/* Python function matrix_put(matrix, i, j, block) */
static PyObject *matrix_put(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  long long at[2];
  osla_py_array b;
  if (!block_args(args, OSLA_PY_READ_OR_COPY, &h, at, &b)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_matrix_put_block(h->object, at[0], at[1], b.rows, b.cols, b.data, b.ld), h,
              NULL, NULL, NULL);
  osla_py_release(&b);
  return osla_py_result(err);
}

/* Python function matrix_fill(part, rule, seed) */
static PyObject *matrix_fill(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *pa;
  osla_part a;
  int fill;
  unsigned long long seed;
  if (!osla_py_parse(args, "OiK", &pa, &fill, &seed) || !osla_py_as_part(pa, &a)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_matrix_fill_part(a, (osla_fill)fill, seed), osla_py_handle_in(pa), NULL,
              NULL, NULL);
  return osla_py_result(err);
}

/* Python function matrix_norm(part, which) */
static PyObject *matrix_norm(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *pa;
  osla_part a;
  int norm;
  double value = 0;
  if (!osla_py_parse(args, "Oi", &pa, &norm) || !osla_py_as_part(pa, &a)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_matrix_norm_part(a, (osla_norm)norm, &value), osla_py_handle_in(pa), NULL,
              NULL, NULL);
  return err == OSLA_OK ? PyFloat_FromDouble(value) : osla_py_raise(err);
}

/* Python function matrix_scale(alpha, part); local */
static PyObject *matrix_scale(PyObject *module, PyObject *args)
{
  (void)module;
  osla_complex alpha;
  PyObject *pa;
  osla_part a;
  if (!osla_py_parse(args, "O&O", osla_py_as_complex, &alpha, &pa) || !osla_py_as_part(pa, &a))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_matrix_scale_part(alpha, a), osla_py_handle_in(pa), NULL, NULL, NULL);
  return osla_py_result(err);
}

/* Python function matrix_copy(trans, source, dest); source and dest are parts of matrices */
static PyObject *matrix_copy(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *pa, *pb;
  osla_part from, to;
  int trans;
  if (!osla_py_parse(args, "iOO", &trans, &pa, &pb) || !osla_py_as_part(pa, &from) ||
      !osla_py_as_part(pb, &to))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err,
              trans == OSLA_NOTRANS ? osla_matrix_copy_part(from, to)
                                    : osla_matrix_transpose_part((osla_trans)trans, from, to),
              osla_py_handle_in(pa), osla_py_handle_in(pb), NULL, NULL);
  return osla_py_result(err);
}

/* Python function matrix_add(alpha, source, beta, dest) */
static PyObject *matrix_add(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *from, *to;
  double alpha, beta;
  if (!osla_py_parse(args, "dO&dO&", &alpha, osla_py_as_matrix, &from, &beta, osla_py_as_matrix,
                     &to))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_matrix_add(alpha, from->object, beta, to->object), from, to, NULL, NULL);
  return osla_py_result(err);
}

static PyObject *matrix_mirror(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  int from;
  if (!osla_py_parse(args, "O&i", osla_py_as_matrix, &h, &from)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_matrix_mirror(h->object, (osla_uplo)from), h, NULL, NULL, NULL);
  return osla_py_result(err);
}

PyMethodDef osla_py_matrix_methods[] = {
  {"matrix_create", matrix_create, METH_VARARGS, NULL},
  {"matrix_create_triangle", matrix_create_triangle, METH_VARARGS, NULL},
  {"matrix_is_triangle", matrix_is_triangle, METH_VARARGS, NULL},
  {"matrix_local_shape", matrix_local_shape, METH_VARARGS, NULL},
  {"matrix_wrap", matrix_wrap, METH_VARARGS, NULL},
  {"matrix_facts", matrix_facts, METH_VARARGS, NULL},
  {"matrix_indices", matrix_indices, METH_VARARGS, NULL},
  {"matrix_get", matrix_get, METH_VARARGS, NULL},
  {"matrix_put", matrix_put, METH_VARARGS, NULL},
  {"matrix_fill", matrix_fill, METH_VARARGS, NULL},
  {"matrix_norm", matrix_norm, METH_VARARGS, NULL},
  {"matrix_scale", matrix_scale, METH_VARARGS, NULL},
  {"matrix_copy", matrix_copy, METH_VARARGS, NULL},
  {"matrix_add", matrix_add, METH_VARARGS, NULL},
  {"matrix_mirror", matrix_mirror, METH_VARARGS, NULL},
  {NULL, NULL, 0, NULL}};
