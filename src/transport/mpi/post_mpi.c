/* Posts: puts with notify that continue in progress steps.
 *
 * MPI orders the word after the data only by a flush in between. A flush blocks; if MPI serves RMA
 * inside calls of the target, it blocks until the target has finished computing. Therefore a post
 * consists of requests, and each progress step of this rank advances the post as far as possible,
 * through these states:
 *
 *   QUEUED  waits for earlier posts to that rank, whose flush must not include these data
 *   DATA    the data have been put, followed by a fetch without effect from the target
 *   WORD    both are complete, so a flush does not block any more; after it a fetch replaces the
 *           word and completes when the word has arrived
 *   DONE
 *
 * If puts travel as messages (eager_mpi.h), a post is done when its messages have left: a small
 * post goes from QUEUED through WORD to DONE at once. After another kind of put, or with more data
 * than one MPI count, the data are put as in DATA and only the word is a message.
 *
 * The words of one rank to another arrive in the order of the posts, because MPI keeps the order of
 * accumulates (MPI-3.1, section 11.7.2).
 *
 * The posts to one rank of a region form a queue: first those in WORD (at most as many as the
 * request pool holds), then at most one in DATA, then those that are QUEUED. So the cost of a post
 * and of a step does not depend on the length of the queue. */
#include "src/transport/mpi/eager_mpi.h"
#include "src/transport/mpi/region_mpi.h"
#include "src/transport/request_pool.h"
#include "src/transport/time_limit.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CHUNK = 1 << 30 };
enum { QUEUED, DATA, WORD, DONE };

struct osla_post {
  osla_post *next; /* next post in the queue; guarded by the transport's mutex */
  osla_region *region;
  int rank;
  atomic_int state;
  /* true if the caller waits for the post; otherwise the post is freed when it is done */
  bool is_awaited;
  const unsigned char *source;
  size_t offset, bytes, word_offset;
  int64_t word, old, none;
  int32_t requests; /* requests of the current state, as a chain in the request pool */
  osla_err err;     /* error that ended the post early */
};

/* The queue of posts to one rank in a region. */
struct osla_post_queue {
  osla_post *first, **end; /* end: address of the `next` pointer of the last post */
  osla_post_queue *next;   /* next nonempty queue in the list of the transport */
};

static void add_request(osla_post *post, int code, MPI_Request request, const char *call)
{
  if (code != MPI_SUCCESS)
    post->err = osla_error_set_mpi(code, call);
  else if (!osli_pool_add(post->region->t->pool, request, &post->requests))
    post->err = osla_error_set(OSLA_ERR_MEM, "request pool");
}

static void start_accumulate(osla_post *post, MPI_Op op, const int64_t *operand, size_t offset)
{
  osla_region *region = post->region;
  MPI_Aint disp = osla_region_disp(region, post->rank, offset);
  MPI_Request request;
  /* a rank that sees the word of the notify must also see the stores that this rank made before */
  atomic_thread_fence(memory_order_seq_cst);
  int code = MPI_Rget_accumulate(operand, 1, MPI_INT64_T, &post->old, 1, MPI_INT64_T, post->rank,
                                 disp, 1, MPI_INT64_T, op, region->win, &request);
  add_request(post, code, request, "MPI_Rget_accumulate");
}

static void put_data(osla_post *post)
{
  osla_region *region = post->region;
  for (size_t done = 0; done < post->bytes && post->err == OSLA_OK; done += MAX_CHUNK) {
    size_t rest = post->bytes - done;
    int chunk = rest < MAX_CHUNK ? (int)rest : MAX_CHUNK;
    MPI_Request request;
    int code = MPI_Rput(post->source + done, chunk, MPI_BYTE, post->rank,
                        osla_region_disp(region, post->rank, post->offset + done), chunk, MPI_BYTE,
                        region->win, &request);
    region->unflushed[post->rank] = true;
    add_request(post, code, request, "MPI_Rput");
  }
  if (post->err == OSLA_OK && region->unflushed[post->rank])
    start_accumulate(post, MPI_NO_OP, &post->none, OSLA_REGION_WORD);
}

