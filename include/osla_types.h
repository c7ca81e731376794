/* Types of values that all layers use (layer 0).
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
  OSLA_COMPLEX_FLOAT, /* complex numbers in single precision: 2 x 4 bytes, real part first */
  OSLA_COMPLEX_DOUBLE /* complex numbers in double precision: 2 x 8 bytes, real part first */
} osla_dtype;

typedef enum osla_uplo {
  OSLA_LOWER,
  OSLA_UPPER,
  OSLA_GENERAL /* the whole matrix; allowed only where a call says so */
} osla_uplo;
typedef enum osla_trans {
  OSLA_NOTRANS,
  OSLA_TRANS,
  OSLA_CONJTRANS /* equals OSLA_TRANS for real types */
} osla_trans;
typedef enum osla_diag { OSLA_NONUNIT, OSLA_UNIT } osla_diag;
typedef enum osla_side { OSLA_LEFT, OSLA_RIGHT } osla_side;

/* Options (osla_..._options). {0} and NULL mean the defaults in every call that takes options,
 * except that osla_diffusion_options needs its points. A member that is 0 has the meaning that its
 * comment gives for 0; if a limit or feature with a number can be switched off, the number -1 does
 * so. The last words of each struct are `reserved`: later versions turn them into members, whose
 * value 0 means the behaviour of this version. Thus a program runs with newer libraries without
 * recompilation. A reserved word that is not 0 is refused (ARG), on all ranks together if the call
 * is collective. Set members by name, because their order may change. */

/* Order of arguments. Calls named after BLAS and LAPACK: side, uplo, trans, diag; then factors and
 * operands in the order of the formula; options; outputs (info, result). Calls named
 * osla_OBJECT_VERB: the object first, or in functions that create one the object on which it is
 * created, then type and sizes; outputs last. (osla_matrix_add, _scale and _transpose follow the
 * formula.) */

/* Meaning of "the same on all ranks" in the headers: collective calls on matrices, and those of the
 * kernels, compare their enumerators, numbers, sizes and options across ranks. If one differs, the
 * call fails on all ranks (ARG), and the error text has the argument's name, its value on rank 0,
 * and its value on the lowest rank that differs. Not compared are arrays, functions, and options
 * that affect only the calling rank. */

/* Scalar factor of any type. Real types need no second form of a call: a double, float or int
 * converts implicitly in C and in C++ (osla_gemm(..., 1.0, a, b, 0.5, c, NULL)), and calls on real
 * types use the real part. Factors that are real by definition have type double (those of
 * osla_herk). */
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
