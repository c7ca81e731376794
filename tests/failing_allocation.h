/* Makes a call in which one allocation fails on the last rank. Programs that use this file are
 * linked with --wrap of malloc, calloc and realloc (tests/Makefile.mk). */
#ifndef FAILING_ALLOCATION_H
#define FAILING_ALLOCATION_H

#include "osla_error.h"

/* Makes call(arg). On the last rank the allocation `number`, counted from the start of the call,
 * fails. Asserts that all ranks return the same code, OSLA_OK or OSLA_ERR_MEM, and the same text.
 * hit [out]: 1 on all ranks if the call made at least that many allocations. Collective. */
osla_err call_with_failing_allocation(int number, osla_err (*call)(void *arg), void *arg, int *hit);

#endif
