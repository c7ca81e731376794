/* Runs readers in children, and programs, with a time limit. */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A function of the leak sanitizer; NULL if the program is built without the sanitizer. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

fuzz_result *fuzz_make_results(void)
{
  fuzz_result *result = mmap(NULL, FUZZ_BATCH * sizeof *result, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  fuzz_require(result != MAP_FAILED, "shared memory");
  return result;
}

static double seconds(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void redirect(const char *path, int fd)
{
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  fuzz_require(file >= 0, path);
  (void)dup2(file, fd);
  (void)close(file);
}

/* Reads the inputs first .. last - 1. Checks for leaks once at the end, since a check is slow; a
 * leak is then attributed to all of these inputs. */
static void child(const fuzz_batch *b, int first, int last)
{
  char errors[4200];
  if (b->before) b->before();
  for (int i = first; i < last; i++) {
    fuzz_result *r = &b->result[i];
    (void)snprintf(errors, sizeof errors, "%s-%d", b->errors, i);
    redirect(errors, 2);
    __atomic_store_n(&r->state, FUZZ_RUNNING, __ATOMIC_SEQ_CST);
    fuzz_result read = {.state = FUZZ_RUNNING};
    b->call(b->context, i, &read);
    *r = read;
  }
  if (b->after) b->after();
  if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check())
    for (int i = first; i < last; i++)
      b->result[i].leaks = true;
  (void)fflush(stdout);
  _exit(0);
}

/* Index of the first input that is not finished; a child may be working on it. */
static int front(const fuzz_batch *b, int from)
{
  while (from < b->count &&
         __atomic_load_n(&b->result[from].state, __ATOMIC_SEQ_CST) > FUZZ_RUNNING)
    from++;
  return from;
}

/* Waits for the child that began with `first`. Returns the index of the first input that is not
 * finished. */
static int wait_for(const fuzz_batch *b, pid_t pid, int first, int *status)
{
  double began = seconds();
  int at = first;
  for (;;) {
    pid_t ended = waitpid(pid, status, WNOHANG);
    int now = front(b, at);
    if (ended == pid) return now;
    if (now > at) began = seconds();
    at = now;
    if (seconds() - began > FUZZ_SECONDS) {
      (void)kill(pid, SIGKILL);
      (void)waitpid(pid, status, 0);
      *status = -1;
      return front(b, at);
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
  }
}

void fuzz_run_batch(const fuzz_batch *b)
{
  memset(b->result + b->first, 0, (size_t)(b->count - b->first) * sizeof *b->result);
  for (int first = b->first; first < b->count;) {
    int status = 0;
    (void)fflush(NULL);
    pid_t pid = fork();
    fuzz_require(pid >= 0, "fork");
    if (pid == 0) child(b, first, b->count);
    int at = wait_for(b, pid, first, &status);
    /* the child died while it read input `at`, or after the last input */
    if (at < b->count || status != 0) {
      fuzz_result *dead = &b->result[at < b->count ? at : b->count - 1];
      dead->state = FUZZ_RUNNING;
      dead->status = status;
    }
    first = at + 1;
  }
}

int fuzz_run_program(const char *const *argv, const char *out, const char *err)
{
  int status;
  double began = seconds();
  (void)fflush(NULL);
  pid_t pid = fork();
  fuzz_require(pid >= 0, "fork");
  if (pid == 0) {
    (void)setpgid(0, 0);
    redirect(out, 1);
    redirect(err, 2);
    (void)close(0);
    (void)open("/dev/null", O_RDONLY);
    (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
  }
  while (waitpid(pid, &status, WNOHANG) != pid) {
    if (seconds() - began > FUZZ_SECONDS) { /* after SIGTERM mpiexec ends its ranks */
      (void)kill(pid, SIGTERM);
      (void)sleep(2);
      (void)kill(-pid, SIGKILL);
      (void)waitpid(pid, &status, 0);
      return -1;
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
