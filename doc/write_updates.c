/* Writes a file of updates for `osla assemble`. Needs only HDF5. write_updates.py does this in
 * Python.
 *
 *   h5cc write_updates.c -o write_updates && ./write_updates updates.h5 100
 *   osla assemble --n 100 --output system.h5 updates.h5 && osla solve system.h5 --output x.h5
 *
 * Each update has K data that depend on COUNT of n unknowns. */
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { UPDATES = 50, COUNT = 12, K = 3 };

static int write_set(hid_t file, const char *name, hid_t type, int rank, const hsize_t *dims,
                     const void *data)
{
  hid_t space = H5Screate_simple(rank, dims, NULL);
  hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int done = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  H5Dclose(set);
  H5Sclose(space);
  return done;
}

/* Makes up what your code would compute: derivatives of K data with respect to COUNT unknowns,
 * weights, residuals. */
static void make_up(int64_t update, int64_t n, int64_t *ix, double *G, double *w, double *r)
{
  for (int a = 0; a < COUNT; a++) {
    ix[a] = (37 * update + 5 * a * a) % n; /* any order; an index may occur twice */
    for (int d = 0; d < K; d++)
      G[a * K + d] = 1.0 / (1.0 + a + d + (double)(update % 7));
  }
  for (int d = 0; d < K; d++) {
    w[d] = 1.0 + d;
    r[d] = d - 0.5;
  }
}

int main(int argc, char **argv)
{
  static int64_t offset[UPDATES + 1], ix[UPDATES * COUNT];
  static double G[UPDATES * COUNT * K], w[UPDATES * K], r[UPDATES * K];
  int64_t n = argc > 2 ? atoll(argv[2]) : 0;
  if (n < 1) {
    fprintf(stderr, "usage: write_updates FILE UNKNOWNS\n");
    return 2;
  }
  for (int64_t u = 0; u < UPDATES; u++) {
    offset[u + 1] = (u + 1) * COUNT; /* updates may have different counts */
    make_up(u, n, ix + u * COUNT, G + u * COUNT * K, w + u * K, r + u * K);
  }
  const hsize_t offsets[] = {UPDATES + 1}, panels[] = {UPDATES * COUNT, K}, data[] = {UPDATES, K};
  hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  int done = file >= 0 && write_set(file, "offset", H5T_NATIVE_INT64, 1, offsets, offset) &&
             write_set(file, "ix", H5T_NATIVE_INT64, 1, panels, ix) &&
             write_set(file, "G", H5T_NATIVE_DOUBLE, 2, panels, G) &&
             write_set(file, "w", H5T_NATIVE_DOUBLE, 2, data, w) &&
             write_set(file, "r", H5T_NATIVE_DOUBLE, 2, data, r);
  if (file >= 0 && H5Fclose(file) < 0) done = 0;
  return done ? 0 : 1;
}
