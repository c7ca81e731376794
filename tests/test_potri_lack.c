/* Inverses where one rank lacks memory, at each allocation of the call: all ranks fail together
 * with its text and A is as before; or where the call can do without, the inverse is what it is
 * else. The linker puts the functions below before the library's allocations. */
#include "kernel_reference.h"
#include "osla_inverse.h"
#include "osla_test_help.h"

#include <limits.h>
#include <stdlib.h>

enum { N = 40, NB = 6 };

/* Allocations that still succeed on this rank; then one fails. */
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

/* Returns whether the call failed; *hit: it came to the allocation that fails. */
static bool try_once(osla_matrix *a, const dense *factor, const dense *inverse, int number,
                     int *hit)
{
  int victim = osla_test_size() - 1;
  int64_t info = -1;
  dense_scatter(factor, a);
  if (osla_test_rank() == victim) left = number;
  osla_err err = osla_potri(a, OSLA_LOWER, NULL, &info);
  *hit = left < 0;
  left = INT_MAX;
  MPI_Bcast(hit, 1, MPI_INT, victim, MPI_COMM_WORLD);
  int worst[2] = {(int)err, -(int)err};
  MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  OSLA_ASSERT_MSG(worst[0] == -worst[1], "allocation %d: %s here", number, osla_err_name(err));
  OSLA_ASSERT_MSG(err == OSLA_OK || err == OSLA_ERR_MEM, "allocation %d: %s", number,
                  osla_error_text());
  if (err != OSLA_OK) OSLA_ASSERT_SAME_TEXT();
  kernel_expect(a, err == OSLA_OK ? inverse : factor, "allocation %d", number);
  return err != OSLA_OK;
}

static void test_each_allocation(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, kernel_n_grids(t) > 2 ? 1 : 0); /* 2 x 2 of four ranks */
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, N, N, NB, NB, false);
  int64_t info = -1;
  int failures = 0, hit = 1;
  OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_SPD, 3)); /* its triangle will do as a factor */
  dense factor = dense_gather(a.a);
  OSLA_ASSERT_OK(osla_potri(a.a, OSLA_LOWER, NULL, &info));
  dense inverse = dense_gather(a.a);
  for (int number = 0; hit; number++)
    failures += try_once(a.a, &factor, &inverse, number, &hit);
  OSLA_ASSERT_MSG(failures >= 5, "only %d allocations failed", failures);
  dense_free(&factor), dense_free(&inverse);
  kernel_free(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {
    {"each_allocation", test_each_allocation},
    {NULL, NULL},
  };
  return osla_test_main(argc, argv, cases);
}
