/* Collective calls for garbage-collected languages. osla_meet, which begins each such call, checks
 * that all ranks make the same call, and finds the objects that all ranks have dropped. The search,
 * osla_meet_find, finds the transport on which the other ranks make a collective call.
 *
 * A rank that enters a collective call (osla_meet) sends an empty message to the next rank of the
 * transport. A rank that does not know the transport of its call probes all candidates for the
 * message of the previous rank, and joins the call there. So all ranks find the transport if one
 * rank knows it.
 *
 * If no rank knows it, no message arrives. Therefore each rank reports to rank 0 of each transport
 * when its search begins and ends. If rank 0 is searching as well, and all other ranks have been
 * searching for some time, it asks them whether to abandon the search on this transport. A rank
 * answers no if its search has ended, or if it has answered yes to another rank 0. A rank that has
 * answered yes joins no call until rank 0 has sent the verdict, which is to abandon if all answers
 * are yes. So all ranks of a transport abandon together, or none does. */
#include "osla_clock.h"
#include "osla_meet.h"
#include "src/base/hash.h"
#include "src/transport/transport_ops.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* eager_state.h and collective_mpi.c define the other tags */
enum { ARRIVED_TAG = 8, SEARCHES_TAG, ASK_TAG, ANSWER_TAG, VERDICT_TAG };

/* Rank in MPI_COMM_WORLD of a transport's rank 0; MPI_UNDEFINED if it has none. */
static int root_of(const osla_transport *t)
{
  MPI_Group mine, all;
  const int zero = 0;
  int root = MPI_UNDEFINED;
  if (MPI_Comm_group(t->comm, &mine) != MPI_SUCCESS) return root;
  if (MPI_Comm_group(MPI_COMM_WORLD, &all) == MPI_SUCCESS) {
    (void)MPI_Group_translate_ranks(mine, 1, &zero, all, &root);
    (void)MPI_Group_free(&all);
  }
  (void)MPI_Group_free(&mine);
  return root;
}

/* Is the search on x abandoned after the search on y? Larger transports come first, then those with
 * an earlier rank 0, so all ranks get the same result. */
static bool is_abandoned_later(const osla_transport *x, const osla_transport *y)
{
  return y->size != x->size ? y->size > x->size : root_of(y) < root_of(x);
}

/* If all ranks of a transport search, rank 0 abandons the search after search_delay seconds, plus
 * search_delay seconds for each candidate that is abandoned earlier. A smaller transport waits
 * longer because its ranks may all be searching for a call on a larger one, whose other ranks
 * arrive later. A multiple of jitter_step keeps the ranks 0 of two transports from asking a common
 * rank at the same time again and again. */
static const double search_delay = 0.2, jitter_step = 0.005;
enum { N_JITTER_STEPS = 31 };

static int previous_rank(const osla_transport *t)
{
  return (t->rank + t->size - 1) % t->size;
}

/* Empty messages of an announcement, to the next rank and from the previous rank. */
typedef struct entry_announcement {
  osla_transport *t;
  MPI_Request requests[2];
  int code;
} entry_announcement;

/* Announces to the next rank that this rank has entered a collective call on transport t. A
 * searching rank finds the call by this message. */
static osla_err announce_entry(osla_transport *t, entry_announcement *a)
{
  *a = (entry_announcement){t, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, MPI_SUCCESS};
  if (t->size == 1) return OSLA_OK;
  (void)pthread_mutex_lock(&t->mutex);
  int code = MPI_Irecv(NULL, 0, MPI_BYTE, previous_rank(t), ARRIVED_TAG, t->comm, &a->requests[0]);
  if (code == MPI_SUCCESS)
    code =
      MPI_Isend(NULL, 0, MPI_BYTE, (t->rank + 1) % t->size, ARRIVED_TAG, t->comm, &a->requests[1]);
  (void)pthread_mutex_unlock(&t->mutex);
  return code == MPI_SUCCESS ? OSLA_OK : osla_error_set_mpi(code, "MPI_Isend");
}

