/* Solves: triangular, with given factors, with refinement, and in mixed precision. Also condition
 * numbers. */
#include "python/core/core.h"

/* Python function trsm(side, uplo, trans, diag, alpha, a, b); a and b are parts of matrices */
static PyObject *trsm(PyObject *module, PyObject *args)
{
  (void)module;
  int side, uplo, trans, diag;
  osla_complex alpha;
  PyObject *pa, *pb;
  osla_part a, b;
  if (!osla_py_parse(args, "iiiiO&OO", &side, &uplo, &trans, &diag, osla_py_as_complex, &alpha, &pa,
                     &pb) ||
      !osla_py_as_part(pa, &a) || !osla_py_as_part(pb, &b))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err,
              osla_trsm_part((osla_side)side, (osla_uplo)uplo, (osla_trans)trans, (osla_diag)diag,
                             alpha, a, b),
              osla_py_handle_in(pa), osla_py_handle_in(pb), NULL, NULL);
  return osla_py_result(err);
}

/* Acquires an array of pivots as osla_getrs needs it; None gives NULL. */
static bool acquire_pivots(PyObject *object, const osla_py_handle *a, osla_py_array *out)
{
  out->held = false;
  out->data = NULL;
  if (object == Py_None) return true;
  return osla_py_acquire_indices(object, "ipiv", osla_matrix_local_rows(a->object), OSLA_PY_READ,
                                 out);
}

/* Python function getri(a, ipiv or None, options) -> info */
static PyObject *getri(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *a;
  PyObject *pivots, *bytes;
  osla_py_array ipiv;
  if (!osla_py_parse(args, "O&OO", osla_py_as_matrix, &a, &pivots, &bytes)) return NULL;
  const osla_lu_options *options = osla_py_struct(bytes, sizeof *options);
  if (!options || !acquire_pivots(pivots, a, &ipiv)) return NULL;
  int64_t info = 0;
  osla_err err;
  OSLA_PY_RUN(err, osla_getri(a->object, ipiv.data, options, &info), a, NULL, NULL, NULL);
  osla_py_release(&ipiv);
  return err == OSLA_OK ? PyLong_FromLongLong(info) : osla_py_raise(err);
}

/* Acquires an array that is equal on all ranks and holds right-hand sides for the matrix part `a`.
 */
static bool acquire_replicated(PyObject *object, osla_dtype dtype, osla_part a, osla_py_array *out)
{
  return osla_py_acquire_columns(object, "b", dtype, a.n, OSLA_PY_ANY, false, OSLA_PY_WRITE, out);
}

/* Acquires an array that is equal on all ranks and holds right-hand sides for the matrix part `a`.
 */
static PyObject *potrs(PyObject *module, PyObject *args)
{
  (void)module;
  int uplo;
  PyObject *pa, *rhs;
  osla_part a, b;
  osla_py_array x;
  if (!osla_py_parse(args, "iOO", &uplo, &pa, &rhs) || !osla_py_as_part(pa, &a)) return NULL;
  osla_py_handle *own = osla_py_handle_in(pa);
  osla_err err;
  if (PyTuple_Check(rhs)) {
    if (!osla_py_as_part(rhs, &b)) return NULL;
    OSLA_PY_RUN(err, osla_potrs_part((osla_uplo)uplo, a, b), own, osla_py_handle_in(rhs), NULL,
                NULL);
    return osla_py_result(err);
  }
  if (!acquire_replicated(rhs, osla_matrix_dtype(a.matrix), a, &x)) return NULL;
  OSLA_PY_RUN(err, osla_potrs_replicated((osla_uplo)uplo, a.matrix, x.cols, x.data, x.ld), own,
              NULL, NULL, NULL);
  osla_py_release(&x);
  return osla_py_result(err);
}

/* Python function getrs(trans, a, ipiv or None, b); a is a part of a matrix; b is also a part of a
 * matrix, or, if a is a whole matrix, an array that all ranks have */
static PyObject *getrs(PyObject *module, PyObject *args)
{
  (void)module;
  int trans;
  PyObject *pa, *pivots, *rhs;
  osla_part a, b;
  osla_py_array ipiv, x;
  if (!osla_py_parse(args, "iOOO", &trans, &pa, &pivots, &rhs) || !osla_py_as_part(pa, &a))
    return NULL;
  osla_py_handle *own = osla_py_handle_in(pa);
  bool is_part = PyTuple_Check(rhs);
  osla_dtype dtype = osla_matrix_dtype(a.matrix);
  if ((is_part && !osla_py_as_part(rhs, &b)) || !osla_py_is_usable(own) ||
      !acquire_pivots(pivots, own, &ipiv))
    return NULL;
  osla_err err = OSLA_OK;
  bool fit = is_part || acquire_replicated(rhs, dtype, a, &x);
  if (is_part) {
    OSLA_PY_RUN(err, osla_getrs_part((osla_trans)trans, a, ipiv.data, b), own,
                osla_py_handle_in(rhs), NULL, NULL);
  } else if (fit) {
    OSLA_PY_RUN(err,
                osla_getrs_replicated((osla_trans)trans, a.matrix, ipiv.data, x.cols, x.data, x.ld),
                own, NULL, NULL, NULL);
    osla_py_release(&x);
  }
  osla_py_release(&ipiv);
  return fit ? osla_py_result(err) : NULL;
}

