/* Sparse matrices, and the Krylov solvers CG and LSQR. */
#include "python/core/core.h"

#include <string.h>

static int64_t most(int64_t x, int64_t y)
{
  return x > y ? x : y;
}

/* Number of this rank's rows, which is the length that arrays must have. It is 0 if the row starts
 * are invalid; the library then refuses the starts. */
static int64_t rows_of(int rank, const int64_t *start)
{
  bool ascends = start[rank] >= 0 && start[rank + 1] >= start[rank];
  return ascends ? start[rank + 1] - start[rank] : 0;
}

/* Python function csr_create(transport, row starts, column starts, first, column, value) */
static PyObject *csr_create(PyObject *module, PyObject *args)
{
  (void)module;
  enum { ROWS, COLUMNS, FIRST, COLUMN, LISTS };
  static const char *const names[] = {"row_start", "column_start", "first", "column"};
  osla_py_handle *t;
  PyObject *object[LISTS], *pvalue;
  osla_py_array list[LISTS], value = {.held = false};
  memset(list, 0, sizeof list);
  if (!osla_py_parse(args, "O&OOOOO", osla_py_as_transport, &t, &object[ROWS], &object[COLUMNS],
                     &object[FIRST], &object[COLUMN], &pvalue))
    return NULL;
  int64_t starts = osla_transport_size(t->object) + 1, count[] = {starts, starts, 0, 0};
  int rank = osla_transport_rank(t->object);
  bool fit = true;
  for (int i = 0; i < LISTS && fit; i++) {
    fit = osla_py_acquire_indices(object[i], names[i], count[i], OSLA_PY_READ, &list[i]);
    if (fit && i + 1 == FIRST) count[FIRST] = 1 + rows_of(rank, list[ROWS].data);
    if (fit && i == FIRST)
      count[COLUMN] = most(0, ((int64_t *)list[FIRST].data)[list[FIRST].rows - 1]);
  }
  fit = fit &&
        osla_py_acquire_vector(pvalue, "value", OSLA_DOUBLE, count[COLUMN], OSLA_PY_READ, &value);
  osla_csr *csr = NULL;
  osla_err err = OSLA_OK;
  if (fit)
    OSLA_PY_RUN(err,
                osla_csr_create(t->object, list[ROWS].data, list[COLUMNS].data, list[FIRST].data,
                                list[COLUMN].data, value.data, &csr),
                t, NULL, NULL, NULL);
  for (int i = 0; i < LISTS; i++)
    osla_py_release(&list[i]);
  osla_py_release(&value);
  if (!fit) return NULL;
  return err == OSLA_OK ? osla_py_wrap(&osla_py_csr, csr, t, false) : osla_py_raise(err);
}

/* Python function csr_read(transport, path, is_metis_graph) */
static PyObject *csr_read(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *t;
  const char *path;
  int metis;
  if (!osla_py_parse(args, "O&sp", osla_py_as_transport, &t, &path, &metis)) return NULL;
  osla_csr *csr = NULL;
  osla_err err;
  OSLA_PY_RUN(err,
              metis ? osla_csr_read_metis(t->object, path, NULL, &csr)
                    : osla_csr_read_matrix_market(t->object, path, NULL, NULL, &csr),
              t, NULL, NULL, NULL);
  return err == OSLA_OK ? osla_py_wrap(&osla_py_csr, csr, t, false) : osla_py_raise(err);
}

/* Python function vector_read(transport, path, starts, out) */
static PyObject *vector_read(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *t;
  const char *path;
  PyObject *pstart, *pout;
  osla_py_array start = {.held = false}, out = {.held = false};
  if (!osla_py_parse(args, "O&sOO", osla_py_as_transport, &t, &path, &pstart, &pout)) return NULL;
  int size = osla_transport_size(t->object), rank = osla_transport_rank(t->object);
  bool fit = osla_py_acquire_indices(pstart, "start", size + 1, OSLA_PY_READ, &start) &&
             osla_py_acquire_vector(pout, "out", OSLA_DOUBLE, rows_of(rank, start.data),
                                    OSLA_PY_WRITE, &out);
  osla_err err = OSLA_OK;
  if (fit)
    OSLA_PY_RUN(err, osla_vector_read_matrix_market(t->object, path, start.data, out.data), t, NULL,
                NULL, NULL);
  osla_py_release(&out);
  osla_py_release(&start);
  return fit ? osla_py_result(err) : NULL;
}

