/* A switch with long lines: joins network name spaces as an Ethernet, and forwards each frame after
 * a fixed delay. It serves kernels without netem (tests/hosts -d).
 *
 *  usage: delay_line MICROSECONDS SPACE SPACE...
 *
 * Each name space gets an interface `line` (a TAP device), whose other end this process holds. A
 * frame is sent to all other name spaces, whose kernels drop frames for other hosts; learning the
 * addresses would save little among a few name spaces. The process prints "ready" when the
 * interfaces exist; the interfaces disappear when the process ends. */
#ifndef _GNU_SOURCE /* for setns and ppoll; smpicc already defines _GNU_SOURCE */
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SPACES = 8, FRAMES = 1 << 14, FRAME_BYTES = 9216 };

typedef struct frame {
  int64_t due; /* nanoseconds */
  int from;
  size_t bytes;
  unsigned char data[FRAME_BYTES];
} frame;

/* A queue of frames. All frames have the same delay, so that they leave in the order of arrival. */
typedef struct line {
  int n, fds[MOST_SPACES];
  int64_t delay; /* nanoseconds */
  frame *ring;
  uint64_t in, out;
} line;

static int64_t now(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

_Noreturn static void fail(const char *what, const char *which)
{
  (void)fprintf(stderr, "delay_line: %s %s: %s\n", what, which, strerror(errno));
  exit(1);
}

static int open_tap(const char *space)
{
  char path[256];
  struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
  (void)snprintf(path, sizeof path, "/var/run/netns/%s", space);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) fail("name space", space);
  (void)close(fd);
  const int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  (void)strcpy(request.ifr_name, "line");
  if (tap < 0 || ioctl(tap, TUNSETIFF, &request) != 0) fail("TAP device in", space);
  return tap;
}

/* Reads frames that have arrived while the queue has room; further frames wait in the kernel. */
static void take(line *l, int from)
{
  while (l->in - l->out < FRAMES) {
    frame *f = &l->ring[l->in % FRAMES];
    const ssize_t got = read(l->fds[from], f->data, sizeof f->data);
    if (got <= 0) return;
    f->bytes = (size_t)got;
    f->from = from;
    f->due = now() + l->delay;
    l->in++;
  }
}

/* Forwards the frames whose delay is over. A frame that an interface rejects is lost. */
static void pass_on(line *l)
{
  for (; l->out < l->in && l->ring[l->out % FRAMES].due <= now(); l->out++) {
    const frame *f = &l->ring[l->out % FRAMES];
    for (int to = 0; to < l->n; to++)
      if (to != f->from && write(l->fds[to], f->data, f->bytes) < 0) continue;
  }
}

static void serve(line *l)
{
  struct pollfd ends[MOST_SPACES];
  for (;;) {
    const bool full = l->in - l->out == FRAMES;
    for (int i = 0; i < l->n; i++)
      ends[i] = (struct pollfd){.fd = l->fds[i], .events = full ? 0 : POLLIN};
    const int64_t until = l->in > l->out ? l->ring[l->out % FRAMES].due - now() : 1000000000;
    const int64_t left = until > 0 ? until : 0;
    const struct timespec time = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    if (ppoll(ends, (nfds_t)l->n, &time, NULL) < 0 && errno != EINTR) fail("poll", "");
    for (int i = 0; i < l->n; i++)
      if (ends[i].revents & POLLIN) take(l, i);
    pass_on(l);
  }
}

int main(int argc, char **argv)
{
  char *end = NULL;
  line l = {.n = argc - 2, .delay = argc > 1 ? strtol(argv[1], &end, 10) : -1};
  if (l.n < 2 || l.n > MOST_SPACES || l.delay < 0 || *end != '\0' || l.delay > 1000000) {
    (void)fprintf(stderr, "usage: delay_line MICROSECONDS SPACE SPACE... (2 to %d spaces)\n",
                  MOST_SPACES);
    return 2;
  }
  l.delay *= 1000;
  l.ring = malloc(FRAMES * sizeof *l.ring);
  if (!l.ring) fail("memory", "");
  for (int i = 0; i < l.n; i++)
    l.fds[i] = open_tap(argv[2 + i]);
  (void)puts("ready");
  (void)fflush(stdout);
  serve(&l);
}
