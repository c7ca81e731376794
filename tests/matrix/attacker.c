#include "tests/matrix/attacker.h"

#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

struct attacker {
  char directory[256], part[32], victim[300];
  int events;
  int attacks;
  atomic_bool ends;
  pthread_t thread;
};

/* Path to which the attack number k has moved the attacked file. */
static void find_taken(const attacker *a, int k, char path[PATH_MAX])
{
  snprintf(path, PATH_MAX, "%s/taken%d", a->directory, k);
}

static void attack(attacker *a, const char *name)
{
  char path[PATH_MAX], taken[PATH_MAX], to[8];
  if (!strstr(name, a->part)) return;
  snprintf(path, sizeof path, "%s/%s", a->directory, name);
  /* this file is a link that the attacker itself has made */
  if (readlink(path, to, sizeof to) > 0) return;
  find_taken(a, a->attacks, taken);
  if (rename(path, taken) != 0) return;
  if (symlink(a->victim, path) == 0) a->attacks++;
}

static void *watch(void *arg)
{
  attacker *a = arg;
  _Alignas(struct inotify_event) char bytes[4096];
  struct pollfd ready = {.fd = a->events, .events = POLLIN};
  while (!atomic_load(&a->ends)) {
    if (poll(&ready, 1, 20) <= 0) continue;
    const ssize_t n = read(a->events, bytes, sizeof bytes);
    for (ssize_t at = 0; at < n;) {
      const struct inotify_event *event = (const struct inotify_event *)(bytes + at);
      if (event->len > 0 && strncmp(event->name, "taken", 5) != 0) attack(a, event->name);
      at += (ssize_t)(sizeof *event + event->len);
    }
  }
  return NULL;
}

attacker *attacker_start(const char *directory, const char *part, const char *victim)
{
  attacker *a = calloc(1, sizeof *a);
  if (!a) return NULL;
  snprintf(a->directory, sizeof a->directory, "%s", directory);
  snprintf(a->part, sizeof a->part, "%s", part);
  snprintf(a->victim, sizeof a->victim, "%s", victim);
  a->events = inotify_init1(IN_CLOEXEC);
  if (a->events >= 0 && inotify_add_watch(a->events, directory, IN_CREATE) >= 0 &&
      pthread_create(&a->thread, NULL, watch, a) == 0)
    return a;
  if (a->events >= 0) close(a->events);
  free(a);
  return NULL;
}

static void remove_links(const attacker *a)
{
  DIR *entries = opendir(a->directory);
  for (struct dirent *e; entries && (e = readdir(entries));) {
    char path[PATH_MAX], to[sizeof a->victim] = "";
    snprintf(path, sizeof path, "%s/%s", a->directory, e->d_name);
    if (readlink(path, to, sizeof to - 1) > 0 && strcmp(to, a->victim) == 0) unlink(path);
  }
  if (entries) closedir(entries);
}

int attacker_stop(attacker *a)
{
  char taken[PATH_MAX];
  atomic_store(&a->ends, true);
  pthread_join(a->thread, NULL);
  const int attacks = a->attacks;
  close(a->events);
  for (int k = 0; k < attacks; k++) {
    find_taken(a, k, taken);
    if (unlink(taken) != 0) perror(taken);
  }
  remove_links(a);
  free(a);
  return attacks;
}