static bool are_complete(void *arg)
{
  entry_announcement *a = arg;
  MPI_Status statuses[2];
  int flag = 0;
  (void)pthread_mutex_lock(&a->t->mutex);
  a->code = MPI_Testall(2, a->requests, &flag, statuses);
  (void)pthread_mutex_unlock(&a->t->mutex);
  return flag || a->code != MPI_SUCCESS;
}

/* Waits until the messages of an announcement to and from the neighbouring ranks are complete. */
static osla_err wait_for_entries(entry_announcement *a)
{
  osli_wait_until(a->t, are_complete, a, NULL);
  return a->code == MPI_SUCCESS ? OSLA_OK : osla_error_set_mpi(a->code, "MPI_Testall");
}

/* ---- agreement before a collective call ---- */

enum { NAME_BYTES = 64, CHUNK = 64 };

static int64_t hash_of(const char *name, size_t length)
{
  return (int64_t)(hash_extend(HASH_OF_NO_BYTES, name, length) >> 1);
}

/* Reports the first rank whose call differs from the call of rank 0. */
static osla_err report_different_call(osla_transport *t, const char *call)
{
  char first[NAME_BYTES] = "";
  (void)strncpy(first, call, sizeof first - 1);
  OSLA_CALL(osla_bcast(t, first, sizeof first, MPI_BYTE, 0));
  osla_err err = OSLA_OK;
  if (strncmp(first, call, sizeof first - 1) != 0)
    err = osla_error_set(OSLA_ERR_STATE,
                         "rank %d calls %s where rank 0 calls %s: all ranks must make the same "
                         "collective calls in the same order",
                         t->rank, call, first);
  err = osla_agree(t, err);
  OSLA_CHECK(err != OSLA_OK, OSLA_ERR_STATE,
             "%s: all ranks must make the same call; other ranks differ after the first %d bytes",
             first, NAME_BYTES - 1);
  return err;
}

/* Finds the numbers that are in the ascending lists of all ranks. Each round gathers the next CHUNK
 * numbers of every rank, and then decides about all numbers up to the smallest of the ranks' last
 * gathered numbers. */
static osla_err intersect(osla_transport *t, int64_t n, int64_t *dropped, int64_t *n_common)
{
  int64_t next = 0, common = 0, mine[CHUNK];
  size_t bytes = sizeof mine * (size_t)t->size;
  int64_t *all = malloc(bytes);
  osla_err err = all ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%zu bytes for lists", bytes);
  OSLA_TRY(osla_agree(t, err));
  for (bool more = true; more;) {
    int64_t settled = INT64_MAX;
    for (int64_t i = 0; i < CHUNK; i++)
      mine[i] = next + i < n ? dropped[next + i] : INT64_MAX;
    OSLA_TRY(osli_allgather(t, mine, all, sizeof mine));
    for (int rank = 0; rank < t->size; rank++) {
      int64_t last = all[(int64_t)rank * CHUNK + CHUNK - 1];
      if (last < settled) settled = last;
    }
    for (; next < n && dropped[next] <= settled; next++) {
      int holders = 0;
      for (int rank = 0; rank < t->size; rank++)
        for (int i = 0; i < CHUNK; i++)
          if (all[rank * CHUNK + i] == dropped[next]) {
            holders++;
            break;
          }
      /* common <= next, so only processed numbers are overwritten */
      if (holders == t->size) dropped[common++] = dropped[next];
    }
    more = settled != INT64_MAX;
  }
  *n_common = common;
cleanup:
  free(all);
  return err;
}

osla_err osla_meet(osla_transport *t, osla_err local, const char *call, int64_t n_dropped,
                   int64_t *dropped, int64_t *n_common)
{
  int64_t hash = hash_of(call, strcspn(call, " ")), whole = hash_of(call, strlen(call));
  int64_t least[] = {local == OSLA_OK ? INT_MAX : t->rank, hash, ~hash, whole, ~whole, n_dropped};
  *n_common = 0;
  entry_announcement arrival;
  OSLA_CALL(announce_entry(t, &arrival));
  OSLA_CALL(osla_allreduce(t, least, 6, MPI_INT64_T, MPI_MIN));
  OSLA_CALL(wait_for_entries(&arrival));
  if (least[1] != ~least[2]) return report_different_call(t, call);
  if (least[0] != INT_MAX) return osla_agree(t, local);
  if (least[3] != ~least[4]) return report_different_call(t, call);
  return least[5] == 0 ? OSLA_OK : intersect(t, n_dropped, dropped, n_common);
}

