/* The exchange of letters (exchange.h) between simulated ranks. Each letter is a transfer, answered
 * by a transfer back that confirms its receipt. A barrier follows; meanwhile a rank receives
 * letters. */
#include "src/simulation/sim.h"

#include <stdlib.h>
#include <string.h>

struct sim_mail {
  sim_call call;
  sim_mail *next; /* next of the letters that the receiver has got */
  sim_rank *from, *to;
  int *n_taken;    /* the sender's count of confirmed letters in this exchange */
  uint64_t number; /* number of the exchange */
  bool is_answered, is_read;
  unsigned char letter[];
};

static void drop_if_over(sim_mail *m)
{
  if (m->is_answered && m->is_read) free(m);
}

static void answer(void *arg)
{
  sim_mail *m = arg;
  sim_rank *from = m->from;
  ++*m->n_taken;
  m->is_answered = true;
  drop_if_over(m); /* first, since the next call lets other ranks run, which may free m */
  osli_sim_wake(from);
}

static void come(void *arg)
{
  sim_mail *m = arg;
  sim_rank *to = m->to;
  m->next = to->mail;
  to->mail = m;
  osli_sim_move(to, m->from, 0, 0, &m->call, answer, m);
  osli_sim_wake(to);
}

typedef struct progress {
  osla_transport *t;
  const osla_sparse *x;
  int n_sent, n_taken;
} progress;

static osla_err send_all(progress *p)
{
  sim_job *job = sim_job_of(p->t);
  sim_rank *me = sim_me(p->t);
  const osla_letters *out = p->x->out;
  const size_t bytes = (size_t)out->bytes;
  for (int i = 0; i < out->n; i++) {
    sim_rank *to = &job->rank[osli_letter_rank(out, i)];
    if (to == me) continue;
    sim_mail *m = calloc(1, sizeof *m + bytes);
    OSLA_CHECK(m, OSLA_ERR_MEM, "a letter");
    *m = (sim_mail){.from = me, .to = to, .n_taken = &p->n_taken, .number = p->x->number};
    memcpy(m->letter, osli_letter(out, i), bytes);
    osli_sim_spend(job->machine.overhead);
    osli_sim_move(me, to, bytes, me->own->ahead, &m->call, come, m);
    p->n_sent++;
  }
  return OSLA_OK;
}

static int count_mail(const progress *p)
{
  int n = 0;
  for (const sim_mail *m = sim_me(p->t)->mail; m; m = m->next)
    n += m->number == p->x->number;
  return n;
}

static bool is_over(void *arg)
{
  const progress *p = arg;
  return p->n_taken == p->n_sent && count_mail(p) >= p->x->expected;
}

/* Skips letters of the next exchange, which other ranks may already have started. */
static osla_err read_mail(progress *p)
{
  osla_err err = OSLA_OK;
  for (sim_mail **at = &sim_me(p->t)->mail; *at;) {
    sim_mail *m = *at;
    if (m->number != p->x->number) {
      at = &m->next;
      continue;
    }
    *at = m->next;
    const osla_err one =
      osli_letters_add(p->x->in, (int)(m->from - sim_job_of(p->t)->rank), m->letter);
    if (err == OSLA_OK) err = one;
    m->is_read = true;
    drop_if_over(m);
  }
  return err;
}

osla_err osli_sim_exchange(osla_transport *t, const osla_sparse *x)
{
  progress p = {.t = t, .x = x};
  osla_err err = send_all(&p);
  if (err != OSLA_OK) osla_transport_abort(t, err);
  osli_wait_until(t, is_over, &p, NULL);
  if (x->expected < 0) {
    const osla_collective barrier = {.kind = OSLA_DO_BARRIER, .type = MPI_BYTE};
    OSLA_CALL(osli_sim_collective(t, &barrier));
  }
  return read_mail(&p);
}
