/* Puts with notify of simulated ranks. Posts from one rank to one target travel at the same time
 * and are delivered in order. */
#include "src/blas/move.h"
#include "src/simulation/sim.h"

#include <stdlib.h>
#include <string.h>

struct osla_post {
  sim_completion call;
  osla_post *next; /* the next post of the queue */
  osla_post_queue *queue;
  osla_region *region;
  size_t offset, bytes, word_offset;
  const void *source;
  uint64_t word;
  /* true once the data have arrived; the post is delivered when all earlier posts of the queue have
   * arrived, too */
  bool has_arrived;
  /* is_detached: the caller has no handle and will not wait for the post */
  bool delivered, is_detached;
};

/* Posts from one rank to one target, oldest first. The queue is freed when it becomes empty. */
struct osla_post_queue {
  osla_post_queue *next, /* next queue in the sender's list of queues */
    **list_link;         /* address of the pointer to this queue in the sender's list */
  sim_rank *from;
  int to;
  osla_post *first, **end;
};

static osla_post_queue *queue_to(sim_rank *from, int to)
{
  osla_post_queue *q = from->posts;
  while (q && q->to != to)
    q = q->next;
  if (q) return q;
  q = calloc(1, sizeof *q);
  if (!q) return NULL;
  *q = (osla_post_queue){.next = from->posts, .list_link = &from->posts, .from = from, .to = to};
  q->end = &q->first;
  if (q->next) q->next->list_link = &q->next;
  from->posts = q;
  return q;
}

static void free_if_empty(osla_post_queue *q)
{
  if (q->first) return;
  *q->list_link = q->next;
  if (q->next) q->next->list_link = q->list_link;
  free(q);
}

static void deliver(const osla_post *p, int to)
{
  unsigned char *base = p->region->memory[to].base;
  if (p->bytes > 0) osli_sim_region_copy(p->region, base + p->offset, p->source, p->bytes);
  atomic_store_explicit((_Atomic uint64_t *)(base + p->word_offset), p->word, memory_order_release);
}

static void arrive(void *arg)
{
  osla_post *p = arg;
  osla_post_queue *q = p->queue;
  p->has_arrived = true;
  while (q->first && q->first->has_arrived) {
    osla_post *first = q->first;
    deliver(first, q->to);
    q->first = first->next;
    if (!q->first) q->end = &q->first;
    first->delivered = true;
    if (first->is_detached) free(first);
  }
  sim_rank *from = q->from, *to = &sim_job_of(from->t)->rank[q->to];
  free_if_empty(q); /* must precede the resumption of ranks, which may free the queue */
  osli_sim_resume(to);
  osli_sim_resume(from);
}

osla_err osli_sim_post(osla_region *region, int rank, size_t offset, const void *source,
                       size_t bytes, size_t word_offset, uint64_t word, osla_post **out)
{
  osla_transport *t = region->t;
  sim_job *job = sim_job_of(t);
  osla_post *p = calloc(1, sizeof *p);
  osla_post_queue *q = p ? queue_to(sim_self(t), rank) : NULL;
  if (!q) {
    free(p);
    return osla_error_set(OSLA_ERR_MEM, "a put with notify");
  }
  *p = (osla_post){.queue = q,
                   .region = region,
                   .offset = offset,
                   .bytes = bytes,
                   .word_offset = word_offset,
                   .source = source,
                   .word = word,
                   .is_detached = out == NULL};
  *q->end = p;
  q->end = &p->next;
  if (out) *out = p;
  osli_sim_advance_clock(job->machine.overhead);
  osli_sim_start_transfer(sim_self(t), &job->rank[rank], bytes + sizeof word,
                          sim_self(t)->own->ahead, &p->call, arrive, p);
  return OSLA_OK;
}

static bool is_delivered(void *arg)
{
  const osla_post *p = arg;
  return p->delivered;
}

osla_err osli_sim_post_test(osla_transport *t, osla_post **post, bool *done)
{
  *done = !*post || (*post)->delivered;
  if (!*done) {
    osli_sim_charge_poll(t);
    *done = (*post)->delivered;
  }
  if (!*done) return OSLA_OK;
  free(*post);
  *post = NULL;
  return OSLA_OK;
}

osla_err osli_sim_post_wait(osla_transport *t, osla_post **post)
{
  if (*post) osli_wait_until(t, is_delivered, *post, NULL);
  free(*post);
  *post = NULL;
  return OSLA_OK;
}

static bool has_no_posts(void *arg)
{
  const osla_region *region = arg;
  for (const osla_post_queue *q = sim_self(region->t)->posts; q; q = q->next)
    for (const osla_post *p = q->first; p; p = p->next)
      if (p->region == region) return false;
  return true;
}

void osli_sim_posts_finish(osla_region *region)
{
  osli_wait_until(region->t, has_no_posts, region, NULL);
}
