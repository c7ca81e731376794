/* Finds modes by counting eigenvalues and by inverse iteration (contract: mode.h; theory:
 * doc/reference.md).
 *
 * At a frequency, the branches are the orders l at which T(l, omega) is singular. The number of
 * negative eigenvalues of T(l, omega) is the number of modes of order l with frequencies below
 * omega. (T decreases with omega, so counting needs no derivative.) Modes below the frequency c0 k
 * of a small velocity c0 are not surface waves but oscillations of the fluids, and are subtracted.
 * Bisection by counts isolates a branch. Newton's method on Rayleigh's quotient, lambda -= x^T T x
 * / x^T T' x with x := T^-1 T' x, then computes the mode of this branch. Sources: W. H. Wittrick,
 * F. W. Williams, Q. J. Mech. Appl. Math. 24 (1971), for the count; A. Neumaier, SIAM J. Numer.
 * Anal. 22 (1985), for the iteration.
 */
#include "apps/tomography/reference/mode.h"

#include <math.h>
#include <stdlib.h>

/* Smallest accepted l + 1/2. Towards l = 1 the lowest mode becomes a motion of the whole Earth,
 * which is as slow as the oscillations of the fluids, so counts of modes cannot separate them. */
static const double least_lambda = 2.0;

static int count_below(radial_system *s, double lambda, double omega)
{
  radial_system_sum(s, lambda, omega);
  return band_factor(&s->work);
}

/* Number of branches with a phase velocity between MODE_SLOWEST and c at the system's frequency. */
static int mode_count(radial_system *s, double c)
{
  const double radius = s->mesh->model->radius, lambda = s->omega * radius / c;
  const double slow = MODE_SLOWEST * lambda / radius;
  return count_below(s, lambda, s->omega) - count_below(s, lambda, slow);
}

/* Scales x so that its element of largest absolute value becomes 1. */
static void normalise(int n, double *x)
{
  double largest = 0.0;
  for (int i = 0; i < n; i++)
    if (fabs(x[i]) > fabs(largest)) largest = x[i];
  for (int i = 0; i < n; i++)
    x[i] /= largest;
}

static double dot(int n, const double *x, const double *y)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}

/* Improves the mode by Newton's method. y and room are work space of n_dofs elements. *steps is set
 * to the number of steps, or to 0 if the iteration does not converge. */
static void iterate_newton(radial_system *s, mode *m, double *y, double *room, int *steps)
{
  enum { MOST = 30, STILL = 3 }; /* the first STILL steps change only x, not lambda */
  const int n = s->mesh->n_dofs;
  double before = INFINITY;
  for (*steps = 1; *steps <= MOST; ++*steps) {
    radial_system_slope(s, m->lambda, m->x, y, room);
    radial_system_sum(s, m->lambda, m->omega);
    (void)band_factor(&s->work);
    band_solve(&s->work, y);
    normalise(n, y);
    for (int i = 0; i < n; i++)
      m->x[i] = y[i];
    radial_system_slope(s, m->lambda, m->x, y, room);
    m->slope = dot(n, m->x, y);
    radial_system_sum(s, m->lambda, m->omega);
    const double change = band_form(&s->work, m->x) / m->slope;
    if (*steps <= STILL) continue;
    m->lambda -= change;
    if (!isfinite(m->lambda) || m->lambda < 0.5 * least_lambda) break;
    if (fabs(change) < 1e-10 * m->lambda && fabs(before) < 1e-6 * m->lambda) return;
    before = change;
  }
  *steps = 0;
}

/* Computes group velocity and 1 / Q from T_lambda dlambda + T_omega domega = 0, where T_omega = -2
 * omega M plus the effect of dispersion. The slope of the moduli by ln omega is (2 / pi) / Q times
 * the moduli, so it also gives 1 / Q. */
static void set_velocity_and_loss(radial_system *s, mode *m)
{
  const radial_mesh *mesh = s->mesh;
  double xi[RADIAL_POINTS], weight[RADIAL_POINTS], slope = 0.0;
  const double k = sqrt(m->lambda * m->lambda - 0.25);
  const double kinetic = m->omega * m->omega * band_form(&s->mass, m->x);
  for (int e = 0; e < mesh->n_elements; e++) {
    const radial_element *element = &mesh->element[e];
    const int points = radial_points(element, xi, weight);
    for (int i = 0; i < points; i++) {
      const double half = 0.5 * (element->top - element->bottom);
      const double r = element->bottom + half * (1.0 + xi[i]);
      double q[RADIAL_QUANTITIES];
      radial_form d = {{0}};
      earth_point point;
      earth_evaluate(mesh->model, element->shell, r, m->omega, mesh->options.vp_ratio, &point);
      radial_quantities(mesh, e, xi[i], m->x, q);
      radial_elastic(mesh->kind, &point.slope, k, r, d);
      slope += weight[i] * half * r * r * radial_apply(d, q);
    }
  }
  const double by_log_omega = slope - 2.0 * kinetic;
  m->q = slope / kinetic * (M_PI / 2.0);
  m->c = m->omega * mesh->model->radius / m->lambda;
  m->u = -mesh->model->radius * m->omega * m->slope / by_log_omega;
}

static osla_err refine(radial_system *s, mode *m)
{
  const size_t n = (size_t)s->mesh->n_dofs;
  int steps = 0;
  double *room = malloc(2 * n * sizeof *room);
  OSLA_CHECK(room, OSLA_ERR_MEM, "no memory for %zu unknowns", n);
  iterate_newton(s, m, room, room + n, &steps);
  free(room);
  OSLA_CHECK(steps > 0, OSLA_ERR_STATE, "branch %d at %g s: the iteration does not converge",
             m->branch, 6.283185307179586 / m->omega);
  set_velocity_and_loss(s, m);
  return OSLA_OK;
}