/* ---- the search for the transport of a collective call ---- */

typedef struct candidate {
  osla_transport *t;
  /* on rank 0: seconds for which all ranks must have been searching before it asks them to abandon
   * the search */
  double abandon_after_s;
  /* on rank 0: time since which all other ranks are searching; 0 if a rank is not searching */
  double complete_since;
} candidate;

/* A search of this rank. found, released: index of the candidate where a call was found, or the
 * search was abandoned; -1 if there is none. promised: index of the candidate to whose rank 0 this
 * rank has answered yes, or which it has asked as rank 0; -1 if none. */
typedef struct search {
  candidate *candidates;
  int count, found, released, promised, code;
} search;

/* Contents of a message. SEARCH_ID: number of the search of the rank that is not rank 0. FLAG: the
 * search begins (1) or ends (0); the answer or verdict is to abandon (1) or not (0). */
enum { SEARCH_ID, FLAG, WORDS };

/* Returns whether a message with this tag has arrived from rank *from. If it has, and words is not
 * NULL, receives the message and sets *from to its sender. */
static bool receive_if_arrived(search *s, osla_transport *t, int *from, int tag,
                               int64_t words[WORDS])
{
  int flag = 0;
  MPI_Status status;
  (void)pthread_mutex_lock(&t->mutex);
  int code = MPI_Iprobe(*from, tag, t->comm, &flag, &status);
  if (code == MPI_SUCCESS && flag && words) {
    *from = status.MPI_SOURCE;
    code = MPI_Recv(words, WORDS, MPI_INT64_T, *from, tag, t->comm, MPI_STATUS_IGNORE);
  }
  (void)pthread_mutex_unlock(&t->mutex);
  if (code != MPI_SUCCESS) s->code = code;
  return flag && code == MPI_SUCCESS;
}

static void send_words(search *s, osla_transport *t, int to, int tag, int64_t number, bool holds)
{
  const int64_t words[WORDS] = {number, holds};
  (void)pthread_mutex_lock(&t->mutex);
  int code = MPI_Send(words, WORDS, MPI_INT64_T, to, tag, t->comm);
  (void)pthread_mutex_unlock(&t->mutex);
  if (code != MPI_SUCCESS) s->code = code;
}

/* Rank 0 receives the reports on begun and ended searches, and the answers. The messages of one
 * rank arrive in order. Answers about ended searches are ignored. */
static void receive_reports(search *s, osla_transport *t)
{
  int64_t words[WORDS];
  for (int from = MPI_ANY_SOURCE; receive_if_arrived(s, t, &from, SEARCHES_TAG, words);
       from = MPI_ANY_SOURCE) {
    searching_rank *l = &t->searching[from];
    t->n_searching += (words[FLAG] != 0) - (l->number != 0);
    l->number = words[FLAG] ? words[SEARCH_ID] : 0;
    l->answer = SEARCH_NO; /* an answer to an earlier question does not count */
  }
  for (int from = MPI_ANY_SOURCE; receive_if_arrived(s, t, &from, ANSWER_TAG, words);
       from = MPI_ANY_SOURCE)
    if (t->searching[from].number == words[SEARCH_ID])
      t->searching[from].answer = words[FLAG] ? SEARCH_YES : SEARCH_NO;
}

/* On rank 0, while all other ranks are searching: asks them whether to abandon the search. */
static void request_answers(search *s, int i)
{
  osla_transport *t = s->candidates[i].t;
  s->promised = i;
  for (int rank = 1; rank < t->size; rank++) {
    t->searching[rank].answer = SEARCH_NOT_ANSWERED;
    send_words(s, t, rank, ASK_TAG, t->searching[rank].number, true);
  }
}

