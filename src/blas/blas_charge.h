/* What BLAS costs where time is simulated (floor 0, internal). */
#ifndef OSLA_BLAS_CHARGE_H
#define OSLA_BLAS_CHARGE_H

/* Called after each call of BLAS or LAPACK with what it has done: operations of double precision
 * (a float's is half a one), and the bytes of its operands. NULL, the default: nothing is. */
typedef void osla_blas_charge(double flops, double bytes);

/* begin: called where each call begins, before it has done anything; may be NULL, too. */
void osla_blas_set_charge(void (*begin)(void), osla_blas_charge *charge);

#endif
