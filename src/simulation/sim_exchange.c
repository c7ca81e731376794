/* The exchange of letters (exchange.h) between simulated ranks. Each letter is a transfer, answered
 * by a transfer back that confirms its receipt. A barrier follows; meanwhile a rank receives
 * letters. */
#include "src/simulation/sim.h"

#include <stdlib.h>
#include <string.h>

struct sim_received_letter {
  sim_completion call;
  sim_received_letter *next; /* next letter in the list of letters that the receiver has got */
  sim_rank *from, *to;
  int *n_taken;    /* the sender's count of confirmed letters in this exchange */
  uint64_t number; /* number of the exchange that the letter belongs to */
  bool is_answered, is_read;
  unsigned char letter[];
};

static void free_if_done(sim_received_letter *m)
{
  if (m->is_answered && m->is_read) free(m);
}

static void confirm_receipt(void *arg)
{
  sim_received_letter *m = arg;
  sim_rank *from = m->from;
  ++*m->n_taken;
  m->is_answered = true;
  free_if_done(m); /* must precede the resumption of other ranks, which may free the letter */
  osli_sim_resume(from);
}

static void receive_letter(void *arg)
{
  sim_received_letter *m = arg;
  sim_rank *to = m->to;
  m->next = to->letters;
  to->letters = m;
  osli_sim_start_transfer(to, m->from, 0, 0, &m->call, confirm_receipt, m);
  osli_sim_resume(to);
}

typedef struct progress {
  osla_transport *t;
  const osla_sparse *x;
  int n_sent, n_taken;
} progress;

static osla_err send_letters(progress *p)
{
  sim_job *job = sim_job_of(p->t);
  sim_rank *me = sim_self(p->t);
  const osla_letters *out = p->x->out;
  const size_t bytes = (size_t)out->bytes;
  for (int i = 0; i < out->n; i++) {
    sim_rank *to = &job->rank[osli_letter_rank(out, i)];
    if (to == me) continue;
    sim_received_letter *m = calloc(1, sizeof *m + bytes);
    OSLA_CHECK(m, OSLA_ERR_MEM, "a letter");
    *m =
      (sim_received_letter){.from = me, .to = to, .n_taken = &p->n_taken, .number = p->x->number};
    memcpy(m->letter, osli_letter(out, i), bytes);
    osli_sim_advance_clock(job->machine.overhead);
    osli_sim_start_transfer(me, to, bytes, me->own->ahead, &m->call, receive_letter, m);
    p->n_sent++;
  }
  return OSLA_OK;
}

static int count_letters(const progress *p)
{
  int n = 0;
  for (const sim_received_letter *m = sim_self(p->t)->letters; m; m = m->next)
    n += m->number == p->x->number;
  return n;
}

static bool is_over(void *arg)
{
  const progress *p = arg;
  return p->n_taken == p->n_sent && count_letters(p) >= p->x->expected;
}

/* Skips letters of the next exchange, which other ranks may already have started. */
static osla_err read_letters(progress *p)
{
  osla_err err = OSLA_OK;
  for (sim_received_letter **at = &sim_self(p->t)->letters; *at;) {
    sim_received_letter *m = *at;
    if (m->number != p->x->number) {
      at = &m->next;
      continue;
    }
    *at = m->next;
    const osla_err one =
      osli_letters_add(p->x->in, (int)(m->from - sim_job_of(p->t)->rank), m->letter);
    if (err == OSLA_OK) err = one;
    m->is_read = true;
    free_if_done(m);
  }
  return err;
}

osla_err osli_sim_exchange(osla_transport *t, const osla_sparse *x)
{
  progress p = {.t = t, .x = x};
  osla_err err = send_letters(&p);
  if (err != OSLA_OK) osla_transport_abort(t, err);
  osli_wait_until(t, is_over, &p, NULL);
  if (x->expected < 0) {
    const osla_collective barrier = {.kind = OSLA_DO_BARRIER, .type = MPI_BYTE};
    OSLA_CALL(osli_sim_collective(t, &barrier));
  }
  return read_letters(&p);
}
