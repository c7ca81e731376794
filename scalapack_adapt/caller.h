/* Interface between the two libraries of the drop-in for ScaLAPACK (internal).
 *
 * Programs load libosla_scalapack.so. It has ScaLAPACK's names (names.c), and finds the functions
 * behind them (library.c). It depends on no other library, so that it has no effect in a process
 * without MPI. Calls go on to libosla_scalapack_kernels.so, which needs MPI and BLAS, and is
 * loaded by the first call in a process that uses the same MPI. */
#ifndef OSLA_ADAPT_CALLER_H
#define OSLA_ADAPT_CALLER_H

typedef void adapt_function(void);

/* The functions that the caller of a routine would use if the drop-in were not loaded. */
typedef struct adapt_caller {
  adapt_function *real;           /* the real ScaLAPACK routine; never NULL */
  adapt_function *gridinfo, *get; /* functions blacs_gridinfo_ and blacs_get_; NULL if not found */
} adapt_caller;

/* Type of a function of libosla_scalapack_kernels.so that sets the caller of this thread's next
 * call. */
typedef void adapt_caller_note(const adapt_caller *caller);
adapt_caller_note osla_adapt_caller_set;

/* --- library.c --- */

/* Returns the function that handles a call of the routine: a function of
 * libosla_scalapack_kernels.so, or the real routine. `from` is an address in the calling code. All
 * calls of one routine must pass the same pointer `symbol`. Ends the program with a message if
 * there is no real routine. Local. */
adapt_function *adapt_target(const char *symbol, const void *from);

#endif
