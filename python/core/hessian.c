/* Python functions of the accumulator. Updates parse their arguments without PyArg_Parse, which
 * would make a small update noticeably slower. */
#include "python/core/core.h"

/* Python function hessian_create(grid, n, options) */
static PyObject *hessian_create(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *grid;
  long long n;
  PyObject *bytes;
  if (!osla_py_parse(args, "O&LO", osla_py_as_grid, &grid, &n, &bytes)) return NULL;
  const osla_hessian_options *options = osla_py_struct(bytes, sizeof *options);
  if (!options) return NULL;
  osla_hessian *hessian = NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_hessian_create(grid->object, n, options, &hessian), grid, NULL, NULL, NULL);
  if (err != OSLA_OK) return osla_py_raise(err);
  osla_py_handle *h = (osla_py_handle *)osla_py_wrap(&osla_py_hessian, hessian, grid, false);
  if (h) h->update_dtype = options->single || options->single_updates ? OSLA_FLOAT : OSLA_DOUBLE;
  return (PyObject *)h;
}

/* Python function hessian_create_on(matrix, options) */
static PyObject *hessian_create_on(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *matrix;
  PyObject *bytes;
  if (!osla_py_parse(args, "O&O", osla_py_as_matrix, &matrix, &bytes)) return NULL;
  const osla_hessian_options *options = osla_py_struct(bytes, sizeof *options);
  if (!options) return NULL;
  osla_hessian *hessian = NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_hessian_create_on(matrix->object, options, &hessian), matrix, NULL, NULL,
              NULL);
  if (err != OSLA_OK) return osla_py_raise(err);
  osla_py_handle *h = (osla_py_handle *)osla_py_wrap(&osla_py_hessian, hessian, matrix, false);
  if (h) h->update_dtype = options->single_updates ? OSLA_FLOAT : osla_matrix_dtype(matrix->object);
  return (PyObject *)h;
}

static bool is_count(Py_ssize_t given, Py_ssize_t wanted)
{
  if (given == wanted) return true;
  PyErr_Format(PyExc_TypeError, "%zd arguments where %zd are needed", given, wanted);
  return false;
}

/* Python function hessian_update(hessian, ix, g) */
static PyObject *hessian_update(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
  (void)module;
  osla_py_array ix, g;
  if (!is_count(count, 3)) return NULL;
  osla_py_handle *h = osla_py_handle_of(args[0], &osla_py_hessian);
  if (!h || !osla_py_acquire_indices(args[1], "ix", OSLA_PY_ANY, OSLA_PY_READ_OR_COPY, &ix))
    return NULL;
  if (!osla_py_acquire_columns(args[2], "G", h->update_dtype, OSLA_PY_ANY, ix.rows, true,
                               OSLA_PY_READ_OR_COPY, &g)) {
    osla_py_release(&ix);
    return NULL;
  }
  osla_err err;
  OSLA_PY_RUN(err, osla_hessian_update(h->object, ix.rows, ix.data, g.rows, g.data, g.ld), h, NULL,
              NULL, NULL);
  osla_py_release(&g);
  osla_py_release(&ix);
  return osla_py_result(err);
}

/* Python function hessian_update_block(hessian, ix, jx, u) */
static PyObject *hessian_update_block(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
  (void)module;
  osla_py_array ix = {.held = false}, jx = {.held = false}, u = {.held = false};
  if (!is_count(count, 4)) return NULL;
  osla_py_handle *h = osla_py_handle_of(args[0], &osla_py_hessian);
  bool fit = h && osla_py_acquire_indices(args[1], "ix", OSLA_PY_ANY, OSLA_PY_READ_OR_COPY, &ix) &&
             osla_py_acquire_indices(args[2], "jx", OSLA_PY_ANY, OSLA_PY_READ_OR_COPY, &jx) &&
             osla_py_acquire_columns(args[3], "U", h->update_dtype, ix.rows, jx.rows, false,
                                     OSLA_PY_READ_OR_COPY, &u);
  osla_err err = OSLA_OK;
  if (fit)
    OSLA_PY_RUN(
      err, osla_hessian_update_block(h->object, ix.rows, ix.data, jx.rows, jx.data, u.data, u.ld),
      h, NULL, NULL, NULL);
  osla_py_release(&u);
  osla_py_release(&jx);
  osla_py_release(&ix);
  return fit ? osla_py_result(err) : NULL;
}

