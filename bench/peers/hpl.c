/* HPL's pdgesv on a simulated machine, where all work is only modelled (modelled_hpl.c). The pivot
 * of each column is a random row that all ranks compute, since messages carry no data. Prints hpl,
 * n, nb, grid, ranks and the simulated seconds of the slowest rank. */
#include "bench/peers/modelled_blas.h"
#include "bench/peers/peer.h"
#include "osla_random.h"

#include <hpl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Row that is the pivot of a column, the same on all ranks. */
static int pivot(int column, int n)
{
  enum { SEED_PIVOT = 41 };
  if (column >= n) return column;
  return column + (int)(osla_random_bits(SEED_PIVOT, (uint64_t)column, 0) % (uint64_t)(n - column));
}

/* Replaces HPL's search for the largest element of a column. Writes the pivot's value, local row,
 * global row and process row to `work`. */
void HPL_dlocmax(HPL_T_panel *panel, const int n, const int ii, const int jj, double *work)
{
  const HPL_T_grid *grid = panel->grid;
  charge(OSLA_WORK_VECTOR, 1, n, 1);
  int row = pivot(panel->ja + jj, panel->pmat->n);
  int owner = HPL_indxg2p(row, panel->nb, panel->nb, 0, grid->nprow);
  int local = HPL_indxg2l(row, panel->nb, panel->nb, 0, grid->nprow) - panel->ii - ii;
  bool is_here = n > 0 && owner == grid->myrow && local >= 0 && local < n;
  work[0] = is_here;
  work[1] = is_here ? local : 0;
  work[2] = is_here ? row : 0;
  work[3] = n > 0 ? grid->myrow : grid->nprow;
}

/* Replaces HPL's function that copies row jj of the panel and the pivot row. */
void HPL_dlocswpN(HPL_T_panel *panel, const int ii, const int jj, double *work)
{
  (void)ii, (void)jj, (void)work;
  charge(OSLA_WORK_COPY, 1, panel->jb, 1);
}
void HPL_dlocswpT(HPL_T_panel *panel, const int ii, const int jj, double *work)
{
  HPL_dlocswpN(panel, ii, jj, work);
}

/* Wraps HPL's function by gcc -Wl,--wrap. Calls the real function, and sets the pivots that the
 * panel will have. */
void __real_HPL_pdpanel_init(HPL_T_grid *, HPL_T_palg *, int, int, int, HPL_T_pmat *, int, int, int,
                             HPL_T_panel *);
void __wrap_HPL_pdpanel_init(HPL_T_grid *grid, HPL_T_palg *how, int m, int n, int jb, HPL_T_pmat *a,
                             int ia, int ja, int tag, HPL_T_panel *panel)
{
  __real_HPL_pdpanel_init(grid, how, m, n, jb, a, ia, ja, tag, panel);
  for (int j = 0; j < jb; j++)
    panel->DPIV[j] = pivot(ja + j, a->n);
}

/* HPL's algorithm as set in the HPL.dat of HPL's distribution: a modified ring for broadcasts, a
 * look-ahead of one panel, and long swaps. */
static const HPL_T_palg algorithm = {
  .btopo = HPL_1RING_M,
  .depth = 1,
  .nbdiv = 2,
  .nbmin = 4,
  .pfact = HPL_RIGHT_LOOKING,
  .rfact = HPL_CROUT,
  .pffun = HPL_pdpanrlT,
  .rffun = HPL_pdrpancrT,
  .upfun = HPL_pdupdateTT,
  .fswap = HPL_SW_MIX,
  .fsthr = 64,
  .equil = 1,
  .align = 8,
};

int main(int argc, char **argv)
{
  if (argc != 6 || strcmp(argv[1], "hpl") != 0) {
    (void)fprintf(stderr, "usage: %s hpl N NB NPROW NPCOL\n", argv[0]);
    return 2;
  }
  int n = atoi(argv[2]), nb = atoi(argv[3]), nprow = atoi(argv[4]), npcol = atoi(argv[5]);
  int prow, pcol;
  HPL_T_grid grid;
  HPL_T_palg how = algorithm;
  MPI_Init(&argc, &argv);
  HPL_grid_init(MPI_COMM_WORLD, HPL_COLUMN_MAJOR, nprow, npcol, &grid);
  (void)HPL_grid_info(&grid, &nprow, &npcol, &prow, &pcol);
  HPL_T_pmat a = {.n = n, .nb = nb};
  a.mp = HPL_numroc(n, nb, nb, prow, 0, nprow);
  a.nq = HPL_numroc(n + 1, nb, nb, pcol, 0, npcol);
  a.ld = ((a.mp > 1 ? a.mp : 1) + how.align - 1) / how.align * how.align;
  if ((size_t)a.ld * (size_t)(a.nq + 1) * sizeof(double) > BULK_BYTES) {
    (void)fprintf(stderr, "%s: no memory for n = %d\n", argv[0], n);
    return 1;
  }
  a.A = bulk_memory();
  a.X = a.A + (size_t)a.ld * (size_t)a.nq;
  MPI_Barrier(MPI_COMM_WORLD);
  double since = MPI_Wtime();
  HPL_pdgesv(&grid, &how, &a);
  peer_report("hpl", n, nb, nprow, npcol, MPI_Wtime() - since, a.info);
  (void)HPL_grid_exit(&grid);
  MPI_Finalize();
  return 0;
}
