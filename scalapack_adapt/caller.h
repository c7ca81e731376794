/* What the two libraries of the drop-in for ScaLAPACK share (floor 4, internal).
 *
 * libosla_scalapack.so is what programs load: ScaLAPACK's names (names.c), and how to find what
 * stands behind them (library.c). It depends on nothing, so that a process without MPI does not
 * notice it. The calls go on to libosla_scalapack_kernels.so, which is loaded when the first one is
 * made in a process whose MPI is ours, and needs MPI and BLAS as any library does.
 */
#ifndef OSLA_ADAPT_CALLER_H
#define OSLA_ADAPT_CALLER_H

typedef void adapt_function(void);

/* What a routine's caller would have had without the drop-in. */
typedef struct adapt_caller {
  adapt_function *real;           /* the routine; never NULL */
  adapt_function *gridinfo, *get; /* blacs_gridinfo_, blacs_get_; NULL: not found */
} adapt_caller;

/* libosla_scalapack_kernels.so: notes, for this thread, who makes the call that comes next. */
typedef void adapt_caller_note(const adapt_caller *caller);
adapt_caller_note osla_adapt_caller_set;

/* --- library.c --- */

/* The function that does a call of the routine: that of libosla_scalapack_kernels.so, or the real
 * one. `from` is an address of the caller; one pointer for one symbol. Ends the program with a line
 * if there is no real one. Local. */
adapt_function *adapt_target(const char *symbol, const void *from);

#endif
