/* Functions on regions and requests that all eager_* sources use. */
#include "src/transport/mpi/eager_state.h"
#include "src/transport/mpi/eager_mpi.h"
#include "src/transport/request_pool.h"

bool osli_eager_is_used(const osla_region *region)
{
  return region->number >= 0;
}

size_t osli_eager_max_bytes(const osla_region *region)
{
  return region->t->eager->most;
}

bool osli_eager_request_is_free(osla_transport *t, MPI_Request *request)
{
  int done = 1;
  if (*request == MPI_REQUEST_NULL) return true;
  int code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS)
    osla_transport_abort(t, osla_error_set_mpi(code, "MPI_Test of a message"));
  if (done) osli_pool_count_finished(t->pool);
  return done;
}

osla_err osli_eager_post_receive(const osla_transport *t, osla_eager *e, int place)
{
  OSLA_MPI(MPI_Irecv(e->received + (size_t)place * e->stride, (int)e->stride, MPI_BYTE,
                     MPI_ANY_SOURCE, EAGER_TAG, t->comm, &e->receives[place]));
  return OSLA_OK;
}
