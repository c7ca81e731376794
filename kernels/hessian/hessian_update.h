/* One update (internal). */
#ifndef OSLA_HESSIAN_UPDATE_H
#define OSLA_HESSIAN_UPDATE_H

#include "kernels/hessian/hessian_fill.h"

/* One update, whose arguments have been checked. */
osla_err osli_update_run(osla_hessian *h, update *u, int64_t rows, const int64_t *ix, int64_t cols,
                         const int64_t *jx);

#endif
