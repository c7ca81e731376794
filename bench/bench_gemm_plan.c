/* osla-bench gemm --plan: prints what osla_gemm would do, rank by rank, and multiplies nothing. */
#include "bench/bench_product.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_line(const char *rank, const osla_gemm_plan *p)
{
  (void)printf("%6s %10" PRId64 " %10" PRId64 " %14" PRIu64 " %14" PRIu64 " %14" PRIu64
               " %14" PRIu64 " %12.6g\n",
               rank, p->tasks, p->gets, p->bytes_far, p->bytes_near, p->bytes_place, p->buffers,
               1e-9 * p->flops);
}

static void print_table(const product_data *d, const char *variant, const osla_gemm_plan *plans)
{
  const bench_job *job = d->job;
  char text[16];
  osla_gemm_plan sum = {0};
  (void)printf("%s gemm %s, precision %c, m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64
               ", nb = %" PRId64 ", grid %dx%d, ranks %d, nodes %d\n",
               variant, d->trans, osla_dtype_letter(job->settings->dtype), d->m, d->n, d->k,
               job->settings->nb, osla_grid_nprow(job->grid), osla_grid_npcol(job->grid), job->size,
               job->n_nodes);
  (void)printf("%6s %10s %10s %14s %14s %14s %14s %12s\n", "rank", "tasks", "gets", "bytes far",
               "bytes near", "bytes in place", "bytes buffers", "GFlop");
  for (int rank = 0; rank < job->size; rank++) {
    const osla_gemm_plan *p = &plans[rank];
    (void)snprintf(text, sizeof text, "%d", rank);
    print_line(text, p);
    sum.tasks += p->tasks;
    sum.gets += p->gets;
    sum.bytes_far += p->bytes_far;
    sum.bytes_near += p->bytes_near;
    sum.bytes_place += p->bytes_place;
    sum.buffers += p->buffers;
    sum.flops += p->flops;
  }
  print_line("all", &sum);
}

osla_err gemm_print_plan(product_data *d, const gemm_variant *variants, int n_variants)
{
  bench_job *job = d->job;
  const bench_settings *s = job->settings;
  osla_err err = OSLA_OK;
  osla_gemm_plan mine, *plans = calloc((size_t)job->size, sizeof *plans);
  if (!plans) err = osla_error_set(OSLA_ERR_MEM, "plans of %d ranks", job->size);
  OSLA_TRY(osla_agree(job->transport, err));
  for (int i = 0; i < n_variants; i++) {
    osla_gemm_ablate(&variants[i].ablation);
    err = osla_gemm_predict(s->transa, s->transb, osla_whole(d->osla.a), osla_whole(d->osla.b),
                            osla_whole(d->osla.c), &d->osla.options, &mine);
    osla_gemm_ablate(NULL);
    OSLA_TRY(osla_agree(job->transport, err));
    if (MPI_Gather(&mine, sizeof mine, MPI_BYTE, plans, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD) !=
        MPI_SUCCESS)
      OSLA_TRY(osla_error_set(OSLA_ERR_MPI, "MPI_Gather of the plans"));
    if (job->rank == 0) print_table(d, variants[i].name, plans);
  }
  if (job->rank == 0) (void)fflush(stdout);
cleanup:
  free(plans);
  return err;
}
