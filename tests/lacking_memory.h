/* A call on whose last rank one allocation fails. Programs that use it are linked with --wrap of
 * malloc, calloc and realloc (tests/Makefile.mk). */
#ifndef LACKING_MEMORY_H
#define LACKING_MEMORY_H

#include "osla_error.h"

/* call(arg), where on the last rank allocation `number` from here on fails. Collective. Asserts
 * that all ranks return the same code, OK or MEM, and the same text. hit [out] it came to that
 * allocation; the same on all ranks */
osla_err lacking_memory(int number, osla_err (*call)(void *arg), void *arg, int *hit);

#endif
