/* The matrix to which an accumulator adds (internal). */
#ifndef OSLA_HESSIAN_TARGET_H
#define OSLA_HESSIAN_TARGET_H

#include "osla_hessian.h"

/* Makes a matrix with the order, type, block size and layout of H on a grid. Collective. Errors:
 * those of osla_matrix_create and osla_matrix_create_triangle. */
osla_err osli_target_create(const osla_hessian *hessian, osla_grid *grid, osla_matrix **out);

/* Checks that an accumulator can add to a matrix of the caller, and sets the options nb, single
 * and triangle to the properties of the matrix. Local. Errors: ARG (the matrix or its blocks are
 * not square; options contradict the matrix; the memory is mapped read-only), UNSUPPORTED (the
 * matrix is complex; those of osli_target_check_device). */
osla_err osli_target_check(const osla_matrix *matrix, osla_hessian_options *options);

/* Registers h->matrix as the target of h, so that no second accumulator on the same memory is
 * created. osli_target_release accepts an accumulator without a registered target. Local. Errors:
 * STATE (another accumulator of this process adds to the same memory). */
osla_err osli_target_claim(osla_hessian *h);
void osli_target_release(osla_hessian *h);

/* *hidden: true if some rank cannot access the part of another rank of its node, so that only
 * owners can add to their parts. The result is the same on all ranks. Collective. */
osla_err osli_target_is_hidden(const osla_hessian *h, bool *hidden);

/* Sets `count` elements of a column to a value. Local. */
void osli_fill_column(osla_dtype dtype, int64_t count, void *column, double value);

/* Sets the stored triangle of the caller's matrix, or all of the accumulator's own matrix, to the
 * initial value. Collective, with a barrier at the end. */
osla_err osli_target_fill(osla_hessian *h);

#endif
