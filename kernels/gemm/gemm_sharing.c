/* Loads that several ranks of a node need are transferred once.
 *
 * Ranks of a node in one process row need the same panels of A. Ranks of a node in one process
 * column need the same panels of B. Ranks that have the same list of tasks and loads, which they
 * find by comparing hashes, are sharers. With n sharers, sharer l mod n transfers load number l
 * into one of its two buffers, and the other sharers read the load there. So a node gets each load
 * once, and no rank needs more memory. In products without layers, the number of loads in flight is
 * n times that of one rank.
 *
 * Notify slots of each operand: PLAN, hash of a rank's list; OFFSET, 1 + offset of a rank's buffers
 * in its store; READY, 1 + number of a rank's latest load that has arrived; DONE, 1 + number of the
 * receiver's latest load that the sender no longer needs.
 *
 * Equal hashes imply equal buffer layouts, because owners, ranges, pieces and widths determine the
 * position of a load in a buffer. No deadlock is possible. All sharers have the same tasks, need
 * each load at the same task, and wait for loads of A before loads of B. The rank that transfers a
 * load waits only until the sharers have finished the last task that needs the previous contents of
 * the buffer, which is an earlier task. */
#include "kernels/gemm/gemm_sharing.h"
#include "src/base/hash.h"
#include "src/device/device.h"
#include "src/memory/segment.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PLAN, OFFSET, READY, DONE, KINDS };
enum { LINE = 64 }; /* alignment of the buffers in bytes */

/* Loads are shared only if a rank needs at least this many bytes of A and B. For smaller products
 * the additional segment costs more than sharing saves. */
static const double LEAST_BYTES = 4 << 20;

static int purpose(int kind, int which)
{
  return 2 * kind + which;
}

/* --- before the plan --- */

/* If of_rows, returns the lowest process row whose rank in this rank's process column is on this
 * node. Otherwise returns the lowest process column whose rank in this rank's process row is on
 * this node. */
static int first_near(const gemm_work *w, bool of_rows)
{
  int mine = of_rows ? w->c.prow : w->c.pcol, i = 0;
  while (i < mine &&
         !osla_transport_same_node(w->t, of_rows ? osla_grid_rank_at(w->grid, i, w->c.pcol)
                                                 : osla_grid_rank_at(w->grid, w->c.prow, i)))
    i++;
  return i;
}

/* If each part of a matrix can be read in place only by its owner (osla_matrix_wrap), the ranks of
 * a node need different loads, and cannot share them. */
static bool is_hidden(osla_matrix *x)
{
  const local_view v = view_of(x);
  return osli_view_has_hidden_neighbour(&v);
}

osla_err osli_gemm_sharing_choose(gemm_work *w, osla_matrix *a, osla_matrix *b, int64_t k)
{
  const gemm_axis *rows = &w->c.rows_of, *cols = &w->c.cols_of;
  const osla_gemm_ablation *o = &w->ablation;
  double outer = (double)rows->n / rows->nprocs * w->layers.rows +
                 (double)cols->n / cols->nprocs * w->layers.cols;
  int n_nodes = osla_transport_n_nodes(w->t);
  if (n_nodes == 1 || n_nodes == osla_transport_size(w->t)) return OSLA_OK;
  if (outer * (double)k / w->layers.n * (double)w->element < LEAST_BYTES) return OSLA_OK;
  int all = !o->alone && !o->unshifted && !o->blocking && !o->copy && !o->unaware &&
            !is_hidden(a) && !is_hidden(b);
  OSLA_CALL(osla_allreduce(w->t, &all, 1, MPI_INT, MPI_MIN));
  w->sharing = all;
  if (w->sharing && w->c.prow >= 0 && w->layers.n == 1)
    w->diagonal = first_near(w, true) + first_near(w, false);
  return OSLA_OK;
}

/* --- sharers --- */

/* Transport rank i of C's process row (for A) or column (for B) if it may need the same loads as
 * this rank, because it shares memory with this rank. Otherwise -1. */
