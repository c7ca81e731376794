/* Updating the trailing matrix (internal). */
#ifndef OSLA_LU_UPDATE_H
#define OSLA_LU_UPDATE_H

#include "kernels/lu/lu.h"

/* Applies a step, whose panel I have, to my part of the block columns [from, to): rows are
 * exchanged, U(k, these columns) is solved for, A(i,j) -= L(i,k) U(k,j). To be called in the order
 * of osli_pipeline_run. Together with the process column. */
osla_err osli_lu_update(lu *f, const lu_step *s, const lu_panel *panel, int64_t from, int64_t to);

#endif
