/* Options: a table for each options struct of the library, so that each field needs one line.
 * Python passes a dictionary and gets the struct as bytes. Python then passes the bytes to the
 * library call. */
#include "python/core/core.h"

#include <string.h>

typedef enum field_type { INT, INT64, SIZE, DOUBLE, BOOL } field_type;

typedef struct field {
  const char *name;
  field_type type;
  size_t offset;
} field;

#define FIELD(of, name, type)                                                                      \
  {                                                                                                \
#name, type, offsetof(of, name)                                                                \
  }

static const field gemm_fields[] = {FIELD(osla_gemm_options, panel, INT64),
                                    FIELD(osla_gemm_options, memory, SIZE),
                                    FIELD(osla_gemm_options, layers, INT64),
                                    {NULL, INT, 0}};

static const field lu_fields[] = {FIELD(osla_lu_options, pivoting, INT),
                                  FIELD(osla_lu_options, look_ahead, INT),
                                  FIELD(osla_lu_options, forward, INT),
                                  {NULL, INT, 0}};

static const field chol_fields[] = {FIELD(osla_chol_options, look_ahead, INT),
                                    FIELD(osla_chol_options, forward, INT),
                                    {NULL, INT, 0}};

static const field refine_fields[] = {FIELD(osla_refine_options, max_iterations, INT),
                                      FIELD(osla_refine_options, target, DOUBLE),
                                      {NULL, INT, 0}};

static const field hessian_fields[] = {FIELD(osla_hessian_options, uplo, INT),
                                       FIELD(osla_hessian_options, single, BOOL),
                                       FIELD(osla_hessian_options, single_updates, BOOL),
                                       FIELD(osla_hessian_options, nb, INT64),
                                       FIELD(osla_hessian_options, ring_bytes, SIZE),
                                       FIELD(osla_hessian_options, piece_bytes, SIZE),
                                       FIELD(osla_hessian_options, combine, INT),
                                       FIELD(osla_hessian_options, initial, DOUBLE),
                                       FIELD(osla_hessian_options, from_zero, BOOL),
                                       FIELD(osla_hessian_options, order_independent, BOOL),
                                       FIELD(osla_hessian_options, bound, DOUBLE),
                                       FIELD(osla_hessian_options, gradient_bound, DOUBLE),
                                       FIELD(osla_hessian_options, memory_cap, SIZE),
                                       FIELD(osla_hessian_options, isolation, INT),
                                       FIELD(osla_hessian_options, shipping, INT),
                                       FIELD(osla_hessian_options, node_sums, BOOL),
                                       FIELD(osla_hessian_options, checkpoint_holds, BOOL),
                                       FIELD(osla_hessian_options, clear, BOOL),
                                       FIELD(osla_hessian_options, triangle, INT64),
                                       {NULL, INT, 0}};

static const field krylov_fields[] = {FIELD(osla_krylov_options, tolerance, DOUBLE),
                                      FIELD(osla_krylov_options, iterations, INT64),
                                      FIELD(osla_krylov_options, flexible, BOOL),
                                      {NULL, INT, 0}};

static const field splitting_fields[] = {FIELD(osla_splitting_options, block, INT64),
                                         FIELD(osla_splitting_options, factor, INT),
                                         FIELD(osla_splitting_options, inner_tolerance, DOUBLE),
                                         FIELD(osla_splitting_options, group, INT64),
                                         {NULL, INT, 0}};

static const field coarse_fields[] = {FIELD(osla_coarse_options, damping, DOUBLE),
                                      FIELD(osla_coarse_options, sweeps, INT64),
                                      {NULL, INT, 0}};

static const field iterate_fields[] = {
  FIELD(osla_iterate_options, mode, INT),     FIELD(osla_iterate_options, tolerance, DOUBLE),
  FIELD(osla_iterate_options, norm, DOUBLE),  FIELD(osla_iterate_options, omega, DOUBLE),
  FIELD(osla_iterate_options, sweeps, INT64), FIELD(osla_iterate_options, period, INT),
  FIELD(osla_iterate_options, lead, INT),     FIELD(osla_iterate_options, in_flight, INT),
  FIELD(osla_iterate_options, check, INT),    FIELD(osla_iterate_options, patience, DOUBLE),
  FIELD(osla_iterate_options, proven, BOOL),  {NULL, INT, 0}};