static int candidate(const gemm_work *w, int which, int i)
{
  int rank = which == GEMM_A ? osla_grid_rank_at(w->grid, w->c.prow, i)
                             : osla_grid_rank_at(w->grid, i, w->c.pcol);
  return osla_segment_peer(w->store, rank) ? rank : -1;
}

static int n_candidates(const gemm_work *w, int which)
{
  return which == GEMM_A ? w->c.cols_of.nprocs : w->c.rows_of.nprocs;
}

/* Hash of everything that sharers (ranks that share loads) must have in common; never 0. */
static uint64_t hash_of(const gemm_work *w, const gemm_operand *x)
{
  int64_t sizes[] = {w->width, (int64_t)x->load_bytes, x->n_loads};
  uint64_t hash = hash_extend(HASH_OF_NO_BYTES, sizes, sizeof sizes);
  for (int64_t t = 0; t < w->n_tasks; t++) {
    int64_t task[] = {w->segments[w->tasks[t].first].start, w->tasks[t].width};
    hash = hash_extend(hash, task, sizeof task);
  }
  for (int64_t l = 0; l < x->n_loads; l++) {
    int64_t load[] = {x->loads[l].task, x->loads[l].owner, x->loads[l].lo, x->loads[l].hi};
    hash = hash_extend(hash, load, sizeof load);
  }
  for (int64_t p = 0; p < x->n_pieces; p++) {
    const gemm_piece *at = &x->pieces[p];
    int64_t piece[] = {at->at, at->size, at->local, x->groups[at->group].owner};
    hash = hash_extend(hash, piece, sizeof piece);
  }
  return hash | 1;
}

static size_t round_up(uint64_t bytes)
{
  return (size_t)(bytes + LINE - 1) / LINE * LINE;
}

static size_t buffers_of(const gemm_work *w, const gemm_operand *x)
{
  return (size_t)gemm_n_slots(w) * round_up(x->load_bytes);
}

osla_err osli_gemm_sharing_allocate(gemm_work *w)
{
  for (int i = 0; i < 2; i++) {
    gemm_operand *x = &w->x[i];
    gemm_sharers *m = &x->sharers;
    size_t most = w->sharing ? (size_t)n_candidates(w, i) : 1;
    m->ranks = malloc(most * sizeof *m->ranks);
    m->at = malloc(most * sizeof *m->at);
    /* NULL selects host memory: an operand without loads needs no device memory */
    const void *like = x->load_bytes > 0 ? x->v.local : NULL;
    const size_t bytes = buffers_of(w, x) + 1;
    OSLA_CHECK(m->ranks && m->at, OSLA_ERR_MEM, "%s: tables of %zu ranks", w->call, most);
    if (!w->sharing) m->own = osli_alloc_like(like, bytes);
    if (!w->sharing && !m->own) return gemm_lacks(w, like, bytes, "buffers of an operand");
    m->n = 1, m->me = 0;
    m->at[0] = m->own;
  }
  return OSLA_OK;
}

/* Sends this rank's hash and buffer offset to all ranks that may become sharers, including this
 * rank. */
static osla_err announce_plan(const gemm_work *w, int which, uint64_t hash, size_t offset)
{
  for (int i = 0; i < n_candidates(w, which); i++) {
    int rank = candidate(w, which, i);
    if (rank < 0) continue;
    OSLA_CALL(osla_notify(w->store, rank, purpose(OFFSET, which), 1 + offset));
    OSLA_CALL(osla_notify(w->store, rank, purpose(PLAN, which), hash));
  }
  return OSLA_OK;
}

static void collect_sharers(gemm_work *w, int which, uint64_t hash)
{
  gemm_sharers *m = &w->x[which].sharers;
  m->n = 0;
  for (int i = 0; i < n_candidates(w, which); i++) {
    int rank = candidate(w, which, i);
    if (rank < 0) continue;
    osla_notify_wait(w->store, rank, purpose(PLAN, which), 1);
    if (osla_notify_read(w->store, rank, purpose(PLAN, which)) != hash) continue;
    size_t offset = osla_notify_read(w->store, rank, purpose(OFFSET, which)) - 1;
    if (rank == osla_transport_rank(w->t)) m->me = m->n;
    m->ranks[m->n] = rank;
    m->at[m->n++] = (unsigned char *)osla_segment_peer(w->store, rank) + offset;
  }
}

