/* Includes <complex.h>, and defines CMPLX for clang, for which glibc does not define it. */
#ifndef OSLA_COMPLEX_HELP_H
#define OSLA_COMPLEX_HELP_H

#include <complex.h>

#ifndef CMPLX
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif
#ifndef CMPLXF
#define CMPLXF(re, im) __builtin_complex((float)(re), (float)(im))
#endif

#endif
