/* Preloaded by tests/run under MPICH, whose calls poll the network without a pause. If ranks
 * outnumber cores, ranks that wait in MPI keep others from running. A rank that has polled in vain
 * for a while yields its core. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

/* Interposes UCX's progress function, which returns whether it made progress. */
unsigned ucp_worker_progress(void *worker)
{
  enum { POLLS = 128 };
  static _Thread_local unsigned idle;
  static unsigned (*progress)(void *);
  if (!progress) { /* not RTLD_NEXT, because Python loads MPI with RTLD_LOCAL */
    void *ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    progress = (unsigned (*)(void *))dlsym(ucp, "ucp_worker_progress");
  }
  unsigned done = progress(worker);
  idle = done > 0 ? 0 : idle + 1;
  if (idle == POLLS) {
    idle = 0;
    (void)sched_yield();
  }
  return done;
}