osla_err osli_gemm_sharing_open(gemm_work *w)
{
  if (!w->sharing) return OSLA_OK;
  const osla_notifiers sharers = osla_grid_notifiers(w->grid);
  const size_t offsets[] = {0, buffers_of(w, &w->x[GEMM_A])};
  size_t bytes = offsets[GEMM_B] + buffers_of(w, &w->x[GEMM_B]);
  osla_device *device = osla_matrix_device(w->x[GEMM_A].v.matrix);
  OSLA_CALL(osli_segment_create_on(w->t, device, bytes, 2 * KINDS, &sharers, &w->store));
  if (w->c.prow < 0) return OSLA_OK; /* this rank is not in the grid of C */
  uint64_t hashes[] = {hash_of(w, &w->x[GEMM_A]), hash_of(w, &w->x[GEMM_B])};
  osla_err err = announce_plan(w, GEMM_A, hashes[GEMM_A], offsets[GEMM_A]);
  if (err == OSLA_OK) err = announce_plan(w, GEMM_B, hashes[GEMM_B], offsets[GEMM_B]);
  if (err != OSLA_OK) osla_transport_abort(w->t, err);
  collect_sharers(w, GEMM_A, hashes[GEMM_A]);
  collect_sharers(w, GEMM_B, hashes[GEMM_B]);
  return OSLA_OK;
}

void osli_gemm_sharing_close(gemm_work *w)
{
  osla_segment_destroy(&w->store);
}

void osli_gemm_sharing_free(gemm_operand *x)
{
  free(x->sharers.ranks);
  free(x->sharers.at);
  osli_free_like(x->sharers.own);
}

/* --- calls of the run --- */

static int loading_member(const gemm_operand *x, int64_t load)
{
  return (int)(load % x->sharers.n);
}

unsigned char *osli_gemm_load_buffer(const gemm_work *w, int which, int64_t load)
{
  const gemm_operand *x = &w->x[which];
  size_t slot = (size_t)(load / x->sharers.n % gemm_n_slots(w));
  return x->sharers.at[loading_member(x, load)] + slot * round_up(x->load_bytes);
}

osla_err osli_gemm_load_publish(const gemm_work *w, int which, int64_t load)
{
  const gemm_sharers *m = &w->x[which].sharers;
  for (int i = 0; i < m->n; i++)
    if (i != m->me)
      OSLA_CALL(osla_notify(w->store, m->ranks[i], purpose(READY, which), (uint64_t)load + 1));
  return OSLA_OK;
}

osla_err osli_gemm_load_release(const gemm_work *w, int which, int64_t load)
{
  const gemm_operand *x = &w->x[which];
  if (gemm_is_my_load(x, load)) return OSLA_OK;
  int rank = x->sharers.ranks[loading_member(x, load)];
  return osla_notify(w->store, rank, purpose(DONE, which), (uint64_t)load + 1);
}

void osli_gemm_load_wait(const gemm_work *w, int which, int64_t load)
{
  const gemm_operand *x = &w->x[which];
  int rank = x->sharers.ranks[loading_member(x, load)];
  osla_notify_wait(w->store, rank, purpose(READY, which), (uint64_t)load + 1);
}

bool osli_gemm_load_is_released(const gemm_work *w, int which, int64_t load, bool wait)
{
  const gemm_sharers *m = &w->x[which].sharers;
  const uint64_t value = (uint64_t)load + 1;
  for (int i = 0; i < m->n; i++) {
    if (i == m->me) continue;
    if (wait) osla_notify_wait(w->store, m->ranks[i], purpose(DONE, which), value);
    if (osla_notify_read(w->store, m->ranks[i], purpose(DONE, which)) < value) return false;
  }
  return true;
}