static const field diffusion_fields[] = {FIELD(osla_diffusion_options, points[0], INT64),
                                         FIELD(osla_diffusion_options, points[1], INT64),
                                         FIELD(osla_diffusion_options, points[2], INT64),
                                         FIELD(osla_diffusion_options, ranks[0], INT),
                                         FIELD(osla_diffusion_options, ranks[1], INT),
                                         FIELD(osla_diffusion_options, ranks[2], INT),
                                         FIELD(osla_diffusion_options, start, INT),
                                         FIELD(osla_diffusion_options, radius, DOUBLE),
                                         FIELD(osla_diffusion_options, offset, DOUBLE),
                                         FIELD(osla_diffusion_options, no_offset, BOOL),
                                         {NULL, INT, 0}};

typedef union any_options {
  osla_gemm_options gemm;
  osla_lu_options lu;
  osla_chol_options chol;
  osla_refine_options refine;
  osla_hessian_options hessian;
  osla_krylov_options krylov;
  osla_splitting_options splitting;
  osla_coarse_options coarse;
  osla_iterate_options iterate;
  osla_diffusion_options diffusion;
} any_options;

static const struct kind {
  const char *name;
  const field *fields;
  size_t size;
} kinds[] = {{"gemm", gemm_fields, sizeof(osla_gemm_options)},
             {"lu", lu_fields, sizeof(osla_lu_options)},
             {"cholesky", chol_fields, sizeof(osla_chol_options)},
             {"refine", refine_fields, sizeof(osla_refine_options)},
             {"Hessian", hessian_fields, sizeof(osla_hessian_options)},
             {"solver", krylov_fields, sizeof(osla_krylov_options)},
             {"blocks", splitting_fields, sizeof(osla_splitting_options)},
             {"coarse level", coarse_fields, sizeof(osla_coarse_options)},
             {"iterate", iterate_fields, sizeof(osla_iterate_options)},
             {"Diffusion", diffusion_fields, sizeof(osla_diffusion_options)}};

static bool set_field(const field *f, PyObject *value, char *at)
{
  if (f->type == DOUBLE) {
    double number = PyFloat_AsDouble(value);
    memcpy(at, &number, sizeof number);
  } else if (f->type == BOOL) {
    bool truth = PyObject_IsTrue(value) == 1;
    memcpy(at, &truth, sizeof truth);
  } else {
    PyObject *index = PyNumber_Index(value);
    long long number = index ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(index);
    bool fits = f->type == INT    ? number >= INT_MIN && number <= INT_MAX
                : f->type == SIZE ? number >= 0
                                  : true;
    if (!PyErr_Occurred() && !fits) {
      osla_py_refuse(OSLA_ERR_ARG, "%s = %lld is out of range", f->name, number);
      return false;
    }
    int narrow = (int)number;
    size_t size = (size_t)number;
    int64_t wide = number;
    if (f->type == INT) memcpy(at, &narrow, sizeof narrow);
    if (f->type == SIZE) memcpy(at, &size, sizeof size);
    if (f->type == INT64) memcpy(at, &wide, sizeof wide);
  }
  return !PyErr_Occurred();
}

static bool set_named(const struct kind *kind, PyObject *key, PyObject *value, any_options *o)
{
  PyObject *name = PyUnicode_AsUTF8String(key);
  if (!name) return false;
  const field *f = kind->fields;
  while (f->name && strcmp(f->name, PyBytes_AsString(name)) != 0)
    f++;
  bool set = f->name && set_field(f, value, (char *)o + f->offset);
  if (!f->name)
    osla_py_refuse(OSLA_ERR_ARG, "%s: there is no option %s", kind->name, PyBytes_AsString(name));
  Py_DECREF(name);
  return set;
}

PyObject *osla_py_options(PyObject *module, PyObject *args)
{
  (void)module;
  const char *name;
  PyObject *given, *key, *value;
  if (!PyArg_ParseTuple(args, "sO!", &name, &PyDict_Type, &given)) return NULL;
  const struct kind *kind = NULL;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i].name, name) == 0) kind = &kinds[i];
  if (!kind) return osla_py_refuse(OSLA_ERR_ARG, "there are no options called %s", name);
  any_options o;
  memset(&o, 0, sizeof o);
  Py_ssize_t position = 0;
  while (PyDict_Next(given, &position, &key, &value))
    if (!set_named(kind, key, value, &o)) return NULL;
  return PyBytes_FromStringAndSize((const char *)&o, (Py_ssize_t)kind->size);
}

const void *osla_py_struct(PyObject *bytes, size_t size)
{
  char *data = NULL;
  Py_ssize_t length = 0;
  if (PyBytes_AsStringAndSize(bytes, &data, &length) != 0) return NULL;
  if ((size_t)length == size) return data;
  PyErr_SetString(PyExc_TypeError, "options of another call: their size is wrong");
  return NULL;
}
