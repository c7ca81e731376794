/* Building blocks of products of sparse matrices (private): copies of rows of other ranks, and
 * products of the rows on one rank. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "kernels/sparse/csr.h"

/* ---- row_copies.c ---- */

/* Copies of sparse rows that other ranks own. An owner lists the rows that other ranks copy. The
 * values of the copies can be copied again. */
typedef struct row_copies {
  osla_forest *forest; /* roots: entries of listed rows; leaves: entries of the copies */
  double *listed;      /* [n_listed] values of the rows that other ranks copy from this rank; ranks
                          of the node read this memory */
  int64_t n_listed;
  int64_t n;      /* number of copies */
  int64_t *first; /* [n + 1] copy i has the entries first[i] .. first[i + 1] - 1 */
  double *value;  /* [first[n]] values of the copies */
} row_copies;

/* Creates copies of rows without their values. Collective. After an error osli_row_copies_destroy
 * frees what was allocated. Errors, on all ranks together: MEM, MPI, and the errors of
 * osla_forest_sections.
 *   rows          [in]  star forest: root i is row i of this rank, leaf j is copy j on this rank
 *   listed_first  [in]  [roots + 1] offset in listed_column of the entries of each row of this rank
 *   listed_column [in]  [listed_first[roots]] global columns of the entries
 *   column        [out] [first[n]] global columns of the copies; owned by the caller, also after an
 *                       error */
osla_err osli_row_copies_create(osla_forest *rows, const int64_t *listed_first,
                                const int64_t *listed_column, int64_t **column, row_copies *out);

/* Begin and end a transfer of the values of all copies from their owners. Before the begin, the
 * caller stores the values of the rows that other ranks copy in `listed`. Collective. Errors: those
 * of the transfers of forests. */
osla_err osli_row_copies_begin(row_copies *copies, osla_forest_run *run);
osla_err osli_row_copies_end(row_copies *copies, osla_forest_run *run);

/* Waits until other ranks have read `listed`. This rank may then overwrite `listed`. Local. */
osla_err osli_row_copies_writable(row_copies *copies);

/* Frees the copies. Collective. A call after an error continues where the error occurred. Errors,
 * on all ranks together: STATE (a transfer of any forest of the transport is in flight). */
osla_err osli_row_copies_destroy(osla_transport *transport, row_copies *copies);

/* ---- local_product.c ---- */

/* Product of the rows of a left and a right factor on this rank. Columns of the product have
 * numbers: 0 .. n_own - 1 are this rank's columns in order, and n_own + i is the global column
 * other_column[i]. The arrays of both factors are borrowed, except for right_far.column. */
typedef struct local_product {
  /* Left factor. `left`: entries that multiply the right factor's rows on this rank. left_far:
   * entries that multiply copied rows; only rows that have such entries, and left_far_row[i] is
   * the local index of row i of left_far. */
  csr_part left, left_far;
  const int32_t *left_far_row;
  /* Right factor. `right`: entries in this rank's columns. right_ghost: entries in ghost
   * columns; the column with ghost index g has the number ghost_number[g] in the product.
   * right_far: copies of rows of other ranks, with the column numbers of the product. */
  csr_part right, right_ghost, right_far;
  int32_t *right_ghost_at; /* [right.n] index in right_ghost of each row of `right`, or -1 */
  int64_t n_ghosts;
  int32_t *ghost_number; /* [n_ghosts] column numbers of the ghosts of the right factor */
  int64_t n_own, n_others;
  int64_t *other_column; /* [n_others] global columns of other ranks, ascending */
  /* The product. `own`: entries in this rank's columns. `other`: entries in other columns, whose
   * `column` is the index in other_column; only rows that have such entries, and other_row[i] is
   * the local index of row i of `other`. */
  csr_part own, other;
  int32_t *other_row;
  double *sum;   /* [n_own + n_others] accumulator for a row; all 0 when no row is being computed */
  bool is_moved; /* true if another object has become the owner of own, other, other_row and
                    other_column */
} local_product;