/* Python function csr_facts(csr) -> this rank's numbers of rows, columns, entries and ghosts; all
 * rows, all columns; first row, first column */
static PyObject *csr_facts(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  if (!osla_py_parse(args, "O&", osla_py_as_csr, &h)) return NULL;
  const osla_csr *a = h->object;
  const osla_transport *t = osla_csr_transport(a);
  int size = osla_transport_size(t), rank = osla_transport_rank(t);
  const int64_t *rows = osla_csr_row_start(a), *columns = osla_csr_column_start(a);
  return Py_BuildValue("LLLLLLLL", (long long)osla_csr_rows(a), (long long)osla_csr_columns(a),
                       (long long)osla_csr_entries(a), (long long)osla_csr_ghosts(a),
                       (long long)rows[size], (long long)columns[size], (long long)rows[rank],
                       (long long)columns[rank]);
}

/* Python function csr_row(csr, row, column or None, value or None) -> number of entries; fills the
 * two arrays */
static PyObject *csr_row(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *a;
  long long row;
  PyObject *pcolumn, *pvalue;
  osla_py_array column = {.held = false}, value = {.held = false};
  if (!osla_py_parse(args, "O&LOO", osla_py_as_csr, &a, &row, &pcolumn, &pvalue)) return NULL;
  int64_t rows = osla_csr_rows(a->object);
  if (row < 0 || row >= rows)
    return osla_py_refuse(OSLA_ERR_ARG, "row %lld is not one of this rank's %lld rows", row,
                          (long long)rows);
  int64_t n = osla_csr_row(a->object, row, NULL, NULL);
  bool fit =
    (pcolumn == Py_None || osla_py_acquire_indices(pcolumn, "column", n, OSLA_PY_WRITE, &column)) &&
    (pvalue == Py_None ||
     osla_py_acquire_vector(pvalue, "value", OSLA_DOUBLE, n, OSLA_PY_WRITE, &value)) &&
    osla_py_is_usable(a);
  if (fit) (void)osla_csr_row(a->object, row, column.data, value.data);
  osla_py_release(&value);
  osla_py_release(&column);
  return fit ? PyLong_FromLongLong(n) : NULL;
}

/* Python function csr_multiply(csr, trans, x, beta, y) */
static PyObject *csr_multiply(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  int trans;
  PyObject *px, *py;
  double beta;
  osla_py_array x, y;
  if (!osla_py_parse(args, "O&iOdO", osla_py_as_csr, &h, &trans, &px, &beta, &py)) return NULL;
  int64_t rows = osla_csr_rows(h->object), columns = osla_csr_columns(h->object);
  bool plain = trans == OSLA_NOTRANS;
  if (!osla_py_acquire_vector(px, "x", OSLA_DOUBLE, plain ? columns : rows, OSLA_PY_READ, &x))
    return NULL;
  if (!osla_py_acquire_vector(py, "y", OSLA_DOUBLE, plain ? rows : columns, OSLA_PY_WRITE, &y)) {
    osla_py_release(&x);
    return NULL;
  }
  osla_err err;
  OSLA_PY_RUN(err, osla_spmv((osla_trans)trans, h->object, x.data, beta, y.data), h, NULL, NULL,
              NULL);
  osla_py_release(&y);
  osla_py_release(&x);
  return osla_py_result(err);
}

/* Python function csr_new(csr, other or None) -> the product of csr and other, or the transpose of
 * csr if other is None */
