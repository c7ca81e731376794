/* Star forests: data shared by the implementations of the cases. README.md lists the files. */
#ifndef OSLA_BENCH_FOREST_H
#define OSLA_BENCH_FOREST_H

#include "bench/bench.h"

typedef enum forest_case {
  FOREST_PINGPONG, /* round trip between two ranks: bcast with REPLACE, then reduce with REPLACE */
  FOREST_GATHER,   /* bcast with REPLACE */
  FOREST_REDUCE,   /* reduce with SUM */
  FOREST_FETCH,    /* fetch with SUM */
  /* bcast with REPLACE; the leaves get the last roots of the previous rank and the first roots of
   * the next rank */
  FOREST_HALO,
  FOREST_SPMV,    /* product with a sparse matrix (bench_sparse.c) */
  FOREST_CG,      /* iterations of CG (bench_sparse.c) */
  FOREST_MIGRATE, /* migration: a mesh changes its distribution (bench_migrate.c) */
  FOREST_SETUP,   /* creation of a forest (bench_setup.c) */
  FOREST_SPMM,    /* product A P of two sparse matrices (bench_spmm.c) */
  FOREST_PTAP,    /* product P^T A P of sparse matrices (bench_spmm.c) */
  FOREST_CASES
} forest_case;

/* Value of a vertex: the integer `count` in the case FETCH, and otherwise `number`, a double with
 * an integral value, so that sums are exact. */
typedef union forest_value {
  double number;
  int64_t count;
} forest_value;

/* List of this rank's leaves, or of this rank's roots, that have an edge to another rank. There is
 * one entry for each edge. Entries are sorted by the rank at the other end of the edge, then by the
 * leaf of the edge, so that both ranks of a pair list their common edges in equal order. */
typedef struct forest_list {
  int n_peers; /* number of other ranks that share edges with this rank */
  /* [n_peers] ranks that share edges with this rank; the allocation that begins at `peer` also
   * holds the arrays count, start and index */
  int *peer;
  int *count; /* [n_peers] number of edges to each peer */
  int *start; /* [n_peers + 1] position in `index` where the vertices of each peer begin */
  int *index; /* [start[n_peers]] indices of this rank's vertices, sorted by the ranks in `peer` */
} forest_list;

/* Sets the peers of a list: every rank but this one with count[rank] > 0 vertices; `count` has an
 * element for each rank. The caller fills in `index`, and frees `peer`. Collective. Errors, on all
 * ranks together: MEM. */
osla_err forest_list_create(bench_job *job, const int *count, forest_list *l);

/* Edges of a case. Leaf i of a rank belongs to its edge i. */
typedef struct forest_graph {
  bench_job *job;
  forest_case which;
  int leaf_rank; /* PINGPONG: rank that has the leaves; rank 0 has the roots */
  /* number of roots on each rank that has roots, and of leaves on each rank that has leaves */
  int64_t n;
  int64_t n_roots;    /* number of roots of this rank */
  int64_t n_edges;    /* number of edges, and so of leaves, of this rank */
  int64_t *root;      /* [n_edges] root of each leaf: rank of the root * n + index of the root */
  forest_list leaves; /* this rank's leaves that have edges to other ranks */
  forest_list roots;  /* this rank's roots that have edges to other ranks */
  int64_t n_own;      /* number of edges whose ends are both on this rank */
  int *own_leaf;      /* [n_own] leaf of each edge whose ends are both on this rank */
  int *own_root;      /* [n_own] root of each edge whose ends are both on this rank */
  /* true if both lists hold the vertices 0, 1, ..., so that values need no packing */
  bool contiguous;
  int64_t *total; /* REDUCE, FETCH: [size * n] sum of the leaves of each root */
  /* FETCH: [size * n] for each root, the sum of the leaves that were added before this rank's
   * leaves */
  int64_t *before;
  int *arrival; /* FETCH: [size * size] arrival orders of all ranks, for the check */
} forest_graph;

/* Creates the edges of a case. Collective. Errors, on all ranks together: MEM. */
osla_err forest_graph_create(bench_job *job, forest_case which, int64_t n, int leaf_rank,
                             forest_graph *g);
void forest_graph_free(forest_graph *g);

struct forest_method;

