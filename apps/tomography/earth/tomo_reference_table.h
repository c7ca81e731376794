/* What a reference holds (private to tomo_reference*.c). */
#ifndef TOMO_REFERENCE_TABLE_H
#define TOMO_REFERENCE_TABLE_H

#include "apps/tomography/earth/tomo_reference.h"

enum {
  REFERENCE_DEPTHS_MAX = 2000,
  REFERENCE_ROWS_MAX = 20000,
  REFERENCE_BRANCH_MAX = 99,
  REFERENCE_TEXT_MAX = 200 /* bytes of a line of the head that are kept */
};

enum { HEAD_TITLE, HEAD_MAPPING, HEAD_SOURCE, HEAD_MADE, N_HEADS };

typedef struct reference_row {
  tomo_wave wave;
  int branch;
  double period, velocity[2]; /* by observable; of TOMO_GROUP 0: the table has none */
  double *kernel[2];          /* [n_depths] by observable; NULL: none */
  long line;                  /* where it stands */
} reference_row;

struct tomo_reference {
  char head[N_HEADS][REFERENCE_TEXT_MAX];
  int n_depths, n_rows;
  double *depth;
  reference_row *row; /* by wave, branch, period */
};

/* Sorts the rows; error IO if one stands twice, or a branch has group velocities here and not
 * there. */
osla_err reference_arrange(const char *name, tomo_reference *reference);

#endif
