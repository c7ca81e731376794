/* What the tests of star forests share: graphs that every rank computes whole from a seed, values
 * in memory of all kinds, and trials: one transfer beside what a serial program would have made of
 * it. Nothing here communicates, except where "collective" is said. */
#ifndef FOREST_MODEL_H
#define FOREST_MODEL_H

#include "tests/kernels/model_value.h"
#include "tests/osla_test_help.h"

/* ---- graphs ---- */

typedef enum model_kind {
  MODEL_RANDOM,    /* gaps, several edges to one root, any ranks, lists in no order */
  MODEL_EVEN,      /* three leaves of most roots, dealt round */
  MODEL_ONE_ROOT,  /* leaves on all ranks */
  MODEL_TO_FIRST,  /* the roots of rank 0, leaves on all ranks, in order */
  MODEL_FROM_LAST, /* the roots of the last rank */
  MODEL_GATHERED,  /* all leaves on the last rank, roots on all */
  MODEL_RING,      /* halos of both neighbours, in order */
  MODEL_GHOSTS,    /* the same, leaves after the roots as in one array, in falling order */
  MODEL_BLOCKS,    /* parts of a box of roots: its inside, a face; leaves in a box, and falling */
  MODEL_SELF,      /* each rank's own roots */
  MODEL_SOME_IDLE, /* some ranks without roots, some without leaves */
  MODEL_NO_ROOTS,  /* nothing at all */
  MODEL_NO_EDGES,  /* roots without leaves */
  MODEL_KINDS
} model_kind;

/* One rank's part. */
typedef struct model_share {
  int64_t n_roots, n_edges, leaf_space;
  int64_t *leaf; /* [n_edges] */
  osla_root *root;
} model_share;

typedef struct model_graph {
  const char *name;
  int size;
  bool in_order; /* leaf[i] = i, so that it may be said by NULL */
  model_share *of;
} model_graph;

model_graph model_graph_make(model_kind kind, uint64_t seed);
void model_graph_free(model_graph *graph);
const model_share *model_mine(const model_graph *graph);

/* The library's forest of a graph, from lists that are spoiled at once. Collective; ends all ranks
 * on failure. The second one: from global indices. */
osla_forest *model_forest(osla_transport *t, const model_graph *graph);
osla_forest *model_forest_global(osla_transport *t, const model_graph *graph);

/* ---- memory ---- */

/* Memory that neighbours read in place, of which values take pieces. */
typedef struct model_memory {
  osla_transport *transport;
  void *vertices; /* of osla_vertices_create; NULL: it is somebody else's */
  char *bytes;
  size_t size, used;
} model_memory;

model_memory model_memory_make(osla_transport *t, size_t bytes); /* collective */
model_memory model_memory_over(void *bytes, size_t size);
void model_memory_free(model_memory *memory); /* collective where it was made */

/* Where values are: in that memory or in malloc's. */
enum {
  MODEL_PLAIN,
  MODEL_ROOTS_IN,
  MODEL_LEAVES_IN,
  MODEL_ALL_IN,
  MODEL_MIXED, /* by rank */
  MODEL_PLACES
};

/* Vertices, with known bytes around them and in their gaps. */
typedef struct model_values {
  char *bytes, *copy; /* all of it; the same when it was filled */
  size_t size, first; /* where vertex 0 is */
  int64_t n;
  bool mine; /* from malloc, to be freed */
} model_values;

/* What to give to the library: vertex 0; NULL where there are none. */
void *model_first(const model_values *values);

/* ---- trials ---- */

typedef enum model_op { MODEL_BCAST, MODEL_REDUCE, MODEL_FETCH, MODEL_OPS } model_op;

typedef struct model_trial {
  /* to be set: */
  const model_graph *graph;
  osla_forest *forest;
  model_op op;
  osla_unit unit;
  osla_forest_combine combine;
  int place;
  uint64_t seed;
  /* the rest is filled in */
  uint64_t roots_seed, leaves_seed;
  model_values roots, leaves, before;
  bool borrowed; /* what is read is another trial's */
  bool spoiled;  /* and has been overwritten */
  osla_forest_run run;
} model_trial;

/* Makes the values. The second one: what is read is that of another trial of the same op, unit and
 * combination. */
void model_fill(model_trial *trial, model_memory *memory);
void model_fill_from(model_trial *trial, model_memory *memory, const model_trial *other);
osla_err model_begin(model_trial *trial);
void model_start(model_trial *trial);        /* ends all ranks on failure: others would wait */
osla_err model_transfer(model_trial *trial); /* begin and end in one */

/* The values that are written, and all bytes around them, are those of the serial program, and
 * those that are read are as they were. model_spoil overwrites what is read and lets it be. */
bool model_check(const model_trial *trial);
void model_spoil(model_trial *trial);
void model_drop(model_trial *trial);
void model_check_all(model_trial *trials, int n); /* and drops them */

/* All of it, with osla_forest_end or in one. */
void model_run(model_trial trial, model_memory *memory);

/* What most cases need: a graph of seed 3, its forest, and memory of so many bytes. Collective; the
 * transport belongs to it. */
typedef struct model_case {
  osla_transport *t;
  model_graph g;
  osla_forest *forest;
  model_memory memory;
} model_case;

model_case model_case_open(model_kind kind, size_t bytes);
model_case model_case_on(osla_transport *t, model_kind kind, size_t bytes);
void model_case_close(model_case *c);

/* A trial over it, of two int64 in 24 bytes, by sum or replacement as the seed says. */
model_trial model_case_trial(const model_case *c, model_op op, int place, uint64_t seed);

/* Naps for up to 1.5 ms, or does not; another time on each rank. */
void model_nap(uint64_t seed, uint64_t i);

#endif
