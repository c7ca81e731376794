/* See alive.h. */
#include "src/transport/alive.h"
#include "osla_log.h"
#include "src/base/futex.h"
#include "src/transport/transport_ops.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { OTHERS_WAIT_US = 2000000, MOST_TEXT = 400 };

/* All that this process has made. */
static struct {
  pthread_mutex_t mutex;
  osla_alive *first;
  int n_windows;
  bool is_lowest;  /* of one window's ranks at least */
  bool is_watched; /* the attribute is set */
  bool ends_badly; /* MPI_Finalize aborts where a window is open */
  int rank;        /* in MPI_COMM_WORLD */
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local osla_maker current; /* what this thread makes */

osla_maker osli_alive_makes(const char *maker, const char *destroyer)
{
  const osla_maker before = current;
  if (!before.is_set || !maker) current = (osla_maker){maker, destroyer, true};
  return before;
}

void osli_alive_restore(osla_maker *before)
{
  current = *before;
}

void osli_alive_add(osla_alive *a)
{
  (void)pthread_mutex_lock(&all.mutex);
  a->by = current;
  a->next = all.first;
  a->link = &all.first;
  if (a->next) a->next->link = &a->next;
  all.first = a;
  (void)pthread_mutex_unlock(&all.mutex);
}

void osli_alive_remove(osla_alive *a)
{
  (void)pthread_mutex_lock(&all.mutex);
  if (a->link) *a->link = a->next;
  if (a->link && a->next) a->next->link = a->link;
  a->link = NULL;
  (void)pthread_mutex_unlock(&all.mutex);
}

static bool is_made_by(const osla_alive *a, const char *maker)
{
  return a->by.maker && strcmp(a->by.maker, maker) == 0;
}

static bool is_first_of_its_maker(const osla_alive *a)
{
  for (const osla_alive *b = all.first; b != a; b = b->next)
    if (is_made_by(b, a->by.maker)) return false;
  return true;
}

/* "osla_matrix_destroy (of osla_matrix_wrap), osla_transport_destroy (of ...)" */
static void list_objects(char text[MOST_TEXT])
{
  size_t used = 0;
  text[0] = '\0';
  for (const osla_alive *a = all.first; a && used < MOST_TEXT; a = a->next)
    if (a->by.maker && is_first_of_its_maker(a))
      used += (size_t)snprintf(text + used, MOST_TEXT - used, "%s%s (of %s)", used ? ", " : "",
                               a->by.destroyer, a->by.maker);
}

static void run_end_hooks(void)
{
  for (const osla_alive *a = all.first; a; a = a->next)
    if (a->t) osli_run_end_hook(a->t);
}

/* MPI_Finalize calls it, and another MPI than MPICH may have ended by then: MPI is called only to
 * end the job. */
static int look_at_end(MPI_Comm world, int keyval, void *value, void *extra)
{
  char text[MOST_TEXT];
  (void)world, (void)keyval, (void)value, (void)extra;
  if (all.n_windows == 0 || (!all.is_lowest && !all.ends_badly)) return MPI_SUCCESS;
  if (!all.is_lowest) osli_nap(OTHERS_WAIT_US); /* for that rank to end the job */
  list_objects(text);
  if (text[0] == '\0')
    return MPI_SUCCESS; /* a window of no object, as of one that could not be made */
  osla_log(all.rank, "MPI_Finalize was called before %s%s", text,
           all.ends_badly ? "; ending all ranks" : "");
  if (!all.ends_badly) return MPI_SUCCESS;
  run_end_hooks();
  (void)fflush(NULL);
  osli_nap(OSLA_LAST_WORDS_US);
  (void)MPI_Abort(MPI_COMM_WORLD, 1);
  return MPI_SUCCESS;
}

static void watch_finalize(void)
{
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0, keyval = MPI_KEYVAL_INVALID;
  all.is_watched = true;
  (void)MPI_Get_library_version(version, &length);
  all.ends_badly = strstr(version, "ch4:ucx") != NULL;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &all.rank);
  if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, look_at_end, &keyval, NULL) == MPI_SUCCESS)
    (void)MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL);
}

void osli_alive_window_opened(bool is_lowest)
{
  (void)pthread_mutex_lock(&all.mutex);
  all.n_windows++;
  all.is_lowest |= is_lowest;
  if (!all.is_watched) watch_finalize();
  (void)pthread_mutex_unlock(&all.mutex);
}

void osli_alive_window_closed(void)
{
  (void)pthread_mutex_lock(&all.mutex);
  all.n_windows--;
  (void)pthread_mutex_unlock(&all.mutex);
}
