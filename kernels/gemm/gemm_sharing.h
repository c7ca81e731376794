/* Loads that several ranks of a node need are got once (internal). */
#ifndef OSLA_GEMM_SHARING_H
#define OSLA_GEMM_SHARING_H

#include "kernels/gemm/gemm.h"

/* Sets w->sharing: whether ranks look for others that need the same of A and B, the same answer on
 * all ranks; and where the node's ranks begin on the diagonal. Before the plan. Collective. Errors:
 * MPI. */
osla_err osli_gemm_sharing_choose(gemm_work *w, osla_matrix *a, osla_matrix *b);

/* After the plan: gets what memory this rank needs for itself. Local. Errors: MEM. */
osla_err osli_gemm_sharing_allocate(gemm_work *w);

/* If w->sharing: makes the buffers that others read, and finds mates. Collective. Errors, on all
 * ranks together: MEM, MPI. */
osla_err osli_gemm_sharing_open(gemm_work *w);
void osli_gemm_sharing_close(gemm_work *w); /* collective if w->sharing */
void osli_gemm_sharing_free(gemm_operand *x);

/* Where a load's getter puts it. */
unsigned char *osli_gemm_load_buffer(const gemm_work *w, int which, int64_t load);

/* To all mates: a load of mine is there. To a load's getter: I need it no more. */
osla_err osli_gemm_load_publish(const gemm_work *w, int which, int64_t load);
osla_err osli_gemm_load_release(const gemm_work *w, int which, int64_t load);

/* Waits until a mate's load is there. */
void osli_gemm_load_wait(const gemm_work *w, int which, int64_t load);

/* Does no mate need this load of mine any more? If it must be so, waits for that. */
bool osli_gemm_load_is_released(const gemm_work *w, int which, int64_t load, bool wait);

static inline bool gemm_is_my_load(const gemm_operand *x, int64_t load)
{
  return load % x->sharers.n == x->sharers.me;
}

#endif