/* Bisects the interval *low .. *high of phase velocities until it is short and contains exactly one
 * branch. */
static bool isolate_branch(radial_system *s, int branch, double *low, double *high)
{
  int below = mode_count(s, *low), above = mode_count(s, *high);
  if (below > branch || above <= branch) return false;
  for (int step = 0; step < 60; step++) {
    if (below == branch && above == branch + 1 && *high - *low < 2e-3 * *low) return true;
    const double middle = 0.5 * (*low + *high);
    const int count = mode_count(s, middle);
    if (count > branch) {
      *high = middle;
      above = count;
    } else {
      *low = middle;
      below = count;
    }
  }
  return below == branch && above == branch + 1;
}

osla_err mode_find(radial_system *s, double omega, int branch, double fastest, mode *m, bool *found)
{
  const int n = s->mesh->n_dofs;
  const double radius = s->mesh->model->radius;
  double low = 1.001 * MODE_SLOWEST, high = fmin(fastest, omega * radius / least_lambda);
  *m = (mode){.branch = branch, .omega = omega};
  radial_system_set(s, omega);
  *found = isolate_branch(s, branch, &low, &high);
  if (!*found) return OSLA_OK;
  m->x = malloc((size_t)n * sizeof *m->x);
  OSLA_CHECK(m->x, OSLA_ERR_MEM, "no memory for %d unknowns", n);
  for (int i = 0; i < n; i++) /* irregular start vector, so that it is not orthogonal to any mode */
    m->x[i] = 1.0 + 0.5 * sin(1.0 + 3.7 * i);
  m->lambda = 2.0 * omega * radius / (low + high);
  osla_err err = refine(s, m);
  const double margin = 1e-6 * low;
  if (err == OSLA_OK && !(m->c >= low - margin && m->c <= high + margin))
    err = osla_error_set(OSLA_ERR_STATE, "branch %d at %g s: iterated from %g..%g km/s to %g",
                         branch, 6.283185307179586 / omega, low, high, m->c);
  if (err != OSLA_OK) mode_destroy(m);
  return err;
}

/* Checks by counting the slower modes that the mode belongs to its branch. */
static bool is_of_branch(radial_system *s, const mode *m)
{
  const double near = 1e-6;
  return mode_count(s, m->c * (1.0 - near)) <= m->branch &&
         mode_count(s, m->c * (1.0 + near)) > m->branch;
}

osla_err mode_follow(radial_system *s, double omega, mode *m)
{
  const double dk = (omega - m->omega) / m->u, fastest = 1.2 * m->c;
  bool found;
  mode other;
  radial_system_set(s, omega);
  m->lambda += dk * s->mesh->model->radius;
  m->omega = omega;
  OSLA_CALL(refine(s, m));
  if (is_of_branch(s, m)) return OSLA_OK;
  /* the iteration converged to another branch nearby */
  OSLA_CALL(mode_find(s, omega, m->branch, fastest, &other, &found));
  OSLA_CHECK(found, OSLA_ERR_STATE, "branch %d at %g s: it is not slower than %g km/s", m->branch,
             6.283185307179586 / omega, fastest);
  mode_destroy(m);
  *m = other;
  return OSLA_OK;
}

/* Number of modes with angular order lambda = l + 1/2 that are slower than c. The moduli are those
 * at the frequency c lambda / radius. */
static int count_at_order(radial_system *s, double lambda, double c)
{
  radial_system_set(s, c * lambda / s->mesh->model->radius);
  return mode_count(s, c);
}

osla_err mode_at_order(radial_system *s, double lambda, int branch, double fastest, mode *m,
                       bool *found)
{
  const double radius = s->mesh->model->radius;
  double low = 1.001 * MODE_SLOWEST, high = fastest;
  *found = count_at_order(s, lambda, low) <= branch && count_at_order(s, lambda, high) > branch;
  if (!*found) return OSLA_OK;
  while (high - low > 1e-3 * low) {
    const double middle = 0.5 * (low + high);
    if (count_at_order(s, lambda, middle) > branch)
      high = middle;
    else
      low = middle;
  }
  OSLA_CALL(mode_find(s, low * lambda / radius, branch, 2.0 * fastest, m, found));
  for (int step = 0; *found && step < 10; step++) {
    const double change = (lambda - m->lambda) * m->u / radius;
    osla_err err = mode_follow(s, m->omega + change, m);
    if (err != OSLA_OK) mode_destroy(m);
    if (err != OSLA_OK || fabs(change) < 1e-9 * m->omega) return err;
  }
  if (!*found) return OSLA_OK;
  mode_destroy(m);
  return osla_error_set(OSLA_ERR_STATE, "branch %d at l + 1/2 = %g does not converge", branch,
                        lambda);
}

void mode_destroy(mode *m)
{
  free(m->x);
  m->x = NULL;
}

double mode_kernel(const radial_mesh *mesh, const mode *m, int element, double r)
{
  const radial_element *e = &mesh->element[element];
  const double k = sqrt(m->lambda * m->lambda - 0.25);
  double q[RADIAL_QUANTITIES];
  radial_form d = {{0}};
  earth_point point;
  earth_evaluate(mesh->model, e->shell, r, m->omega, mesh->options.vp_ratio, &point);
  radial_quantities(mesh, element, (2.0 * r - e->bottom - e->top) / (e->top - e->bottom), m->x, q);
  radial_elastic(mesh->kind, &point.by_vs, k, r, d);
  return radial_apply(d, q) * r * r / (m->lambda * m->slope);
}
