/* Decides whether a call is offloaded or passed on. */
#include "scalapack_adapt/adapt.h"

#include "osla_clock.h"
#include "osla_index.h"
#include "osla_log.h"

#include <complex.h>
#include <ctype.h>
#include <string.h>

/* Entries of a descriptor, with ScaLAPACK's names. Type 1 has 9 entries. Type 2, which only PBLAS
 * accepts, has 11 entries, and its first block may have another size. */
enum { BLOCK_CYCLIC_2D = 1, BLOCK_CYCLIC_2D_INB = 2 };
typedef struct descriptor {
  int type, ctxt, m, n, imb, inb, mb, nb, rsrc, csrc, lld;
} descriptor;

static descriptor read_descriptor(const int *d)
{
  if (d[0] == BLOCK_CYCLIC_2D)
    return (descriptor){d[0], d[1], d[2], d[3], d[4], d[5], d[4], d[5], d[6], d[7], d[8]};
  if (d[0] == BLOCK_CYCLIC_2D_INB)
    return (descriptor){d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10]};
  return (descriptor){.type = 0, .ctxt = d[1]};
}

adapt_call adapt_call_begin(adapt_routine routine, osla_dtype dtype)
{
  adapt_call call = {
    .routine = routine, .dtype = dtype, .since = osla_clock(), .caller = adapt_caller_get()};
  (void)adapt_finish_register();
  if (adapt_is_nested())
    call.reason = ADAPT_NESTED;
  else if (adapt_settings_get()->off)
    call.reason = ADAPT_OFF;
  return call;
}

bool adapt_call_refuse(adapt_call *call, adapt_reason reason)
{
  if (call->reason == ADAPT_OFFLOADED) call->reason = reason;
  return false;
}

/* Reason against offloading that follows from the global arguments of the sub-matrix alone;
 * ADAPT_OFFLOADED if there is none. */
static adapt_reason check_global_arguments(const adapt_sub *sub, const adapt_position *position)
{
  descriptor d = read_descriptor(sub->desc);
  if (d.type == 0) return ADAPT_DESCRIPTOR;
  if (d.ctxt != position->context || d.m < 0 || d.n < 0 || d.imb < 1 || d.inb < 1 || d.mb < 1 ||
      d.nb < 1 || d.rsrc < -1 || d.rsrc >= position->nprow || d.csrc < -1 ||
      d.csrc >= position->npcol || sub->i < 0 || sub->j < 0 || sub->m < 0 || sub->n < 0)
    return ADAPT_ARGUMENTS;
  if (sub->m == 0 || sub->n == 0) return ADAPT_EMPTY;
  if (sub->i + sub->m > d.m || sub->j + sub->n > d.n) return ADAPT_ARGUMENTS;
  return d.rsrc < 0 || d.csrc < 0 || d.imb != d.mb || d.inb != d.nb ? ADAPT_DESCRIPTOR
                                                                    : ADAPT_OFFLOADED;
}

/* In one dimension: sets the process that owns the block with element `index`, and returns the
 * number of local indices before that block. */
static int64_t find_block(int64_t i, int64_t nb, int source, int mine, int nprocs, int *owner)
{
  int64_t block = i / nb;
  *owner = (int)((source + block) % nprocs);
  return osla_index_count(block * nb, nb, (mine - source + nprocs) % nprocs, nprocs);
}

/* Sets the members of *sub that adapt_call_open has to fill in. False if the local array is too
 * short, or if memory ran out. */
static bool fill_local_members(adapt_call *call, adapt_sub *sub, const adapt_position *position)
{
  descriptor d = read_descriptor(sub->desc);
  int distance = (position->prow - d.rsrc + position->nprow) % position->nprow;
  int64_t rows = osla_index_count(d.m, d.mb, distance, position->nprow);
  int64_t row = find_block(sub->i, d.mb, d.rsrc, position->prow, position->nprow, &sub->prow);
  int64_t col = find_block(sub->j, d.nb, d.csrc, position->pcol, position->npcol, &sub->pcol);
  sub->mb = d.mb;
  sub->nb = d.nb;
  sub->row = sub->i % d.mb;
  sub->col = sub->j % d.nb;
  sub->lld = d.lld;
  sub->local_row = row;
  sub->grid = adapt_context_grid(call->context, sub->prow, sub->pcol);
  if (sub->lld < (rows > 1 ? rows : 1) || !sub->grid) return false;
  sub->local = sub->array;
  if (sub->array) sub->local += (size_t)(row + col * sub->lld) * osla_dtype_size(call->dtype);
  return true;
}

double adapt_least_flops(const adapt_call *call, double small, bool one_row, const adapt_sub *subs,
                         int result)
{
  static const double large = 3e7;
  const adapt_sub *r = &subs[result];
  descriptor d = read_descriptor(r->desc);
  adapt_position at;
  if (d.type == 0 || !adapt_position_of(&call->caller, read_descriptor(subs[0].desc).ctxt, &at))
    return large;
  bool shared = (at.nprow > 1 && r->m > d.mb) || (at.npcol > 1 && r->n > d.nb);
  if (!shared || (one_row && at.nprow > 1)) return large;
  double least = small * at.nprow * at.npcol / 2;
  return least < large ? least : large;
}

