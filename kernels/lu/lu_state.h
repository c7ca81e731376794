/* What the files of the LU factorisation share (internal).
 *
 *   lu.c          contract, the loop over the steps
 *   lu_panel.c    factoring a panel: the ways, alone or with others
 *   lu_pivot.c    in step with the process column, column by column
 *   lu_column.c   small exchanges between the ranks of a process column
 *   lu_disseminate.c  the best of all their records
 *   lu_publish.c  panels on their way along process rows, what they look like
 *   lu_node_group.c    neighbours in a process column, to whom one copy goes
 *   lu_rows.c     row interchanges, rows of U
 *   lu_update.c   the trailing matrix by a step: exchanges during products
 *   lu_left.c     those of the columns left of the panels, at the end
 *   lu_block.c    the diagonal block without pivots
 *   lu_memory.c   what it takes of a rank
 *
 * The top block of a panel, its `size` pivot rows with L and U, is replicated on the ranks of the
 * process column and travels with the panel; so every rank can solve for rows of U itself.
 */
#ifndef OSLA_LU_INTERNAL_H
#define OSLA_LU_INTERNAL_H

#include "kernels/common/local_view.h"
#include "kernels/common/panels.h"
#include "osla_blas.h"
#include "osla_lu.h"
#include "osla_trace.h"

#include <stdatomic.h>

/* An operand: an address and its leading dimension. */
typedef struct lu_operand {
  unsigned char *at;
  int64_t ld;
} lu_operand;

/* The geometry of a step on this rank. */
typedef struct lu_step {
  int64_t k, start, size; /* block number, first global index, width of the panel */
  int prow, pcol;         /* where the diagonal block lies */
  int64_t row, row_after; /* my first local row from `start` on, and behind the top block */
  int64_t col, col_after; /* local columns of the panel, if mine: [col, col_after) */
  bool mine;              /* is the panel in my process column? */
} lu_step;

/* What a panel's ranks publish about it; the top block follows: size x size, ld = nb. */
typedef struct lu_head {
  int64_t info; /* 0, or 1 + the global index of the first column with a zero pivot or a NaN */
} lu_head;

typedef struct lu_panel {
  const lu_head *head;
  const int64_t *pivots; /* [size] global row that row start + i was exchanged with */
  lu_operand top, l;     /* l: my local rows from row_after on */
} lu_panel;

/* Global row `from`, of process row `owner`, comes to row `to`, of process row `goes_to`; -1: on
 * top, where all want it. */
typedef struct lu_move {
  int64_t from, to;
  int owner, goes_to;
} lu_move;

/* Who shares the work of U(k, some columns) with me: nobody, those with whom one copy of it is
 * enough (lu_node_group.h), or the whole process column. */
typedef enum lu_sharing { LU_ALONE, LU_BY_GROUP, LU_BY_COLUMN } lu_sharing;

/* Rows of some columns under exchange, of which U follows (lu_rows.h): one at a time. */
typedef struct lu_exchange {
  lu_step s;
  int64_t col, cols;
  lu_operand u, top; /* U(k, these columns), in my memory until it is complete, then in my leader's;
                        the panel's top block */
  lu_sharing sharing;
  bool solved;          /* my share of U is there */
  bool complete;        /* all of U is */
  int64_t moves;        /* rows, in f->moves */
  size_t at;            /* of the next process row's rows in the store */
  int next, next_share; /* process rows whose rows, whose shares of U, come next */
} lu_exchange;

/* Ranks of a node that find pivots together (lu_disseminate.h). */
typedef struct lu_teams {
  int count, mine;
  int carriers; /* members of each team that speak with other teams: the smallest one's */
  int *first;   /* [count + 1] process row */
} lu_teams;

typedef struct lu {
  local_view v;
  osla_pivoting pivoting;
  int look_ahead;
  osla_forward forward;
  bool readable;        /* node neighbours read the matrix in place */
  bool column_readable; /* ranks of each process column read one another's matrix */
  bool has_own_cores;   /* no ranks share one */
  bool gathers_panels;  /* the owner of the diagonal block factors whole panels */
  int64_t order, steps;
  osla_panels *panels;      /* L and heads for ranks that cannot read mine in place; notifies */
  _Atomic int64_t factored; /* steps; the next one's panel is not ready */
  /* Memory of each rank that its process column and row read or write: heads of its panels, then
   * two sets of rows under exchange (at the end, of those left of the panels), then two sets of
   * rows of U, then two sets of records for the process column. */
  osla_segment *store;
  size_t head_bytes, rows_at, rows_set, u_at, u_set, records_at, record_bytes;
  int n_records;           /* of a set */
  bool combines_records;   /* pivots are found in log p rounds, not by everybody's record */
  unsigned char *my_offer; /* my record then */
  uint64_t row_exchanges, column_exchanges, permutations;
  osla_posted *row_posts, *down_posts, *u_posts,
    *column_posts; /* [2 p] of the last two exchanges, to each process row (column_posts: or of each
                      round, lu_disseminate.c) */
  int *leaders;    /* [p] of the process rows' mates (lu_node_group.h) */
  lu_teams teams;
  int64_t *pivots;        /* [order] of all steps so far, global */
  unsigned char *scratch; /* a panel's rows: tournament, permutation */
  lu_move *moves;         /* [2 nb] rows under exchange */
  int64_t *rows;          /* [4 nb] work of an exchange */
  int64_t *candidates;    /* rows of a tournament: indices and interchanges */
  int64_t stack_rows;     /* room in scratch for a tournament's candidates */
  int64_t *shares;        /* [6 p] work of exchanges, and of the interchanges left of the panels */
  int64_t *permutation;   /* [2 m] work of the interchanges left of the panels, if p > 1 */
  lu_exchange ahead;      /* the next step's first, if has_ahead */
  bool has_ahead;
  int64_t info;
  bool has_unsafe_pivot; /* a pivot is NaN or infinite */
} lu;

enum { LU_ROWS, LU_LEADER, LU_COLUMN, LU_PERMUTED, LU_PURPOSES }; /* of the store's notify slots */

lu_step osli_lu_step_make(const lu *f, int64_t k);

/* Waits until what I sent in exchange e has arrived: before its buffers are used again. Local. */
osla_err osli_lu_finish_posts(lu *f, osla_posted *posts, uint64_t exchange);

#endif
