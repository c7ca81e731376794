/* Messages at MPI_Finalize (see osla_farewell.h). They are sent by the delete callback of an
 * attribute on MPI_COMM_SELF, which MPI_Finalize calls before anything else, while MPI still works
 * (MPI-3.1, section 8.7.1).
 *
 * A set of ranks that no earlier set covers gets a duplicated communicator. There are at most
 * MOST_SETS duplicates, because some MPIs support only a few thousand communicators. Later sets use
 * MPI_COMM_WORLD; ranks outside MPI_COMM_WORLD (MPI_Comm_spawn) are then left out. */
#include "osla_farewell.h"
#include "osla_random.h"
#include "src/base/futex.h"
#include "src/transport/transport_ops.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* TAG: tag of the messages, below 32767 so that every MPI supports it. POLL_US: pause between two
 * tests, in us. REST_US: pause after the last message, in us. */
enum { TAG = 32749, POLL_US = 200, REST_US = 300000, MOST_SETS = 64 };

/* The ranks of one communicator with which this rank exchanges messages in MPI_Finalize. */
typedef struct finalize_group {
  struct finalize_group *next;
  MPI_Comm comm; /* MPI_COMM_WORLD, or a duplicate that this group owns */
  int rank, size;
  /* [size] true for each rank with which this rank exchanges messages; false for this rank */
  bool *exchanges_with;
  /* [2 size] requests of the messages, allocated in advance, so that MPI_Finalize needs no memory
   */
  MPI_Request *requests;
  int n_requests;
} finalize_group;

/* The groups of this process. The attribute on MPI_COMM_SELF points to this list. */
static struct {
  pthread_mutex_t mutex;
  /* key of the attribute on MPI_COMM_SELF; MPI_KEYVAL_INVALID until the attribute is set */
  int keyval;
  finalize_group *first;
} groups = {PTHREAD_MUTEX_INITIALIZER, MPI_KEYVAL_INVALID, NULL};

static void post_messages(finalize_group *f)
{
  for (int i = 1; i < f->size; i++) {
    int other = (f->rank + i) % f->size;
    if (!f->exchanges_with[other]) continue;
    (void)MPI_Irecv(NULL, 0, MPI_BYTE, other, TAG, f->comm, &f->requests[f->n_requests++]);
    (void)MPI_Isend(NULL, 0, MPI_BYTE, other, TAG, f->comm, &f->requests[f->n_requests++]);
  }
}

static void destroy_group(finalize_group *f)
{
  if (!f) return;
  if (f->comm != MPI_COMM_WORLD && f->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&f->comm);
  free(f->exchanges_with);
  free(f->requests);
  free(f);
}

static void wait_messages(finalize_group *f)
{
  for (int i = 0; i < f->n_requests;) {
    int done = 1;
    (void)MPI_Test(&f->requests[i], &done, MPI_STATUS_IGNORE);
    if (done)
      i++;
    else
      osli_nap(POLL_US);
  }
  destroy_group(f);
}

/* The delete callback. It posts all messages before it waits for any, because ranks may have set up
 * their groups in different orders. */
static int exchange_messages(MPI_Comm self, int keyval, void *value, void *extra)
{
  (void)self, (void)keyval, (void)value, (void)extra;
  for (finalize_group *f = groups.first; f; f = f->next)
    post_messages(f);
  for (finalize_group *f = groups.first, *next; f; f = next) {
    next = f->next;
    wait_messages(f);
  }
  groups.first = NULL;
  osli_nap(REST_US);
  return MPI_SUCCESS;
}

/* Is this an MPICH before 4.2? Only MPICH itself reports "MPICH Version:  4.0.2"; MPIs derived from
 * it report other texts. */
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

/* A hash that is equal on ranks with the same network interfaces, that is the same kernel and the
 * same network name space. */
static uint64_t network_identity(void)
{
  char kernel[64], space[64] = "", host[64] = "";
  (void)gethostname(host, sizeof host - 1);
  osli_host_kernel(host, kernel);
  if (readlink("/proc/self/ns/net", space, sizeof space - 1) < 0) space[0] = '\0';
  return hash(hash(0, kernel), space);
}

/* Sets *needed to true if the ranks of comm lie in several network name spaces and OSLA_FAREWELL is
 * not "off". Collective. */
static osla_err is_enabled(MPI_Comm comm, bool *needed)
{
  const char *wish = getenv("OSLA_FAREWELL");
  uint64_t identity = network_identity();
  uint64_t least[3] = {identity, ~identity, !(wish && strcmp(wish, "off") == 0)};
  OSLA_MPI(MPI_Allreduce(MPI_IN_PLACE, least, 3, MPI_UINT64_T, MPI_MIN, comm));
  *needed = least[0] != ~least[1] && least[2];
  return OSLA_OK;
}

/* Translates ranks: sets rank[i] to the rank in communicator `in` of the process that has rank i in
 * comm, or to MPI_UNDEFINED. */
static osla_err translate(MPI_Comm comm, int size, MPI_Comm in, int *rank)
{
  MPI_Group from = MPI_GROUP_NULL, to = MPI_GROUP_NULL;
  int code = MPI_Comm_group(comm, &from);
  if (code == MPI_SUCCESS) code = MPI_Comm_group(in, &to);
  for (int i = 0; i < size && code == MPI_SUCCESS; i++)
    code = MPI_Group_translate_ranks(from, 1, &i, to, &rank[i]);
  if (from != MPI_GROUP_NULL) (void)MPI_Group_free(&from);
  if (to != MPI_GROUP_NULL) (void)MPI_Group_free(&to);
  return code == MPI_SUCCESS ? OSLA_OK : osla_error_set_mpi(code, "MPI_Group_translate_ranks");
}