static PyObject *csr_new(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *a, *b = NULL;
  PyObject *other;
  if (!osla_py_parse(args, "O&O", osla_py_as_csr, &a, &other) ||
      (other != Py_None && !osla_py_as_csr(other, &b)))
    return NULL;
  osla_csr *n_created = NULL;
  osla_err err;
  OSLA_PY_RUN(err,
              b ? osla_csr_multiply(a->object, b->object, &n_created)
                : osla_csr_transpose(a->object, &n_created),
              a, b, NULL, NULL);
  return err == OSLA_OK ? osla_py_wrap(&osla_py_csr, n_created, a->owner, false)
                        : osla_py_raise(err);
}

/* Python function csr_galerkin(csr, prolongation) */
static PyObject *csr_galerkin(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *a, *p;
  if (!osla_py_parse(args, "O&O&", osla_py_as_csr, &a, osla_py_as_csr, &p)) return NULL;
  osla_csr *n_created = NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_csr_galerkin(a->object, p->object, &n_created), a, p, NULL, NULL);
  return err == OSLA_OK ? osla_py_wrap(&osla_py_csr, n_created, a->owner, false)
                        : osla_py_raise(err);
}

/* Python function csr_numeric(csr, other, result, galerkin): computes the values of the product
 * `result` of csr and other again. */
static PyObject *csr_numeric(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *a, *b, *c;
  int galerkin;
  if (!osla_py_parse(args, "O&O&O&i", osla_py_as_csr, &a, osla_py_as_csr, &b, osla_py_as_csr, &c,
                     &galerkin))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err,
              galerkin ? osla_csr_galerkin_numeric(a->object, b->object, c->object)
                       : osla_csr_multiply_numeric(a->object, b->object, c->object),
              a, b, c, NULL);
  return osla_py_result(err);
}

/* Python function csr_set_values(csr, values): replaces the values of this rank's entries. */
static PyObject *csr_set_values(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *a;
  PyObject *pvalue;
  osla_py_array value;
  if (!osla_py_parse(args, "O&O", osla_py_as_csr, &a, &pvalue) ||
      !osla_py_acquire_vector(pvalue, "values", OSLA_DOUBLE, osla_csr_entries(a->object),
                              OSLA_PY_READ, &value))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_csr_set_values(a->object, value.data), a, NULL, NULL, NULL);
  osla_py_release(&value);
  return osla_py_result(err);
}

/* Python function csr_renumber(csr, number, starts) */
static PyObject *csr_renumber(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *a;
  PyObject *pnumber, *pstart;
  osla_py_array number = {.held = false}, start = {.held = false};
  if (!osla_py_parse(args, "O&OO", osla_py_as_csr, &a, &pnumber, &pstart)) return NULL;
  int size = osla_transport_size(osla_csr_transport(a->object));
  bool fit =
    osla_py_acquire_indices(pnumber, "number", osla_csr_rows(a->object), OSLA_PY_READ, &number) &&
    osla_py_acquire_indices(pstart, "start", size + 1, OSLA_PY_READ, &start);
  osla_csr *n_created = NULL;
  osla_err err = OSLA_OK;
  if (fit)
    OSLA_PY_RUN(err, osla_csr_renumber(a->object, number.data, start.data, &n_created), a, NULL,
                NULL, NULL);
  osla_py_release(&start);
  osla_py_release(&number);
  if (!fit) return NULL;
  return err == OSLA_OK ? osla_py_wrap(&osla_py_csr, n_created, a->owner, false)
                        : osla_py_raise(err);
}

