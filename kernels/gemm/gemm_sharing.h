/* Loads that several ranks of a node need are transferred once (internal). */
#ifndef OSLA_GEMM_SHARING_H
#define OSLA_GEMM_SHARING_H

#include "kernels/gemm/gemm.h"

/* Decides whether ranks share loads of a product with k inner indices (w->sharing, the same on all
 * ranks), and with which owner the ranks of this node begin their order of owners (w->diagonal).
 * Called after the layers are assigned, before the plan is made. Collective. Errors: MPI. */
osla_err osli_gemm_sharing_choose(gemm_work *w, osla_matrix *a, osla_matrix *b, int64_t k);

/* Allocates the memory that this rank needs for itself. Called after the plan is made. Local.
 * Errors: MEM. */
osla_err osli_gemm_sharing_allocate(gemm_work *w);

/* If w->sharing, allocates the buffers that sharers read, and finds the sharers. Collective.
 * Errors, on all ranks together: MEM, MPI. */
osla_err osli_gemm_sharing_open(gemm_work *w);
/* Frees the shared buffers. Collective if w->sharing. */
void osli_gemm_sharing_close(gemm_work *w);
void osli_gemm_sharing_free(gemm_operand *x);

/* Address of a load in the buffer of the rank that transfers it. */
unsigned char *osli_gemm_load_buffer(const gemm_work *w, int which, int64_t load);

/* osli_gemm_load_publish notifies all sharers that a load of this rank has arrived.
 * osli_gemm_load_release tells the rank that transferred a load that this rank no longer needs the
 * load. */
osla_err osli_gemm_load_publish(const gemm_work *w, int which, int64_t load);
osla_err osli_gemm_load_release(const gemm_work *w, int which, int64_t load);

/* Waits until a sharer's load has arrived. */
void osli_gemm_load_wait(const gemm_work *w, int which, int64_t load);

/* True if no sharer needs a load of this rank any more. With `wait`, waits until this is so. */
bool osli_gemm_load_is_released(const gemm_work *w, int which, int64_t load, bool wait);

static inline bool gemm_is_my_load(const gemm_operand *x, int64_t load)
{
  return load % x->sharers.n == x->sharers.me;
}

#endif
