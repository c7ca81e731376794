/* A Global Arrays program that uses OSLA: GA's own call and the accumulator add to one array, which
 * is then factored in its own memory; the solution is found, and the array is still GA's.
 * doc/global_arrays.md shows the main part. */
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <osla_chol.h>
#include <osla_ga.h>
#include <osla_solve.h>
#include <stdio.h>

/* N: number of unknowns. COUNT: number of unknowns of one datum. NB: block size of the array. */
enum { N = 500, COUNT = 10, NB = 64 };

static void check(osla_err err)
{
  if (err != OSLA_OK) GA_Error((char *)osla_error_text(), (int)err);
}

static double one(int64_t i, int64_t j, void *unused)
{
  (void)i, (void)j, (void)unused;
  return 1;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  check(osla_ga_initialize(1 << 20)); /* osla_ga_initialize replaces GA_Initialize and MA_init */

  int me = GA_Nodeid(), size = GA_Nnodes();
  int dims[2] = {N, N}, blocks[2] = {NB, NB}, grid[2] = {size, 1};
  int g_h = GA_Create_handle();
  GA_Set_data(g_h, 2, dims, C_DBL);
  GA_Set_block_cyclic_proc_grid(g_h, blocks, grid); /* square blocks on a ScaLAPACK grid */
  GA_Allocate(g_h);
  GA_Zero(g_h);
  double prior = 1, factor = 1;
  for (int i = me; i < N; i += size) { /* the prior, H := I, by GA's own call */
    int at[2] = {i, i}, ld = 1;
    NGA_Acc(g_h, at, at, &prior, &ld, &factor);
  }

  osla_ga_hessian *hessian;
  osla_matrix *H, *x;
  int64_t ix[COUNT], info;
  double G[COUNT], value;
  check(osla_ga_hessian_create(g_h, NULL, &hessian)); /* adds to the array's own memory */
  for (int i = me; i < N; i += size) {                /* the data of this process */
    for (int k = 0; k < COUNT; k++) {
      ix[k] = (i + k * k) % N;
      G[k] = 1.0 / (1 + k);
    }
    check(osla_hessian_update(osla_ga_hessian_get(hessian), COUNT, ix, 1, G, 1)); /* += G^T G */
  }
  check(osla_ga_hessian_commit(hessian)); /* from here on GA's calls may read the array, too */

  check(osla_hessian_matrix(osla_ga_hessian_get(hessian), &H));
  check(osla_matrix_create(osla_matrix_grid(H), OSLA_DOUBLE, N, 1, NB, NB, &x));
  check(osla_matrix_fill_with(x, one, NULL));
  check(osla_potrf(OSLA_LOWER, H, NULL, &info)); /* H := L L^T, in the array's memory */
  check(osla_potrs(OSLA_LOWER, H, x));           /* x := H^-1 x */

  check(osla_matrix_get_block(x, 0, 0, 1, 1, &value, 1));
  if (me == 0) printf("info %d, x[0] %.9f\n", (int)info, value);
  osla_matrix_destroy(&x);
  osla_ga_hessian_destroy(&hessian); /* the array remains */
  GA_Destroy(g_h);
  osla_ga_terminate(); /* osla_ga_terminate replaces GA_Terminate */
  MPI_Finalize();
  return info == 0 ? 0 : 1;
}
