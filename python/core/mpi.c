/* MPI: started if nobody has, ended by who started it; communicators of mpi4py. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "python/core/core.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const char in_child[] =
  "this process is a forked child of a rank, and MPI serves the parent alone: make the call there";
static const char after_end[] = "MPI has ended (MPI_Finalize), and no call can be made after it";
static _Atomic(const char *) over;

const char *osla_py_over(void)
{
  return atomic_load_explicit(&over, memory_order_relaxed);
}

static bool mpi_runs(void)
{
  int started = 0, ended = 0;
  return MPI_Initialized(&started) == MPI_SUCCESS && MPI_Finalized(&ended) == MPI_SUCCESS &&
         started && !ended;
}

static void note_fork(void)
{
  if (mpi_runs()) atomic_store(&over, in_child);
}

bool osla_py_watch_forks(void)
{
  static bool watched;
  if (!watched && pthread_atfork(NULL, NULL, note_fork) != 0) {
    PyErr_NoMemory();
    return false;
  }
  watched = true;
  return true;
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF before it does anything else (MPI-3.1,
 * section 8.7.1). */
static int note_end(MPI_Comm self, int keyval, void *value, void *extra)
{
  (void)self, (void)keyval, (void)value, (void)extra;
  atomic_store(&over, after_end);
  return MPI_SUCCESS;
}

/* mpi_watch(): arranges that MPI_Finalize, called by anybody, makes later calls of this package a
 * StateError. */
static PyObject *mpi_watch(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  static int keyval = MPI_KEYVAL_INVALID;
  if (!osla_py_errors_ready()) return NULL;
  if (osla_py_over()) return osla_py_refuse(OSLA_ERR_STATE, "%s", osla_py_over());
  if (keyval != MPI_KEYVAL_INVALID) Py_RETURN_NONE;
  int code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_end, &keyval, NULL);
  if (code == MPI_SUCCESS) code = MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  return osla_py_result(code == MPI_SUCCESS ? OSLA_OK
                                            : osla_error_set_mpi(code, "MPI_Comm_set_attr"));
}

/* mpi_state(): 0 not started, 1 running, 2 ended, or of no use to this process. */
static PyObject *mpi_state(PyObject *module, PyObject *unused)
{
  (void)module, (void)unused;
  int started = 0, ended = 0;
  if (osla_py_over()) return PyLong_FromLong(2);
  if (MPI_Initialized(&started) != MPI_SUCCESS || MPI_Finalized(&ended) != MPI_SUCCESS)
    return osla_py_refuse(OSLA_ERR_MPI, "MPI does not say whether it runs");
  if (ended) atomic_store(&over, after_end);
  return PyLong_FromLong(ended ? 2 : started);
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

/* abort(transport or None, text): ends all ranks. */
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

/* Open MPI and MPICH have other handles under the same names. Debian's mpi4py 3.1.4 loads its MPI
 * for all of the process (RTLD_GLOBAL), so that modules which come later reach that one. */
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

/* same_mpi(path): None, if the extension module in that file, which is loaded, calls the MPI
 * library that this one calls; else a line that says which two there are. */
static PyObject *same_mpi(PyObject *module, PyObject *args)
{
  (void)module;
  const char *path;
  if (!PyArg_ParseTuple(args, "s", &path)) return NULL;
  void *other = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!other) return PyUnicode_FromFormat("%s is not loaded", path);
  int (*theirs)(char *, int *) = NULL, (*ours)(char *, int *) = MPI_Get_library_version;
  void *symbol = dlsym(other, "MPI_Get_library_version"); /* of what it was linked with */
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

/* comm_at(address): the communicator that is stored there, as bytes. */
static PyObject *comm_at(PyObject *module, PyObject *args)
{
  (void)module;
  unsigned long long address;
  if (!PyArg_ParseTuple(args, "K", &address)) return NULL;
  return PyBytes_FromStringAndSize((const char *)(uintptr_t)address, (Py_ssize_t)sizeof(MPI_Comm));
}

/* agree(comm or None, code, text): before there is a transport. Raises on all ranks what is wrong
 * on the lowest rank that has something. */
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
