/* Puts with notify that go on by themselves.
 *
 * MPI orders the word behind the data only by a flush between them, and a flush blocks: where MPI
 * serves RMA inside calls of the target, until the target has done computing. So a post is put
 * together of requests, and every progress step of this rank takes it as far as it can go:
 *
 *   QUEUED  behind an earlier post to that rank, whose flush must not wait for this one's data
 *   DATA    the data is put, and behind it a fetch without effect goes there and back
 *   WORD    both are complete, so a flush finds nothing left to wait for; then the word is replaced
 *           by a fetch, which is complete when the word is there
 *   DONE
 *
 * Words of one rank to another arrive in the order of the posts: MPI keeps the order of accumulates
 * from one rank to another (MPI-3.1, section 11.7.2).
 */
#include "post_mpi.h"
#include "patience.h"
#include "request_pool.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CHUNK = 1 << 30 };
enum { QUEUED, DATA, WORD, DONE };

struct osla_post {
  osla_post *next; /* in the order of their calls; under the transport's mutex */
  osla_region *region;
  int rank;
  atomic_int state;
  bool kept; /* by somebody who waits for it; else freed when done */
  const unsigned char *source;
  size_t offset, bytes, word_offset;
  int64_t word, old, none;
  int32_t requests; /* of the current state, in the pool */
  osla_err err;     /* why it ended early */
};

static bool to_same_rank(const osla_post *a, const osla_post *b)
{
  return a->region == b->region && a->rank == b->rank;
}

/* Must it wait for an earlier post to that rank? */
static bool is_behind(const osla_transport *t, const osla_post *post)
{
  for (const osla_post *before = t->posts; before != post; before = before->next)
    if (to_same_rank(before, post) && atomic_load(&before->state) < WORD) return true;
  return false;
}

static void add_request(osla_post *post, int code, MPI_Request request, const char *call)
{
  if (code != MPI_SUCCESS)
    post->err = osla_error_set_mpi(code, call);
  else if (!osla_pool_add(post->region->t->pool, request, &post->requests))
    post->err = osla_error_set(OSLA_ERR_MEM, "request pool");
}

static void fetch(osla_post *post, MPI_Op op, const int64_t *operand, size_t offset)
{
  osla_region *region = post->region;
  MPI_Aint disp = (MPI_Aint)(offset + region->shift[post->rank]);
  MPI_Request request;
  /* Who sees a word may get what was stored here before. */
  atomic_thread_fence(memory_order_seq_cst);
  int code = MPI_Rget_accumulate(operand, 1, MPI_INT64_T, &post->old, 1, MPI_INT64_T, post->rank,
                                 disp, 1, MPI_INT64_T, op, region->win, &request);
  add_request(post, code, request, "MPI_Rget_accumulate");
}

static void send_data(osla_post *post)
{
  osla_region *region = post->region;
  for (size_t done = 0; done < post->bytes && post->err == OSLA_OK; done += MAX_CHUNK) {
    size_t rest = post->bytes - done;
    int chunk = rest < MAX_CHUNK ? (int)rest : MAX_CHUNK;
    MPI_Request request;
    int code = MPI_Rput(post->source + done, chunk, MPI_BYTE, post->rank,
                        (MPI_Aint)(post->offset + done + region->shift[post->rank]), chunk,
                        MPI_BYTE, region->win, &request);
    region->unflushed[post->rank] = true;
    add_request(post, code, request, "MPI_Rput");
  }
  if (post->err == OSLA_OK && region->unflushed[post->rank]) fetch(post, MPI_NO_OP, &post->none, 0);
}

static void send_word(osla_post *post)
{
  osla_region *region = post->region;
  if (region->unflushed[post->rank]) {
    osla_patience_blocked(region->t, "MPI_Win_flush");
    int code = MPI_Win_flush(post->rank, region->win);
    osla_patience_blocked(region->t, NULL);
    if (code != MPI_SUCCESS) post->err = osla_error_set_mpi(code, "MPI_Win_flush");
    region->unflushed[post->rank] = false;
  }
  if (post->err == OSLA_OK) fetch(post, MPI_REPLACE, &post->word, post->word_offset);
}

