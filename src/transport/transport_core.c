/* Queries of a transport's state, progress, and calls through the backend's table. All other
 * sources of the transport build on this file. */
#include "src/transport/transport_ops.h"

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
bool osli_transport_memory_by_mpi(const osla_transport *t)
{
  return t->memory_by_mpi;
}
bool osla_transport_oversubscribed(const osla_transport *t)
{
  return t->oversubscribed;
}
bool osli_transport_verifies(const osla_transport *t)
{
  return t->settings.verify;
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

void osla_progress(osla_transport *t)
{
  t->ops->progress(t);
  if (pthread_mutex_trylock(&t->hook_mutex) != 0)
    return; /* a nested call, or another thread runs the hooks */
  for (int i = 0; i < t->n_hooks; i++)
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
