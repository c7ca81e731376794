/* Products with a triangle of a matrix, and with vectors. */
#include "python/core/core.h"

typedef struct operands {
  PyObject *tuple[3];
  osla_part part[3];
  const osla_gemm_options *options;
} operands;

/* Converts the matrix parts in an argument list from Python objects to the library's structs, and
 * also the options, if there are any. */
static bool convert_operands(operands *o, int count, PyObject *bytes)
{
  for (int i = 0; i < count; i++)
    if (!osla_py_as_part(o->tuple[i], &o->part[i])) return false;
  o->options = bytes ? osla_py_struct(bytes, sizeof *o->options) : NULL;
  return !bytes || o->options;
}

static osla_py_handle *handle_in(const operands *o, int i)
{
  return o->tuple[i] ? osla_py_handle_in(o->tuple[i]) : NULL;
}

#define RUN(o, err, call)                                                                          \
  OSLA_PY_RUN(err, call, handle_in(&(o), 0), handle_in(&(o), 1), handle_in(&(o), 2), NULL)

/* Python functions symm and hemm(side, uplo, alpha, a, b, beta, c, options) */
static PyObject *one_triangle(PyObject *args, __typeof__(osla_symm) *product)
{
  int side, uplo;
  osla_complex alpha, beta;
  operands o = {0};
  PyObject *bytes;
  if (!osla_py_parse(args, "iiO&OOO&OO", &side, &uplo, osla_py_as_complex, &alpha, &o.tuple[0],
                     &o.tuple[1], osla_py_as_complex, &beta, &o.tuple[2], &bytes) ||
      !convert_operands(&o, 3, bytes))
    return NULL;
  osla_err err;
  RUN(o, err,
      product((osla_side)side, (osla_uplo)uplo, alpha, o.part[0], o.part[1], beta, o.part[2],
              o.options));
  return osla_py_result(err);
}

static PyObject *symm(PyObject *module, PyObject *args)
{
  (void)module;
  return one_triangle(args, osla_symm);
}

static PyObject *hemm(PyObject *module, PyObject *args)
{
  (void)module;
  return one_triangle(args, osla_hemm);
}

/* Python function herk(uplo, trans, alpha, a, beta, c, options) */
static PyObject *herk(PyObject *module, PyObject *args)
{
  (void)module;
  int uplo, trans;
  double alpha, beta;
  operands o = {0};
  PyObject *bytes;
  if (!osla_py_parse(args, "iidOdOO", &uplo, &trans, &alpha, &o.tuple[0], &beta, &o.tuple[1],
                     &bytes) ||
      !convert_operands(&o, 2, bytes))
    return NULL;
  osla_err err;
  RUN(o, err,
      osla_herk((osla_uplo)uplo, (osla_trans)trans, alpha, o.part[0], beta, o.part[1], o.options));
  return osla_py_result(err);
}

/* Python function trmm(side, uplo, trans, diag, alpha, a, b, options) */
static PyObject *trmm(PyObject *module, PyObject *args)
{
  (void)module;
  int side, uplo, trans, diag;
  osla_complex alpha;
  operands o = {0};
  PyObject *bytes;
  if (!osla_py_parse(args, "iiiiO&OOO", &side, &uplo, &trans, &diag, osla_py_as_complex, &alpha,
                     &o.tuple[0], &o.tuple[1], &bytes) ||
      !convert_operands(&o, 2, bytes))
    return NULL;
  osla_err err;
  RUN(o, err,
      osla_trmm((osla_side)side, (osla_uplo)uplo, (osla_trans)trans, (osla_diag)diag, alpha,
                o.part[0], o.part[1], o.options));
  return osla_py_result(err);
}

/* Python function gemv(trans, alpha, a, x, beta, y) */
static PyObject *gemv(PyObject *module, PyObject *args)
{
  (void)module;
  int trans;
  osla_complex alpha, beta;
  operands o = {0};
  if (!osla_py_parse(args, "iO&OOO&O", &trans, osla_py_as_complex, &alpha, &o.tuple[0], &o.tuple[1],
                     osla_py_as_complex, &beta, &o.tuple[2]) ||
      !convert_operands(&o, 3, NULL))
    return NULL;
  osla_err err;
  RUN(o, err, osla_gemv((osla_trans)trans, alpha, o.part[0], o.part[1], beta, o.part[2]));
  return osla_py_result(err);
}

/* Python functions symv and hemv(uplo, alpha, a, x, beta, y) */
static PyObject *triangle_times_column(PyObject *args, __typeof__(osla_symv) *product)
{
  int uplo;
  osla_complex alpha, beta;
  operands o = {0};
  if (!osla_py_parse(args, "iO&OOO&O", &uplo, osla_py_as_complex, &alpha, &o.tuple[0], &o.tuple[1],
                     osla_py_as_complex, &beta, &o.tuple[2]) ||
      !convert_operands(&o, 3, NULL))
    return NULL;
  osla_err err;
  RUN(o, err, product((osla_uplo)uplo, alpha, o.part[0], o.part[1], beta, o.part[2]));
  return osla_py_result(err);
}

static PyObject *symv(PyObject *module, PyObject *args)
{
  (void)module;
  return triangle_times_column(args, osla_symv);
}

static PyObject *hemv(PyObject *module, PyObject *args)
{
  (void)module;
  return triangle_times_column(args, osla_hemv);
}

PyMethodDef osla_py_product_methods[] = {
  {"symm", symm, METH_VARARGS, NULL}, {"hemm", hemm, METH_VARARGS, NULL},
  {"herk", herk, METH_VARARGS, NULL}, {"trmm", trmm, METH_VARARGS, NULL},
  {"gemv", gemv, METH_VARARGS, NULL}, {"symv", symv, METH_VARARGS, NULL},
  {"hemv", hemv, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