/* Python function csr_submatrix(csr, rows, columns) */
static PyObject *csr_submatrix(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *a;
  PyObject *prow, *pcolumn;
  osla_py_array row = {.held = false}, column = {.held = false};
  if (!osla_py_parse(args, "O&OO", osla_py_as_csr, &a, &prow, &pcolumn)) return NULL;
  bool fit = osla_py_acquire_indices(prow, "rows", OSLA_PY_ANY, OSLA_PY_READ, &row) &&
             osla_py_acquire_indices(pcolumn, "columns", OSLA_PY_ANY, OSLA_PY_READ, &column);
  osla_csr *n_created = NULL;
  osla_err err = OSLA_OK;
  if (fit)
    OSLA_PY_RUN(
      err, osla_csr_submatrix(a->object, row.rows, row.data, column.rows, column.data, &n_created),
      a, NULL, NULL, NULL);
  osla_py_release(&column);
  osla_py_release(&row);
  if (!fit) return NULL;
  return err == OSLA_OK ? osla_py_wrap(&osla_py_csr, n_created, a->owner, false)
                        : osla_py_raise(err);
}

/* Values of the argument `which` of the Python function csr_numbers: letters that sparse.py
 * passes. */
enum { DIAGONAL = 'd', COLUMN_SQUARES = 's', COLUMN_NORMS = 'n' };

static osla_err find_numbers(osla_csr *a, int which, double *out)
{
  return which == DIAGONAL         ? osla_csr_diagonal(a, out)
         : which == COLUMN_SQUARES ? osla_csr_column_squares(a, out)
                                   : osla_csr_column_norms(a, out);
}

/* Python function csr_numbers(csr, which, out); fills out with one number for each of this rank's
 * columns, or with this rank's part of the diagonal */
static PyObject *csr_numbers(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *a;
  int which;
  PyObject *object;
  osla_py_array out;
  if (!osla_py_parse(args, "O&CO", osla_py_as_csr, &a, &which, &object) ||
      !osla_py_acquire_vector(object, "out", OSLA_DOUBLE,
                              which == DIAGONAL ? osla_csr_rows(a->object)
                                                : osla_csr_columns(a->object),
                              OSLA_PY_WRITE, &out))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err, find_numbers(a->object, which, out.data), a, NULL, NULL, NULL);
  osla_py_release(&out);
  return osla_py_result(err);
}

static PyObject *krylov_result(osla_err err, const osla_krylov_result *r)
{
  if (err != OSLA_OK) return osla_py_raise(err);
  return Py_BuildValue("iLddd", (int)r->end, (long long)r->iterations, r->left, r->residual,
                       r->seconds);
}

/* Preconditioner of a call of cg. */
typedef struct smoother {
  int64_t block;
  int sweeps;
  osla_iterate_mode mode;
} smoother;

static osla_err solve_by_cg(osla_csr *matrix, const osla_operator *a, const smoother *s,
                            const double *b, double *x, const osla_krylov_options *options,
                            osla_krylov_result *result)
{
  osla_jacobi *jacobi = NULL;
  osla_py_sweeps swept = {NULL, NULL, NULL};
  osla_preconditioner m = {NULL, NULL};
  osla_err err = OSLA_OK;
  if (s->sweeps != 0)
    err = osla_py_sweeps_make(matrix, s->block, s->sweeps, s->mode, &swept);
  else if (s->block > 0)
    err = osla_jacobi_create(matrix, s->block, 0, &jacobi);
  if (jacobi) m = osla_jacobi_use(jacobi);
  if (swept.sweeps) m = osla_sweeps_use(swept.sweeps);
  if (err == OSLA_OK) err = osla_cg(a, m.apply ? &m : NULL, b, x, options, result);
  osla_jacobi_destroy(&jacobi);
  osla_py_sweeps_free(&swept);
  return err;
}

/* Python function cg(csr, block, sweeps, mode, b, x, options). block: 0 for no preconditioner, 1
 * for Jacobi, a larger number for block Jacobi. sweeps: 0, or the number of sweeps of block Jacobi.
 */
