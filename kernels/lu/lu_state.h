/* State of an LU factorisation, shared by all its files (internal). README.md lists the files.
 *
 * The top block of a panel consists of its `size` pivot rows, factored into L and U. Every rank of
 * the panel's process column has a copy, and the top block travels with the panel. So every rank
 * can solve for rows of U itself. */
#ifndef OSLA_LU_INTERNAL_H
#define OSLA_LU_INTERNAL_H

#include "kernels/common/local_view.h"
#include "kernels/common/panels.h"
#include "osla_blas.h"
#include "osla_lu.h"
#include "osla_trace.h"

#include <stdatomic.h>

/* Geometry of step k of LU on this rank. */
typedef struct lu_step {
  int64_t k;         /* index of the block column that the step factors */
  int64_t start;     /* first global row and column of the panel */
  int64_t size;      /* width of the panel */
  int prow;          /* process row of the owner of the diagonal block */
  int pcol;          /* process column of the owner of the diagonal block */
  int64_t row;       /* first local row whose global index is at least `start` */
  int64_t row_after; /* first local row whose global index is at least start + size */
  int64_t col;       /* first local column of the panel; meaningful only if `mine` is true */
  /* first local column to the right of the panel; meaningful only if `mine` is true */
  int64_t col_after;
  bool mine; /* true if the panel is in this rank's process column */
} lu_step;

/* First words of a published panel. The pivots and the top block (size x size, leading dimension
 * nb) follow. */
typedef struct lu_head {
  int64_t info; /* 0, or 1 + the global index of the first column with a zero pivot or a NaN */
} lu_head;

typedef struct lu_panel {
  const lu_head *head;
  const int64_t *pivots; /* [size] global row with which global row start + i was interchanged */
  operand top;           /* top block of the panel */
  operand l;             /* L in this rank's local rows from row_after on */
  /* top block as operand of solves: in the matrix of the panel's owner if A lies on a device,
   * otherwise equal to `top` */
  operand triangle;
} lu_panel;

/* Move of global row `from`, owned by process row `owner`, to global row `to`, owned by process row
 * `goes_to`. goes_to is -1 if the row moves into the top block, which all process rows need. */
typedef struct lu_move {
  int64_t from, to;
  int owner, goes_to;
} lu_move;

/* The ranks that share the solve for some columns of U(k,:): this rank alone, its node group
 * (lu_node_group.h), or the whole process column. */
typedef enum lu_sharing { LU_ALONE, LU_BY_GROUP, LU_BY_COLUMN } lu_sharing;

/* An exchange of rows in some columns, followed by the solve for U in these columns (lu_rows.h). At
 * most two exchanges are under way. */
typedef struct lu_exchange {
  lu_step s;
  int64_t col, cols;
  /* U(k,:) in the columns of the exchange; it lies in this rank's store until `complete` is true,
   * and then in the store of the leader of its node group */
  operand u;
  operand top; /* top block of the panel */
  lu_sharing sharing;
  bool solved;   /* true if this rank has solved for its share of U */
  bool complete; /* true if all of U is available */
  int64_t moves; /* number of rows that move, listed in f->moves */
  /* offset in bytes in the store at which the rows of process row `next` begin */
  size_t at;
  int next;       /* process row whose rows are received next */
  int next_share; /* process row whose share of U is received next */
} lu_exchange;

typedef struct lu {
  local_view v;
  osla_pivoting pivoting;
  int look_ahead;
  osla_forward forward;
  bool readable;        /* true if node neighbours read the matrix in place */
  bool column_readable; /* true if the ranks of each process column can read one another's matrix */
  bool has_own_cores;   /* true if no core is shared by several ranks */
  bool gathers_panels;  /* true if the owner of the diagonal block factors whole panels */
  int64_t order, steps;
  /* sends L and heads to ranks that cannot read this rank's memory, and notifies them */
  osla_panels *panels;
  _Atomic int64_t factored; /* number of steps whose panel this rank has factored */
  /* Memory of each rank that other ranks of its process row and column read or write. It contains
   * the heads of this rank's panels, then two sets of buffers for rows under exchange, two sets of
   * rows of U, and two sets of records for the process column. Interchanges in the columns of L use
   * the buffers for rows at the end. */
  osla_segment *store;
  size_t head_bytes, rows_at, rows_set, u_at, u_set, records_at, record_bytes;
  int n_records; /* number of records in one set */
  /* true if records are combined in log p rounds instead of read from every rank */
  bool combines_records;
  unsigned char *my_offer; /* this rank's record, used if combines_records is true */
  /* copy in host memory of the first words, pivots and top block of the latest panel that arrived
   * in device memory */
  unsigned char *head_copy;
  uint64_t row_exchanges, column_exchanges, permutations;
  /* [2 p] puts under way to each process row, of the latest two exchanges */
  osla_posted *row_posts, *down_posts, *u_posts, *column_posts;
  int *leaders;    /* [p] leader of each process row (lu_node_group.h) */
  int64_t *pivots; /* [order] pivots of all steps so far, global row indices from 0 */
  /* memory for the rows of a panel; used for gathered panels, tournaments and interchanges of
   * columns of L */
  unsigned char *scratch;
  /* device memory if A lies on a device and has several process rows; otherwise NULL. It begins
   * with two sets, each with a buffer for U (u_set bytes) and a buffer for moving rows (rows_set
   * bytes). The array `scratch` follows. */
  unsigned char *on_device;
  lu_move *moves; /* [2 nb] rows that move in the current exchange */
  int64_t *rows;  /* [4 nb] temporary row indices of an exchange */
  /* memory with several uses: row indices and interchanges of a tournament, row lists of
   * interchanges in columns of L, and elements of a column that lies on a device */
  int64_t *candidates;
  int64_t stack_rows; /* rows of scratch that are available for the candidates of a tournament */
  /* [6 p] temporary counts of exchanges and of interchanges in columns of L */
  int64_t *shares;
  /* [2 m] temporary permutations for interchanges in columns of L; used if p > 1 */
  int64_t *permutation;
  lu_exchange ahead; /* first exchange of the next step; valid if has_ahead is true */
  bool has_ahead;
  int64_t info;
  bool has_unsafe_pivot; /* true if a pivot is NaN or infinite, or has no finite reciprocal */
} lu;

enum { LU_ROWS, LU_LEADER, LU_COLUMN, LU_PERMUTED, LU_PURPOSES }; /* notify slots of f->store */

lu_step osli_lu_step_make(const lu *f, int64_t k);

/* Waits until the messages of the exchange with number exchange - 2 have arrived, so that its
 * buffers may be reused. Local. */
osla_err osli_lu_finish_posts(lu *f, osla_posted *posts, uint64_t exchange);

#endif
