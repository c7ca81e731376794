/* Solves: triangular ones, with factors, refined, in mixed precision; conditions. */
#include "core.h"

/* trsm(side, uplo, trans, diag, alpha, a, b): a and b are parts */
static PyObject *trsm(PyObject *module, PyObject *args)
{
  (void)module;
  int side, uplo, trans, diag;
  osla_complex alpha;
  PyObject *pa, *pb;
  osla_part a, b;
  if (!PyArg_ParseTuple(args, "iiiiO&OO", &side, &uplo, &trans, &diag, osla_py_as_complex, &alpha,
                        &pa, &pb) ||
      !osla_py_as_part(pa, &a) || !osla_py_as_part(pb, &b))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err,
              osla_trsm_part((osla_side)side, (osla_uplo)uplo, (osla_trans)trans, (osla_diag)diag,
                             alpha, a, b),
              osla_py_handle_in(pa), osla_py_handle_in(pb), NULL, NULL);
  return osla_py_result(err);
}

/* Pivots as osla_getrs takes them. */
static bool take_pivots(PyObject *object, const osla_py_handle *a, osla_py_array *out)
{
  out->held = false;
  out->data = NULL;
  if (object == Py_None) return true;
  return osla_py_take_indices(object, "ipiv", osla_matrix_local_rows(a->object), false, out);
}

/* getri(a, ipiv or None, options): info */
static PyObject *getri(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *a;
  PyObject *pivots, *bytes;
  osla_py_array ipiv;
  if (!PyArg_ParseTuple(args, "O&OO", osla_py_as_matrix, &a, &pivots, &bytes)) return NULL;
  const osla_lu_options *options = osla_py_struct(bytes, sizeof *options);
  if (!options || !take_pivots(pivots, a, &ipiv)) return NULL;
  int64_t info = 0;
  osla_err err;
  OSLA_PY_RUN(err, osla_getri(a->object, ipiv.data, options, &info), a, NULL, NULL, NULL);
  osla_py_give_back(&ipiv);
  return err == OSLA_OK ? PyLong_FromLongLong(info) : osla_py_raise(err);
}

/* potrs(uplo, a, b): b a matrix, or an array that all ranks have */
static PyObject *potrs(PyObject *module, PyObject *args)
{
  (void)module;
  int uplo;
  osla_py_handle *a, *b;
  PyObject *rhs;
  osla_py_array x;
  if (!PyArg_ParseTuple(args, "iO&O", &uplo, osla_py_as_matrix, &a, &rhs)) return NULL;
  osla_err err;
  if (PyObject_TypeCheck(rhs, osla_py_handle_type)) {
    b = osla_py_handle_of(rhs, &osla_py_matrix);
    if (!b) return NULL;
    OSLA_PY_RUN(err, osla_potrs((osla_uplo)uplo, a->object, b->object), a, b, NULL, NULL);
    return osla_py_result(err);
  }
  if (!osla_py_take_columns(rhs, "b", osla_matrix_dtype(a->object), osla_matrix_layout(a->object).n,
                            OSLA_PY_ANY, false, true, &x))
    return NULL;
  OSLA_PY_RUN(err, osla_potrs_replicated((osla_uplo)uplo, a->object, x.cols, x.data, x.ld), a, NULL,
              NULL, NULL);
  osla_py_give_back(&x);
  return osla_py_result(err);
}

