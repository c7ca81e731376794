#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "src/base/memory_file.h"

#include <errno.h>
#include <sys/mman.h>

int osli_memory_file_create(const char *name)
{
#ifdef __linux__
  enum { NOEXEC_SEAL = 8 }; /* value of MFD_NOEXEC_SEAL, which older system headers do not define */
  int file = memfd_create(name, MFD_CLOEXEC | NOEXEC_SEAL);
  if (file < 0 && errno == EINVAL) file = memfd_create(name, MFD_CLOEXEC);
  return file;
#else
  (void)name;
  errno = ENOSYS;
  return -1;
#endif
}
