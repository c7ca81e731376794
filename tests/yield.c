/* A library that tests/run preloads for MPICH, whose calls poll the network without a pause. If
 * ranks outnumber cores, a rank that waits in MPI would keep other ranks from running. With this
 * library, a rank that has polled in vain for a while yields its core. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

/* Replaces UCX's progress function and calls it. It returns how much progress was made, 0 if none.
 */
unsigned ucp_worker_progress(void *worker)
{
  enum { POLLS = 128 };
  static _Thread_local unsigned idle;
  static unsigned (*progress)(void *);
  if (!progress) { /* found by dlopen and not by RTLD_NEXT, because Python loads MPI with RTLD_LOCAL
                    */
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
