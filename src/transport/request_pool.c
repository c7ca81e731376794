#include "src/transport/request_pool.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct entry {
  /* request of one piece of a transfer; MPI_REQUEST_NULL once the piece is complete */
  MPI_Request request;
  int32_t next; /* next entry of the chain or the free list; -1 at the end */
  int code;     /* first error that a test of the request returned; MPI_SUCCESS if none */
  bool used;
} entry;

struct request_pool {
  entry *entries;
  int32_t capacity, first_free;
  int unfinished;
  _Atomic uint64_t finished;
};

request_pool *osli_pool_create(void)
{
  request_pool *pool = calloc(1, sizeof *pool);
  if (pool) pool->first_free = -1;
  return pool;
}

void osli_pool_destroy(request_pool *pool)
{
  if (!pool) return;
  free(pool->entries);
  free(pool);
}

static bool grow(request_pool *pool)
{
  int32_t capacity = pool->capacity ? 2 * pool->capacity : OSLA_MAX_REQUESTS;
  entry *entries = realloc(pool->entries, (size_t)capacity * sizeof *entries);
  if (!entries) return false;
  for (int32_t i = capacity - 1; i >= pool->capacity; i--) {
    entries[i] = (entry){.request = MPI_REQUEST_NULL, .next = pool->first_free};
    pool->first_free = i;
  }
  pool->entries = entries;
  pool->capacity = capacity;
  return true;
}

void osli_pool_count_finished(request_pool *pool)
{
  atomic_fetch_add_explicit(&pool->finished, 1, memory_order_relaxed);
}

static int test_entry(request_pool *pool, entry *e)
{
  int finished = 0;
  if (e->request == MPI_REQUEST_NULL) return e->code;
  int code = MPI_Test(&e->request, &finished, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) {
    e->code = code;
    e->request = MPI_REQUEST_NULL; /* a failed request cannot be tested again */
  }
  if (finished || code != MPI_SUCCESS) {
    pool->unfinished--;
    osli_pool_count_finished(pool);
  }
  return e->code;
}

uint64_t osli_pool_finished(const request_pool *pool)
{
  return atomic_load_explicit(&pool->finished, memory_order_relaxed);
}

bool osli_pool_is_full(request_pool *pool)
{
  if (pool->unfinished < OSLA_MAX_REQUESTS) return false;
  for (int32_t i = 0; i < pool->capacity; i++)
    if (pool->entries[i].used) (void)test_entry(pool, &pool->entries[i]);
  return pool->unfinished >= OSLA_MAX_REQUESTS;
}

bool osli_pool_add(request_pool *pool, MPI_Request request, int32_t *first)
{
  if (pool->first_free < 0 && !grow(pool))
    return MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  int32_t index = pool->first_free;
  entry *e = &pool->entries[index];
  pool->first_free = e->next;
  *e = (entry){.request = request, .next = *first, .used = true};
  *first = index;
  pool->unfinished++;
  return true;
}

bool osli_pool_test(request_pool *pool, int32_t *first, int *mpi_code)
{
  *mpi_code = MPI_SUCCESS;
  while (*first >= 0) {
    entry *e = &pool->entries[*first];
    int code = test_entry(pool, e);
    if (code != MPI_SUCCESS) *mpi_code = code;
    if (e->request != MPI_REQUEST_NULL) return false;
    int32_t index = *first;
    *first = e->next;
    e->used = false;
    e->next = pool->first_free;
    pool->first_free = index;
  }
  return true;
}
