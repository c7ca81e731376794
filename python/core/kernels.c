/* Products and factorisations. */
#include "python/core/core.h"

int osla_py_as_part(PyObject *object, void *out)
{
  osla_py_handle *h;
  long long i, j, m, n;
  if (!PyTuple_Check(object)) {
    PyErr_SetString(PyExc_TypeError, "a part is a tuple");
    return 0;
  }
  if (!osla_py_parse(object, "O&LLLL", osla_py_as_matrix, &h, &i, &j, &m, &n)) return 0;
  *(osla_part *)out = osla_part_at(h->object, i, j, m, n);
  return 1;
}

osla_py_handle *osla_py_handle_in(PyObject *part)
{
  return (osla_py_handle *)PyTuple_GetItem(part, 0);
}

/* Python function gemm(transa, transb, alpha, a, b, beta, c, options) */
static PyObject *gemm(PyObject *module, PyObject *args)
{
  (void)module;
  int transa, transb;
  osla_complex alpha, beta;
  PyObject *pa, *pb, *pc, *bytes;
  osla_part a, b, c;
  if (!osla_py_parse(args, "iiO&OOO&OO", &transa, &transb, osla_py_as_complex, &alpha, &pa, &pb,
                     osla_py_as_complex, &beta, &pc, &bytes) ||
      !osla_py_as_part(pa, &a) || !osla_py_as_part(pb, &b) || !osla_py_as_part(pc, &c))
    return NULL;
  const osla_gemm_options *options = osla_py_struct(bytes, sizeof *options);
  if (!options) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_gemm((osla_trans)transa, (osla_trans)transb, alpha, a, b, beta, c, options),
              osla_py_handle_in(pa), osla_py_handle_in(pb), osla_py_handle_in(pc), NULL);
  return osla_py_result(err);
}

/* Python function syrk(uplo, trans, alpha, a, beta, c, options) */
static PyObject *syrk(PyObject *module, PyObject *args)
{
  (void)module;
  int uplo, trans;
  osla_complex alpha, beta;
  PyObject *pa, *pc, *bytes;
  osla_part a, c;
  if (!osla_py_parse(args, "iiO&OO&OO", &uplo, &trans, osla_py_as_complex, &alpha, &pa,
                     osla_py_as_complex, &beta, &pc, &bytes) ||
      !osla_py_as_part(pa, &a) || !osla_py_as_part(pc, &c))
    return NULL;
  const osla_gemm_options *options = osla_py_struct(bytes, sizeof *options);
  if (!options) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_syrk((osla_uplo)uplo, (osla_trans)trans, alpha, a, beta, c, options),
              osla_py_handle_in(pa), osla_py_handle_in(pc), NULL, NULL);
  return osla_py_result(err);
}

/* Python function getrf(a, ipiv or None, options) -> info, growth, trusted; a is a part of a matrix
 */
static PyObject *getrf(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *pa, *pivots, *bytes;
  osla_part a;
  osla_py_array ipiv = {.held = false};
  if (!osla_py_parse(args, "OOO", &pa, &pivots, &bytes) || !osla_py_as_part(pa, &a)) return NULL;
  const osla_lu_options *options = osla_py_struct(bytes, sizeof *options);
  if (!options || (pivots != Py_None &&
                   !osla_py_acquire_indices(pivots, "ipiv", osla_matrix_local_rows(a.matrix),
                                            OSLA_PY_WRITE, &ipiv)))
    return NULL;
  static int64_t nowhere; /* address for a rank without rows, whose array may have no memory */
  int64_t *at = ipiv.held && ipiv.rows > 0 ? ipiv.data : ipiv.held ? &nowhere : NULL;
  osla_lu_result result = {0, 0, false};
  osla_err err;
  OSLA_PY_RUN(err, osla_getrf_part(a, at, options, &result), osla_py_handle_in(pa), NULL, NULL,
              NULL);
  osla_py_release(&ipiv);
  if (err != OSLA_OK) return osla_py_raise(err);
  return Py_BuildValue("LdN", (long long)result.info, result.growth,
                       PyBool_FromLong(result.trusted));
}

/* Python function potrf(a, uplo, options) -> info; a is a part of a matrix */
static PyObject *potrf(PyObject *module, PyObject *args)
{
  (void)module;
  int uplo;
  PyObject *pa, *bytes;
  osla_part a;
  if (!osla_py_parse(args, "OiO", &pa, &uplo, &bytes) || !osla_py_as_part(pa, &a)) return NULL;
  const osla_chol_options *options = osla_py_struct(bytes, sizeof *options);
  if (!options) return NULL;
  int64_t info = 0;
  osla_err err;
  OSLA_PY_RUN(err, osla_potrf_part((osla_uplo)uplo, a, options, &info), osla_py_handle_in(pa), NULL,
              NULL, NULL);
  return err == OSLA_OK ? PyLong_FromLongLong(info) : osla_py_raise(err);
}

/* Python function potri(a, uplo, options) -> info */
static PyObject *potri(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  int uplo;
  PyObject *bytes;
  if (!osla_py_parse(args, "O&iO", osla_py_as_matrix, &h, &uplo, &bytes)) return NULL;
  const osla_chol_options *options = osla_py_struct(bytes, sizeof *options);
  if (!options) return NULL;
  int64_t info = 0;
  osla_err err;
  OSLA_PY_RUN(err, osla_potri((osla_uplo)uplo, h->object, options, &info), h, NULL, NULL, NULL);
  return err == OSLA_OK ? PyLong_FromLongLong(info) : osla_py_raise(err);
}

/* Python function chol_logdet(factor, uplo) -> value */
static PyObject *chol_logdet(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  int uplo;
  double value = 0;
  if (!osla_py_parse(args, "O&i", osla_py_as_matrix, &h, &uplo)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_chol_logdet((osla_uplo)uplo, h->object, &value), h, NULL, NULL, NULL);
  return err == OSLA_OK ? PyFloat_FromDouble(value) : osla_py_raise(err);
}

PyMethodDef osla_py_kernel_methods[] = {{"gemm", gemm, METH_VARARGS, NULL},
                                        {"syrk", syrk, METH_VARARGS, NULL},
                                        {"getrf", getrf, METH_VARARGS, NULL},
                                        {"potrf", potrf, METH_VARARGS, NULL},
                                        {"potri", potri, METH_VARARGS, NULL},
                                        {"chol_logdet", chol_logdet, METH_VARARGS, NULL},
                                        {NULL, NULL, 0, NULL}};
