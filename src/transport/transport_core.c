/* Queries of a transport's state, progress, calls through the backend's table, and the end of a
 * job. All other sources of the transport build on this file. */
#include "osla_log.h"
#include "src/base/futex.h"
#include "src/transport/transport_ops.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

osla_err osli_agree_allocated(MPI_Comm comm, bool is_allocated, const char *what)
{
  int size = 0, all = is_allocated;
  OSLA_MPI(MPI_Comm_size(comm, &size));
  OSLA_MPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm));
  OSLA_CHECK(all, OSLA_ERR_MEM, "%s of %d ranks", what, size);
  return OSLA_OK;
}

int osla_transport_rank(const osla_transport *t)
{
  return t->rank;
}
int osla_transport_size(const osla_transport *t)
{
  return t->size;
}
int osla_transport_n_nodes(const osla_transport *t)
{
  return t->n_nodes;
}
int osla_transport_node(const osla_transport *t)
{
  return t->node;
}
int osla_transport_node_size(const osla_transport *t)
{
  return t->node_size;
}
bool osla_transport_oversubscribed(const osla_transport *t)
{
  return t->oversubscribed;
}
int osla_transport_largest_node(const osla_transport *t)
{
  return t->largest_node;
}
uint64_t osla_transport_memory_share(const osla_transport *t)
{
  return t->memory_share;
}
MPI_Comm osla_transport_comm(const osla_transport *t)
{
  return t->comm;
}
const char *osla_transport_name(const osla_transport *t)
{
  return t->ops->name;
}

_Thread_local bool osli_hooks_paused;

void osla_progress(osla_transport *t)
{
  t->ops->progress(t);
  if (pthread_mutex_trylock(&t->hook_mutex) != 0)
    return; /* this call is nested in a hook, or another thread is running the hooks */
  for (int i = 0; i < t->n_hooks && !osli_hooks_paused; i++)
    t->hooks[i].run(t->hooks[i].arg);
  (void)pthread_mutex_unlock(&t->hook_mutex);
}

osla_err osla_progress_add(osla_transport *t, osla_progress_hook *hook, void *arg)
{
  osla_err err = OSLA_OK;
  (void)pthread_mutex_lock(&t->hook_mutex);
  if (t->n_hooks == OSLA_MAX_HOOKS) {
    err = osla_error_set(OSLA_ERR_RANGE, "more than %d progress hooks", OSLA_MAX_HOOKS);
  } else {
    t->hooks[t->n_hooks].run = hook;
    t->hooks[t->n_hooks++].arg = arg;
  }
  (void)pthread_mutex_unlock(&t->hook_mutex);
  return err;
}

void osla_progress_remove(osla_transport *t, osla_progress_hook *hook, void *arg)
{
  (void)pthread_mutex_lock(&t->hook_mutex);
  for (int i = 0; i < t->n_hooks; i++)
    if (t->hooks[i].run == hook && t->hooks[i].arg == arg) {
      t->hooks[i] = t->hooks[--t->n_hooks];
      break;
    }
  (void)pthread_mutex_unlock(&t->hook_mutex);
}

void osli_wait_until(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell)
{
  t->ops->wait_until(t, test, arg, bell);
}

void osli_bell_ring(osla_transport *t, osla_bell *bell)
{
  t->ops->ring(t, bell);
}

void osla_at_step(osla_transport *t, const char *kernel, int64_t step)
{
  atomic_store_explicit(&t->kernel, kernel, memory_order_relaxed);
  atomic_store_explicit(&t->step, step, memory_order_relaxed);
}

struct osla_owned_object {
  struct osla_owned_object *next;
  const void *key;
  void *object;
  void (*destroy)(void *object);
};

void *osli_transport_object_find(const osla_transport *t, const void *key)
{
  for (const struct osla_owned_object *k = t->owned_objects; k; k = k->next)
    if (k->key == key) return k->object;
  return NULL;
}

osla_err osli_transport_object_add(osla_transport *t, const void *key, void *object,
                                   void (*destroy)(void *object))
{
  struct osla_owned_object *k = malloc(sizeof *k);
  OSLA_CHECK(k, OSLA_ERR_MEM, "entry for an object of a transport");
  *k = (struct osla_owned_object){t->owned_objects, key, object, destroy};
  t->owned_objects = k;
  return OSLA_OK;
}

void osli_transport_object_remove(osla_transport *t, const void *key)
{
  struct osla_owned_object **at = &t->owned_objects;
  while (*at && (*at)->key != key)
    at = &(*at)->next;
  struct osla_owned_object *found = *at;
  if (!found) return;
  *at = found->next;
  free(found);
}

void osli_transport_objects_destroy(osla_transport *t)
{
  while (t->owned_objects) {
    struct osla_owned_object *first = t->owned_objects;
    t->owned_objects = first->next;
    first->destroy(first->object);
    free(first);
  }
}

const char *osla_simulated_machine(void)
{
  return osli_transport_built_in->machine ? osli_transport_built_in->machine() : NULL;
}

/* ---- the end of a job after an unrecoverable error ---- */

void osla_transport_at_end(osla_transport *t, osla_end_hook *hook, void *arg)
{
  (void)pthread_mutex_lock(&t->end_mutex);
  t->end_hook = hook;
  t->end_arg = arg;
  (void)pthread_mutex_unlock(&t->end_mutex);
}

/* Starts an alarm that ends the process, even if the program ignores or blocks SIGALRM. */
static void start_alarm(void)
{
  sigset_t set;
  (void)sigemptyset(&set);
  (void)sigaddset(&set, SIGALRM);
  (void)signal(SIGALRM, SIG_DFL);
  (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  (void)alarm(OSLA_END_SECONDS);
}

void osli_end_hook_run(osla_transport *t)
{
  (void)pthread_mutex_lock(&t->end_mutex);
  osla_end_hook *hook = t->end_hook;
  void *arg = t->end_arg;
  t->end_hook = NULL; /* the hook runs once, even if it fails or two threads end the job */
  if (hook) atomic_store(&t->end_hook_is_running, true);
  (void)pthread_mutex_unlock(&t->end_mutex);
  for (int i = 0; !hook && i < 1000 * OSLA_END_SECONDS && atomic_load(&t->end_hook_is_running); i++)
    osli_nap(1000); /* gives another thread, which runs the hook, time to finish it */
  if (!hook) return;
  start_alarm();
  hook(arg);
  (void)alarm(OSLA_END_SECONDS); /* the alarm also limits the time of the remaining steps */
  atomic_store(&t->end_hook_is_running, false);
}

void osla_transport_abort(osla_transport *t, osla_err err)
{
  osla_log(t->rank, "%s: %s; ending all ranks", osla_err_name(err), osla_error_text());
  osli_end_hook_run(t);
  osli_nap(OSLA_LAST_LINE_US);
  if (t->ops->end_all) t->ops->end_all();
  /* on a duplicate of MPI_COMM_WORLD, MPI_Abort of MPICH 4.0.2 waits for the other ranks */
  (void)MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}
