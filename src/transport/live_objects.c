#include "src/transport/live_objects.h"
#include "osla_log.h"
#include "src/base/futex.h"
#include "src/transport/transport_ops.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { OTHER_RANKS_WAIT_US = 2000000, MAX_TEXT = 400 };

/* The remaining objects and open windows of this process. */
static struct {
  pthread_mutex_t mutex;
  osla_live_object *first;
  int n_windows;
  bool is_lowest;    /* this process is rank 0 of at least one window */
  bool has_callback; /* true once the attribute with the delete callback is set on MPI_COMM_WORLD */
  bool must_abort;   /* true if this MPI aborts in MPI_Finalize when a window is open */
  int rank;          /* rank in MPI_COMM_WORLD */
} registry = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local osla_maker current; /* the names that OSLA_MAKES has set in this thread */

osla_maker osli_maker_begin(const char *maker, const char *destroyer)
{
  const osla_maker before = current;
  if (!before.is_set || !maker) current = (osla_maker){maker, destroyer, true};
  return before;
}

void osli_maker_end(osla_maker *before)
{
  current = *before;
}

void osli_live_object_add(osla_live_object *a)
{
  (void)pthread_mutex_lock(&registry.mutex);
  a->by = current;
  a->next = registry.first;
  a->link = &registry.first;
  if (a->next) a->next->link = &a->next;
  registry.first = a;
  (void)pthread_mutex_unlock(&registry.mutex);
}

void osli_live_object_remove(osla_live_object *a)
{
  (void)pthread_mutex_lock(&registry.mutex);
  if (a->link) *a->link = a->next;
  if (a->link && a->next) a->next->link = a->link;
  a->link = NULL;
  (void)pthread_mutex_unlock(&registry.mutex);
}

static bool is_first_of_its_maker(const osla_live_object *a)
{
  for (const osla_live_object *b = registry.first; b != a; b = b->next)
    if (b->by.maker && strcmp(b->by.maker, a->by.maker) == 0) return false;
  return true;
}

/* Writes, for example, "osla_matrix_destroy (of osla_matrix_wrap), osla_transport_destroy (of
 * ...)". */
static void list_objects(char text[MAX_TEXT])
{
  size_t used = 0;
  text[0] = '\0';
  for (const osla_live_object *a = registry.first; a && used < MAX_TEXT; a = a->next)
    if (a->by.maker && is_first_of_its_maker(a))
      used += (size_t)snprintf(text + used, MAX_TEXT - used, "%s%s (of %s)", used ? ", " : "",
                               a->by.destroyer, a->by.maker);
}

static void run_end_hooks(void)
{
  for (const osla_live_object *a = registry.first; a; a = a->next)
    if (a->t) osli_end_hook_run(a->t);
}

/* The delete callback, run inside MPI_Finalize. It calls MPI only to end the job, because MPIs
 * other than MPICH may already have shut down. */
static int report_at_finalize(MPI_Comm world, int keyval, void *value, void *extra)
{
  char text[MAX_TEXT];
  (void)world, (void)keyval, (void)value, (void)extra;
  if (registry.n_windows == 0 || (!registry.is_lowest && !registry.must_abort)) return MPI_SUCCESS;
  if (!registry.is_lowest) /* gives rank 0 of the window time to report the error and end the job */
    osli_nap(OTHER_RANKS_WAIT_US);
  list_objects(text);
  if (text[0] == '\0')
    return MPI_SUCCESS; /* the open window belongs to no object, for instance after a failed
                           creation */
  osla_log(registry.rank, "MPI_Finalize was called before %s%s", text,
           registry.must_abort ? "; ending all ranks" : "");
  if (!registry.must_abort) return MPI_SUCCESS;
  run_end_hooks();
  (void)fflush(NULL);
  osli_nap(OSLA_LAST_LINE_US);
  (void)MPI_Abort(MPI_COMM_WORLD, 1);
  return MPI_SUCCESS;
}

static void set_finalize_callback(void)
{
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0, keyval = MPI_KEYVAL_INVALID;
  registry.has_callback = true;
  (void)MPI_Get_library_version(version, &length);
  registry.must_abort = strstr(version, "ch4:ucx") != NULL;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &registry.rank);
  if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, report_at_finalize, &keyval, NULL) ==
      MPI_SUCCESS)
    (void)MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL);
}

void osli_window_opened(bool is_lowest)
{
  (void)pthread_mutex_lock(&registry.mutex);
  registry.n_windows++;
  registry.is_lowest |= is_lowest;
  if (!registry.has_callback) set_finalize_callback();
  (void)pthread_mutex_unlock(&registry.mutex);
}

void osli_window_closed(void)
{
  (void)pthread_mutex_lock(&registry.mutex);
  registry.n_windows--;
  (void)pthread_mutex_unlock(&registry.mutex);
}
