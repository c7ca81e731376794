#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "src/base/signal_guard.h"
#include "src/base/write_at.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

osla_err osli_write_at(int fd, const char *path, const void *bytes, size_t size, uint64_t offset)
{
  const unsigned char *at = bytes;
  osla_signal_guard guard;
  size_t done = 0;
  ssize_t n = 1;
  osli_signal_guard_begin(&guard);
  while (done < size && n > 0) {
    n = pwrite(fd, at + done, size - done, (off_t)(offset + done));
    if (n > 0) done += (size_t)n;
    if (n < 0 && errno == EINTR) n = 1;
  }
  osli_signal_guard_end(&guard);
  OSLA_CHECK(done == size, OSLA_ERR_IO, "%.200s: writing %zu bytes at %" PRIu64 ": %s", path,
             size - done, offset + done, n < 0 ? strerror(errno) : "nothing was written");
  return OSLA_OK;
}

osla_err osli_set_length(int fd, const char *path, uint64_t bytes)
{
  osla_signal_guard guard;
  osli_signal_guard_begin(&guard);
  bool done = ftruncate(fd, (off_t)bytes) == 0;
  osli_signal_guard_end(&guard);
  OSLA_CHECK(done, OSLA_ERR_IO, "%.200s: %s", path, strerror(errno));
  return OSLA_OK;
}

osla_err osli_check_length(const char *path, uint64_t bytes)
{
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return OSLA_OK;
  OSLA_CHECK(bytes <= limit.rlim_cur, OSLA_ERR_IO,
             "%.200s: %s: %" PRIu64 " bytes, and the limit is %" PRIu64, path, strerror(EFBIG),
             bytes, (uint64_t)limit.rlim_cur);
  return OSLA_OK;
}
