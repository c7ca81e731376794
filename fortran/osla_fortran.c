#include "fortran/osla_fortran.h"

#include "osla_error.h"
#include "osla_log.h"
#include "osla_meet.h"

#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { RANK_0_FIRST_US = 800000, LAST_WORDS_US = 200000 };

osla_err osli_fortran_transport_create(int comm, bool progress_thread, int threads_per_rank,
                                       const char *name, osla_transport **out)
{
  osla_transport_options options = {.progress_thread = progress_thread,
                                    .threads_per_rank = threads_per_rank,
                                    .transport = name[0] ? name : NULL};
  int started = 0;
  *out = NULL;
  OSLA_MPI(MPI_Initialized(&started));
  OSLA_CHECK(started, OSLA_ERR_STATE, "osla_transport_create before MPI_Init_thread");
  return osla_transport_create(MPI_Comm_f2c((MPI_Fint)comm), &options, out);
}

osla_err osli_fortran_device_open(osla_transport *transport, const char *kind, int ordinal,
                                  void *stream, osla_device **out)
{
  const osla_device_options options = {
    .kind = kind[0] ? kind : NULL, .chosen = ordinal != -1, .ordinal = ordinal, .stream = stream};
  return osla_device_open(transport, &options, out);
}

osla_err osli_fortran_meet(osla_transport *transport, osla_err local, const char *call)
{
  int64_t common;
  if (!transport) OSLA_CALL(osla_meet_find_any(&transport));
  return transport ? osla_meet(transport, local, call, 0, NULL, &common) : local;
}

int osli_fortran_transport_comm(const osla_transport *transport)
{
  return (int)MPI_Comm_c2f(osla_transport_comm(transport));
}

osla_err osli_fortran_refuse(osla_err err, const char *text)
{
  return osla_error_set(err, "%s", text);
}

osla_err osli_fortran_forest_bcast(osla_forest *forest, osla_unit_type type, int32_t count,
                                   const void *roots, void *leaves, osla_forest_combine combine)
{
  return osla_forest_bcast(forest, (osla_unit){type, count, 0}, roots, leaves, combine);
}

osla_err osli_fortran_forest_reduce(osla_forest *forest, osla_unit_type type, int32_t count,
                                    const void *leaves, void *roots, osla_forest_combine combine)
{
  return osla_forest_reduce(forest, (osla_unit){type, count, 0}, leaves, roots, combine);
}

osla_err osli_fortran_forest_fetch(osla_forest *forest, osla_unit_type type, int32_t count,
                                   void *roots, const void *leaves, void *before,
                                   osla_forest_combine combine)
{
  return osla_forest_fetch(forest, (osla_unit){type, count, 0}, roots, leaves, before, combine);
}

osla_err osli_fortran_forest_bcast_begin(osla_forest *forest, osla_unit_type type, int32_t count,
                                         const void *roots, void *leaves,
                                         osla_forest_combine combine, osla_forest_run *run)
{
  return osla_forest_bcast_begin(forest, (osla_unit){type, count, 0}, roots, leaves, combine, run);
}

osla_err osli_fortran_forest_reduce_begin(osla_forest *forest, osla_unit_type type, int32_t count,
                                          const void *leaves, void *roots,
                                          osla_forest_combine combine, osla_forest_run *run)
{
  return osla_forest_reduce_begin(forest, (osla_unit){type, count, 0}, leaves, roots, combine, run);
}

osla_err osli_fortran_forest_fetch_begin(osla_forest *forest, osla_unit_type type, int32_t count,
                                         void *roots, const void *leaves, void *before,
                                         osla_forest_combine combine, osla_forest_run *run)
{
  return osla_forest_fetch_begin(forest, (osla_unit){type, count, 0}, roots, leaves, before,
                                 combine, run);
}

osla_err osli_fortran_forest_bcast_check(osla_forest *forest, osla_unit_type type, int32_t count,
                                         const void *roots, void *leaves,
                                         osla_forest_combine combine)
{
  return osla_forest_bcast_check(forest, (osla_unit){type, count, 0}, roots, leaves, combine);
}

osla_err osli_fortran_forest_reduce_check(osla_forest *forest, osla_unit_type type, int32_t count,
                                          const void *leaves, void *roots,
                                          osla_forest_combine combine)
{
  return osla_forest_reduce_check(forest, (osla_unit){type, count, 0}, leaves, roots, combine);
}

osla_err osli_fortran_forest_fetch_check(osla_forest *forest, osla_unit_type type, int32_t count,
                                         void *roots, const void *leaves, void *before,
                                         osla_forest_combine combine)
{
  return osla_forest_fetch_check(forest, (osla_unit){type, count, 0}, roots, leaves, before,
                                 combine);
}

void osli_fortran_end(osla_err err)
{
  int started = 0, over = 0, rank = -1;
  (void)MPI_Initialized(&started);
  (void)MPI_Finalized(&over);
  if (started && !over) (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank > 0) (void)usleep(RANK_0_FIRST_US);
  osla_log(rank, "%s: %s; ending all ranks", osla_err_name(err), osla_error_text());
  if (rank >= 0) (void)usleep(LAST_WORDS_US);
  if (rank >= 0) (void)MPI_Abort(MPI_COMM_WORLD, 1);
  exit(EXIT_FAILURE);
}
