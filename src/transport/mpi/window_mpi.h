/* MPI windows (layer 0, internal to the MPI backend and its probes).
 *
 * All windows have displacements in bytes and one passive epoch during their lifetime, and return
 * errors. Info keys tell MPI how they are used, so that a network may serve words and fetches
 * without the target's processor. window_mpi.c lists the promised use and its sources;
 * test_window.c checks the calls of a job against it. With OSLA_WINDOW_INFO=off there are no keys.
 *
 * Errors of both create calls: UNSUPPORTED, with MPI's reason and a setting that may help, if MPI
 * provides no window, or only one with separate public and private copies; MPI. */
#ifndef OSLA_WINDOW_MPI_H
#define OSLA_WINDOW_MPI_H

#include "src/transport/transport_ops.h"

/* Creates a window on `bytes` bytes at `base` of every rank. *win is MPI_WIN_NULL, or must be freed
 * by osli_window_free, even after an error. Collective. */
osla_err osli_window_create(osla_transport *t, void *base, size_t bytes, MPI_Win *win);

/* Creates a dynamic window and attaches `bytes` bytes at `base` (none if 0). *win as for
 * osli_window_create. Collective. */
osla_err osli_window_create_dynamic(osla_transport *t, void *base, size_t bytes, MPI_Win *win);

/* Frees a window; accepts MPI_WIN_NULL. Collective. */
void osli_window_free(MPI_Win *win);

/* Returns the keys as a new info object, which the caller frees. It must be used for one window
 * only, because MPICH 4.0.2 destroys lists in it while it reads them. Local. Errors: MPI. */
osla_err osli_window_info(const osla_transport *t, MPI_Info *out);

#endif
