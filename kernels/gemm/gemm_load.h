/* What a load gets from where (internal). */
#ifndef OSLA_GEMM_LOAD_H
#define OSLA_GEMM_LOAD_H

#include "kernels/gemm/gemm.h"

/* A get of a load: `bytes` from `offset` of a rank's local array to `to` of the buffer. */
typedef osla_err gemm_get(void *arg, int rank, size_t offset, size_t to, size_t bytes);
osla_err osli_gemm_load_walk(const gemm_work *w, int which, const gemm_load *load, gemm_get *visit,
                             void *arg);

#endif
