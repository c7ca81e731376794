/* Star forests: what the implementations of their cases share (floor 4).
 *
 *   bench_forest.c           the kernel: cases, runs, checks
 *   forest_graph.c           who is joined to whom, the values that are due
 *   forest_osla.c            ours, and the limits of local memory
 *   forest_reference_mpi.c   persistent sends and receives
 *   forest_neighbor.c        neighbourhood collectives
 *   bench_sparse.h           sparse matrices, which stand on them
 *   bench_migrate.c          a mesh that moves (mesh_migrate.h)
 *   bench_setup.c            making a forest (bench_setup.h)
 */
#ifndef OSLA_BENCH_FOREST_H
#define OSLA_BENCH_FOREST_H

#include "bench/bench.h"

typedef enum forest_case {
  FOREST_PINGPONG, /* bcast REPLACE, then reduce REPLACE */
  FOREST_GATHER,   /* bcast REPLACE */
  FOREST_REDUCE,   /* reduce SUM */
  FOREST_FETCH,    /* fetch SUM */
  FOREST_HALO,     /* bcast REPLACE, of the ends of two other ranks' roots */
  FOREST_SPMV,     /* this and the next: bench_sparse.h */
  FOREST_CG,
  FOREST_MIGRATE, /* bench_migrate.c */
  FOREST_SETUP,   /* bench_setup.c */
  FOREST_CASES
} forest_case;

/* A vertex's: a count in FETCH, else a number. All are integers, so that sums are exact. */
typedef union forest_value {
  double number;
  int64_t count;
} forest_value;

/* Vertices of mine that are joined to other ranks' vertices, rank by rank, ascending; on both sides
 * in the order of the leaves. */
typedef struct forest_list {
  int n_peers;
  int *peer;  /* [n_peers] their ranks; one allocation for all */
  int *count; /* [n_peers] */
  int *start; /* [n_peers + 1] into index */
  int *index; /* of my vertices */
} forest_list;

/* Sets the peers of a list: every rank but this one with count[rank] > 0 vertices; `count` has an
 * element for each rank. The caller fills in `index`, and frees `peer`. Collective. Errors, on all
 * ranks together: MEM. */
osla_err forest_list_create(bench_job *job, const int *count, forest_list *l);

/* Leaf i of a rank is its i-th. */
typedef struct forest_graph {
  bench_job *job;
  forest_case which;
  int leaf_rank;             /* of PINGPONG; its roots are on rank 0 */
  int64_t n;                 /* roots of each rank that has any, leaves of each that has any */
  int64_t n_roots, n_edges;  /* mine */
  int64_t *root;             /* [n_edges] what each leaf is joined to: rank * n + index */
  forest_list leaves, roots; /* mine; without those that are joined on this rank: */
  int64_t n_own;             /* leaf own_leaf[i] to root own_root[i] */
  int *own_leaf, *own_root;  /* [n_own] */
  bool contiguous;           /* lists are vertices 0, 1, ... */
  int64_t *total;            /* [size * n] of all leaves of a root; REDUCE, FETCH */
  int64_t *before;           /* [size * n] and */
  int *turn;                 /* [size * size] scratch of checks */
} forest_graph;

/* Collective. Errors, on all ranks together: MEM. */
osla_err forest_graph_create(bench_job *job, forest_case which, int64_t n, int leaf_rank,
                             forest_graph *g);
void forest_graph_free(forest_graph *g);

struct forest_way;

/* One implementation with its data. */
typedef struct forest_data {
  forest_graph *graph;
  const struct forest_way *way;
  forest_value *roots, *leaves, *before; /* before: of FETCH */
  int64_t first_root, n_roots;           /* roots[0] is root number first_root of all */
  int *turn;        /* [size] of FETCH: when the leaves of each rank came to my roots, from 0 */
  bool in_no_order; /* FETCH: turns are not known */
  int iterations;   /* of a run, the same on all ranks */
  void *own;        /* what the way needs beside */
} forest_data;

/* How an implementation transfers; what it has not is NULL. All are collective. */
typedef struct forest_way {
  osla_err (*create)(forest_data *d); /* values and own; may count on its destroy */
  osla_err (*bcast)(forest_data *d);
  osla_err (*reduce)(forest_data *d);
  osla_err (*fetch)(forest_data *d);
  void (*destroy)(forest_data *d);
} forest_way;

/* A mesh of about n cells moves from where it may lie at first. Collective. */
osla_err bench_migrate_case(bench_job *job, int64_t n);

/* Forests of n edges of each rank are made. Collective. */
osla_err bench_setup_case(bench_job *job, int64_t n);

/* forest_osla.c */
extern const forest_way forest_osla, forest_memcpy, forest_loop;
extern const forest_way forest_mpi;      /* forest_reference_mpi.c */
extern const forest_way forest_neighbor; /* forest_neighbor.c */

/* Values in memory of malloc, as many as the graph has on this rank. Collective. Errors: MEM. */
osla_err forest_values_create(forest_data *d);
void forest_values_free(forest_data *d);

/* Sets the values as they are before the first transfer. Local. */
void forest_values_set(forest_data *d);

/* Are the values what `iterations` transfers leave, bit by bit? Collective; the same on all. */
osla_err forest_values_check(forest_data *d, bool *right);

/* --- loops of those that pack by hand ---
 *
 * Buffers are in the order of the list, and hold its vertices [from, to). */
static inline void forest_pack(const forest_list *l, int from, int to,
                               const forest_value *restrict values, forest_value *restrict buffer)
{
  for (int k = from; k < to; k++)
    buffer[k] = values[l->index[k]];
}

static inline void forest_unpack(const forest_list *l, int from, int to,
                                 const forest_value *restrict buffer, forest_value *restrict values)
{
  for (int k = from; k < to; k++)
    values[l->index[k]] = buffer[k];
}

static inline void forest_add(const forest_list *l, int from, int to,
                              const forest_value *restrict buffer, forest_value *restrict values)
{
  for (int k = from; k < to; k++)
    values[l->index[k]].number += buffer[k].number;
}

/* The buffer then holds the values before. */
static inline void forest_fetch_add(const forest_list *l, int from, int to,
                                    forest_value *restrict buffer, forest_value *restrict values)
{
  for (int k = from; k < to; k++) {
    int64_t before = values[l->index[k]].count;
    values[l->index[k]].count = before + buffer[k].count;
    buffer[k].count = before;
  }
}

/* The edges on this rank. */
static inline void forest_own_bcast(forest_data *d)
{
  const forest_graph *g = d->graph;
  for (int64_t i = 0; i < g->n_own; i++)
    d->leaves[g->own_leaf[i]] = d->roots[g->own_root[i]];
}

static inline void forest_own_reduce(forest_data *d)
{
  const forest_graph *g = d->graph;
  for (int64_t i = 0; i < g->n_own; i++)
    d->roots[g->own_root[i]].number += d->leaves[g->own_leaf[i]].number;
}

static inline void forest_own_fetch(forest_data *d)
{
  const forest_graph *g = d->graph;
  for (int64_t i = 0; i < g->n_own; i++) {
    d->before[g->own_leaf[i]] = d->roots[g->own_root[i]];
    d->roots[g->own_root[i]].count += d->leaves[g->own_leaf[i]].count;
  }
}

#endif
