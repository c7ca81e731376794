/* Ends a job after an unrecoverable error: writes one line, runs the program's end hook, and calls
 * MPI_Abort. */
#include "osla_log.h"
#include "src/base/futex.h"
#include "src/transport/transport_ops.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

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
  t->end_hook = NULL; /* it runs once, even if it fails or two threads end the job */
  if (hook) atomic_store(&t->end_hook_is_running, true);
  (void)pthread_mutex_unlock(&t->end_mutex);
  for (int i = 0; !hook && i < 1000 * OSLA_END_SECONDS && atomic_load(&t->end_hook_is_running); i++)
    osli_nap(1000); /* leaves time for the hook in the other thread */
  if (!hook) return;
  start_alarm();
  hook(arg);
  (void)alarm(OSLA_END_SECONDS); /* limits the remaining steps, too */
  atomic_store(&t->end_hook_is_running, false);
}

void osla_transport_abort(osla_transport *t, osla_err err)
{
  osla_log(t->rank, "%s: %s; ending all ranks", osla_err_name(err), osla_error_text());
  osli_end_hook_run(t);
  osli_nap(OSLA_LAST_LINE_US);
  if (t->ops->end_all) t->ops->end_all();
  (void)MPI_Abort(MPI_COMM_WORLD,
                  1); /* on a duplicate of it MPI_Abort of MPICH 4.0.2 waits for the other ranks */
  abort();
}
