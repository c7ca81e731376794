/* Start of MPI, checks of the MPI library, and communicators of mpi4py. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "python/core/core.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Python function mpi_watch() makes later calls of this package fail with StateError after
 * MPI_Finalize. */
static PyObject *mpi_watch(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  if (!osla_py_errors_ready()) return NULL;
  if (osla_py_unusable_reason())
    return osla_py_refuse(OSLA_ERR_STATE, "%s", osla_py_unusable_reason());
  return osla_py_result(osla_py_watch_finalize());
}

/* Python function mpi_state() -> 0 not started, 1 running, 2 ended or unusable in this process */
static PyObject *mpi_state(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  osla_py_mpi_state state = osla_py_mpi_state_now();
  if (state == OSLA_PY_MPI_UNKNOWN)
    return osla_py_refuse(OSLA_ERR_MPI, "MPI_Initialized or MPI_Finalized failed");
  return PyLong_FromLong(state);
}

static PyObject *mpi_start(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  int level = 0, code;
  Py_BEGIN_ALLOW_THREADS code = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
  Py_END_ALLOW_THREADS return osla_py_result(
    code == MPI_SUCCESS ? OSLA_OK : osla_error_set_mpi(code, "MPI_Init_thread"));
}

static PyObject *mpi_size(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  int size = 1;
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
  return PyLong_FromLong(size);
}

/* Python function abort(transport or None, text) ends all ranks. */
static PyObject *mpi_abort(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *transport;
  const char *text;
  if (!PyArg_ParseTuple(args, "Os", &transport, &text)) return NULL;
  osla_py_handle *h =
    transport == Py_None ? NULL : osla_py_handle_of(transport, &osla_py_transport);
  if (h) osla_transport_abort(h->object, osla_error_set(OSLA_ERR_STATE, "%s", text));
  PyErr_Clear();
  (void)MPI_Abort(MPI_COMM_WORLD, 1);
  Py_RETURN_NONE;
}

static const char *version(int (*ask)(char *, int *), char text[MPI_MAX_LIBRARY_VERSION_STRING])
{
  int length = 0;
  if (!ask || ask(text, &length) != MPI_SUCCESS) return "unknown";
  text[strcspn(text, ",\n")] = '\0';
  for (char *tab = strchr(text, '\t'); tab; tab = strchr(tab, '\t'))
    *tab = ' ';
  return text;
}

/* Open MPI and MPICH use incompatible handles under the same names. Debian's mpi4py 3.1.4 loads its
 * MPI with RTLD_GLOBAL, so that modules loaded later use that library. */
bool osla_py_mpi_is_ours(void)
{
#ifdef OPEN_MPI
  const bool open_mpi = true;
#else
  const bool open_mpi = false;
#endif
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  const char *loaded = version(MPI_Get_library_version, text);
  if ((strncmp(loaded, "Open MPI", 8) == 0) == open_mpi) return true;
  (void)PyErr_Format(PyExc_ImportError,
                     "this build of osla was built for %s, but the process has loaded %s already "
                     "(mpi4py?): build osla with that MPI, or import osla first",
                     open_mpi ? "Open MPI" : "MPICH", loaded);
  return false;
}

/* Python function same_mpi(path) -> None if the loaded extension module `path` uses the same MPI
 * library as this module; else a text that names both. */
static PyObject *same_mpi(PyObject *module, PyObject *args)
{
  (void)module;
  const char *path;
  if (!PyArg_ParseTuple(args, "s", &path)) return NULL;
  void *other = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!other) return PyUnicode_FromFormat("%s is not loaded", path);
  int (*theirs)(char *, int *) = NULL, (*ours)(char *, int *) = MPI_Get_library_version;
  /* address of the MPI function that the module `path` is linked with */
  void *symbol = dlsym(other, "MPI_Get_library_version");
  memcpy(&theirs, &symbol, sizeof theirs);
  (void)dlclose(other);
  Dl_info here = {0}, there = {0};
  void *own = NULL;
  memcpy(&own, &ours, sizeof own);
  bool found = dladdr(own, &here) && symbol && dladdr(symbol, &there);
  if (found && here.dli_fbase == there.dli_fbase) Py_RETURN_NONE;
  char text[2][MPI_MAX_LIBRARY_VERSION_STRING];
  return PyUnicode_FromFormat("mpi4py is on %s (%s), this build of osla on %s (%s)",
                              version(theirs, text[0]), there.dli_fname ? there.dli_fname : "?",
                              version(ours, text[1]), here.dli_fname ? here.dli_fname : "?");
}

/* Python function comm_at(address) -> the communicator stored there, as bytes */
static PyObject *comm_at(PyObject *module, PyObject *args)
{
  (void)module;
  unsigned long long address;
  if (!PyArg_ParseTuple(args, "K", &address)) return NULL;
  return PyBytes_FromStringAndSize((const char *)(uintptr_t)address, (Py_ssize_t)sizeof(MPI_Comm));
}

/* Python function agree(comm or None, code, text), before a transport exists. On all ranks, raises
 * the error of the lowest rank that has one. */
static PyObject *agree(PyObject *module, PyObject *args)
{
  (void)module;
  PyObject *bytes;
  const char *text;
  struct {
    int code;
    char text[508];
  } wrong = {0};
  if (!PyArg_ParseTuple(args, "Ois", &bytes, &wrong.code, &text)) return NULL;
  (void)strncpy(wrong.text, text, sizeof wrong.text - 1);
  MPI_Comm comm = MPI_COMM_WORLD;
  if (bytes != Py_None) {
    const void *given = osla_py_struct(bytes, sizeof comm);
    if (!given) return NULL;
    memcpy(&comm, given, sizeof comm);
  }
  int rank = 0, least = INT_MAX, code;
  Py_BEGIN_ALLOW_THREADS code = MPI_Comm_rank(comm, &rank);
  int mine = wrong.code == 0 ? INT_MAX : rank;
  if (code == MPI_SUCCESS) code = MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, comm);
  if (code == MPI_SUCCESS && least != INT_MAX)
    code = MPI_Bcast(&wrong, (int)sizeof wrong, MPI_BYTE, least, comm);
  Py_END_ALLOW_THREADS if (code != MPI_SUCCESS)
  {
    (void)osla_error_set_mpi(code, "MPI_Allreduce");
    return osla_py_raise(OSLA_ERR_MPI);
  }
  if (least == INT_MAX) Py_RETURN_NONE;
  return osla_py_refuse((osla_err)wrong.code, "%s", wrong.text);
}

static PyObject *mpi_version(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  return PyUnicode_FromString(version(MPI_Get_library_version, text));
}

PyMethodDef osla_py_mpi_methods[] = {
  {"mpi_state", mpi_state, METH_NOARGS, NULL},  {"mpi_watch", mpi_watch, METH_NOARGS, NULL},
  {"mpi_start", mpi_start, METH_NOARGS, NULL},  {"mpi_size", mpi_size, METH_NOARGS, NULL},
  {"mpi_abort", mpi_abort, METH_VARARGS, NULL}, {"mpi_version", mpi_version, METH_NOARGS, NULL},
  {"same_mpi", same_mpi, METH_VARARGS, NULL},   {"comm_at", comm_at, METH_VARARGS, NULL},
  {"agree", agree, METH_VARARGS, NULL},         {NULL, NULL, 0, NULL}};
