/* Helpers of the tests of star forests: graphs that every rank computes from a seed, arrays of
 * values in several kinds of memory, and trials, which compare a transfer with the result of a
 * serial program. Calls are local unless a comment says collective. */
#ifndef FOREST_MODEL_H
#define FOREST_MODEL_H

#include "osla_device.h"
#include "tests/kernels/model_value.h"
#include "tests/osla_test_help.h"

/* ---- graphs of star forests ---- */

typedef enum model_kind {
  /* edges to random ranks and roots, with shared roots, unused indices and unordered lists */
  MODEL_RANDOM,
  MODEL_EVEN,      /* three leaves for most roots; the leaves are on the ranks in turn */
  MODEL_ONE_ROOT,  /* one root with leaves on all ranks */
  MODEL_TO_FIRST,  /* all roots are on rank 0, leaves are on all ranks; the lists are ordered */
  MODEL_FROM_LAST, /* all roots are on the last rank, leaves are on all ranks */
  MODEL_GATHERED,  /* all leaves are on the last rank, roots are on all ranks */
  MODEL_RING,      /* leaves are a halo of roots of the two adjacent ranks, in ordered lists */
  /* leaves are a halo of roots of the two adjacent ranks, in descending lists; leaf indices begin
     after the last root index, as if roots and leaves were in one array */
  MODEL_GHOSTS,
  /* roots are the inside or a face of a box of vertices; leaves are such a box, or are in
     descending order */
  MODEL_BLOCKS,
  MODEL_SELF,      /* leaves joined to roots of their own rank */
  MODEL_SOME_IDLE, /* some ranks have no roots, some have no leaves */
  MODEL_NO_ROOTS,  /* no roots and no leaves */
  MODEL_NO_EDGES,  /* roots, but no leaves and no edges */
  MODEL_KINDS
} model_kind;

/* Roots and edges of one rank. */
typedef struct model_share {
  int64_t n_roots, n_edges, leaf_space;
  int64_t *leaf; /* [n_edges] */
  osla_root *root;
} model_share;

typedef struct model_graph {
  const char *name;
  int size;
  bool in_order; /* true if leaf[i] = i, so that NULL may be passed instead of the list */
  model_share *of;
} model_graph;

model_graph model_graph_make(model_kind kind, uint64_t seed);
void model_graph_free(model_graph *graph);
const model_share *model_mine(const model_graph *graph);

/* Creates the library's forest of a graph, and then overwrites the lists that were passed.
 * model_forest_global passes global root indices. Collective; ends all ranks on failure. */
osla_forest *model_forest(osla_transport *t, const model_graph *graph);
osla_forest *model_forest_global(osla_transport *t, const model_graph *graph);

/* ---- memory of values ---- */

/* Memory in which the arrays of trials are allocated. */
typedef struct model_memory {
  osla_transport *transport;
  void *vertices; /* from osla_vertices_create, or NULL if `bytes` belongs to the caller */
  char *bytes;
  size_t size, used;
  osla_device *device; /* device on which arrays lie; NULL if OSLA_TEST_VALUES is not set */
  void *on_device; /* `size` bytes of the device, from osla_vertices_create_on; NULL if no device */
} model_memory;

/* Allocates `bytes` bytes on this rank by osla_vertices_create. The environment variable
 * OSLA_TEST_VALUES puts arrays of trials that use this memory on a device: all arrays for "device",
 * and arrays that the seed and the rank choose for "mixed". Collective. */
model_memory model_memory_make(osla_transport *t, size_t bytes);
model_memory model_memory_over(void *bytes, size_t size);
/* Frees memory of model_memory_make, by a collective call. For memory of model_memory_over the call
 * is local and does nothing. */
void model_memory_free(model_memory *memory);

/* The arrays of a trial that lie in a model_memory; the other arrays are from malloc. */
enum {
  MODEL_PLAIN,
  MODEL_ROOTS_IN,
  MODEL_LEAVES_IN,
  MODEL_ALL_IN,
  MODEL_MIXED, /* which arrays lie in the memory differs by rank */
  MODEL_PLACES
};

/* An array of values at the vertices; the bytes around the vertices and in their gaps are known. */
typedef struct model_values {
  char *bytes;  /* memory of the array */
  char *copy;   /* copy of the memory in host memory, made when the array was filled */
  size_t size;  /* number of bytes of the memory */
  size_t first; /* offset of vertex 0 in bytes */
  int64_t n;
  bool mine;    /* true if model_drop frees `bytes`, which are from malloc or a device */
  char *queued; /* device memory from which queued work fills `bytes`; NULL for host memory */
} model_values;

/* Address of vertex 0, to be passed to the library; NULL if there are no vertices. */
void *model_first(const model_values *values);

/* ---- trials: one transfer and its check ---- */

typedef enum model_op { MODEL_BCAST, MODEL_REDUCE, MODEL_FETCH, MODEL_OPS } model_op;

typedef struct model_trial {
  /* members that the test sets: */
  const model_graph *graph;
  osla_forest *forest;
  model_op op;
  osla_unit unit;
  osla_forest_combine combine;
  int place;
  uint64_t seed;
  /* members that the functions below set: */
  uint64_t roots_seed, leaves_seed;
  model_values roots, leaves, before;
  bool borrowed; /* true if the array that the transfer reads belongs to another trial */
  bool spoiled;  /* true if the test has overwritten the array that the transfer reads */
  osla_forest_run run;
} model_trial;

/* Allocates and fills the arrays of a trial. model_fill_from takes the array that the transfer
 * reads from another trial with equal operation, unit and combination. */
void model_fill(model_trial *trial, model_memory *memory);
void model_fill_from(model_trial *trial, model_memory *memory, const model_trial *other);
osla_err model_begin(model_trial *trial);
/* begins the transfer; ends all ranks on failure, since other ranks would wait */
void model_start(model_trial *trial);
osla_err model_transfer(model_trial *trial); /* begins and ends the transfer of a trial */

/* model_check returns true if the transfer wrote the values of the serial program, and if the bytes
 * around these values and all values that the transfer read are unchanged. model_spoil overwrites
 * the values that the transfer reads. */
bool model_check(const model_trial *trial);
void model_spoil(model_trial *trial);
void model_drop(model_trial *trial);
/* checks each of the n trials and frees its arrays */
void model_check_all(model_trial *trials, int n);

/* Fills a trial, makes its transfer by a begin and an end or by one call, checks it, and frees its
 * arrays. */
void model_run(model_trial trial, model_memory *memory);

/* A transport, a graph from seed 3, its forest, and memory of `bytes` bytes. Both model_case_open
 * and model_case_close are collective; model_case_close destroys all of them. */
typedef struct model_case {
  osla_transport *t;
  model_graph g;
  osla_forest *forest;
  model_memory memory;
} model_case;

model_case model_case_open(model_kind kind, size_t bytes);
model_case model_case_on(osla_transport *t, model_kind kind, size_t bytes);
void model_case_close(model_case *c);

/* A trial whose unit is two int64 in 24 bytes, combined by a sum or a replacement as the seed
 * chooses. */
model_trial model_case_trial(const model_case *c, model_op op, int place, uint64_t seed);

/* Sleeps for a random time of up to 1.5 ms, or not at all. The time is different on each rank. */
void model_nap(uint64_t seed, uint64_t i);

#endif
