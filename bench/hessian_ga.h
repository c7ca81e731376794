/* Array, buffers and updates of the reference implementations `ga-scatter`, `ga-patch` and
 * `ga-vector` of the assembly. For builds with Global Arrays. */
#ifndef OSLA_BENCH_HESSIAN_GA_H
#define OSLA_BENCH_HESSIAN_GA_H

#include "bench/bench_hessian.h"

#include <armci.h>
#include <ga.h>

/* A call gets at most HESSIAN_GA_CALL elements or segments, because ARMCI-MPI 0.3.1 keeps its
 * address lists on the stack and crashes with a million of them. */
enum {
  HESSIAN_GA_CALL = 1 << 16,
  HESSIAN_GA_PATCHES = 64 /* largest number of patches that are in flight */
};

/* A run of consecutive rows or columns: indices [begin, end) of an update. */
typedef struct index_run {
  int64_t begin, end;
} index_run;

/* Rows and columns of the array that a rank owns, and the start of its memory on that rank. */
typedef struct ga_owner {
  int64_t row, rows, column, columns, ld;
  void *memory;
} ga_owner;

typedef struct hessian_ga_buffers {
  /* ga-scatter: indices (column, row) and values of the elements of the next call */
  int64_t (*pairs)[2];
  char *values;
  /* ga-vector: segments of the next call, in the order of the rows; then sorted by length */
  void **source, **target, **sorted_source, **sorted_target;
  int64_t *length;
  int64_t n_collected; /* number of collected elements or segments */
  ga_owner *owners;    /* [number of ranks] */
  /* [count] runs of an update; [count + 1] number of segments of each length, and a vector for
   * each */
  index_run *runs;
  int64_t *lengths;
  armci_giov_t *vectors;
  armci_hdl_t vector_handle; /* ga-vector: the latest call */
  bool in_flight;            /* true: the latest call has not been waited for */
  /* ga-patch: values of the blocks on the diagonal, where the other triangle is zero */
  char *diagonal;
  ga_nbhdl_t handles[HESSIAN_GA_PATCHES];
  int64_t n_patches; /* number of patches of the current update */
} hessian_ga_buffers;

/* Add update k of this rank in one of the three ways (hessian_ga_update.c). Local. */
osla_err hessian_ga_scatter(hessian_data *d, int64_t k, int thread);
osla_err hessian_ga_patch(hessian_data *d, int64_t k, int thread);
osla_err hessian_ga_vector(hessian_data *d, int64_t k, int thread);

#endif
