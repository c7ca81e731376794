/* What the files of splittings share. */
#ifndef SPLITTING_H
#define SPLITTING_H

#include "osla_krylov.h"
#include "osla_splitting.h"

/* The part of a row's entries, in columns of a state: own ones first, then ghosts. */
typedef struct split_rows {
  int64_t n, *first; /* [n + 1] */
  int32_t *column;
  double *value;
  int longest; /* row of all ranks: its entries */
} split_rows;

struct osla_splitting {
  osla_csr *a;
  const double *b;
  split_rows rows;
  int64_t n_ghosts;
  double *inverse;     /* [n] of the diagonal; NULL: */
  osla_jacobi *blocks; /* are factored */
  osla_preconditioner apply;
  double *residual, *step; /* [n] */
  int n_halos;
  osla_halo *halos;
  int32_t **sent;    /* [n_halos] own columns that the peer needs, in its order */
  int64_t *received; /* [n_halos] where the peer's begin among the ghosts */
  int32_t *memory;   /* of `sent` */
};

/* Halos of the ghosts (splitting_halos.c): `ghost` [n_ghosts] global columns, ascending.
 * Collective. Errors, on all ranks together: MEM, MPI. */
osla_err osla_splitting_find_halos(osla_splitting *s, const int64_t *ghost);

#endif