/* Are the requests of the current state complete? */
static bool is_complete(osla_transport *t, osla_post *post)
{
  int code = MPI_SUCCESS;
  if (!osla_pool_test(t->pool, &post->requests, &code)) return false;
  if (code != MPI_SUCCESS) post->err = osla_error_set_mpi(code, "MPI_Test of a put with notify");
  return true;
}

/* Goes on as far as possible. True: it is over. */
static bool advance(osla_transport *t, osla_post *post)
{
  if (atomic_load(&post->state) == QUEUED) {
    if (is_behind(t, post) || osla_pool_full(t->pool)) return false;
    send_data(post);
    atomic_store(&post->state, DATA);
  }
  if (post->err != OSLA_OK) return true;
  if (!is_complete(t, post)) return false;
  if (post->err != OSLA_OK || atomic_load(&post->state) == WORD) return true;
  if (osla_pool_full(t->pool)) return false;
  send_word(post);
  atomic_store(&post->state, WORD);
  return post->err != OSLA_OK;
}

void osla_mpi_posts_step(osla_transport *t)
{
  for (osla_post **at = &t->posts; *at;) {
    osla_post *post = *at;
    if (!advance(t, post)) {
      at = &post->next;
      continue;
    }
    *at = post->next;
    if (post->kept) {
      atomic_store(&post->state, DONE);
      continue;
    }
    if (post->err != OSLA_OK) osla_transport_abort(t, post->err); /* its target waits for it */
    free(post);
  }
}

osla_err osla_mpi_post(osla_region *region, int rank, size_t offset, const void *source,
                       size_t bytes, size_t word_offset, uint64_t word, osla_post **out)
{
  osla_transport *t = region->t;
  osla_post *post = calloc(1, sizeof *post);
  if (out) *out = post;
  OSLA_CHECK(post, OSLA_ERR_MEM, "post object");
  *post = (osla_post){.region = region,
                      .rank = rank,
                      .kept = out != NULL,
                      .source = source,
                      .offset = offset,
                      .bytes = bytes,
                      .word_offset = word_offset,
                      .word = (int64_t)word,
                      .requests = -1};
  (void)pthread_mutex_lock(&t->mutex);
  osla_post **last = &t->posts;
  while (*last)
    last = &(*last)->next;
  *last = post;
  osla_mpi_posts_step(t);
  (void)pthread_mutex_unlock(&t->mutex);
  return OSLA_OK;
}

static bool is_done(void *arg)
{
  const osla_post *post = arg;
  return atomic_load(&post->state) == DONE;
}

osla_err osla_mpi_post_test(osla_transport *t, osla_post **handle, bool *done)
{
  osla_post *post = *handle;
  (void)t;
  *done = !post || is_done(post);
  if (!post || !*done) return OSLA_OK;
  osla_err err = post->err;
  free(post);
  *handle = NULL;
  return err;
}

osla_err osla_mpi_post_wait(osla_transport *t, osla_post **handle)
{
  bool done;
  if (*handle) osla_wait_until(t, is_done, *handle, NULL);
  return osla_mpi_post_test(t, handle, &done);
}

typedef struct destination {
  osla_region *region;
  int rank;
} destination;

static bool has_none(void *arg)
{
  const destination *d = arg;
  osla_transport *t = d->region->t;
  bool none = true;
  (void)pthread_mutex_lock(&t->mutex);
  osla_mpi_posts_step(t);
  for (const osla_post *post = t->posts; post; post = post->next)
    if (post->region == d->region && (d->rank < 0 || post->rank == d->rank)) none = false;
  (void)pthread_mutex_unlock(&t->mutex);
  return none;
}

void osla_mpi_posts_finish(osla_region *region, int rank)
{
  destination d = {region, rank};
  osla_wait_until(region->t, has_none, &d, NULL);
}