/* Sets the right factor, and numbers the columns of the product. Local. Errors: MEM, RANGE (2^31
 * columns).
 *   low, n_own   [in] first global column and number of columns of this rank
 *   own, ghost   [in] entries in this rank's columns, and in ghost columns
 *   ghost_row    [in] [ghost->n] local index of each row of `ghost`
 *   ghost_column [in] [n_ghosts] global column of each ghost, ascending
 *   copies       [in] copies of rows of other ranks; NULL: no copies
 *   far_column   [in] global column of each entry of `copies` */
osla_err osli_local_set_right(local_product *product, int64_t low, int64_t n_own,
                              const csr_part *own, const csr_part *ghost, const int32_t *ghost_row,
                              int64_t n_ghosts, const int64_t *ghost_column,
                              const row_copies *copies, const int64_t *far_column);

/* Symbolic phase: finds the row and column of each entry of the product. Columns of other ranks
 * in which the product has no entry lose their numbers. Local. Errors: MEM. */
osla_err osli_local_symbolic(local_product *product);

/* Numeric phase: computes the values of rows of the product; if `needs_copies`, of the rows that
 * need copies of rows of other ranks, otherwise of all other rows. Local. */
void osli_local_numeric(const local_product *product, bool needs_copies);

/* Frees the memory of the product. If is_moved is true, the entries remain with their new owner.
 * Local. */
void osli_local_free(local_product *product);

/* ---- plans (multiply.c, galerkin.c) ---- */

/* Data with which a rank computes the values of a product A B or P^T A P again. For P^T A P,
 * read P for B. */
struct csr_plan {
  csr_pattern *a, *b;             /* patterns of the factors A and B */
  int64_t n_listed_rows;          /* number of rows of B on this rank that other ranks need */
  int32_t *listed_row;            /* [n_listed_rows] local indices of the needed rows, ascending */
  row_copies far;                 /* copies of rows of B of other ranks, one for each ghost of A */
  local_product product;          /* this rank's rows of A B */
  struct galerkin_plan *galerkin; /* data for P^T (A P) after A P; NULL for a product A B */
};

/* Computes this rank's rows of A B in plan->product: entries and values. Before the call all
 * members of the plan but `galerkin` are 0. The caller destroys the plan, also after an error.
 * Collective. Errors, on all ranks together: MEM, MPI, RANGE. */
osla_err osli_plan_multiply(osla_csr *a, osla_csr *b, csr_plan *plan);

/* Computes the values of plan->product again. Collective. Errors: those of the transfers of
 * forests. */
osla_err osli_plan_multiply_numeric(const osla_csr *b, csr_plan *plan);

/* Makes the sparse matrix `out` from a product. The matrix becomes the owner of the product's
 * entries and of the plan; osla_csr_destroy calls `destroy` for the plan. After an error the
 * entries are freed, and the plan still belongs to the caller. Collective. Errors: as
 * osla_csr_create. */
osla_err osli_plan_to_csr(osla_transport *transport, const int64_t *row_start,
                          const int64_t *column_start, local_product *product, csr_plan *plan,
                          csr_plan_destroy *destroy, osla_csr **out);

/* Destroys a plan whose member `galerkin` is NULL or already freed. Collective. Errors: as
 * csr_plan_destroy. */
osla_err osli_product_plan_destroy(osla_transport *transport, csr_plan **plan);

/* Checks that the columns of A are distributed like the rows of the right factor B. Error texts
 * begin with `call`, the name of the public function, and call the right factor by the name
 * `right`. Local. Errors: ARG. */
osla_err osli_check_factors(const char *call, const char *right, const osla_csr *a,
                            const osla_csr *b);

/* Checks that C was computed from the factors A and B, as A B or, if is_galerkin, as P^T A P
 * with P = B, and that it has no copy on a device. Error texts begin with `call`, the name of
 * the public function; `maker` is the public function that makes such a matrix. Local. Errors:
 * ARG. */
osla_err osli_check_plan(const char *call, const char *maker, const osla_csr *a, const osla_csr *b,
                         const osla_csr *c, bool is_galerkin);

#endif
