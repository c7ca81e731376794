/* The entry of collective calls for garbage-collected languages: checks that all ranks make the
 * same call, and finds the objects that all ranks have dropped. */
#include "osla_meet.h"
#include "src/base/hash.h"
#include "src/transport/collective_search.h"
#include "src/transport/transport_ops.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 64, CHUNK = 64 };

static int64_t hash_bytes(const char *name, size_t length)
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
 * numbers of every rank, and settles the numbers up to the smallest of the ranks' last ones. */
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
  int64_t hash = hash_bytes(call, strcspn(call, " ")), whole = hash_bytes(call, strlen(call));
  int64_t least[] = {local == OSLA_OK ? INT_MAX : t->rank, hash, ~hash, whole, ~whole, n_dropped};
  *n_common = 0;
  entry_announcement arrival;
  OSLA_CALL(osli_entry_announce(t, &arrival));
  OSLA_CALL(osla_allreduce(t, least, 6, MPI_INT64_T, MPI_MIN));
  OSLA_CALL(osli_entry_wait(&arrival));
  if (least[1] != ~least[2]) return report_different_call(t, call);
  if (least[0] != INT_MAX) return osla_agree(t, local);
  if (least[3] != ~least[4]) return report_different_call(t, call);
  return least[5] == 0 ? OSLA_OK : intersect(t, n_dropped, dropped, n_common);
}