/* getrs(trans, a, ipiv, b): likewise */
static PyObject *getrs(PyObject *module, PyObject *args)
{
  (void)module;
  int trans;
  osla_py_handle *a, *b;
  PyObject *pivots, *rhs;
  osla_py_array ipiv, x;
  if (!PyArg_ParseTuple(args, "iO&OO", &trans, osla_py_as_matrix, &a, &pivots, &rhs) ||
      !take_pivots(pivots, a, &ipiv))
    return NULL;
  osla_err err = OSLA_OK;
  bool fit = true;
  if (PyObject_TypeCheck(rhs, osla_py_handle_type)) {
    b = osla_py_handle_of(rhs, &osla_py_matrix);
    fit = b != NULL;
    if (fit)
      OSLA_PY_RUN(err, osla_getrs((osla_trans)trans, a->object, ipiv.data, b->object), a, b, NULL,
                  NULL);
  } else {
    fit = osla_py_take_columns(rhs, "b", osla_matrix_dtype(a->object),
                               osla_matrix_layout(a->object).n, OSLA_PY_ANY, false, true, &x);
    if (fit) {
      OSLA_PY_RUN(
        err, osla_getrs_replicated((osla_trans)trans, a->object, ipiv.data, x.cols, x.data, x.ld),
        a, NULL, NULL, NULL);
      osla_py_give_back(&x);
    }
  }
  osla_py_give_back(&ipiv);
  return fit ? osla_py_result(err) : NULL;
}

/* residual(a, x, b) */
static PyObject *residual(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *a, *x, *b;
  double value = 0;
  if (!PyArg_ParseTuple(args, "O&O&O&", osla_py_as_matrix, &a, osla_py_as_matrix, &x,
                        osla_py_as_matrix, &b))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_residual(a->object, x->object, b->object, &value), a, x, b, NULL);
  return err == OSLA_OK ? PyFloat_FromDouble(value) : osla_py_raise(err);
}

/* mixed(cholesky, uplo, a, b, x, options): path, info, single iterations, iterations, residual,
 * converged */
static PyObject *mixed(PyObject *module, PyObject *args)
{
  (void)module;
  int cholesky, uplo;
  osla_py_handle *a, *b, *x;
  PyObject *bytes;
  if (!PyArg_ParseTuple(args, "piO&O&O&O", &cholesky, &uplo, osla_py_as_matrix, &a,
                        osla_py_as_matrix, &b, osla_py_as_matrix, &x, &bytes))
    return NULL;
  const osla_refine_options *options = osla_py_struct(bytes, sizeof *options);
  if (!options) return NULL;
  osla_mixed_result r;
  osla_err err;
  OSLA_PY_RUN(err,
              cholesky
                ? osla_posv_mixed((osla_uplo)uplo, a->object, b->object, x->object, options, &r)
                : osla_gesv_mixed(a->object, b->object, x->object, options, &r),
              a, b, x, NULL);
  if (err != OSLA_OK) return osla_py_raise(err);
  return Py_BuildValue("iLiidN", (int)r.path, (long long)r.info, r.single_iterations,
                       r.refine.iterations, r.refine.residual, PyBool_FromLong(r.refine.converged));
}

/* condition(cholesky, uplo, a, ipiv, anorm) */
static PyObject *condition(PyObject *module, PyObject *args)
{
  (void)module;
  int cholesky, uplo;
  osla_py_handle *a;
  PyObject *pivots;
  osla_py_array ipiv;
  double anorm, rcond = 0;
  if (!PyArg_ParseTuple(args, "piO&Od", &cholesky, &uplo, osla_py_as_matrix, &a, &pivots, &anorm) ||
      !take_pivots(pivots, a, &ipiv))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err,
              cholesky ? osla_pocon((osla_uplo)uplo, a->object, anorm, &rcond)
                       : osla_gecon(a->object, ipiv.data, anorm, &rcond),
              a, NULL, NULL, NULL);
  osla_py_give_back(&ipiv);
  return err == OSLA_OK ? PyFloat_FromDouble(rcond) : osla_py_raise(err);
}

PyMethodDef osla_py_solve_methods[] = {{"trsm", trsm, METH_VARARGS, NULL},
                                       {"potrs", potrs, METH_VARARGS, NULL},
                                       {"getrs", getrs, METH_VARARGS, NULL},
                                       {"getri", getri, METH_VARARGS, NULL},
                                       {"residual", residual, METH_VARARGS, NULL},
                                       {"mixed", mixed, METH_VARARGS, NULL},
                                       {"condition", condition, METH_VARARGS, NULL},
                                       {NULL, NULL, 0, NULL}};
