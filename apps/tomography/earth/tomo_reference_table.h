/* The data of a reference table (private to tomo_reference*.c). */
#ifndef TOMO_REFERENCE_TABLE_H
#define TOMO_REFERENCE_TABLE_H

#include "apps/tomography/earth/tomo_reference.h"

enum {
  REFERENCE_DEPTHS_MAX = 2000,
  REFERENCE_ROWS_MAX = 20000,
  REFERENCE_BRANCH_MAX = 99,
  REFERENCE_TEXT_MAX = 200 /* bytes stored of each line of the table's head */
};

typedef struct reference_row {
  tomo_wave wave;
  int branch;
  /* phase and group velocity, indexed by tomo_observable; the group velocity is 0 if the table has
   * none */
  double period, velocity[2];
  double *kernel[2]; /* [n_depths] kernel of each velocity; NULL if the table has none */
  long line;         /* line of the file where the row begins */
} reference_row;

struct tomo_reference {
  char head[N_HEADS][REFERENCE_TEXT_MAX];
  int n_depths, n_rows;
  double *depth;
  reference_row *row; /* [n_rows] ordered by wave, branch, period */
};

/* Sorts the rows. Error IO if two rows have the same wave, branch and period, or only some rows of
 * a branch have group velocities. */
osla_err reference_sort_rows(const char *name, tomo_reference *reference);

#endif
