/* Prints some updates of osla-bench hessian on 2 ranks in the form of the table in
 * bench/updates.md. test_updates.sh compares them. */
#include "bench/seeded_updates.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Prints a double as Python's float.hex does. */
static void print_hexadecimal(double value)
{
  int exponent;
  if (value == 0) {
    (void)printf("0x0.0p+0");
    return;
  }
  uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(value), &exponent), 53);
  (void)printf("%s0x1.%013" PRIx64 "p%+d", value < 0 ? "-" : "",
               mantissa & ((UINT64_C(1) << 52) - 1), exponent - 1);
}

static void print_update(const updates *u, int64_t k)
{
  const double *g = updates_values(u, k);
  (void)printf("| %d | %" PRId64 " |", u->job->rank, u->job->rank * u->per_rank + k);
  for (int64_t a = 0; a < u->count; a++)
    (void)printf(" %" PRId64, updates_indices(u, k)[a]);
  (void)printf(" |");
  for (int64_t i = 0; i < 2 * u->rows; i++) {
    (void)printf(" ");
    print_hexadecimal(g[i]);
  }
  (void)printf(" |\n");
}

int main(int argc, char **argv)
{
  bench_settings settings = {.dtype = OSLA_DOUBLE, .rows = 2, .run = 3, .updates = 2, .seed = 5};
  bench_job job = {.settings = &settings};
  updates u;
  (void)MPI_Init(&argc, &argv);
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  (void)MPI_Comm_size(MPI_COMM_WORLD, &job.size);
  osla_err err = osla_transport_create(MPI_COMM_WORLD, NULL, &job.transport);
  if (err == OSLA_OK) err = updates_create(&job, 1000, 7, &u);
  if (err != OSLA_OK) {
    (void)fprintf(stderr, "updates_table: %s\n", osla_error_text());
    return EXIT_FAILURE;
  }
  /* rank r prints its update r */
  for (int rank = 0; rank < job.size; rank++) {
    if (rank == job.rank) print_update(&u, rank);
    (void)fflush(stdout);
    (void)MPI_Barrier(MPI_COMM_WORLD);
  }
  updates_free(&u);
  osla_transport_destroy(&job.transport);
  (void)MPI_Finalize();
  return EXIT_SUCCESS;
}
