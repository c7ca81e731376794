/* Backend of the transport table for simulated machines. The unchanged code of OSLA runs on ranks
 * that a simulator executes, on hosts described in a file (SimGrid's SMPI; Degomme et al.,
 * Simulating MPI applications: the SMPI approach, 2017).
 *
 * MPI is used only to set up the job; data, notifications and waits use the simulator directly. A
 * transfer is remote DMA, which needs no action of the target rank, unless the machine file charges
 * cores for it (cpu). Computation takes the time given by the machine file (sim_core.h).
 */
#include "src/base/error_storage.h"
#include "src/blas/move.h"
#include "src/blas/work.h"
#include "src/simulation/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- gets and puts of simulated ranks --- */

static void complete_transfer(void *arg)
{
  sim_transfer *x = arg;
  x->done = true;
  osli_sim_resume(x->owner);
}

/* Completes a transfer at its target. If cores move the data, a put is complete at its origin only
 * after an answer. */
static void complete_at_target(void *arg)
{
  sim_transfer *x = arg;
  if (x->is_put)
    osli_sim_region_copy(x->region, x->to, x->from, x->bytes);
  else
    osli_sim_region_copy_get(x->region, x->other->t->rank, x->to, x->from, x->bytes);
  if (x->is_put && osli_sim_needs_cores(sim_job_of(x->owner->t)))
    osli_sim_start_transfer(x->other, x->owner, 0, 0, &x->call, complete_transfer, x);
  else
    complete_transfer(x);
}

static void answer_get(void *arg)
{
  sim_transfer *x = arg;
  const sim_machine *m = &sim_job_of(x->owner->t)->machine;
  double work = (double)x->bytes * (x->is_fetch ? m->cpu : m->cpu_get);
  osli_sim_start_transfer_with_work(x->other, x->owner, x->bytes, work, 0, &x->call,
                                    complete_at_target, x);
}

static int find_free_slot(sim_rank *me)
{
  for (int i = 0; i < me->room; i++)
    if (!me->transfer[i]) return i;
  int room = me->room > 0 ? 2 * me->room : 16;
  sim_transfer **more = realloc(me->transfer, (size_t)room * sizeof *more);
  if (!more) return -1;
  memset(more + me->room, 0, (size_t)(room - me->room) * sizeof *more);
  int first = me->room;
  me->transfer = more;
  me->room = room;
  return first;
}

typedef enum direction { GET, FETCH, PUT } direction;

static osla_err start_access(osla_region *region, direction way, int rank, size_t offset,
                             void *local, size_t bytes, osla_handle *handle)
{
  bool is_put = way == PUT;
  sim_job *job = sim_job_of(region->t);
  sim_rank *me = sim_self(region->t), *other = &job->rank[rank];
  unsigned char *remote = region->memory[rank].base + offset;
  *handle = OSLA_HANDLE_DONE;
  if (bytes == 0) return OSLA_OK;
  if (osli_sim_peer_ptr(region, rank)) {
    osli_sim_region_copy(region, is_put ? remote : local, is_put ? local : remote, bytes);
    osli_sim_advance_clock((double)bytes / job->machine.copy);
    return OSLA_OK;
  }
  sim_transfer *x = malloc(sizeof *x);
  int slot = x ? find_free_slot(me) : -1;
  if (slot < 0) {
    free(x);
    return osla_error_set(OSLA_ERR_MEM, "a transfer of %zu bytes", bytes);
  }
  *x = (sim_transfer){.owner = me,
                      .other = other,
                      .region = region,
                      .to = is_put ? remote : local,
                      .from = is_put ? local : remote,
                      .bytes = bytes,
                      .is_put = is_put,
                      .is_fetch = way == FETCH};
  me->transfer[slot] = x;
  handle->first = slot;
  osli_sim_advance_clock(job->machine.overhead);
  double ahead = me->own->ahead;
  if (is_put)
    osli_sim_start_transfer(me, other, bytes, ahead, &x->call, complete_at_target, x);
  else if (osli_sim_needs_cores(job))
    osli_sim_start_transfer(me, other, 0, ahead, &x->call, answer_get, x);
  else /* the data leave when the request has reached the other rank */
    osli_sim_start_transfer(other, me, bytes, ahead + osli_sim_latency(me->host, other->host),
                            &x->call, complete_at_target, x);
  return OSLA_OK;
}