/* Values and state of one implementation of a case. */
typedef struct forest_data {
  forest_graph *graph;
  const struct forest_method *method;
  forest_value *roots;     /* [n_roots] values of the roots in host memory */
  forest_value *leaves;    /* [n_edges] values of the leaves in host memory */
  forest_value *before;    /* FETCH: [n_edges] values that the roots had before leaves were added */
  int64_t first_root;      /* number among all roots of the root whose value is roots[0] */
  int64_t n_roots;         /* number of elements of `roots` */
  bool roots_on_device;    /* true if transfers use roots on the device */
  bool leaves_on_device;   /* true if transfers use leaves on the device */
  forest_value *roots_on;  /* [n_roots] values of the roots on the device, or NULL */
  forest_value *leaves_on; /* [n_edges] values of the leaves on the device, or NULL */
  forest_value *before_on; /* [n_edges] values like `before` on the device, or NULL */
  osla_segment *segment;   /* --plain: memory of the arrays on the device, or NULL */
  bool pinned;             /* true if the values in host memory are pinned for the device */
  /* FETCH: [size] position, from 0, of each rank's leaves in the order in which they reached
   * this rank's roots */
  int *arrival;
  bool in_no_order; /* FETCH: true if the order is unknown; `arrival` is not used then */
  bool adds_one;    /* PINGPONG: true if each round adds 1 to the first leaf */
  bool failed;      /* true if the rounds before the timing gave wrong values */
  int iterations;   /* number of transfers in a run, the same on all ranks */
  void *own;        /* data that only this implementation has, such as buffers and communicators */
} forest_data;

/* Functions of an implementation; NULL if it lacks the operation. All are collective. */
typedef struct forest_method {
  /* Allocates the values and the member `own`. destroy must be called, also after an error. */
  osla_err (*create)(forest_data *d);
  osla_err (*bcast)(forest_data *d);
  osla_err (*reduce)(forest_data *d);
  osla_err (*fetch)(forest_data *d);
  void (*destroy)(forest_data *d);
} forest_method;

/* Runs the case migrate with a mesh of about n cells. Collective. */
osla_err bench_migrate_case(bench_job *job, int64_t n);

/* Runs the case setup with n edges on each rank. Collective. */
osla_err bench_setup_case(bench_job *job, int64_t n);

/* Runs the case ptap if `ptap` is true, otherwise the case spmm, with a matrix A of about n rows.
 * Collective. */
osla_err bench_spmm_case(bench_job *job, bool ptap, int64_t n);

extern const forest_method forest_osla;     /* OSLA (forest_osla.c) */
extern const forest_method forest_memcpy;   /* limit: a copy of memory (forest_osla.c) */
extern const forest_method forest_loop;     /* limit: a loop over local memory (forest_osla.c) */
extern const forest_method forest_mpi;      /* two-sided messages (forest_reference_mpi.c) */
extern const forest_method forest_neighbor; /* neighbourhood collectives (forest_neighbor.c) */
/* values on a device: two-sided messages of copies in host memory (forest_staged.c) */
extern const forest_method forest_staged;
/* values on a device: limit, a copy within the device (forest_staged.c) */
extern const forest_method forest_copy;

/* Allocates the values of this rank's vertices by malloc. Collective. Errors: MEM. */
osla_err forest_values_create(forest_data *d);
void forest_values_free(forest_data *d);

/* Sets all values to those that they have before the first transfer, in host memory and on the
 * device. Local. */
void forest_values_set(forest_data *d);

/* Allocates roots_on if roots_on_device is true, and leaves_on and before_on if leaves_on_device is
 * true. Collective. Errors, on all ranks together: those of osla_vertices_create_on and
 * osla_segment_create_on. forest_device_free must be called, also after an error. */
osla_err forest_device_create(forest_data *d);
void forest_device_free(forest_data *d);

enum { FOREST_ROOTS = 1, FOREST_LEAVES = 2, FOREST_BEFORE = 4, FOREST_ALL = 7 };

/* forest_device_put copies values from host memory to the device, and forest_device_get from the
 * device to host memory. `arrays` is a sum of FOREST_ROOTS, FOREST_LEAVES and FOREST_BEFORE. Arrays
 * that are not on the device are left out. forest_device_complete, or the next
 * collective call, returns an error of a copy. Local. */
void forest_device_put(const forest_data *d, unsigned arrays);
void forest_device_get(const forest_data *d, unsigned arrays);

/* Waits until the device has completed the transfers of this rank. Does nothing without a device.
 * Local. Errors: those of the device's work. */
osla_err forest_device_complete(void);

/* *right := true if the values have exactly the bits that `iterations` transfers give. Collective;
 * all ranks get the same. */
osla_err forest_values_check(forest_data *d, bool *right);

/* --- loops of the implementations that pack by hand ---
 *
 * The elements of a buffer have the order of the list of vertices. `from` and `to` bound the range
 * of elements. */
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

/* Adds the elements of the buffer to the values; the buffer then holds the values as they were
 * before the addition. */
static inline void forest_fetch_add(const forest_list *l, int from, int to,
                                    forest_value *restrict buffer, forest_value *restrict values)
{
  for (int k = from; k < to; k++) {
    int64_t before = values[l->index[k]].count;
    values[l->index[k]].count = before + buffer[k].count;
    buffer[k].count = before;
  }
}

/* Transfers along the edges whose ends are both on this rank. */
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
