/* Outstanding MPI requests, bounded (floor 0, internal).
 *
 * Some MPI libraries abort at the 255th outstanding request-based RMA operation; the pool holds at
 * most OSLA_MAX_REQUESTS unfinished ones. A handle is a chain of entries, one for each chunk of at
 * most 1 GiB (MPICH 4.0.2 crashes on larger puts). All calls need the transport's mutex.
 */
#ifndef OSLA_REQUEST_POOL_H
#define OSLA_REQUEST_POOL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { OSLA_MAX_REQUESTS = 128 };

typedef struct request_pool request_pool;

request_pool *osli_pool_create(void); /* NULL when out of memory */
void osli_pool_destroy(request_pool *pool);

/* How many requests have ended so far; needs no mutex. */
uint64_t osli_pool_finished(const request_pool *pool);

/* One has ended that is not in the pool. */
void osli_pool_count_finished(request_pool *pool);

/* No room for one more unfinished request? Tests the unfinished ones first when full. */
bool osli_pool_is_full(request_pool *pool);

/* Puts a request in front of the chain *first. Without memory for that it waits for the request
 * here, since nobody else could: what it writes must not outlive its place. False: that failed. */
bool osli_pool_add(request_pool *pool, MPI_Request request, int32_t *first);

/* Tests the chain; when all of it is finished its entries are freed, *first becomes -1, and the
 * result is true. MPI failure is returned in *mpi_code. */
bool osli_pool_test(request_pool *pool, int32_t *first, int *mpi_code);

#endif