static PyObject *cg(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  long long block;
  int sweeps, mode;
  PyObject *pb, *px, *bytes;
  osla_py_array b, x;
  if (!osla_py_parse(args, "O&LiiOOO", osla_py_as_csr, &h, &block, &sweeps, &mode, &pb, &px,
                     &bytes))
    return NULL;
  const osla_krylov_options *options = osla_py_struct(bytes, sizeof *options);
  int64_t rows = osla_csr_rows(h->object);
  osla_operator a = osla_csr_operator(h->object);
  if (!options || !osla_py_acquire_vector(pb, "b", OSLA_DOUBLE, rows, OSLA_PY_READ, &b))
    return NULL;
  if (!osla_py_acquire_vector(px, "x", OSLA_DOUBLE, rows, OSLA_PY_WRITE, &x)) {
    osla_py_release(&b);
    return NULL;
  }
  const smoother s = {.block = block, .sweeps = sweeps, .mode = (osla_iterate_mode)mode};
  osla_krylov_result result = {.end = OSLA_KRYLOV_CONVERGED};
  osla_err err;
  OSLA_PY_RUN(err, solve_by_cg(h->object, &a, &s, b.data, x.data, options, &result), h, NULL, NULL,
              NULL);
  osla_py_release(&x);
  osla_py_release(&b);
  return krylov_result(err, &result);
}

/* Python function lsqr(csr, b, damping, scale or None, x, options) */
static PyObject *lsqr(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  double damping;
  PyObject *pb, *pscale, *px, *bytes;
  osla_py_array b = {.held = false}, scale = {.held = false}, x = {.held = false};
  if (!osla_py_parse(args, "O&OdOOO", osla_py_as_csr, &h, &pb, &damping, &pscale, &px, &bytes))
    return NULL;
  const osla_krylov_options *options = osla_py_struct(bytes, sizeof *options);
  int64_t rows = osla_csr_rows(h->object), columns = osla_csr_columns(h->object);
  osla_operator a = osla_csr_operator(h->object);
  bool fit = options && osla_py_acquire_vector(pb, "b", OSLA_DOUBLE, rows, OSLA_PY_READ, &b) &&
             (pscale == Py_None || osla_py_acquire_vector(pscale, "scale", OSLA_DOUBLE, columns,
                                                          OSLA_PY_READ, &scale)) &&
             osla_py_acquire_vector(px, "x", OSLA_DOUBLE, columns, OSLA_PY_WRITE, &x);
  osla_krylov_result result = {.end = OSLA_KRYLOV_CONVERGED};
  osla_err err = OSLA_OK;
  if (fit)
    OSLA_PY_RUN(err, osla_lsqr(&a, b.data, damping, scale.data, x.data, options, &result), h, NULL,
                NULL, NULL);
  osla_py_release(&x);
  osla_py_release(&scale);
  osla_py_release(&b);
  return fit ? krylov_result(err, &result) : NULL;
}

PyMethodDef osla_py_sparse_methods[] = {{"csr_create", csr_create, METH_VARARGS, NULL},
                                        {"csr_read", csr_read, METH_VARARGS, NULL},
                                        {"vector_read", vector_read, METH_VARARGS, NULL},
                                        {"csr_facts", csr_facts, METH_VARARGS, NULL},
                                        {"csr_row", csr_row, METH_VARARGS, NULL},
                                        {"csr_galerkin", csr_galerkin, METH_VARARGS, NULL},
                                        {"csr_numeric", csr_numeric, METH_VARARGS, NULL},
                                        {"csr_set_values", csr_set_values, METH_VARARGS, NULL},
                                        {"csr_renumber", csr_renumber, METH_VARARGS, NULL},
                                        {"csr_submatrix", csr_submatrix, METH_VARARGS, NULL},
                                        {"csr_multiply", csr_multiply, METH_VARARGS, NULL},
                                        {"csr_new", csr_new, METH_VARARGS, NULL},
                                        {"csr_numbers", csr_numbers, METH_VARARGS, NULL},
                                        {"cg", cg, METH_VARARGS, NULL},
                                        {"lsqr", lsqr, METH_VARARGS, NULL},
                                        {NULL, NULL, 0, NULL}};
