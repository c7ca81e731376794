/* Files of matrices, vectors and numbers. */
#include "python/core/core.h"

/* Python function matrix_save(matrix, path, format, stored, name) */
static PyObject *matrix_save(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  const char *path, *name;
  int format, stored;
  if (!osla_py_parse(args, "O&siis", osla_py_as_matrix, &h, &path, &format, &stored, &name))
    return NULL;
  osla_save_options options = {
    .format = (osla_format)format, .stored = (osla_stored)stored, .name = name};
  osla_err err;
  OSLA_PY_RUN(err, osla_matrix_save(h->object, path, &options), h, NULL, NULL, NULL);
  return osla_py_result(err);
}

/* Python function matrix_load(grid, path, mb, nb, name) -> matrix, stored */
static PyObject *matrix_load(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *grid;
  const char *path, *name;
  long long mb, nb;
  if (!osla_py_parse(args, "O&sLLs", osla_py_as_grid, &grid, &path, &mb, &nb, &name)) return NULL;
  osla_load_options options = {.mb = mb, .nb = nb, .name = name};
  osla_stored stored = OSLA_STORED_WHOLE;
  osla_matrix *matrix = NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_matrix_load(grid->object, path, &options, &stored, &matrix), grid, NULL,
              NULL, NULL);
  if (err != OSLA_OK) return osla_py_raise(err);
  PyObject *handle = osla_py_wrap(&osla_py_matrix, matrix, grid, false);
  return handle ? Py_BuildValue("Ni", handle, (int)stored) : NULL;
}

/* Python function file_open(transport, path, create) */
static PyObject *file_open(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *t;
  const char *path;
  int create;
  if (!osla_py_parse(args, "O&sp", osla_py_as_transport, &t, &path, &create)) return NULL;
  osla_file *file = NULL;
  osla_err err;
  OSLA_PY_RUN(
    err, create ? osla_file_create(t->object, path, &file) : osla_file_open(t->object, path, &file),
    t, NULL, NULL, NULL);
  return err == OSLA_OK ? osla_py_wrap(&osla_py_file, file, t, false) : osla_py_raise(err);
}

/* Python function file_commit(file), which also destroys the file. The caller has claimed the
 * handle, so that no other thread can use it meanwhile. */
static PyObject *file_commit(PyObject *module, PyObject *object)
{
  (void)module;
  osla_py_handle *h = osla_py_claimed_handle_of(object, &osla_py_file);
  if (!h) return NULL;
  osla_err err;
  osla_file *file = h->object;
  OSLA_PY_RUN(err, osla_file_commit(&file), NULL, NULL, NULL, NULL);
  h->object = file;
  osla_py_note_destroyed(h);
  return osla_py_result(err);
}

static PyObject *file_has(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  const char *name;
  bool has = false;
  if (!osla_py_parse(args, "O&s", osla_py_as_file, &h, &name)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_file_has(h->object, name, &has), h, NULL, NULL, NULL);
  return err == OSLA_OK ? PyBool_FromLong(has) : osla_py_raise(err);
}

static PyObject *file_put_matrix(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h, *matrix;
  const char *name;
  int stored;
  if (!osla_py_parse(args, "O&sO&i", osla_py_as_file, &h, &name, osla_py_as_matrix, &matrix,
                     &stored))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_file_put_matrix(h->object, name, matrix->object, (osla_stored)stored), h,
              matrix, NULL, NULL);
  return osla_py_result(err);
}

/* Python function file_look_matrix(file, name) -> dtype, m, n, stored */
static PyObject *file_look_matrix(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  const char *name;
  osla_file_matrix look;
  if (!osla_py_parse(args, "O&s", osla_py_as_file, &h, &name)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_file_look_matrix(h->object, name, &look), h, NULL, NULL, NULL);
  if (err != OSLA_OK) return osla_py_raise(err);
  return Py_BuildValue("iLLi", (int)look.dtype, (long long)look.m, (long long)look.n,
                       (int)look.stored);
}

static PyObject *file_get_matrix(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h, *matrix;
  const char *name;
  if (!osla_py_parse(args, "O&sO&", osla_py_as_file, &h, &name, osla_py_as_matrix, &matrix))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_file_get_matrix(h->object, name, matrix->object), h, matrix, NULL, NULL);
  return osla_py_result(err);
}

static bool take_elements(PyObject *object, int type, int64_t count, osla_py_use use,
                          osla_py_array *out)
{
  return type == OSLA_FILE_DOUBLE
           ? osla_py_acquire_vector(object, "vector", OSLA_DOUBLE, count, use, out)
           : osla_py_acquire_indices(object, "vector", count, use, out);
}

