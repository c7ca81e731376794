/* The parts of an update go to their owners (internal). */
#ifndef OSLA_HESSIAN_DELIVER_H
#define OSLA_HESSIAN_DELIVER_H

#include "kernels/hessian/hessian_fill.h"

/* Every owner's part, after the indices were split. */
osla_err osli_update_owners(osla_hessian *h, workspace *w, const update *u);

#endif
