/* The linked BLAS: its name and threads, and the checks before its first call.
 *
 * - The library's integers must have 32 bits. A library with 64-bit integers (ILP64) has functions
 *   of the same names, and would read beyond the sizes.
 * - OpenBLAS must get its buffer: 128 MiB for each thread that calls OpenBLAS at the same time
 *   (version 0.3.21 on x86-64; constant BUFFER_SIZE, which is 32 MiB in some builds). If the system
 *   refuses the memory (RLIMIT_AS, strict overcommit), OpenBLAS's blas_memory_alloc retries for
 *   ever without a message.
 */
#include "config.h"

#include "osla_blas.h"
#include "src/blas/blas_library.h"

#include OSLA_CBLAS_H
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

double dasum_(const void *n, const double *x, const void *incx);

static const size_t buffer_bytes = (size_t)128 << 20;

#ifdef HAVE_OPENBLAS

static bool is_openblas(void)
{
  return true;
}
const char *osla_blas_describe(void)
{
  return openblas_get_config();
}
int osla_blas_threads(void)
{
  return openblas_get_num_threads();
}
void osla_blas_set_threads(int threads)
{
  if (osla_blas_has_room(threads - openblas_get_num_threads())) openblas_set_num_threads(threads);
}

#else

/* Without OpenBLAS's header the function is declared as weak: its address is NULL if the BLAS is
 * not an OpenBLAS. */
char *openblas_get_config(void) __attribute__((weak));

static bool is_openblas(void)
{
  return openblas_get_config != NULL;
}
const char *osla_blas_describe(void)
{
  return "a CBLAS without a function for its name";
}
int osla_blas_threads(void)
{
  return 0;
}
void osla_blas_set_threads(int threads)
{
  (void)threads;
}

#endif

bool osla_blas_has_room(int threads)
{
  if (!is_openblas() || threads < 1) return true;
  size_t bytes = (size_t)threads * buffer_bytes;
  void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  (void)munmap(room, bytes);
  return true;
}

osla_err osla_blas_fits(void)
{
  const size_t rest = (size_t)64 << 20;
  struct rlimit limit;
  size_t threads = (size_t)osla_blas_threads(), need = threads * buffer_bytes;
  if (!is_openblas() || getrlimit(RLIMIT_AS, &limit) != 0) return OSLA_OK;
  OSLA_CHECK(limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= need + rest, OSLA_ERR_MEM,
             "no memory for OpenBLAS's buffers: %zu threads need %zu bytes of address space and "
             "the program some %zu, but the limit is %llu (ulimit -v)",
             threads, need, rest, (unsigned long long)limit.rlim_cur);
  return OSLA_OK;
}

/* True if BLAS reads 32-bit integers. dasum gets a pair of numbers: a library with 32-bit integers
 * reads the count 1, one with 64-bit integers a negative count, for which the sum is 0. On
 * big-endian machines no such pair exists. */
static bool takes_int(void)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const int32_t n[2] = {1, -1}, incx[2] = {1, 0};
  const double x = 1;
  return dasum_(n, &x, incx) > 0;
#else
  return true;
#endif
}

osla_err osla_blas_ready(void)
{
  static _Thread_local bool ready;
  if (ready) return OSLA_OK;
  OSLA_CHECK(takes_int(), OSLA_ERR_UNSUPPORTED,
             "this BLAS takes integers of 64 bits (ILP64; OpenBLAS: INTERFACE64=1): %s; link one "
             "with 32 bits (LP64)",
             osla_blas_describe());
  OSLA_CHECK(osla_blas_has_room(1), OSLA_ERR_MEM,
             "no memory for OpenBLAS's buffer: %zu bytes of address space are needed for each "
             "thread (ulimit -v)",
             buffer_bytes);
  ready = true;
  return OSLA_OK;
}

osla_err osli_blas_enter(int count, const int64_t *value, int *out)
{
  for (int i = 0; i < count; i++) {
    OSLA_CHECK(value[i] >= 0 && value[i] <= INT_MAX, OSLA_ERR_RANGE,
               "size %" PRId64 " does not fit the int of this BLAS", value[i]);
    out[i] = (int)value[i];
  }
  return osla_blas_ready();
}
