/* The linker's --wrap redirects the library's allocations to the functions below. */
#include "tests/failing_allocation.h"
#include "tests/osla_test_help.h"

#include <limits.h>
#include <stdlib.h>

/* Number of allocations that succeed on this rank before one fails; INT_MAX if none fails. */
static int left = INT_MAX;

static bool fails(void)
{
  return left != INT_MAX && left-- == 0;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
  return fails() ? NULL : __real_malloc(bytes);
}
void *__wrap_calloc(size_t count, size_t bytes)
{
  return fails() ? NULL : __real_calloc(count, bytes);
}
void *__wrap_realloc(void *old, size_t bytes)
{
  return fails() ? NULL : __real_realloc(old, bytes);
}

osla_err call_with_failing_allocation(int number, osla_err (*call)(void *arg), void *arg, int *hit)
{
  const int victim = osla_test_size() - 1;
  if (osla_test_rank() == victim) left = number;
  const osla_err err = call(arg);
  *hit = left < 0;
  left = INT_MAX;
  MPI_Bcast(hit, 1, MPI_INT, victim, MPI_COMM_WORLD);
  int worst[2] = {(int)err, -(int)err};
  MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  OSLA_ASSERT_MSG(worst[0] == -worst[1], "allocation %d: %s here", number, osla_err_name(err));
  OSLA_ASSERT_MSG(err == OSLA_OK || err == OSLA_ERR_MEM, "allocation %d: %s", number,
                  osla_error_text());
  if (err != OSLA_OK) OSLA_ASSERT_SAME_TEXT();
  return err;
}
