/* Starts and ends ARMCI, and finds ARMCI's process ids of a transport's ranks. */
#include "src/transport/armci/armci_start.h"

#include "src/transport/mpi/region_mpi.h"

#include <stdlib.h>

/* State of ARMCI in this process, which all transports share. */
static struct {
  pthread_mutex_t lock;
  bool started; /* true if this library has started ARMCI, and so ends it in MPI_Finalize */
} armci = {.lock = PTHREAD_MUTEX_INITIALIZER};

const osla_backend_services *osli_armci_services;

void osli_armci_enter(osla_transport *t)
{
  (void)pthread_mutex_lock(&t->mutex);
  (void)pthread_mutex_lock(&armci.lock);
}

void osli_armci_leave(osla_transport *t)
{
  (void)pthread_mutex_unlock(&armci.lock);
  (void)pthread_mutex_unlock(&t->mutex);
}

/* Delete callback of an attribute on MPI_COMM_SELF. MPI_Finalize calls it first, while MPI still
 * works. */
static int end_armci(MPI_Comm comm, int key, void *value, void *extra)
{
  (void)comm, (void)key, (void)value, (void)extra;
  (void)ARMCI_Finalize();
  armci.started = false;
  return MPI_SUCCESS;
}

/* Sets variables that ARMCI-MPI reads at its start, unless the user has set them.
 *   ARMCI_USE_WIN_ALLOCATE=0  MPICH 4.0.2 does not align the memory of MPI_Win_allocate, and then
 *   puts land at wrong addresses
 *   ARMCI_RMA_ATOMICITY=1     puts and gets become accumulates, which is slower; without it
 *                             ARMCI_Get of ARMCI-MPI 0.3.1 on MPICH 4.0.2 may return before its
 *                             data have arrived on the node */
static void set_environment(void)
{
  (void)setenv("ARMCI_USE_WIN_ALLOCATE", "0", 0);
  (void)setenv("ARMCI_RMA_ATOMICITY", "1", 0);
}

static osla_err start_once(osla_transport *t, bool whole_world)
{
  int key;
  if (armci.started) return OSLA_OK;
  bool by_other = ARMCI_Initialized();
  OSLA_CHECK(by_other || whole_world, OSLA_ERR_STATE,
             "the first transport on ARMCI has %d ranks, but must have all of MPI_COMM_WORLD",
             t->size);
  if (!by_other) set_environment();
  OSLA_CHECK(ARMCI_Init() == 0, OSLA_ERR_STATE, "ARMCI_Init failed");
  armci.started = true;
  OSLA_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_armci, &key, NULL));
  OSLA_MPI(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
  return OSLA_OK;
}

static osla_err translate_ranks(osla_transport *t, armci_ranks *ranks)
{
  MPI_Group world, mine;
  OSLA_CALL(start_once(t, ranks->whole_world));
  OSLA_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OSLA_MPI(MPI_Comm_group(t->comm, &mine));
  for (int rank = 0; rank < t->size; rank++) /* ARMCI's process ids are ranks of MPI_COMM_WORLD */
    OSLA_MPI(MPI_Group_translate_ranks(mine, 1, &rank, world, &ranks->id[rank]));
  (void)MPI_Group_free(&world);
  (void)MPI_Group_free(&mine);
  return OSLA_OK;
}

osla_err osli_armci_start(osla_transport *t)
{
  int world = 0;
  OSLA_CALL(osli_armci_services->built_in->start(t));
  OSLA_MPI(MPI_Comm_size(MPI_COMM_WORLD, &world));
  armci_ranks *ranks = calloc(1, sizeof *ranks);
  if (ranks) ranks->id = calloc((size_t)t->size, sizeof *ranks->id);
  t->backend = ranks;
  OSLA_CALL(osla_agree(
    t, ranks && ranks->id ? OSLA_OK
                          : osla_error_set(OSLA_ERR_MEM, "ARMCI's numbers of %d ranks", t->size)));
  osli_armci_enter(t);
  ranks->whole_world = t->size == world;
  osla_err err = translate_ranks(t, ranks);
  osli_armci_leave(t);
  return osla_agree(t, err);
}

void osli_armci_finish(osla_transport *t)
{
  armci_ranks *ranks = t->backend;
  osli_armci_services->built_in->finish(t);
  if (!ranks) return;
  free(ranks->id);
  free(ranks);
  t->backend = NULL;
}
