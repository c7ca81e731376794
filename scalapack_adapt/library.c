/* Finds the caller's ScaLAPACK and MPI, and loads OSLA's kernels.
 *
 * A preloaded library receives calls from everywhere: from the program, which finds ScaLAPACK in
 * the global scope, and from plug-ins, whose ScaLAPACK and MPI only they can access (dlopen with
 * RTLD_LOCAL, as Python loads extension modules). Therefore a name is looked up as the caller would
 * find it without the drop-in: in the global scope behind this library, then in the caller's object
 * and its dependencies. If the call is the caller's last statement (a tail call), there is no
 * return address in the caller. Therefore all loaded objects are searched last.
 */
#define _GNU_SOURCE
#include "scalapack_adapt/caller.h"

#include <dlfcn.h>
#include <link.h>
#include <mpi.h> /* included only for the macro OPEN_MPI */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS "libosla_scalapack_kernels.so"

/* Cached result of the lookup for calls of one routine from one address; valid until an object is
 * unloaded. */
typedef struct lookup {
  const char *symbol;
  const void *from;
  unsigned long long unloads;
  adapt_caller caller;
  adapt_function *offloader; /* function of the kernels; NULL if the real routine serves the call */
  adapt_caller_note *note;
} lookup;

/* Global state, because the interface of ScaLAPACK has no handle. */
enum { LOOKUPS = 128 };
static struct {
  pthread_mutex_t mutex;
  bool decided;
  _Atomic(void *) kernels; /* handle of libosla_scalapack_kernels.so; NULL if it is not used */
  lookup lookups[LOOKUPS];
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ISO C has no cast from an object pointer to a function pointer. */
static adapt_function *function_of(void *at)
{
  adapt_function *function;
  memcpy(&function, &at, sizeof at);
  return function;
}

/* --- lookup of names --- */

static const void *object_of(const void *at)
{
  Dl_info info;
  return at && dladdr(at, &info) ? info.dli_fbase : NULL;
}

static void *unless_ours(void *at)
{
  void *kernels = atomic_load(&state.kernels);
  void *note = kernels ? dlsym(kernels, "osla_adapt_caller_set") : NULL;
  const void *object = object_of(at);
  return object && object != object_of(&state) && object != object_of(note) ? at : NULL;
}

/* Address of a symbol in a loaded object and its dependencies; the name "" means the program. NULL
 * if there is none. */
static void *find_symbol_in(const char *name, const char *symbol)
{
  void *handle = dlopen(*name ? name : NULL, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return NULL;
  void *at = unless_ours(dlsym(handle, symbol));
  (void)dlclose(handle); /* the object stays loaded, because the program still has it open */
  return at;
}

typedef struct choice {
  int number;
  char name[4096];
} choice;

static int choose(struct dl_phdr_info *object, size_t size, void *arg)
{
  choice *c = arg;
  (void)size;
  if (c->number-- > 0) return 0;
  (void)snprintf(c->name, sizeof c->name, "%s", object->dlpi_name);
  return 1;
}

/* Address of a symbol in any loaded object, in load order. (dlopen must not be called inside
 * dl_iterate_phdr.) */
static void *find_symbol_anywhere(const char *symbol)
{
  choice c;
  void *at = NULL;
  for (int i = 0; !at; i++) {
    c.number = i;
    if (!dl_iterate_phdr(choose, &c)) break;
    at = find_symbol_in(c.name, symbol);
  }
  return at;
}

static void *find_for(const void *from, const char *symbol)
{
  Dl_info info;
  void *map = NULL, *at = NULL;
  if (dladdr1(from, &info, &map, RTLD_DL_LINKMAP))
    at = find_symbol_in(((const struct link_map *)map)->l_name, symbol);
  return at ? at : find_symbol_anywhere(symbol);
}

static void *find_symbol(const void *from, const char *symbol)
{
  void *at = dlsym(RTLD_DEFAULT, symbol);
  return at ? at : find_for(from, symbol);
}

/* --- loading of the kernels --- */

/* True if the caller's MPI is of the family (Open MPI or MPICH) for which this library was built.
 * Constants of MPI differ between families. */
static bool is_our_family(const void *from)
{
  bool open_mpi = find_symbol(from, "ompi_mpi_comm_world") != NULL;
#ifdef OPEN_MPI
  return open_mpi;
#else
  return !open_mpi;
#endif
}

static void *load_kernels(const void *from)
{
  const char *verbose = getenv("OSLA_SCALAPACK_VERBOSE");
  if (!find_symbol(from, "MPI_Initialized")) return NULL;
  if (!is_our_family(from)) {
    if (verbose && *verbose && strcmp(verbose, "0") != 0)
      (void)fprintf(stderr, "osla: this process has another MPI: all calls are passed on\n");
    return NULL;
  }
  void *kernels = dlopen(KERNELS, RTLD_NOW | RTLD_LOCAL);
  if (!kernels) (void)fprintf(stderr, "osla: all calls are passed on: %s\n", dlerror());
  return kernels;
}

/* Handle of libosla_scalapack_kernels.so if it would use the same MPI as the caller; else NULL. */
static void *kernels_for(const void *from)
{
  (void)pthread_mutex_lock(&state.mutex);
  if (!state.decided) atomic_store(&state.kernels, load_kernels(from));
  state.decided = true;
  (void)pthread_mutex_unlock(&state.mutex);
  void *kernels = atomic_load(&state.kernels);
  if (!kernels || dlsym(RTLD_DEFAULT, "MPI_Initialized")) return kernels;
  return find_for(from, "MPI_Initialized") == dlsym(kernels, "MPI_Initialized") ? kernels : NULL;
}

/* --- cache of lookups --- */

static int count_unloads(struct dl_phdr_info *object, size_t size, void *arg)
{
  (void)size;
  *(unsigned long long *)arg = object->dlpi_subs;
  return 1; /* every object reports this number of unloads, so the first object suffices */
}

static lookup find_target(const char *symbol, const void *from)
{
  lookup a = {.symbol = symbol, .from = from};
  (void)dl_iterate_phdr(count_unloads, &a.unloads);
  a.caller.real = function_of(dlsym(RTLD_NEXT, symbol));
  if (!a.caller.real) a.caller.real = function_of(find_for(from, symbol));
  if (!a.caller.real) {
    (void)fprintf(
      stderr, "osla: %s is called, but no ScaLAPACK library with it is loaded; ending\n", symbol);
    abort();
  }
  a.caller.gridinfo = function_of(find_symbol(from, "blacs_gridinfo_"));
  a.caller.get = function_of(find_symbol(from, "blacs_get_"));
  void *kernels = kernels_for(from);
  if (!kernels) return a;
  a.offloader = function_of(dlsym(kernels, symbol));
  a.note = (adapt_caller_note *)function_of(dlsym(kernels, "osla_adapt_caller_set"));
  return a;
}

adapt_function *adapt_target(const char *symbol, const void *from)
{
  lookup *known = &state.lookups[((uintptr_t)from >> 2) % LOOKUPS], a;
  unsigned long long unloads = 0;
  (void)dl_iterate_phdr(count_unloads, &unloads);
  (void)pthread_mutex_lock(&state.mutex);
  a = *known;
  (void)pthread_mutex_unlock(&state.mutex);
  if (a.symbol != symbol || a.from != from || a.unloads != unloads) {
    a = find_target(symbol, from);
    (void)pthread_mutex_lock(&state.mutex);
    *known = a;
    (void)pthread_mutex_unlock(&state.mutex);
  }
  if (!a.offloader) return a.caller.real;
  a.note(&a.caller);
  return a.offloader;
}
