/* Lines: messages to a rank that says beforehand where each of them goes (floor 0, internal to the
 * MPI backend).
 *
 * A put with notify tells its target where its data goes: a message of the usual kind copies it
 * from there, or announces another one. Who knows beforehand where the next message of a peer will
 * go posts the receive there, and what travels is one message without a copy. There are lines where
 * puts travel as messages (eager_mpi.h), below number 512 of a rank and region and up to 1 GiB. So
 * of two lines, one either way, there may be one.
 */
#ifndef OSLA_LINES_MPI_H
#define OSLA_LINES_MPI_H

#include "src/transport/mpi/region_mpi.h"

/* As those of osla_transport_ops. */
osla_err osli_mpi_line_open(osla_region *region, const osla_line_end *end, osla_line **out);
osla_err osli_mpi_line_start(osla_line *line, void *message, size_t bytes);
void osli_mpi_line_watch(osla_line *line, bool watched);
void osli_mpi_line_close(osla_line **line);

/* So many turns without news have seen all that is here. The mutex is held. */
int osli_mpi_lines_idle_turns(const osla_transport *t);

/* Looks at one other request, which may be null, and at the oldest ones of all lines, in one turn
 * of MPI's. True: some are over; the other one is null then if it is among them. The mutex is held,
 * and a line has a request. */
bool osli_mpi_lines_test(osla_transport *t, MPI_Request *other, MPI_Status *status);

/* Frees what lines have in it: all are closed. */
void osli_mpi_lines_free(struct osla_eager *e);

#endif