static void flush_target(osla_post *post)
{
  osla_region *region = post->region;
  if (!region->unflushed[post->rank]) return;
  osli_time_limit_blocked(&region->t->locked, "MPI_Win_flush");
  int code = MPI_Win_flush(post->rank, region->win);
  osli_time_limit_blocked(&region->t->locked, NULL);
  if (code != MPI_SUCCESS) post->err = osla_error_set_mpi(code, "MPI_Win_flush");
  region->unflushed[post->rank] = false;
}

/* Sends the word and `bytes` bytes of data as a message. Returns false if there is no room now. */
static bool send_message(osla_post *post, size_t bytes)
{
  const osla_eager_put put = {post->offset, bytes, post->source, post->word_offset,
                              (uint64_t)post->word};
  MPI_Request data;
  bool sent;
  post->err = osli_eager_send(post->region, post->rank, &put, &sent, &data);
  if (data != MPI_REQUEST_NULL) add_request(post, MPI_SUCCESS, data, "MPI_Isend");
  return sent;
}

/* Do the data fit into the message of the word? Then the post needs no request. */
static bool is_small(const osla_post *post)
{
  return osli_eager_is_used(post->region) && post->bytes <= osli_eager_max_bytes(post->region);
}

/* May both the data and the word of the post travel as messages? */
static bool is_message(const osla_post *post)
{
  return osli_eager_is_used(post->region) && post->bytes <= MAX_CHUNK &&
         !post->region->unflushed[post->rank];
}

/* Are the requests of the current state complete? */
static bool requests_complete(osla_transport *t, osla_post *post)
{
  int code = MPI_SUCCESS;
  if (!osli_pool_test(t->pool, &post->requests, &code)) return false;
  if (code != MPI_SUCCESS) post->err = osla_error_set_mpi(code, "MPI_Test of a put with notify");
  return true;
}

/* Is there room for requests? A step that has found the pool full does not test it again. */
static bool has_room(osla_transport *t, bool *full)
{
  if (!*full) *full = osli_pool_is_full(t->pool);
  return !*full;
}

/* Advances a post as far as possible; all earlier posts of its queue are in WORD. Returns whether
 * it is done. */
static bool advance_post(osla_transport *t, osla_post *post, bool *full)
{
  if (atomic_load(&post->state) == QUEUED) {
    if (!(is_small(post) && is_message(post)) && !has_room(t, full)) return false;
    if (is_message(post)) {
      if (!send_message(post, post->bytes)) return false;
      atomic_store(&post->state, WORD);
    } else {
      if (!osli_eager_bytes_confirmed(post->region, post->rank, post->offset, post->bytes))
        return false;
      put_data(post);
      atomic_store(&post->state, DATA);
    }
  }
  if (post->err != OSLA_OK) return true;
  if (!requests_complete(t, post)) return false;
  if (post->err != OSLA_OK || atomic_load(&post->state) == WORD) return true;
  flush_target(post);
  if (post->err != OSLA_OK) return true;
  if (osli_eager_is_used(post->region)) return send_message(post, 0);
  if (!has_room(t, full)) return false;
  start_accumulate(post, MPI_REPLACE, &post->word, post->word_offset);
  atomic_store(&post->state, WORD);
  return post->err != OSLA_OK;
}

static void complete_post(osla_transport *t, osla_post *post)
{
  if (post->is_awaited) {
    atomic_store(&post->state, DONE);
    return;
  }
  if (post->err != OSLA_OK)
    osla_transport_abort(t, post->err); /* the target waits for a word that will never arrive */
  free(post);
}

/* Advances the posts of a queue as far as possible. */
static void step_queue(osla_transport *t, osla_post_queue *queue, bool *full)
{
  for (osla_post **at = &queue->first; *at;) {
    osla_post *post = *at;
    if (advance_post(t, post, full)) {
      *at = post->next;
      if (!*at) queue->end = at;
      complete_post(t, post);
      continue;
    }
    if (atomic_load(&post->state) != WORD) return;
    at = &post->next;
  }
}

