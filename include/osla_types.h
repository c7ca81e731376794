/* Value types that every floor shares (floor 0).
 *
 * Threads: any thread may call these, at any time.
 * Part: stable (osla.h).
 */
#ifndef OSLA_TYPES_H
#define OSLA_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum osla_dtype {
  OSLA_FLOAT,         /* 4 bytes */
  OSLA_DOUBLE,        /* 8 bytes */
  OSLA_COMPLEX_FLOAT, /* 2 x 4 bytes, real part first */
  OSLA_COMPLEX_DOUBLE /* 2 x 8 bytes, real part first */
} osla_dtype;

typedef enum osla_uplo {
  OSLA_LOWER,
  OSLA_UPPER,
  OSLA_GENERAL /* the whole matrix; only where a call says so */
} osla_uplo;
typedef enum osla_trans {
  OSLA_NOTRANS,
  OSLA_TRANS,
  OSLA_CONJTRANS /* for real types the same as OSLA_TRANS */
} osla_trans;
typedef enum osla_diag { OSLA_NONUNIT, OSLA_UNIT } osla_diag;
typedef enum osla_side { OSLA_LEFT, OSLA_RIGHT } osla_side;

/* Options (osla_..._options). {0} is the default of every one, in every call that takes one, and so
 * is NULL (osla_diffusion_options alone needs its points). A member that is 0 means what its
 * comment says; where a number may also be asked to be none at all, that is -1. The last words of
 * each struct are `reserved`: later versions make members of them, of which 0 means what this
 * version does. So a program runs with newer libraries without being compiled again. What is not 0
 * there is refused (ARG), on all ranks together where the call is collective. Set members by name:
 * their order is not promised. */

/* One order of arguments. Calls with names of the BLAS, LAPACK and their like: side, uplo, trans,
 * diag; factor and operands, as they stand in the formula; options; what is reported (info,
 * result). In osla_OBJECT_VERB the object comes first, in makers what it is made on, then type and
 * sizes; what is returned is last. (osla_matrix_add, _scale and _transpose are formulas.) */

/* "The same on all ranks". Collective calls on matrices, and those of the kernels, compare words
 * (such as these above), numbers, sizes and options that must be the same. If they differ the call
 * fails on all ranks (ARG), and the text has the argument's name, its value on rank 0 and on the
 * lowest rank that has another. Not compared are arrays, functions, and options that steer only the
 * rank itself. */

/* A factor of any type. For real ones there is no second form of a call: a double, a float or an
 * int converts by itself, in C and in C++ (osla_gemm(..., 1.0, a, b, 0.5, c, NULL)), and real types
 * take the real part. What is real by its definition is a double (the factors of osla_herk). */
#ifdef __cplusplus
__extension__
#endif
  typedef double _Complex osla_complex;

/* Bytes of one element. */
static inline size_t osla_dtype_size(osla_dtype dtype)
{
  static const size_t size[] = {4, 8, 8, 16};
  return size[dtype];
}

/* The letter that BLAS uses for the type: 's', 'd', 'c', 'z'. */
static inline char osla_dtype_letter(osla_dtype dtype)
{
  return "sdcz"[dtype];
}

#ifdef __cplusplus
}
#endif
#endif
