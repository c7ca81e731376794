/* Converts error codes into the exceptions of osla._errors. */
#include "python/core/core.h"

#include <stdarg.h>
#include <stdio.h>

static PyObject *classes;

bool osla_py_errors_ready(void)
{
  PyObject *module = PyImport_ImportModule("osla._errors");
  PyObject *found = module ? PyObject_GetAttrString(module, "by_code") : NULL;
  Py_XDECREF(module);
  Py_XDECREF(classes);
  classes = found;
  return found != NULL;
}

static PyObject *class_of(osla_err err)
{
  return classes || osla_py_errors_ready() ? PySequence_GetItem(classes, (Py_ssize_t)err) : NULL;
}

static PyObject *raise_text(osla_err err, const char *text)
{
  PyObject *class = class_of(err);
  if (!class) return NULL;
  PyObject *value = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  if (value) PyErr_SetObject(class, value);
  Py_XDECREF(value);
  Py_DECREF(class);
  return NULL;
}

PyObject *osla_py_raise(osla_err err)
{
  return raise_text(err, osla_error_text());
}

PyObject *osla_py_refuse(osla_err err, const char *format, ...)
{
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return raise_text(err, text);
}

PyObject *osla_py_result(osla_err err)
{
  if (err != OSLA_OK) return osla_py_raise(err);
  Py_RETURN_NONE;
}
