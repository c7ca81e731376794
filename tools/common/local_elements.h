/* Access to single elements in the memory of this rank, for full and for triangular matrices of
 * type float or double (layer 4). All functions are local and do not communicate. */
#ifndef OSLA_LOCAL_ELEMENTS_H
#define OSLA_LOCAL_ELEMENTS_H

#include "osla.h"

/* Returns the index of element (i, j) in the local array of this rank. Returns -1 if another rank
 * owns the element, or if no rank stores it, because it lies in a block above the diagonal of a
 * triangular matrix. */
int64_t local_element_index(const osla_matrix *a, int64_t i, int64_t j);

/* Returns the number to which a local row r is added to get the index, in the local array of this
 * rank, of the stored element in row r of column j. The number may be negative, because the first
 * rows of a triangular matrix may not be stored. This rank's process column must own column j. */
int64_t local_column_index(const osla_matrix *a, int64_t j);

/* Returns an element, converted to double. `index`: result of local_element_index, not -1. */
double local_element_get(const osla_matrix *a, int64_t index);

/* Sets an element to a value, which is converted to the type of the matrix. `index`: result of
 * local_element_index, not -1. */
void local_element_set(const osla_matrix *a, int64_t index, double value);

/* Searches the elements that this rank owns in the triangle `uplo` of a matrix of order n, column
 * by column. Returns i + j n for the first element (i, j) that is infinite or NaN, or n^2 if all
 * are finite. */
int64_t local_elements_find_infinite(const osla_matrix *a, osla_uplo uplo);

#endif