static osla_err sim_get(osla_region *region, int rank, size_t offset, void *dest, size_t bytes,
                        osla_handle *handle)
{
  return start_access(region, GET, rank, offset, dest, bytes, handle);
}

static osla_err sim_fetch(osla_region *region, int rank, size_t offset, void *dest, size_t bytes,
                          osla_handle *handle)
{
  return start_access(region, FETCH, rank, offset, dest, bytes, handle);
}

static osla_err sim_put(osla_region *region, int rank, size_t offset, const void *source,
                        size_t bytes, osla_handle *handle)
{
  return start_access(region, PUT, rank, offset, (void *)(uintptr_t)source, bytes, handle);
}

static osla_err sim_test(osla_transport *t, osla_handle *handle, bool *done)
{
  sim_rank *me = sim_self(t);
  sim_transfer *x = handle->first < 0 ? NULL : me->transfer[handle->first];
  if (x && !x->done) {
    osli_sim_charge_poll(t);
    osli_sim_run_completions(me);
  }
  *done = !x || x->done;
  if (!*done || !x) return OSLA_OK;
  free(x);
  me->transfer[handle->first] = NULL;
  *handle = OSLA_HANDLE_DONE;
  return OSLA_OK;
}

static bool is_done(void *arg)
{
  const sim_transfer *x = arg;
  return x->done;
}

static osla_err sim_wait(osla_transport *t, osla_handle *handle)
{
  bool done;
  if (handle->first >= 0) osli_wait_until(t, is_done, sim_self(t)->transfer[handle->first], NULL);
  return sim_test(t, handle, &done);
}

typedef struct puts_to {
  const osla_region *region;
  const sim_rank *rank;
} puts_to;

static bool have_arrived(void *arg)
{
  const puts_to *p = arg;
  const sim_rank *me = sim_self(p->region->t);
  for (int i = 0; i < me->room; i++) {
    const sim_transfer *x = me->transfer[i];
    if (x && x->is_put && !x->done && x->region == p->region && x->other == p->rank) return false;
  }
  return true;
}

static osla_err sim_flush(osla_region *region, int rank)
{
  puts_to p = {region, &sim_job_of(region->t)->rank[rank]};
  if (!have_arrived(&p)) osli_wait_until(region->t, have_arrived, &p, NULL);
  return OSLA_OK;
}

/* --- notifications and atomic additions of simulated ranks --- */

static osla_err notify_on_node(osla_region *region, int rank, size_t offset, const void *source,
                               size_t bytes, size_t word_offset, uint64_t word, size_t bell_offset)
{
  unsigned char *base = region->memory[rank].base;
  if (bytes > 0) osli_sim_region_copy(region, base + offset, source, bytes);
  osli_sim_advance_clock((double)bytes / sim_job_of(region->t)->machine.copy);
  osli_sim_sync_clock();
  atomic_store_explicit((_Atomic uint64_t *)(base + word_offset), word, memory_order_release);
  osli_sim_ring(region->t, (osla_bell *)(base + bell_offset));
  return OSLA_OK;
}

static osla_err sim_post(osla_region *region, int rank, size_t offset, const void *source,
                         size_t bytes, size_t word_offset, uint64_t word, size_t bell_offset,
                         osla_post **out)
{
  if (osli_sim_peer_ptr(region, rank)) {
    if (out) *out = NULL;
    return notify_on_node(region, rank, offset, source, bytes, word_offset, word, bell_offset);
  }
  OSLA_CALL(sim_flush(region, rank)); /* orders earlier puts of this rank before the notification */
  return osli_sim_post(region, rank, offset, source, bytes, word_offset, word, out);
}

static void sim_region_free(osla_region **region)
{
  if (*region) osli_sim_posts_finish(*region);
  osli_sim_region_free(region);
}

