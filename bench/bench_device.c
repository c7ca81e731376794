/* Opens the device of --device, finds out whether ranks share it, and creates matrices in its
 * memory. See bench.h. */
#include "bench/bench.h"
#include "src/memory/segment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool bench_device_is_fake(const bench_job *job)
{
  return job->device && strcmp(job->settings->device, "fake") == 0;
}

/* Index of this rank among the ranks of its node, from 0. */
static int index_on_node(const bench_job *job)
{
  int index = 0;
  for (int rank = 0; rank < job->rank; rank++)
    index += osla_transport_same_node(job->transport, rank);
  return index;
}

/* Identity of the device that this rank uses. Two ranks of a node that use one device get equal
 * identities. The identity is a hash (FNV-1a) of the device's number `ordinal` and of
 * CUDA_VISIBLE_DEVICES, the list of devices that this rank sees. */
static uint64_t identity_of(int ordinal)
{
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  uint64_t hash = 0xcbf29ce484222325U + (uint64_t)ordinal;
  for (const char *at = visible ? visible : ""; *at; at++)
    hash = (hash ^ (unsigned char)*at) * 0x100000001b3U;
  return hash;
}

/* Sets job->device_shared to true if two ranks of a node use one device. Collective. */
static osla_err find_shared(bench_job *job, int ordinal)
{
  const size_t size = (size_t)job->size;
  uint64_t *identities = calloc(size, sizeof *identities), shared = 0;
  osla_err err =
    identities ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "table of %d ranks", job->size);
  OSLA_TRY(osla_agree(job->transport, err));
  identities[job->rank] = identity_of(ordinal);
  OSLA_TRY(osla_allreduce(job->transport, identities, job->size, MPI_UINT64_T, MPI_SUM));
  for (int rank = 0; rank < job->size; rank++)
    if (rank != job->rank && osla_transport_same_node(job->transport, rank) &&
        identities[rank] == identities[job->rank])
      shared = 1;
  OSLA_TRY(osla_allreduce(job->transport, &shared, 1, MPI_UINT64_T, MPI_MAX));
  job->device_shared = shared != 0;
cleanup:
  free(identities);
  return err;
}

/* Finds the number of the device that osla_device_open chooses for this rank. Sets job->device_name
 * to the device's description up to the first comma. Local. */
static osla_err find_device(bench_job *job, int *ordinal)
{
  const device_ops *ops = NULL;
  char text[200] = "";
  int count = 0;
  OSLA_CALL(osli_device_backend(job->settings->device, &ops));
  OSLA_CALL(ops->count(&count));
  OSLA_CHECK(count > 0, OSLA_ERR_ARG, "device \"%s\": this rank sees no device",
             job->settings->device);
  *ordinal = index_on_node(job) % count;
  OSLA_CALL(ops->describe(*ordinal, text, sizeof text));
  (void)snprintf(job->device_name, sizeof job->device_name, "%.*s", (int)strcspn(text, ","), text);
  return OSLA_OK;
}

osla_err bench_device_open(bench_job *job)
{
  int ordinal = 0;
  if (!job->settings->device) return OSLA_OK;
  OSLA_CALL(osla_agree(job->transport, find_device(job, &ordinal)));
  OSLA_CALL(find_shared(job, ordinal));
  const osla_device_options options = {
    .kind = job->settings->device, .chosen = true, .ordinal = ordinal};
  return osla_device_open(job->transport, &options, &job->device);
}

osla_err bench_matrix_create(bench_job *job, osla_dtype dtype, int64_t m, int64_t n, int64_t mb,
                             int64_t nb, osla_matrix **out)
{
  if (job->device) return osla_matrix_create_on(job->device, job->grid, dtype, m, n, mb, nb, out);
  return osla_matrix_create(job->grid, dtype, m, n, mb, nb, out);
}