/* Python function hessian_update_gradient(hessian, ix, values) */
static PyObject *hessian_update_gradient(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
  (void)module;
  osla_py_array ix, values;
  if (!is_count(count, 3)) return NULL;
  osla_py_handle *h = osla_py_handle_of(args[0], &osla_py_hessian);
  if (!h || !osla_py_acquire_indices(args[1], "ix", OSLA_PY_ANY, OSLA_PY_READ_OR_COPY, &ix))
    return NULL;
  if (!osla_py_acquire_vector(args[2], "values", OSLA_DOUBLE, ix.rows, OSLA_PY_READ_OR_COPY,
                              &values)) {
    osla_py_release(&ix);
    return NULL;
  }
  osla_err err;
  OSLA_PY_RUN(err, osla_hessian_update_gradient(h->object, ix.rows, ix.data, values.data), h, NULL,
              NULL, NULL);
  osla_py_release(&values);
  osla_py_release(&ix);
  return osla_py_result(err);
}

/* Python function hessian_update_once(hessian, id, ix, g, jx, u, gradient), with None for absent
 * parts -> True if the datum was skipped */
static PyObject *hessian_update_once(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  unsigned long long id;
  PyObject *pix, *pg, *pjx, *pu, *pgradient;
  osla_py_array ix = {.held = false}, g = {.held = false, .ld = 1}, jx = {.held = false},
                u = {.held = false, .ld = 1}, gradient = {.held = false};
  if (!osla_py_parse(args, "O&KOOOOO", osla_py_as_hessian, &h, &id, &pix, &pg, &pjx, &pu,
                     &pgradient) ||
      !osla_py_acquire_indices(pix, "ix", OSLA_PY_ANY, OSLA_PY_READ, &ix))
    return NULL;
  bool fit =
    (pg == Py_None || osla_py_acquire_columns(pg, "G", h->update_dtype, OSLA_PY_ANY, ix.rows, true,
                                              OSLA_PY_READ, &g)) &&
    (pjx == Py_None || osla_py_acquire_indices(pjx, "jx", OSLA_PY_ANY, OSLA_PY_READ, &jx)) &&
    (pu == Py_None || osla_py_acquire_columns(pu, "U", h->update_dtype, ix.rows, jx.rows, false,
                                              OSLA_PY_READ, &u)) &&
    (pgradient == Py_None ||
     osla_py_acquire_vector(pgradient, "gradient", OSLA_DOUBLE, ix.rows, OSLA_PY_READ, &gradient));
  osla_hessian_datum datum = {.id = id,
                              .count = ix.rows,
                              .ix = ix.data,
                              .k = g.rows,
                              .g = g.data,
                              .ldg = g.ld,
                              .cols = jx.rows,
                              .jx = jx.data,
                              .u = u.data,
                              .ldu = u.ld,
                              .gradient = gradient.data};
  bool skipped = false;
  osla_err err = OSLA_OK;
  if (fit)
    OSLA_PY_RUN(err, osla_hessian_update_once(h->object, &datum, &skipped), h, NULL, NULL, NULL);
  osla_py_release(&gradient);
  osla_py_release(&u);
  osla_py_release(&jx);
  osla_py_release(&g);
  osla_py_release(&ix);
  if (!fit) return NULL;
  return err == OSLA_OK ? PyBool_FromLong(skipped) : osla_py_raise(err);
}