/* On rank 0: decides whether all ranks abandon the search, once every rank has answered. Sends the
 * decision (the verdict) to each rank that answered yes. Returns true if all ranks answered yes and
 * the search is therefore abandoned, false if a rank answered no or has not answered yet. */
static bool decide_abandon(search *s, int i)
{
  osla_transport *t = s->candidates[i].t;
  int yes = 1;
  for (int rank = 1; rank < t->size; rank++) {
    if (t->searching[rank].answer == SEARCH_NOT_ANSWERED) return false;
    yes += t->searching[rank].answer == SEARCH_YES;
  }
  for (int rank = 1; rank < t->size; rank++) {
    searching_rank *l = &t->searching[rank];
    if (l->answer == SEARCH_YES) send_words(s, t, rank, VERDICT_TAG, l->number, yes == t->size);
    if (yes == t->size) l->number = 0;
  }
  if (yes == t->size) t->n_searching = 0;
  s->promised = -1;
  s->candidates[i].complete_since = 0;
  return yes == t->size;
}

/* One step of rank 0. Returns true if the search is abandoned on this transport. */
static bool coordinate(search *s, int i)
{
  candidate *p = &s->candidates[i];
  receive_reports(s, p->t);
  if (s->promised == i) return decide_abandon(s, i);
  if (p->t->n_searching < p->t->size - 1) {
    p->complete_since = 0;
    return false;
  }
  if (p->complete_since <= 0) p->complete_since = osla_clock();
  if (s->promised < 0 && osla_clock() - p->complete_since >= p->abandon_after_s)
    request_answers(s, i);
  return false;
}

/* One step of the other ranks: answers rank 0, and returns true when rank 0 has abandoned the
 * search. A question about an earlier search of this rank is ignored, because rank 0 will receive
 * the report that the search has ended. */
static bool is_released_by_root(search *s, int i)
{
  osla_transport *t = s->candidates[i].t;
  int64_t words[WORDS];
  for (int from = 0; receive_if_arrived(s, t, &from, ASK_TAG, words);) {
    if (words[SEARCH_ID] != t->n_searches) continue;
    bool yes = s->promised < 0;
    if (yes) s->promised = i;
    send_words(s, t, 0, ANSWER_TAG, t->n_searches, yes);
  }
  for (int from = 0; s->promised == i && receive_if_arrived(s, t, &from, VERDICT_TAG, words);) {
    s->promised = -1;
    if (words[FLAG]) return true;
  }
  return false;
}

static bool is_search_over(void *arg)
{
  search *s = arg;
  for (int i = 0; i < s->count; i++) {
    osla_transport *t = s->candidates[i].t;
    int from = previous_rank(t);
    if (i > 0) osla_progress(t); /* osli_wait_until makes progress on candidate 0 */
    if (s->promised < 0 && receive_if_arrived(s, t, &from, ARRIVED_TAG, NULL)) {
      s->found = i;
      return true;
    }
  }
  for (int i = 0; i < s->count && s->released < 0; i++)
    if (s->candidates[i].t->rank == 0 ? coordinate(s, i) : is_released_by_root(s, i))
      s->released = i;
  return s->released >= 0 || s->code != MPI_SUCCESS;
}

/* Begins the search on all candidates and reports that to their rank 0. */
static osla_err begin_search(search *s)
{
  for (int i = 0; i < s->count; i++) {
    osla_transport *t = s->candidates[i].t;
    if (t->rank == 0 && !t->searching) {
      t->searching = calloc((size_t)t->size, sizeof *t->searching);
      OSLA_CHECK(t->searching, OSLA_ERR_MEM, "osla_meet_find: list of %d ranks", t->size);
    }
  }
  for (int i = 0; i < s->count; i++) {
    candidate *p = &s->candidates[i];
    if (p->t->rank == 0)
      p->abandon_after_s = search_delay + jitter_step * ((unsigned)root_of(p->t) % N_JITTER_STEPS);
    for (int j = 0; j < s->count; j++)
      if (p->t->rank == 0 && is_abandoned_later(p->t, s->candidates[j].t))
        p->abandon_after_s += search_delay;
    p->t->n_searches++;
    if (p->t->rank != 0) send_words(s, p->t, 0, SEARCHES_TAG, p->t->n_searches, true);
  }
  return OSLA_OK;
}

