/* The end of a job that cannot go on: the program's last act, a line, and MPI_Abort. */
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

/* It ends the process, whatever the program has made of this signal. */
static void arm_alarm(void)
{
  sigset_t set;
  (void)sigemptyset(&set);
  (void)sigaddset(&set, SIGALRM);
  (void)signal(SIGALRM, SIG_DFL);
  (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  (void)alarm(OSLA_END_SECONDS);
}

void osli_run_end_hook(osla_transport *t)
{
  (void)pthread_mutex_lock(&t->end_mutex);
  osla_end_hook *hook = t->end_hook;
  void *arg = t->end_arg;
  t->end_hook = NULL; /* once, also if it fails, or another thread ends the job, too */
  if (hook) atomic_store(&t->end_running, true);
  (void)pthread_mutex_unlock(&t->end_mutex);
  for (int i = 0; !hook && i < 1000 * OSLA_END_SECONDS && atomic_load(&t->end_running); i++)
    osli_nap(1000); /* the other thread's hook has its time */
  if (!hook) return;
  arm_alarm();
  hook(arg);
  (void)alarm(OSLA_END_SECONDS); /* for what follows */
  atomic_store(&t->end_running, false);
}

void osla_transport_abort(osla_transport *t, osla_err err)
{
  osla_log(t->rank, "%s: %s; ending all ranks", osla_err_name(err), osla_error_text());
  osli_run_end_hook(t);
  osli_nap(OSLA_LAST_WORDS_US);
  if (t->ops->end_all) t->ops->end_all();
  (void)MPI_Abort(MPI_COMM_WORLD, 1); /* MPICH 4.0.2 waits in that of a duplicate for the others */
  abort();
}
