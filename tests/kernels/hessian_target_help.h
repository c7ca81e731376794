/* Helpers for tests of osla_hessian_create_on: matrices made by each call of osla_matrix.h, and
 * their comparison with a serial sum. */
#ifndef HESSIAN_TARGET_HELP_H
#define HESSIAN_TARGET_HELP_H

#include "tests/hessian_reference.h"

/* TRIANGLE: osla_matrix_create_triangle */
typedef enum made_by { CREATE, CREATE_IN, WRAP, WRAP_OWN, TRIANGLE, MADE_BY_KINDS } made_by;

/* A matrix and the memory that it needs. */
typedef struct target {
  made_by kind;
  osla_matrix *matrix;
  osla_segment *segment;
  unsigned char *memory; /* memory of the caller; NULL if the matrix has its own memory */
} target;

/* Makes an n x n matrix. Collective. */
target target_make(osla_grid *grid, made_by kind, osla_dtype dtype, int64_t n, int64_t nb);
void target_free(target *a);

/* Fills the matrix, and sets the sum to the elements from which an accumulator starts: the contents
 * of the matrix, or, with `clear`, `initial` in the stored triangle. Collective. */
void target_fill(const target *a, serial_sum *sum, bool clear, double initial);

/* Commits, and asserts that the matrix and the gradient equal the sum exactly, and that memory
 * between the columns of a local array has not changed. Collective. */
void target_assert(const target *a, const serial_sum *sum, osla_hessian *h, const char *when);

#endif