static bool is_same(const adapt_sub *x, const adapt_sub *y)
{
  descriptor dx = read_descriptor(x->desc), dy = read_descriptor(y->desc);
  return x->array == y->array && x->i == y->i && x->j == y->j && x->m == y->m && x->n == y->n &&
         memcmp(&dx, &dy, sizeof dx) == 0;
}

bool adapt_call_open(adapt_call *call, double flops, double least, int count, adapt_sub *subs)
{
  static const adapt_reason in_order[] = {ADAPT_ARGUMENTS, ADAPT_DESCRIPTOR, ADAPT_EMPTY};
  const adapt_settings *settings = adapt_settings_get();
  adapt_position position;
  if (call->reason != ADAPT_OFFLOADED) return false;
  if (!adapt_position_of(&call->caller, read_descriptor(subs[0].desc).ctxt, &position))
    return adapt_call_refuse(call, ADAPT_CONTEXT);
  for (size_t r = 0; r < sizeof in_order / sizeof in_order[0]; r++)
    for (int i = 0; i < count; i++)
      if (check_global_arguments(&subs[i], &position) == in_order[r])
        return adapt_call_refuse(call, in_order[r]);
  if (flops < (settings->min_flops >= 0 ? settings->min_flops : least))
    return adapt_call_refuse(call, ADAPT_SMALL);
  call->context = adapt_context_of(&position);
  if (!call->context) return adapt_call_refuse(call, ADAPT_CONTEXT);
  if (adapt_context_waits(call->context) && settings->min_flops < 0)
    return adapt_call_refuse(call, ADAPT_NETWORK);
  call->alone = position.nprow * position.npcol == 1;
  if (settings->device) call->place = ADAPT_HOST_ROUTINE;

  int agreed[2] = {1, count > 1 && is_same(&subs[0], &subs[1])};
  for (int i = 0; i < count; i++)
    if (!fill_local_members(call, &subs[i], &position)) agreed[0] = 0;
  osla_transport *t = adapt_context_transport(call->context);
  if (osla_allreduce(t, agreed, 2, MPI_INT, MPI_MIN) != OSLA_OK)
    return adapt_call_refuse(call, ADAPT_FAILED);
  call->same_operands = agreed[1];
  return agreed[0] || adapt_call_refuse(call, ADAPT_ARGUMENTS);
}

bool adapt_call_asked(const adapt_call *call)
{
  return adapt_context_crowded(call->context) || adapt_settings_get()->min_flops >= 0;
}

bool adapt_call_succeeded(adapt_call *call, osla_err err)
{
  if (err == OSLA_OK) return true;
  if (adapt_settings_get()->verbose && call->reason == ADAPT_OFFLOADED)
    osla_log(osla_transport_rank(adapt_context_transport(call->context)), "passed on: %s",
             osla_error_text());
  return adapt_call_refuse(call, err == OSLA_ERR_MEM ? ADAPT_MEMORY : ADAPT_FAILED);
}

bool adapt_call_completed(adapt_call *call, osla_err err)
{
  if (err != OSLA_OK && err != OSLA_ERR_ARG && err != OSLA_ERR_MEM)
    osla_transport_abort(adapt_context_transport(call->context), err);
  return adapt_call_succeeded(call, err);
}

adapt_function *adapt_call_pass(adapt_call *call)
{
  adapt_nest(+1);
  return call->caller.real;
}

void adapt_call_end(adapt_call *call)
{
  double seconds = osla_clock() - call->since;
  if (call->reason != ADAPT_OFFLOADED) adapt_nest(-1);
  if (call->reason == ADAPT_NESTED) return;
  adapt_lock();
  adapt_count *count = adapt_count_of(call->routine, call->dtype);
  count->calls[call->reason]++;
  if (call->reason == ADAPT_OFFLOADED) {
    count->places[call->place]++;
    if (call->device) count->seconds_on_device += seconds;
    count->seconds_offloaded += seconds;
    count->seconds_staging += call->staging;
    count->bytes_staged += call->bytes;
  } else {
    count->seconds_passed += seconds;
  }
  adapt_unlock();
}

/* --- arguments --- */

static int index_of(const char *letter, const char *letters)
{
  const char *at = strchr(letters, toupper((unsigned char)*letter));
  return *letter && at ? (int)(at - letters) : -1;
}

bool adapt_trans_of(const char *letter, osla_trans *trans)
{
  int i = index_of(letter, "NTC");
  *trans = (osla_trans)(i < 0 ? 0 : i);
  return i >= 0;
}

bool adapt_uplo_of(const char *letter, osla_uplo *uplo)
{
  int i = index_of(letter, "LU");
  *uplo = (osla_uplo)(i < 0 ? 0 : i);
  return i >= 0;
}

bool adapt_diag_of(const char *letter, osla_diag *diag)
{
  int i = index_of(letter, "NU");
  *diag = (osla_diag)(i < 0 ? 0 : i);
  return i >= 0;
}

bool adapt_side_of(const char *letter, osla_side *side)
{
  int i = index_of(letter, "LR");
  *side = (osla_side)(i < 0 ? 0 : i);
  return i >= 0;
}

osla_complex adapt_factor(osla_dtype dtype, const void *at)
{
  switch (dtype) {
    case OSLA_FLOAT: return *(const float *)at;
    case OSLA_DOUBLE: return *(const double *)at;
    case OSLA_COMPLEX_FLOAT: return *(const float _Complex *)at;
    case OSLA_COMPLEX_DOUBLE: return *(const double _Complex *)at;
  }
  return 0;
}
