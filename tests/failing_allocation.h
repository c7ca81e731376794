/* Makes a call in which one allocation fails on the last rank. Programs that use it are linked with
 * --wrap of malloc, calloc and realloc (tests/Makefile.mk). */
#ifndef FAILING_ALLOCATION_H
#define FAILING_ALLOCATION_H

#include "osla_error.h"

/* Makes call(arg), in which the last rank's allocation `number`, counted from the start of the
 * call, fails. Collective. Asserts that all ranks return the same code, OK or MEM, and the same
 * text. hit [out] 1 if the call made that many allocations; the same on all ranks */
osla_err call_with_failing_allocation(int number, osla_err (*call)(void *arg), void *arg, int *hit);

#endif
