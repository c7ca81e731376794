/* What the Fortran module needs of C: MPI's C handles, texts with one argument, transfers whose
 * unit Fortran cannot name (osla_unit is OSLA_UNIT there), the end of a job (floor 4).
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: may change in any release; of libosla_fortran.
 */
#ifndef OSLA_FORTRAN_H
#define OSLA_FORTRAN_H

#include "osla_forest.h"
#include "osla_transport.h"

/* osla_transport_create with Fortran's communicator; name = "": the default. */
osla_err osli_fortran_transport_create(int comm, bool progress_thread, int threads_per_rank,
                                       const char *name, osla_transport **out);

/* Fortran's handle of osla_transport_comm. */
int osli_fortran_transport_comm(const osla_transport *transport);

/* All ranks make this call of the module, with arguments that are fit (local = OSLA_OK) or not.
 *   transport [in] of the call; NULL: this rank fails and does not know it, so it goes where the
 *                  others wait (osla_meet_find_any)
 * Returns what all ranks do: errors of osla_meet. */
osla_err osli_fortran_meet(osla_transport *transport, osla_err local, const char *call);

/* osla_error_set with a text as it is. */
osla_err osli_fortran_refuse(osla_err err, const char *text);

/* osla_forest_bcast, osla_forest_reduce, of vertices of `count` numbers that follow one another. */
osla_err osli_fortran_forest_bcast(osla_forest *forest, osla_unit_type type, int32_t count,
                                   const void *roots, void *leaves, osla_forest_combine combine);
osla_err osli_fortran_forest_reduce(osla_forest *forest, osla_unit_type type, int32_t count,
                                    const void *leaves, void *roots, osla_forest_combine combine);

/* osla_forest_fetch, and those that begin, likewise. */
osla_err osli_fortran_forest_fetch(osla_forest *forest, osla_unit_type type, int32_t count,
                                   void *roots, const void *leaves, void *before,
                                   osla_forest_combine combine);
osla_err osli_fortran_forest_bcast_begin(osla_forest *forest, osla_unit_type type, int32_t count,
                                         const void *roots, void *leaves,
                                         osla_forest_combine combine, osla_forest_run *run);
osla_err osli_fortran_forest_reduce_begin(osla_forest *forest, osla_unit_type type, int32_t count,
                                          const void *leaves, void *roots,
                                          osla_forest_combine combine, osla_forest_run *run);
osla_err osli_fortran_forest_fetch_begin(osla_forest *forest, osla_unit_type type, int32_t count,
                                         void *roots, const void *leaves, void *before,
                                         osla_forest_combine combine, osla_forest_run *run);

/* osla_forest_bcast_check and so on, likewise. */
osla_err osli_fortran_forest_bcast_check(osla_forest *forest, osla_unit_type type, int32_t count,
                                         const void *roots, void *leaves,
                                         osla_forest_combine combine);
osla_err osli_fortran_forest_reduce_check(osla_forest *forest, osla_unit_type type, int32_t count,
                                          const void *leaves, void *roots,
                                          osla_forest_combine combine);
osla_err osli_fortran_forest_fetch_check(osla_forest *forest, osla_unit_type type, int32_t count,
                                         void *roots, const void *leaves, void *before,
                                         osla_forest_combine combine);

/* Ends all ranks with the text of the latest error. An error that all ranks have is printed by rank
 * 0 alone: the others let it go first. Does not return. */
void osli_fortran_end(osla_err err);

#endif