static osla_err sim_put_notify(osla_region *region, int rank, size_t offset, const void *source,
                               size_t bytes, size_t word_offset, uint64_t word, size_t bell_offset)
{
  osla_post *post;
  OSLA_CALL(sim_post(region, rank, offset, source, bytes, word_offset, word, bell_offset, &post));
  return osli_sim_post_wait(region->t, &post);
}

/* A fetch-and-add: a transfer to the target, the addition there, and a transfer back. */
typedef struct addition {
  sim_completion call;
  sim_rank *from, *at;
  _Atomic int64_t *word;
  int64_t add, old;
  bool done;
} addition;

static void receive_old_value(void *arg)
{
  addition *a = arg;
  a->done = true;
  osli_sim_resume(a->from);
}

static void add_at_target(void *arg)
{
  addition *a = arg;
  a->old = atomic_fetch_add(a->word, a->add);
  osli_sim_start_transfer(a->at, a->from, sizeof a->old, 0, &a->call, receive_old_value, a);
}

static bool is_answered(void *arg)
{
  const addition *a = arg;
  return a->done;
}

static osla_err sim_fetch_add(osla_region *region, int rank, size_t offset, int64_t add,
                              int64_t *old)
{
  sim_job *job = sim_job_of(region->t);
  addition a = {.from = sim_self(region->t),
                .at = &job->rank[rank],
                .word = (_Atomic int64_t *)(region->memory[rank].base + offset),
                .add = add};
  osli_sim_sync_clock();
  if (osli_sim_peer_ptr(region, rank)) {
    *old = atomic_fetch_add(a.word, add);
    osli_sim_advance_clock(job->machine.wake);
    return OSLA_OK;
  }
  osli_sim_start_transfer(a.from, a.at, sizeof add, job->machine.overhead, &a.call, add_at_target,
                          &a);
  osli_wait_until(region->t, is_answered, &a, NULL);
  *old = a.old;
  return OSLA_OK;
}

static void sim_progress(osla_transport *t)
{
  osli_sim_charge_poll(t);
  osli_sim_run_completions(sim_self(t));
}

/* --- start and end of a simulated transport --- */

/* Ends the process of all ranks. After MPI_Abort the other ranks would wait, SimGrid would report
 * "Deadlock", and the exit status would be 0. */
static void sim_end_all(void)
{
  (void)fflush(NULL);
  _exit(1);
}

static char *error_text(void)
{
  return osli_sim_actor()->error_text;
}

/* Charges a piece of work to the calling rank. A sweep moves its bytes at the rate that the die
 * gives the core; other work takes the time of the model of a core. */
static void charge(const osla_work *work)
{
  sim_actor *own = osli_sim_actor();
  const double seconds = osli_sim_core_seconds(&own->core, work);
  const bool shares = own->die && work->kind == OSLA_WORK_SWEEP && seconds > 0;
  osli_sim_advance_clock(shares ? 0 : seconds);
  if (!shares) return;
  const double ahead = own->ahead;
  own->ahead = 0;
  osli_sim_die_move(own->die, seconds * own->bytes_per_second, own->most, ahead);
}

/* Records the begin of a BLAS call. With OSLA_SIMULATED_WORK=measured the rank is charged the CPU
 * time that the call really took; no other rank runs during the call. Copies are charged by the
 * model instead, so they have no such begin. */
static void begin_measured(void)
{
  osli_sim_actor()->began = osli_sim_processor_time();
}
static void charge_measured(const osla_work *work)
{
  sim_actor *own = osli_sim_actor();
  double began = own->began;
  own->began = 0;
  if (began > 0)
    osli_sim_advance_clock(osli_sim_processor_time() - began);
  else
    charge(work);
}

static void choose_work_charge(void)
{
  const char *work = getenv("OSLA_SIMULATED_WORK");
  if (work && strcmp(work, "measured") == 0)
    osli_work_set_model(begin_measured, charge_measured);
  else
    osli_work_set_model(NULL, charge);
  if (work && strcmp(work, "modelled") == 0) osli_work_model_only();
}

