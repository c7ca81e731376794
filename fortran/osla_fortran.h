/* C functions for the Fortran module: conversion of MPI's handles, error texts without varargs,
 * transfers whose unit Fortran cannot declare (osla_unit is OSLA_UNIT in Fortran), the end of a
 * job.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: may change in any release; of libosla_fortran.
 */
#ifndef OSLA_FORTRAN_H
#define OSLA_FORTRAN_H

#include "osla_device.h"
#include "osla_forest.h"
#include "osla_transport.h"

/* Calls osla_transport_create with Fortran's communicator handle. name = "" means the default
 * transport. */
osla_err osli_fortran_transport_create(int comm, bool progress_thread, int threads_per_rank,
                                       const char *name, osla_transport **out);

/* Fortran's handle of the transport's communicator. */
int osli_fortran_transport_comm(const osla_transport *transport);

/* Calls osla_device_open. If kind is "", the environment variable OSLA_DEVICE gives the kind. If
 * ordinal is -1, the rank's index on its node, modulo the number of devices, selects the device. If
 * stream is NULL, the device creates a stream. */
osla_err osli_fortran_device_open(osla_transport *transport, const char *kind, int ordinal,
                                  void *stream, osla_device **out);

/* Agrees with all ranks before a collective call of the module. Every rank calls it: with local =
 * OSLA_OK if the arguments are valid on this rank, else with the error.
 *   transport [in] transport of the call. NULL if the arguments are wrong on this rank and name no
 *                  transport: then the rank searches for the transport on which the other ranks
 *                  wait (osla_meet_find_any)
 * Returns the same result on all ranks: OSLA_OK or an error of osla_meet. */
osla_err osli_fortran_meet(osla_transport *transport, osla_err local, const char *call);

/* Calls osla_error_set with a fixed text. */
osla_err osli_fortran_refuse(osla_err err, const char *text);

/* Call osla_forest_bcast and osla_forest_reduce for vertices of `count` contiguous numbers. */
osla_err osli_fortran_forest_bcast(osla_forest *forest, osla_unit_type type, int32_t count,
                                   const void *roots, void *leaves, osla_forest_combine combine);
osla_err osli_fortran_forest_reduce(osla_forest *forest, osla_unit_type type, int32_t count,
                                    const void *leaves, void *roots, osla_forest_combine combine);

/* Call osla_forest_fetch and the functions that begin a transfer, for vertices of `count`
 * contiguous numbers. */
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

/* Check the arguments of a transfer, for vertices of `count` contiguous numbers. */
osla_err osli_fortran_forest_bcast_check(osla_forest *forest, osla_unit_type type, int32_t count,
                                         const void *roots, void *leaves,
                                         osla_forest_combine combine);
osla_err osli_fortran_forest_reduce_check(osla_forest *forest, osla_unit_type type, int32_t count,
                                          const void *leaves, void *roots,
                                          osla_forest_combine combine);
osla_err osli_fortran_forest_fetch_check(osla_forest *forest, osla_unit_type type, int32_t count,
                                         void *roots, const void *leaves, void *before,
                                         osla_forest_combine combine);

/* Ends all ranks with the text of the latest error. If all ranks have the error, only rank 0
 * prints it, because the other ranks wait before they print. Does not return. */
void osli_fortran_end(osla_err err);

#endif