/* Python function residual(a, x, b) */
static PyObject *residual(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *a, *x, *b;
  double value = 0;
  if (!osla_py_parse(args, "O&O&O&", osla_py_as_matrix, &a, osla_py_as_matrix, &x,
                     osla_py_as_matrix, &b))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_residual(a->object, x->object, b->object, &value), a, x, b, NULL);
  return err == OSLA_OK ? PyFloat_FromDouble(value) : osla_py_raise(err);
}

/* Python function refine(cholesky, uplo, factors, ipiv or None, a, b, x, options) -> iterations,
 * residual, converged */
static PyObject *refine(PyObject *module, PyObject *args)
{
  (void)module;
  int cholesky, uplo;
  osla_py_handle *f, *a, *b, *x;
  PyObject *pivots, *bytes;
  osla_py_array ipiv;
  if (!osla_py_parse(args, "piO&OO&O&O&O", &cholesky, &uplo, osla_py_as_matrix, &f, &pivots,
                     osla_py_as_matrix, &a, osla_py_as_matrix, &b, osla_py_as_matrix, &x, &bytes))
    return NULL;
  const osla_refine_options *options = osla_py_struct(bytes, sizeof *options);
  if (!options || !acquire_pivots(pivots, f, &ipiv)) return NULL;
  if (!osla_py_is_usable(f)) {
    osla_py_release(&ipiv);
    return NULL;
  }
  const osla_factors factors = cholesky ? osla_factors_cholesky(f->object, (osla_uplo)uplo)
                                        : osla_factors_lu(f->object, ipiv.data);
  osla_refine_result r;
  osla_err err;
  OSLA_PY_RUN(err, osla_refine(a->object, &factors, b->object, x->object, options, &r), f, a, b, x);
  osla_py_release(&ipiv);
  if (err != OSLA_OK) return osla_py_raise(err);
  return Py_BuildValue("idN", r.iterations, r.residual, PyBool_FromLong(r.converged));
}

/* Python function mixed(cholesky, uplo, a, b, x, options) -> path, info, iterations in single
 * precision, iterations, residual, converged */
static PyObject *mixed(PyObject *module, PyObject *args)
{
  (void)module;
  int cholesky, uplo;
  osla_py_handle *a, *b, *x;
  PyObject *bytes;
  if (!osla_py_parse(args, "piO&O&O&O", &cholesky, &uplo, osla_py_as_matrix, &a, osla_py_as_matrix,
                     &b, osla_py_as_matrix, &x, &bytes))
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

/* Python function condition(cholesky, uplo, a, ipiv, anorm) */
static PyObject *condition(PyObject *module, PyObject *args)
{
  (void)module;
  int cholesky, uplo;
  osla_py_handle *a;
  PyObject *pivots;
  osla_py_array ipiv;
  double anorm, rcond = 0;
  if (!osla_py_parse(args, "piO&Od", &cholesky, &uplo, osla_py_as_matrix, &a, &pivots, &anorm) ||
      !acquire_pivots(pivots, a, &ipiv))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err,
              cholesky ? osla_pocon((osla_uplo)uplo, a->object, anorm, &rcond)
                       : osla_gecon(a->object, ipiv.data, anorm, &rcond),
              a, NULL, NULL, NULL);
  osla_py_release(&ipiv);
  return err == OSLA_OK ? PyFloat_FromDouble(rcond) : osla_py_raise(err);
}

PyMethodDef osla_py_solve_methods[] = {{"trsm", trsm, METH_VARARGS, NULL},
                                       {"potrs", potrs, METH_VARARGS, NULL},
                                       {"getrs", getrs, METH_VARARGS, NULL},
                                       {"getri", getri, METH_VARARGS, NULL},
                                       {"residual", residual, METH_VARARGS, NULL},
                                       {"refine", refine, METH_VARARGS, NULL},
                                       {"mixed", mixed, METH_VARARGS, NULL},
                                       {"condition", condition, METH_VARARGS, NULL},
                                       {NULL, NULL, 0, NULL}};