void osli_mpi_posts_step(osla_transport *t)
{
  bool full = false;
  osla_post_queue **at = &t->posts;
  while (*at) {
    step_queue(t, *at, &full);
    if ((*at)->first)
      at = &(*at)->next;
    else
      *at = (*at)->next;
  }
  /* the next step begins with another queue, so that each queue can get requests of the pool */
  if (full && t->posts && t->posts->next) {
    osla_post_queue *last = t->posts;
    t->posts = last->next;
    last->next = NULL;
    *at = last;
  }
}

static bool queue_is_empty(const osla_region *region, int rank)
{
  return !region->posts || !region->posts[rank].first;
}

/* Adds a copy of a post to its queue and makes a progress step. The caller holds the mutex. Errors:
 * MEM. */
static osla_err enqueue(const osla_post *what, osla_post **out)
{
  osla_region *region = what->region;
  osla_transport *t = region->t;
  if (!region->posts) region->posts = calloc((size_t)t->size, sizeof *region->posts);
  OSLA_CHECK(region->posts, OSLA_ERR_MEM, "queues of posts to %d ranks", t->size);
  osla_post *post = malloc(sizeof *post);
  OSLA_CHECK(post, OSLA_ERR_MEM, "post object");
  *post = *what;
  osla_post_queue *queue = &region->posts[post->rank];
  if (!queue->first) {
    queue->end = &queue->first;
    queue->next = t->posts;
    t->posts = queue;
  }
  *queue->end = post;
  queue->end = &post->next;
  if (out) *out = post;
  osli_mpi_posts_step(t);
  return OSLA_OK;
}

osla_err osli_mpi_post(osla_region *region, int rank, size_t offset, const void *source,
                       size_t bytes, size_t word_offset, uint64_t word, osla_post **out)
{
  osla_transport *t = region->t;
  osla_post post = {.region = region,
                    .rank = rank,
                    .is_awaited = out != NULL,
                    .source = source,
                    .offset = offset,
                    .bytes = bytes,
                    .word_offset = word_offset,
                    .word = (int64_t)word,
                    .requests = -1};
  if (out) *out = NULL;
  (void)pthread_mutex_lock(&t->mutex);
  bool sent = is_small(&post) && queue_is_empty(region, rank) && is_message(&post) &&
              send_message(&post, bytes);
  osla_err err = sent ? post.err : enqueue(&post, out);
  (void)pthread_mutex_unlock(&t->mutex);
  return err;
}

static bool is_done(void *arg)
{
  const osla_post *post = arg;
  return atomic_load(&post->state) == DONE;
}

osla_err osli_mpi_post_test(osla_transport *t, osla_post **handle, bool *done)
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

osla_err osli_mpi_post_wait(osla_transport *t, osla_post **handle)
{
  bool done;
  if (*handle) osli_wait_until(t, is_done, *handle, NULL);
  return osli_mpi_post_test(t, handle, &done);
}

typedef struct destination {
  osla_region *region;
  int rank;
} destination;

static bool has_no_posts(void *arg)
{
  const destination *d = arg;
  osla_transport *t = d->region->t;
  int from = d->rank < 0 ? 0 : d->rank, to = d->rank < 0 ? t->size : d->rank + 1;
  bool none = true;
  (void)pthread_mutex_lock(&t->mutex);
  osli_mpi_posts_step(t);
  for (int rank = from; d->region->posts && rank < to; rank++)
    if (!queue_is_empty(d->region, rank)) none = false;
  (void)pthread_mutex_unlock(&t->mutex);
  return none;
}

void osli_mpi_posts_finish(osla_region *region, int rank)
{
  destination d = {region, rank};
  osli_wait_until(region->t, has_no_posts, &d, NULL);
}
