/* pdgetrf without pivoting, as Krishnan, Lewis, Vishnu, "Scaling Linear Algebra Kernels using
 * Remote Memory Access", section IV, compare with. The pivot is always the diagonal element and
 * rows are not exchanged. bench/peers/build links pdgetrf's calls to these functions (ld --wrap).
 * The value of the pivot reaches the process column without a message, which favours pdgetrf. */
#include "bench/peers/peer.h"

bool peer_no_pivoting;

void __real_pdamax_(const int *n, double *amax, int *index, double *x, const int *ix, const int *jx,
                    const int *desc, const int *inc);
void __wrap_pdamax_(const int *n, double *amax, int *index, double *x, const int *ix, const int *jx,
                    const int *desc, const int *inc);
void __real_pdswap_(const int *n, double *x, const int *ix, const int *jx, const int *descx,
                    const int *incx, double *y, const int *iy, const int *jy, const int *descy,
                    const int *incy);
void __wrap_pdswap_(const int *n, double *x, const int *ix, const int *jx, const int *descx,
                    const int *incx, double *y, const int *iy, const int *jy, const int *descy,
                    const int *incy);
void __real_pdlaswp_(const char *direction, const char *scope, const int *n, double *a,
                     const int *ia, const int *ja, const int *desc, const int *k1, const int *k2,
                     const int *ipiv, size_t direction_length, size_t scope_length);
void __wrap_pdlaswp_(const char *direction, const char *scope, const int *n, double *a,
                     const int *ia, const int *ja, const int *desc, const int *k1, const int *k2,
                     const int *ipiv, size_t direction_length, size_t scope_length);

void __wrap_pdamax_(const int *n, double *amax, int *index, double *x, const int *ix, const int *jx,
                    const int *desc, const int *inc)
{
  if (!peer_no_pivoting) {
    __real_pdamax_(n, amax, index, x, ix, jx, desc, inc);
    return;
  }
  *amax = 1;
  *index = *ix;
}

void __wrap_pdswap_(const int *n, double *x, const int *ix, const int *jx, const int *descx,
                    const int *incx, double *y, const int *iy, const int *jy, const int *descy,
                    const int *incy)
{
  if (!peer_no_pivoting) __real_pdswap_(n, x, ix, jx, descx, incx, y, iy, jy, descy, incy);
}

void __wrap_pdlaswp_(const char *direction, const char *scope, const int *n, double *a,
                     const int *ia, const int *ja, const int *desc, const int *k1, const int *k2,
                     const int *ipiv, size_t direction_length, size_t scope_length)
{
  if (!peer_no_pivoting)
    __real_pdlaswp_(direction, scope, n, a, ia, ja, desc, k1, k2, ipiv, direction_length,
                    scope_length);
}
