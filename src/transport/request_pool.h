/* A bounded pool of outstanding MPI requests (layer 0, internal).
 *
 * Some MPI libraries abort at the 255th outstanding request-based RMA operation, so the pool is
 * full at OSLA_MAX_REQUESTS incomplete requests. A transfer is a chain of entries, one for each
 * piece of at most 1 GiB (MPICH 4.0.2 crashes on larger puts). The caller of each function holds
 * the transport's mutex, unless the function says otherwise. */
#ifndef OSLA_REQUEST_POOL_H
#define OSLA_REQUEST_POOL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { OSLA_MAX_REQUESTS = 128 };

typedef struct request_pool request_pool;

/* Returns an empty pool, or NULL if memory is lacking. */
request_pool *osli_pool_create(void);
void osli_pool_destroy(request_pool *pool);

/* Number of requests that have completed so far. Needs no mutex. */
uint64_t osli_pool_finished(const request_pool *pool);

/* Counts a completed request that is not in the pool. */
void osli_pool_count_finished(request_pool *pool);

/* Returns whether the pool has no room for another incomplete request. If it seems full, tests the
 * incomplete requests first. */
bool osli_pool_is_full(request_pool *pool);

/* Adds a request at the front of the chain *first. If memory for an entry is lacking, waits until
 * the request is complete, because its buffer must stay valid until then. Returns false if this
 * wait fails. */
bool osli_pool_add(request_pool *pool, MPI_Request request, int32_t *first);

/* Tests the requests of a chain. Returns true when all are complete; then the entries are free and
 * *first is -1. *mpi_code is the error of a failed request, else MPI_SUCCESS. */
bool osli_pool_test(request_pool *pool, int32_t *first, int *mpi_code);

#endif