static PyObject *hessian_has_id(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  unsigned long long id;
  if (!osla_py_parse(args, "O&K", osla_py_as_hessian, &h, &id)) return NULL;
  return PyBool_FromLong(osla_hessian_has_id(h->object, id));
}

static PyObject *hessian_commit(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *h = osla_py_handle_of(object, &osla_py_hessian);
  if (!h) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_hessian_commit(h->object), h, NULL, NULL, NULL);
  return osla_py_result(err);
}

static PyObject *hessian_reset(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *h = osla_py_handle_of(object, &osla_py_hessian);
  if (!h) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_hessian_reset(h->object), h, NULL, NULL, NULL);
  return osla_py_result(err);
}

/* Python function hessian_matrix(hessian) -> the matrix, borrowed from the accumulator */
static PyObject *hessian_matrix(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *h = osla_py_handle_of(object, &osla_py_hessian);
  osla_matrix *matrix = NULL;
  if (!h) return NULL;
  osla_err err = osla_hessian_matrix(h->object, &matrix);
  return err == OSLA_OK ? osla_py_wrap(&osla_py_matrix, matrix, h, true) : osla_py_raise(err);
}

static PyObject *on_file(PyObject *args,
                         osla_err (*call)(osla_hessian *, const char *, const char *))
{
  osla_py_handle *h;
  const char *path, *job;
  if (!osla_py_parse(args, "O&ss", osla_py_as_hessian, &h, &path, &job)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, call(h->object, path, job), h, NULL, NULL, NULL);
  return osla_py_result(err);
}

static PyObject *hessian_checkpoint(PyObject *module, PyObject *args)
{
  (void)module;
  return on_file(args, osla_hessian_checkpoint);
}

static PyObject *hessian_restore(PyObject *module, PyObject *args)
{
  (void)module;
  return on_file(args, osla_hessian_restore);
}

static PyObject *hessian_stats(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *h = osla_py_handle_of(object, &osla_py_hessian);
  if (!h) return NULL;
  osla_hessian_stats s = osla_hessian_get_stats(h->object);
  return Py_BuildValue(
    "{sLsLsLsLsLsLsLsdsdsdsdsdsLsL}", "updates", (long long)s.updates, "elements",
    (long long)s.elements, "elements_sent", (long long)s.elements_sent, "bytes_sent",
    (long long)s.bytes_sent, "bytes_received", (long long)s.bytes_received, "transfers",
    (long long)s.transfers, "bytes_peak", (long long)s.bytes_peak, "seconds_split", s.seconds_split,
    "seconds_product", s.seconds_product, "seconds_add", s.seconds_add, "seconds_send",
    s.seconds_send, "seconds_apply", s.seconds_apply, "ids_skipped", (long long)s.ids_skipped,
    "ids_restored", (long long)s.ids_restored);
}

#define FAST(call) (PyCFunction)(void (*)(void)) call

PyMethodDef osla_py_hessian_methods[] = {
  {"hessian_create", hessian_create, METH_VARARGS, NULL},
  {"hessian_create_on", hessian_create_on, METH_VARARGS, NULL},
  {"hessian_update", FAST(hessian_update), METH_FASTCALL, NULL},
  {"hessian_update_block", FAST(hessian_update_block), METH_FASTCALL, NULL},
  {"hessian_update_gradient", FAST(hessian_update_gradient), METH_FASTCALL, NULL},
  {"hessian_update_once", hessian_update_once, METH_VARARGS, NULL},
  {"hessian_has_id", hessian_has_id, METH_VARARGS, NULL},
  {"hessian_commit", hessian_commit, METH_O, NULL},
  {"hessian_reset", hessian_reset, METH_O, NULL},
  {"hessian_matrix", hessian_matrix, METH_O, NULL},
  {"hessian_checkpoint", hessian_checkpoint, METH_VARARGS, NULL},
  {"hessian_restore", hessian_restore, METH_VARARGS, NULL},
  {"hessian_stats", hessian_stats, METH_O, NULL},
  {NULL, NULL, 0, NULL}};
