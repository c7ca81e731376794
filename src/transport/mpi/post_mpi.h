/* Puts with notify that go on by themselves (floor 0, internal to the MPI backend). */
#ifndef OSLA_POST_MPI_H
#define OSLA_POST_MPI_H

#include "src/transport/mpi/region_mpi.h"

/* As post, post_wait and post_test of osla_transport_ops, for a rank that is not mapped here. */
osla_err osli_mpi_post(osla_region *region, int rank, size_t offset, const void *source,
                       size_t bytes, size_t word_offset, uint64_t word, osla_post **out);
osla_err osli_mpi_post_wait(osla_transport *t, osla_post **post);
osla_err osli_mpi_post_test(osla_transport *t, osla_post **post, bool *done);

/* One step of all posts of a transport. Its mutex is held. */
void osli_mpi_posts_step(osla_transport *t);

/* Waits until this rank has no post under way to `rank` of a region; rank < 0: to any. Local. */
void osli_mpi_posts_finish(osla_region *region, int rank);

#endif
