/* Message lines (layer 0, internal to the MPI backend).
 *
 * The usual message of a put with notify is copied by the target to its final address, or announces
 * a second message. If a receiver knows the address of the next message in advance, it posts the
 * receive there, and one message arrives without a copy. Lines exist if puts travel as messages
 * (eager_mpi.h), for numbers below 512 of a rank and region, and for messages up to 1 GiB. So a
 * line may exist in one direction and not in the other. */
#ifndef OSLA_LINES_MPI_H
#define OSLA_LINES_MPI_H

#include "src/transport/mpi/region_mpi.h"

/* The operations on lines of osla_transport_ops. */
osla_err osli_mpi_line_open(osla_region *region, const osla_line_end *end, osla_line **out);
osla_err osli_mpi_line_start(osla_line *line, void *message, size_t bytes);
void osli_mpi_line_watch(osla_line *line, bool watched);
void osli_mpi_line_close(osla_line **line);

/* Number of consecutive progress turns without news after which all arrived messages have been
 * seen. The caller holds the mutex. */
int osli_mpi_lines_idle_turns(const osla_transport *t);

/* Tests, in one MPI call, another request (which may be MPI_REQUEST_NULL) and the oldest request of
 * each active line; there must be an active line. Returns whether any completed; *other is
 * MPI_REQUEST_NULL if it completed. The caller holds the mutex. */
bool osli_mpi_lines_test(osla_transport *t, MPI_Request *other, MPI_Status *status);

/* Frees the tables of lines, when all lines are closed. */
void osli_mpi_lines_free(struct osla_eager *e);

#endif
