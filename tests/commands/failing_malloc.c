/* Makes one memory allocation in libosla_scalapack_kernels.so fail; to be preloaded (LD_PRELOAD).
 * dropin_program.c lets each allocation fail in turn. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct {
  uintptr_t from, to; /* address range of the library's code */
  /* 0: no allocation will fail; n > 0: the n-th allocation from now on will fail */
  long countdown;
  int failed;
} state;

static int find(struct dl_phdr_info *object, size_t size, void *arg)
{
  (void)size, (void)arg;
  if (!strstr(object->dlpi_name, "libosla_scalapack_kernels.so")) return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    state.from = object->dlpi_addr + part->p_vaddr;
    state.to = state.from + part->p_memsz;
  }
  return 1;
}

/* Makes allocation `number` fail, counted from 1 from now on; 0: none. Returns whether an
 * allocation has failed since the last call. */
int fail_allocation(long number)
{
  int failed = state.failed;
  if (state.to == 0) (void)dl_iterate_phdr(find, NULL);
  state.failed = 0;
  state.countdown = number;
  return failed;
}

static int fails(const void *caller)
{
  uintptr_t at = (uintptr_t)caller;
  if (state.countdown == 0 || at < state.from || at >= state.to || --state.countdown > 0) return 0;
  state.failed = 1;
  errno = ENOMEM;
  return 1;
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

void *malloc(size_t bytes)
{
  return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
  return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
  return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, bytes);
}
