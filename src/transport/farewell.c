/* The farewell hangs as an attribute on MPI_COMM_SELF, which MPI_Finalize deletes before anything
 * else, while MPI still works (MPI-3.1, section 8.7.1). */
#include "futex.h"
#include "osla_farewell.h"
#include "osla_random.h"
#include "transport_ops.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 0, TURN_US = 200, REST_US = 300000 };

/* The ranks of one communicator. */
typedef struct farewell {
  struct farewell *next;
  MPI_Comm comm; /* our own */
  int rank, size;
  MPI_Request *requests; /* a send and a receive for each other rank; made in time */
} farewell;

/* The attribute's key: all that this process must remember. */
static struct {
  pthread_mutex_t mutex;
  int keyval;
} key = {PTHREAD_MUTEX_INITIALIZER, MPI_KEYVAL_INVALID};

static void post(farewell *f)
{
  MPI_Request *next = f->requests;
  for (int i = 1; i < f->size; i++) {
    int other = (f->rank + i) % f->size;
    (void)MPI_Irecv(NULL, 0, MPI_BYTE, other, TAG, f->comm, next++);
    (void)MPI_Isend(NULL, 0, MPI_BYTE, other, TAG, f->comm, next++);
  }
}

static void finish(farewell *f)
{
  for (int i = 0; i < 2 * (f->size - 1);) {
    int done = 1;
    (void)MPI_Test(&f->requests[i], &done, MPI_STATUS_IGNORE);
    if (done)
      i++;
    else
      osla_nap(TURN_US);
  }
  (void)MPI_Comm_free(&f->comm);
  free(f->requests);
  free(f);
}

/* All are posted before one is waited for: ranks may have met in different orders. */
static int say_farewell(MPI_Comm self, int keyval, void *first, void *extra)
{
  (void)self, (void)keyval, (void)extra;
  for (farewell *f = first; f; f = f->next)
    post(f);
  for (farewell *f = first, *next; f; f = next) {
    next = f->next;
    finish(f);
  }
  osla_nap(REST_US);
  return MPI_SUCCESS;
}

/* "MPICH Version:	4.0.2": the text that MPICH itself gives; its descendants have others. */
static bool is_affected(void)
{
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0, major = 0, minor = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return false;
  if (sscanf(text, "MPICH Version: %d.%d", &major, &minor) != 2) return false;
  return major < 4 || (major == 4 && minor < 2);
}

static uint64_t hash(uint64_t start, const char *text)
{
  for (; *text; text++)
    start = osla_random_bits(start, (uint64_t)*text, 0);
  return start;
}

/* The same on ranks that have one network interface list: one kernel, one network name space. */
static uint64_t place_of_this_process(void)
{
  char kernel[64], space[64] = "", host[64] = "";
  (void)gethostname(host, sizeof host - 1);
  osla_host_kernel(host, kernel);
  if (readlink("/proc/self/ns/net", space, sizeof space - 1) < 0) space[0] = '\0';
  return hash(hash(0, kernel), space);
}

/* Collective. */
static osla_err is_needed(MPI_Comm comm, bool *needed)
{
  const char *wish = getenv("OSLA_FAREWELL");
  uint64_t place = place_of_this_process();
  uint64_t least[3] = {place, ~place, !(wish && strcmp(wish, "off") == 0)};
  OSLA_MPI(MPI_Allreduce(MPI_IN_PLACE, least, 3, MPI_UINT64_T, MPI_MIN, comm));
  *needed = least[0] != ~least[1] && least[2];
  return OSLA_OK;
}

/* Are all ranks of comm among f's? */
static bool covers(const farewell *f, MPI_Comm comm)
{
  MPI_Group mine, theirs, rest;
  int left = 1;
  if (MPI_Comm_group(f->comm, &mine) != MPI_SUCCESS) return false;
  if (MPI_Comm_group(comm, &theirs) == MPI_SUCCESS) {
    if (MPI_Group_difference(theirs, mine, &rest) == MPI_SUCCESS) {
      (void)MPI_Group_size(rest, &left);
      if (rest != MPI_GROUP_EMPTY) (void)MPI_Group_free(&rest);
    }
    (void)MPI_Group_free(&theirs);
  }
  (void)MPI_Group_free(&mine);
  return left == 0;
}

static farewell *first_one(void)
{
  void *first = NULL;
  int found = 0;
  if (key.keyval == MPI_KEYVAL_INVALID) return NULL;
  (void)MPI_Comm_get_attr(MPI_COMM_SELF, key.keyval, &first, &found);
  return found ? first : NULL;
}

/* A farewell for comm, not yet in the list. Collective. */
static osla_err make(MPI_Comm comm, farewell **out)
{
  int size = 1;
  OSLA_MPI(MPI_Comm_size(comm, &size));
  farewell *f = calloc(1, sizeof *f);
  MPI_Request *requests = calloc(2 * (size_t)size, sizeof *requests);
  osla_err err = osla_all_have(comm, f && requests, "messages");
  if (err == OSLA_OK) {
    *f = (farewell){.size = size, .requests = requests};
    int code = MPI_Comm_dup(comm, &f->comm);
    if (code == MPI_SUCCESS) code = MPI_Comm_rank(f->comm, &f->rank);
    if (code != MPI_SUCCESS) err = osla_error_set_mpi(code, "MPI_Comm_dup");
  }
  if (err != OSLA_OK) {
    free(requests);
    free(f);
    f = NULL;
  }
  *out = f;
  return err;
}

/* Appends: the attribute stays the first one, so that nothing is deleted on the way. */
static osla_err keep(farewell *f)
{
  farewell *last = first_one();
  while (last && last->next)
    last = last->next;
  if (last) {
    last->next = f;
    return OSLA_OK;
  }
  if (key.keyval == MPI_KEYVAL_INVALID)
    OSLA_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, say_farewell, &key.keyval, NULL));
  OSLA_MPI(MPI_Comm_set_attr(MPI_COMM_SELF, key.keyval, f));
  return OSLA_OK;
}

osla_err osla_farewell_arrange(MPI_Comm comm)
{
  bool needed = false;
  farewell *f = NULL;
  if (!is_affected()) return OSLA_OK;
  OSLA_CALL(is_needed(comm, &needed));
  if (!needed) return OSLA_OK;
  (void)pthread_mutex_lock(&key.mutex);
  bool covered = false;
  for (const farewell *known = first_one(); known && !covered; known = known->next)
    covered = covers(known, comm);
  (void)pthread_mutex_unlock(&key.mutex);
  if (covered) return OSLA_OK;
  OSLA_CALL(make(comm, &f));
  (void)pthread_mutex_lock(&key.mutex);
  osla_err err = keep(f);
  (void)pthread_mutex_unlock(&key.mutex);
  return err;
}
