/* The prior of a job, from the options and the prior file, and its elements in the distribution of
 * H. */
#include "apps/tomography/invert/invert.h"
#include "tools/common/local_elements.h"

#include <stdlib.h>

/* Broadcasts the arrays that rank 0 has read. */
static osla_err broadcast_factors(invert_job *job)
{
  tomo_prior_factors *f = &job->prior_factors;
  const int64_t radial = job->options->n_radial;
  int lateral = f->lateral != NULL;
  OSLA_CALL(osla_bcast(job->t, &lateral, 1, MPI_INT, 0));
  OSLA_CALL(invert_bcast_new(job, (void **)&f->damping, job->n * (int64_t)sizeof(double)));
  if (!lateral) return OSLA_OK;
  return invert_bcast_new(job, (void **)&f->lateral, radial * (int64_t)sizeof(double));
}

/* Sets job->prior. Factors in the prior file replace the default weights; a weight that the user
 * gave multiplies them. */
osla_err invert_make_prior(invert_job *job)
{
  const invert_options *o = job->options;
  tomo_prior_factors *f = &job->prior_factors;
  osla_err err = OSLA_OK;
  job->prior = o->prior;
  if (!o->prior_file) return OSLA_OK;
  if (osla_transport_rank(job->t) == 0)
    err = tomo_prior_read(o->prior_file, job->prior_reader, job->knots, job->radial, f);
  OSLA_CALL(osla_agree(job->t, err));
  OSLA_CALL(broadcast_factors(job));
  job->prior.damping_of = f->damping;
  job->prior.lateral_of = f->lateral;
  if (!o->damping_given) job->prior.damping = 1.0;
  if (!o->smoothing_given && f->lateral) job->prior.lateral = 1.0;
  return OSLA_OK;
}

typedef struct panel {
  int rows, columns;
  int64_t *ix; /* global indices of the columns of the panel, ascending */
  double *g;
} panel;

static double product(const panel *p, int a, int b)
{
  double sum = 0.0;
  for (int i = 0; i < p->rows; i++)
    sum += p->g[i + a * p->rows] * p->g[i + b * p->rows];
  return sum;
}

/* Visits the elements of p^T p for the panel p of the prior at one knot, as far as this rank owns
 * them. In the lower triangle the larger of two indices is the row. */
static void visit_panel(const invert_job *job, const osla_matrix *h, const panel *p,
                        invert_prior_element *visit, void *arg)
{
  const osla_layout f = osla_matrix_layout(h);
  const bool upper = job->options->uplo == OSLA_UPPER;
  const int prow = osla_grid_prow(job->grid), pcol = osla_grid_pcol(job->grid);
  for (int c = 0; c < p->columns; c++) {
    const int64_t j = p->ix[c];
    if (osla_index_owner(j, f.nb, f.npcol) != pcol) continue;
    const int64_t column = local_column_index(h, j);
    for (int r = upper ? 0 : c; r < (upper ? c + 1 : p->columns); r++) {
      const int64_t i = p->ix[r];
      if (osla_index_owner(i, f.mb, f.nprow) != prow) continue;
      const double part = product(p, r, c);
      if (part != 0.0) visit(i, j, osla_index_local(i, f.mb, f.nprow) + column, part, arg);
    }
  }
}

osla_err invert_visit_prior(const invert_job *job, const osla_matrix *h,
                            invert_prior_element *visit, void *arg)
{
  const int n_radial = job->options->n_radial;
  const size_t columns = (size_t)tomo_prior_columns_max(n_radial);
  panel p = {.ix = malloc(columns * sizeof *p.ix),
             .g = malloc((size_t)tomo_prior_rows_max(n_radial) * columns * sizeof *p.g)};
  const bool made = p.ix && p.g;
  for (int64_t knot = 0; knot < job->knots && made; knot++) {
    tomo_prior_panel(&job->prior, job->mesh, n_radial, knot, &p.rows, &p.columns, p.ix, p.g);
    visit_panel(job, h, &p, visit, arg);
  }
  free(p.ix);
  free(p.g);
  return made ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for panel of the prior");
}