/* Uses blocking calls of SMPI, since no simulated transfers exist before the job does. */
static osla_err create_job(osla_transport *t)
{
  sim_job *job = NULL;
  if (t->rank == 0) {
    size_t ranks = (size_t)t->size;
    job = calloc(1, sizeof *job + ranks * sizeof *job->rank);
    if (job) job->collective.arguments = calloc(ranks, sizeof *job->collective.arguments);
    if (job && !job->collective.arguments) {
      free(job);
      job = NULL;
    }
    if (job) job->size = job->users = t->size;
  }
  OSLA_MPI(MPI_Bcast(&job, sizeof job, MPI_BYTE, 0, t->comm));
  OSLA_CHECK(job, OSLA_ERR_MEM, "the table of %d simulated ranks", t->size);
  t->backend = job;
  return OSLA_OK;
}

/* Number of this rank among the ranks of its host, which follow one another. */
static int number_on_host(const osla_transport *t)
{
  const sim_rank *me = sim_self(t);
  int number = 0;
  while (number < t->rank && me[-number - 1].host == me->host)
    number++;
  return number;
}

static osla_err sim_start(osla_transport *t)
{
  sim_actor *own = osli_sim_actor();
  sim_machine mine = {0};
  osli_error_set_storage(error_text);
  OSLA_CHECK(t->settings.time_limit <= 0, OSLA_ERR_UNSUPPORTED,
             "OSLA_PATIENCE is not supported on simulated machines");
  osla_err err = osli_sim_machine_read(sg_host_self(), t->rank == t->size / 2, &mine, &own->core);
  choose_work_charge();
  OSLA_CALL(create_job(t));
  sim_job *job = sim_job_of(t);
  sim_rank *me = sim_self(t);
  *me = (sim_rank){.t = t, .own = own, .host = sg_host_self(), .resume_semaphore = sg_sem_init(0)};
  me->last_completion = &me->completions;
  t->oversubscribed = false;
  OSLA_MPI(MPI_Barrier(t->comm));
  osli_sim_machine_find_dies(&mine, me->host, number_on_host(t), own);
  if (t->rank == 0) {
    sg_host_t last = job->rank[t->size - 1].host;
    job->machine = mine;
    if (last != job->rank[0].host) job->machine.latency = osli_sim_latency(job->rank[0].host, last);
  }
  OSLA_MPI(MPI_Barrier(t->comm));
  return osla_agree(t, err);
}

static void sim_finish(osla_transport *t)
{
  sim_job *job = sim_job_of(t);
  if (!job) return;
  free(sim_self(t)->transfer);
  sg_sem_destroy(sim_self(t)->resume_semaphore);
  t->backend = NULL;
  if (--job->users > 0) return;
  free(job->collective.arguments);
  free(job);
}

static const osla_transport_ops sim_ops = {
  .name = "sim",
  .machine = osli_sim_machine_name,
  .one_thread = true,
  .start = sim_start,
  .finish = sim_finish,
  .wait_until = osli_sim_wait_until,
  .split_hosts = osli_sim_split_hosts,
  .ring = osli_sim_ring,
  .collective = osli_sim_collective,
  .message = osli_sim_message,
  .exchange = osli_sim_exchange,
  .region_alloc = osli_sim_region_alloc,
  .region_attach = osli_sim_region_attach,
  .region_steers = osli_sim_region_steers,
  .region_messages = osli_sim_region_messages,
  .region_store = osli_sim_region_store,
  .region_free = sim_region_free,
  .peer_ptr = osli_sim_peer_ptr,
  .get = sim_get,
  .fetch = sim_fetch,
  .put = sim_put,
  .test = sim_test,
  .wait = sim_wait,
  .flush = sim_flush,
  .put_notify = sim_put_notify,
  .post = sim_post,
  .post_wait = osli_sim_post_wait,
  .post_test = osli_sim_post_test,
  .fetch_add = sim_fetch_add,
  .progress = sim_progress,
  .end_all = sim_end_all,
};

const osla_transport_ops *const osli_transport_built_in = &sim_ops;