/* Reports the end of this rank's search to rank 0 of each candidate transport, except to the rank 0
 * that has abandoned the search. */
static void end_search(search *s)
{
  for (int i = 0; i < s->count; i++) {
    osla_transport *t = s->candidates[i].t;
    if (t->rank != 0 && i != s->released) send_words(s, t, 0, SEARCHES_TAG, t->n_searches, false);
  }
}

osla_err osla_meet_find(int count, osla_transport *const *transports, osla_transport **found)
{
  *found = NULL;
  search s = {.found = -1, .released = -1, .promised = -1, .code = MPI_SUCCESS};
  osla_err err = OSLA_OK;
  s.candidates = calloc((size_t)(count > 0 ? count : 1), sizeof *s.candidates);
  OSLA_CHECK(s.candidates, OSLA_ERR_MEM, "osla_meet_find: a list of %d transports", count);
  for (int i = 0; i < count; i++)
    if (transports[i]->size > 1) s.candidates[s.count++].t = transports[i];
  if (s.count == 1 && count == 1) {
    s.found = 0;
  } else if (s.count > 0) {
    err = begin_search(&s);
    if (err == OSLA_OK) osli_wait_until(s.candidates[0].t, is_search_over, &s, NULL);
    if (err == OSLA_OK) end_search(&s);
  }
  if (s.found >= 0) *found = s.candidates[s.found].t;
  if (s.code != MPI_SUCCESS) err = osla_error_set_mpi(s.code, "MPI_Iprobe");
  /* no rank may enter its next collective call while another rank still searches for this call */
  if (err == OSLA_OK && s.released >= 0) err = osla_barrier(s.candidates[s.released].t);
  free(s.candidates);
  return err;
}

/* ---- all transports of the process ---- */

/* The transports of this process, for a rank that has no valid handle. */
static struct {
  pthread_mutex_t mutex;
  osla_transport *newest;
} registered = {PTHREAD_MUTEX_INITIALIZER, NULL};

void osli_transport_register(osla_transport *t)
{
  (void)pthread_mutex_lock(&registered.mutex);
  t->older_transport = registered.newest;
  if (t->older_transport) t->older_transport->newer_transport = t;
  registered.newest = t;
  (void)pthread_mutex_unlock(&registered.mutex);
}

void osli_transport_unregister(osla_transport *t)
{
  (void)pthread_mutex_lock(&registered.mutex);
  if (t->older_transport) t->older_transport->newer_transport = t->newer_transport;
  if (t->newer_transport) t->newer_transport->older_transport = t->older_transport;
  if (registered.newest == t) registered.newest = t->older_transport;
  (void)pthread_mutex_unlock(&registered.mutex);
}

osla_err osla_meet_find_any(osla_transport **found)
{
  int count = 0;
  (void)pthread_mutex_lock(&registered.mutex);
  for (const osla_transport *t = registered.newest; t; t = t->older_transport)
    count++;
  osla_transport **all = malloc((size_t)(count + 1) * sizeof(osla_transport *));
  count = 0;
  for (osla_transport *t = registered.newest; all && t; t = t->older_transport)
    all[count++] = t;
  (void)pthread_mutex_unlock(&registered.mutex);
  *found = NULL;
  OSLA_CHECK(all, OSLA_ERR_MEM, "list of all transports");
  osla_err err = osla_meet_find(count, all, found);
  free(all);
  return err;
}

void osli_search_discard_messages(osla_transport *t)
{
  for (int tag = SEARCHES_TAG; tag <= VERDICT_TAG; tag++) {
    MPI_Status status;
    int64_t words[WORDS];
    int flag = 0;
    while (MPI_Iprobe(MPI_ANY_SOURCE, tag, t->comm, &flag, &status) == MPI_SUCCESS && flag)
      (void)MPI_Recv(words, WORDS, MPI_INT64_T, status.MPI_SOURCE, tag, t->comm, MPI_STATUS_IGNORE);
  }
}
