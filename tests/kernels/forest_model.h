/* Help for the tests of star forests: graphs that every rank computes from a seed, values in memory
 * of all kinds, and trials, which compare a transfer with the result of a serial program. Calls are
 * local unless "collective" is said. */
#ifndef FOREST_MODEL_H
#define FOREST_MODEL_H

#include "tests/kernels/model_value.h"
#include "tests/osla_test_help.h"

/* ---- graphs ---- */

typedef enum model_kind {
  MODEL_RANDOM,    /* random ranks and roots, shared roots, gaps, unordered lists */
  MODEL_EVEN,      /* three leaves for most roots, on ranks in turn */
  MODEL_ONE_ROOT,  /* one root with leaves on all ranks */
  MODEL_TO_FIRST,  /* roots of rank 0, leaves on all ranks, ordered lists */
  MODEL_FROM_LAST, /* roots of the last rank, leaves on all ranks */
  MODEL_GATHERED,  /* all leaves on the last rank, roots on all ranks */
  MODEL_RING,      /* halos of the two adjacent ranks, ordered lists */
  MODEL_GHOSTS, /* halos of the two adjacent ranks, descending lists; leaf indices follow those of
                   the roots, as in one array */
  MODEL_BLOCKS, /* parts of a box of roots (its inside, a face); leaves in a box, and descending */
  MODEL_SELF,   /* leaves joined to roots of the same rank */
  MODEL_SOME_IDLE, /* some ranks have no roots, some no leaves */
  MODEL_NO_ROOTS,  /* neither roots nor leaves */
  MODEL_NO_EDGES,  /* roots, but no leaves */
  MODEL_KINDS
} model_kind;

/* The part of one rank. */
typedef struct model_share {
  int64_t n_roots, n_edges, leaf_space;
  int64_t *leaf; /* [n_edges] */
  osla_root *root;
} model_share;

typedef struct model_graph {
  const char *name;
  int size;
  bool in_order; /* leaf[i] = i: the list may be passed as NULL */
  model_share *of;
} model_graph;

model_graph model_graph_make(model_kind kind, uint64_t seed);
void model_graph_free(model_graph *graph);
const model_share *model_mine(const model_graph *graph);

/* Creates the library's forest of a graph (_global: from global indices), and spoils the lists that
 * were passed. Collective; ends all ranks on failure. */
osla_forest *model_forest(osla_transport *t, const model_graph *graph);
osla_forest *model_forest_global(osla_transport *t, const model_graph *graph);

/* ---- memory ---- */

/* Memory from which the arrays of trials are allocated. */
typedef struct model_memory {
  osla_transport *transport;
  void *vertices; /* from osla_vertices_create; NULL if the caller owns `bytes` */
  char *bytes;
  size_t size, used;
} model_memory;

model_memory model_memory_make(osla_transport *t, size_t bytes); /* collective */
model_memory model_memory_over(void *bytes, size_t size);
void model_memory_free(model_memory *memory); /* collective if _make was */

/* The arrays that lie in the model's memory; all others are from malloc. */
enum {
  MODEL_PLAIN,
  MODEL_ROOTS_IN,
  MODEL_LEAVES_IN,
  MODEL_ALL_IN,
  MODEL_MIXED, /* differs by rank */
  MODEL_PLACES
};

/* An array of vertices, with known bytes around the vertices and in their gaps. */
typedef struct model_values {
  char *bytes, *copy; /* the memory, and a copy of it from when it was filled */
  size_t size, first; /* bytes of the memory; offset of vertex 0 */
  int64_t n;
  bool mine; /* from malloc, to be freed by model_drop */
} model_values;

/* Address of vertex 0 for the library; NULL if there are no vertices. */
void *model_first(const model_values *values);

/* ---- trials ---- */

typedef enum model_op { MODEL_BCAST, MODEL_REDUCE, MODEL_FETCH, MODEL_OPS } model_op;

typedef struct model_trial {
  /* set by the test: */
  const model_graph *graph;
  osla_forest *forest;
  model_op op;
  osla_unit unit;
  osla_forest_combine combine;
  int place;
  uint64_t seed;
  /* set by the calls below: */
  uint64_t roots_seed, leaves_seed;
  model_values roots, leaves, before;
  bool borrowed; /* the array that is read belongs to another trial */
  bool spoiled;  /* the array that is read has been overwritten */
  osla_forest_run run;
} model_trial;

/* Allocates and fills the arrays. _from: reads the array of another trial with the same operation,
 * unit and combination. */
void model_fill(model_trial *trial, model_memory *memory);
void model_fill_from(model_trial *trial, model_memory *memory, const model_trial *other);
osla_err model_begin(model_trial *trial);
void model_start(model_trial *trial); /* ends all ranks on failure, since other ranks would wait */
osla_err model_transfer(model_trial *trial); /* begins and ends the transfer */

/* _check: true if the values written, and all bytes around them, are those of the serial program,
 * and the values read are unchanged. _spoil overwrites the values read. */
bool model_check(const model_trial *trial);
void model_spoil(model_trial *trial);
void model_drop(model_trial *trial);
void model_check_all(model_trial *trials, int n); /* checks and drops the trials */

/* Fills, runs, checks and drops a trial, by begin and end or by one call. */
void model_run(model_trial trial, model_memory *memory);

/* A graph of seed 3, its forest, and memory of `bytes`. Collective; _close destroys all, including
 * the transport. */
typedef struct model_case {
  osla_transport *t;
  model_graph g;
  osla_forest *forest;
  model_memory memory;
} model_case;

model_case model_case_open(model_kind kind, size_t bytes);
model_case model_case_on(osla_transport *t, model_kind kind, size_t bytes);
void model_case_close(model_case *c);

/* A trial of two int64 in 24 bytes, with a sum or a replacement as the seed says. */
model_trial model_case_trial(const model_case *c, model_op op, int place, uint64_t seed);

/* Sleeps for a random time of up to 1.5 ms, or not at all; different on each rank. */
void model_nap(uint64_t seed, uint64_t i);

#endif
