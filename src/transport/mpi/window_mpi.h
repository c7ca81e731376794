/* Windows of MPI (floor 0, internal to the MPI backend and its probes).
 *
 * All have displacements in bytes, one passive epoch as long as they live, return their errors, and
 * are told by info keys how they will be used, which lets a network do words and fetches without
 * the target's processor. What is promised, and where it is documented, stands in window_mpi.c;
 * test_window.c holds every call of a job against it. OSLA_WINDOW_INFO=off: no keys.
 *
 * Errors of both: UNSUPPORTED, with MPI's reason and the setting that may help, where MPI gives no
 * window, or one whose public and private copies are apart; MPI.
 */
#ifndef OSLA_WINDOW_MPI_H
#define OSLA_WINDOW_MPI_H

#include "src/transport/transport_ops.h"

/* On `bytes` bytes of every rank at `base`. Collective; *win is MPI_WIN_NULL or to be freed by
 * osli_window_free, also after an error. */
osla_err osli_window_create(osla_transport *t, void *base, size_t bytes, MPI_Win *win);

/* A dynamic one, where `bytes` bytes at `base` are attached (0: nothing is). Collective, as above.
 */
osla_err osli_window_create_dynamic(osla_transport *t, void *base, size_t bytes, MPI_Win *win);

/* Takes MPI_WIN_NULL, too. Collective. */
void osli_window_free(MPI_Win *win);

/* The keys as an info object, to be freed by the caller; it is good for one window, because MPICH
 * 4.0.2 cuts lists in it to pieces while it reads them. Local. Errors: MPI. */
osla_err osli_window_info(const osla_transport *t, MPI_Info *out);

#endif