/* Python function file_put_vector(file, name, type, array); all ranks pass the same array */
static PyObject *file_put_vector(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  const char *name;
  int type;
  PyObject *object;
  osla_py_array a;
  if (!osla_py_parse(args, "O&siO", osla_py_as_file, &h, &name, &type, &object) ||
      !take_elements(object, type, OSLA_PY_ANY, OSLA_PY_READ, &a))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_file_put_vector(h->object, name, (osla_file_type)type, a.rows, a.data), h,
              NULL, NULL, NULL);
  osla_py_release(&a);
  return osla_py_result(err);
}

static PyObject *file_look_vector(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  const char *name;
  int type;
  int64_t count = 0;
  if (!osla_py_parse(args, "O&si", osla_py_as_file, &h, &name, &type)) return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_file_look_vector(h->object, name, (osla_file_type)type, &count), h, NULL,
              NULL, NULL);
  return err == OSLA_OK ? PyLong_FromLongLong(count) : osla_py_raise(err);
}

static PyObject *file_get_vector(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  const char *name;
  int type;
  PyObject *object;
  osla_py_array a;
  if (!osla_py_parse(args, "O&siO", osla_py_as_file, &h, &name, &type, &object) ||
      !take_elements(object, type, OSLA_PY_ANY, OSLA_PY_WRITE, &a))
    return NULL;
  osla_err err;
  OSLA_PY_RUN(err, osla_file_get_vector(h->object, name, (osla_file_type)type, a.rows, a.data), h,
              NULL, NULL, NULL);
  osla_py_release(&a);
  return osla_py_result(err);
}

/* Python function file_put_value(file, name, value); the value is a float, an int or a text */
static PyObject *file_put_value(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  const char *name;
  PyObject *value, *text = NULL;
  if (!osla_py_parse(args, "O&sO", osla_py_as_file, &h, &name, &value)) return NULL;
  osla_err err = OSLA_OK;
  if (PyFloat_Check(value)) {
    double number = PyFloat_AsDouble(value);
    OSLA_PY_RUN(err, osla_file_put_number(h->object, name, number), h, NULL, NULL, NULL);
  } else if (PyLong_Check(value)) {
    long long number = PyLong_AsLongLong(value);
    OSLA_PY_RUN(err, osla_file_put_int(h->object, name, number), h, NULL, NULL, NULL);
  } else {
    text = PyUnicode_AsUTF8String(value);
    if (!text) return NULL;
    const char *at = PyBytes_AsString(text);
    OSLA_PY_RUN(err, osla_file_put_text(h->object, name, at), h, NULL, NULL, NULL);
    Py_DECREF(text);
  }
  return osla_py_result(err);
}

/* Python function file_get_value(file, name, type); type is 'f', 'i' or 's' */
static PyObject *file_get_value(PyObject *module, PyObject *args)
{
  (void)module;
  osla_py_handle *h;
  const char *name;
  int type;
  if (!osla_py_parse(args, "O&sC", osla_py_as_file, &h, &name, &type)) return NULL;
  char text[4096] = "";
  double number = 0;
  int64_t whole = 0;
  osla_err err;
  OSLA_PY_RUN(err,
              type == 'f'   ? osla_file_get_number(h->object, name, &number)
              : type == 'i' ? osla_file_get_int(h->object, name, &whole)
                            : osla_file_get_text(h->object, name, text, sizeof text),
              h, NULL, NULL, NULL);
  if (err != OSLA_OK) return osla_py_raise(err);
  return type == 'f'   ? PyFloat_FromDouble(number)
         : type == 'i' ? PyLong_FromLongLong(whole)
                       : PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyMethodDef osla_py_file_methods[] = {{"matrix_save", matrix_save, METH_VARARGS, NULL},
                                      {"matrix_load", matrix_load, METH_VARARGS, NULL},
                                      {"file_open", file_open, METH_VARARGS, NULL},
                                      {"file_commit", file_commit, METH_O, NULL},
                                      {"file_has", file_has, METH_VARARGS, NULL},
                                      {"file_put_matrix", file_put_matrix, METH_VARARGS, NULL},
                                      {"file_look_matrix", file_look_matrix, METH_VARARGS, NULL},
                                      {"file_get_matrix", file_get_matrix, METH_VARARGS, NULL},
                                      {"file_put_vector", file_put_vector, METH_VARARGS, NULL},
                                      {"file_look_vector", file_look_vector, METH_VARARGS, NULL},
                                      {"file_get_vector", file_get_vector, METH_VARARGS, NULL},
                                      {"file_put_value", file_put_value, METH_VARARGS, NULL},
                                      {"file_get_value", file_get_value, METH_VARARGS, NULL},
                                      {NULL, NULL, 0, NULL}};
