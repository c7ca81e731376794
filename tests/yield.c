/* Preloaded by tests/run under MPICH, whose calls poll the network without a pause: where ranks
 * outnumber cores, those that wait in MPI keep the others from what they wait for. One that has
 * polled for a while in vain gives way. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

/* UCX's: what it has done. */
unsigned ucp_worker_progress(void *worker)
{
  enum { POLLS = 128 };
  static _Thread_local unsigned idle;
  static unsigned (*progress)(void *);
  if (!progress) { /* not RTLD_NEXT: Python loads MPI for its own module alone */
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
