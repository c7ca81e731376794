/* Ends the process if a self-test hangs. See info.h. */
#include "tools/info/info.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct info_watchdog {
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  const char *test;
  struct timespec deadline;
  double limit;
  int rank;
  bool stop;
};

static void set_deadline(info_watchdog *dog)
{
  (void)clock_gettime(CLOCK_REALTIME, &dog->deadline);
  dog->deadline.tv_sec += (time_t)dog->limit;
}

/* Called if the test hangs: rank 0 prints a line, and the process exits; then the launcher ends the
 * other ranks. */
_Noreturn static void end_process(const info_watchdog *dog)
{
  (void)command_error("info", "FAILED: the test '%s' did not end within %g s", dog->test,
                      dog->limit);
  if (dog->rank != 0) (void)sleep(1); /* the pause lets rank 0 print its line first */
  _exit(OSLA_EXIT_FAILED);
}

static void *watch(void *arg)
{
  info_watchdog *dog = arg;
  (void)pthread_mutex_lock(&dog->mutex);
  while (!dog->stop) {
    struct timespec deadline = dog->deadline;
    if (pthread_cond_timedwait(&dog->changed, &dog->mutex, &deadline) != ETIMEDOUT) continue;
    if (!dog->stop && deadline.tv_sec == dog->deadline.tv_sec) end_process(dog);
  }
  (void)pthread_mutex_unlock(&dog->mutex);
  return NULL;
}

info_watchdog *info_watchdog_start(int rank, double limit_seconds)
{
  info_watchdog *dog = calloc(1, sizeof *dog);
  if (!dog) return NULL;
  dog->rank = rank;
  dog->limit = limit_seconds;
  dog->test = "start";
  (void)pthread_mutex_init(&dog->mutex, NULL);
  (void)pthread_cond_init(&dog->changed, NULL);
  set_deadline(dog);
  if (pthread_create(&dog->thread, NULL, watch, dog) != 0) {
    free(dog);
    return NULL;
  }
  return dog;
}

double info_watchdog_limit(const info_watchdog *dog)
{
  return dog ? dog->limit : 60;
}

void info_watchdog_begin(info_watchdog *dog, const char *test)
{
  if (!dog) return;
  (void)pthread_mutex_lock(&dog->mutex);
  dog->test = test;
  set_deadline(dog);
  (void)pthread_mutex_unlock(&dog->mutex);
  (void)pthread_cond_signal(&dog->changed);
}

void info_watchdog_stop(info_watchdog *dog)
{
  if (!dog) return;
  (void)pthread_mutex_lock(&dog->mutex);
  dog->stop = true;
  (void)pthread_mutex_unlock(&dog->mutex);
  (void)pthread_cond_signal(&dog->changed);
  (void)pthread_join(dog->thread, NULL);
  (void)pthread_cond_destroy(&dog->changed);
  (void)pthread_mutex_destroy(&dog->mutex);
  free(dog);
}