/* Does group f already exchange messages with all `size` ranks of comm? rank: [size] scratch
 * memory. */
static bool covers_ranks(const finalize_group *f, MPI_Comm comm, int size, int *rank)
{
  if (translate(comm, size, f->comm, rank) != OSLA_OK) return false;
  for (int i = 0; i < size; i++)
    if (rank[i] == MPI_UNDEFINED || (rank[i] != f->rank && !f->exchanges_with[rank[i]]))
      return false;
  return true;
}

/* Sets the attribute on MPI_COMM_SELF now, so that adding a group cannot fail later. The caller
 * holds the mutex. */
static osla_err set_attribute(void)
{
  if (groups.keyval != MPI_KEYVAL_INVALID) return OSLA_OK;
  int keyval;
  OSLA_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, exchange_messages, &keyval, NULL));
  OSLA_MPI(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &groups));
  groups.keyval = keyval;
  return OSLA_OK;
}

/* Allocates a group without a communicator, which exchanges with no rank yet. Returns NULL without
 * memory. Local. */
static finalize_group *allocate_group(int rank, int size)
{
  finalize_group *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  *f = (finalize_group){.comm = MPI_COMM_NULL, .rank = rank, .size = size};
  f->exchanges_with = calloc((size_t)size, sizeof *f->exchanges_with);
  f->requests = calloc(2 * (size_t)size, sizeof *f->requests);
  if (f->exchanges_with && f->requests) return f;
  destroy_group(f);
  return NULL;
}

static void add_group(finalize_group *f)
{
  (void)pthread_mutex_lock(&groups.mutex);
  f->next = groups.first;
  groups.first = f;
  (void)pthread_mutex_unlock(&groups.mutex);
}

/* The group of MPI_COMM_WORLD; NULL if there is none. The caller holds the mutex. */
static finalize_group *find_world_group(void)
{
  finalize_group *f = groups.first;
  while (f && f->comm != MPI_COMM_WORLD)
    f = f->next;
  return f;
}

/* Adds a group that contains all ranks of comm and a duplicate of comm. If in_world is true, adds
 * those ranks of comm that are in MPI_COMM_WORLD to the group of MPI_COMM_WORLD instead. rank:
 * [size] scratch memory. Collective. */
static osla_err add_ranks(MPI_Comm comm, int size, bool in_world, int *rank)
{
  MPI_Comm in = in_world ? MPI_COMM_WORLD : comm;
  int my_rank = 0, in_size = 1, code = MPI_SUCCESS;
  OSLA_MPI(MPI_Comm_rank(in, &my_rank));
  OSLA_MPI(MPI_Comm_size(in, &in_size));
  (void)pthread_mutex_lock(&groups.mutex);
  finalize_group *known = in_world ? find_world_group() : NULL,
                 *f = known ? known : allocate_group(my_rank, in_size);
  (void)pthread_mutex_unlock(&groups.mutex);
  const bool is_ready = f && translate(comm, size, in, rank) == OSLA_OK;
  osla_err err = osli_agree_allocated(comm, is_ready, "farewells");
  if (err == OSLA_OK && !in_world) code = MPI_Comm_dup(comm, &f->comm);
  if (code != MPI_SUCCESS) err = osla_error_set_mpi(code, "MPI_Comm_dup");
  if (err != OSLA_OK) {
    if (f != known) destroy_group(f);
    return err;
  }
  for (int i = 0; i < size; i++)
    if (rank[i] != MPI_UNDEFINED && rank[i] != my_rank) f->exchanges_with[rank[i]] = true;
  if (in_world) f->comm = MPI_COMM_WORLD;
  if (f != known) add_group(f);
  return OSLA_OK;
}

/* Adds a group for comm unless an earlier one covers its ranks. rank: [size] scratch memory.
 * Collective. */
static osla_err arrange(MPI_Comm comm, int size, int *rank)
{
  bool is_covered = false;
  int n_sets = 0;
  (void)pthread_mutex_lock(&groups.mutex);
  osla_err err = set_attribute();
  for (const finalize_group *f = groups.first; f; f = f->next, n_sets++)
    is_covered = is_covered || covers_ranks(f, comm, size, rank);
  (void)pthread_mutex_unlock(&groups.mutex);
  OSLA_CALL(osli_agree_allocated(comm, err == OSLA_OK, "farewells"));
  int most[2] = {!is_covered, n_sets};
  OSLA_MPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT, MPI_MAX, comm));
  if (!most[0]) return OSLA_OK;
  return add_ranks(comm, size, most[1] >= MOST_SETS, rank);
}

osla_err osla_farewell_arrange(MPI_Comm comm)
{
  bool needed = false;
  int size = 1;
  if (!is_affected()) return OSLA_OK;
  OSLA_CALL(is_enabled(comm, &needed));
  if (!needed) return OSLA_OK;
  OSLA_MPI(MPI_Comm_size(comm, &size));
  int *rank = calloc((size_t)size, sizeof *rank);
  osla_err err = osli_agree_allocated(comm, rank, "numbers");
  if (err == OSLA_OK) err = arrange(comm, size, rank);
  free(rank);
  return err;
}
