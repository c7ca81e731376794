/* Single elements of a matrix in the memory of this rank, for full and for triangular matrices of
 * type float or double, and the memory of triangular matrices (layer 4). All functions are local and do not communicate. */
#ifndef OSLA_LOCAL_ELEMENTS_H
#define OSLA_LOCAL_ELEMENTS_H

#include "osla.h"

/* Bytes of the largest local array that any rank has of a triangular matrix of order layout->n in
 * blocks of layout->nb x layout->nb. UINT64_MAX if n * n exceeds 63 bits. */
uint64_t local_triangle_bytes(const osla_layout *layout, osla_dtype dtype);

/* Returns the index of element (i, j) in the local array of this rank. Returns -1 if another rank
 * owns the element, or if it lies in a block above the diagonal of a triangular matrix, so that no
 * rank stores it. */
int64_t local_element_index(const osla_matrix *a, int64_t i, int64_t j);

/* Returns the index that local row 0 of column j has in the local array of this rank, which may be
 * negative: a stored element in local row r of the column has the index plus r. The process column
 * of this rank must own column j. */
int64_t local_column_index(const osla_matrix *a, int64_t j);

/* Returns the element with an index of local_element_index, converted to double. */
double local_element_get(const osla_matrix *a, int64_t index);

/* Sets the element with an index of local_element_index, converted to the type of the matrix. */
void local_element_set(const osla_matrix *a, int64_t index, double value);

/* Returns the number i + j n of the first element (i, j), by columns, of those that this rank owns
 * in the triangle `uplo` of a matrix of order n, that is not finite; n^2: all elements are finite.
 */
int64_t local_elements_find_infinite(const osla_matrix *a, osla_uplo uplo);

#endif
