/* Free oscillations of a spherical Earth: the energy of a mode as a quadratic form, in finite
 * elements along the radius. doc/reference.md has the derivation.
 *
 * A mode of angular order l and frequency omega makes stationary
 *
 *     I(x) = integral over 0 .. a of q^T D(r; k, omega) q r^2 dr,     k^2 = l (l + 1),
 *
 * minus omega^2 times its kinetic energy. q holds the eigenfunctions and their derivatives by r:
 * (W, W') for a toroidal mode, (U, U', V, V', P, P') for a spheroidal mode. The displacement of a
 * spheroidal mode is U r^ + V grad_1 / k, with the radial unit vector r^; P is the perturbation of
 * the gravitational potential. D is of second degree in k, so the finite elements give T(l, omega)
 * = K0 + k K1 + k^2 K2 + (l + 1) S - omega^2 M with symmetric band matrices. A mode is a solution
 * of T x = 0. Its order l may be any real number; its phase velocity is c = omega a / (l + 1/2).
 *
 * Elements are polynomials of degree 4 in U, V, W and P. V jumps between solid and fluid. Within a
 * fluid V is of degree 3 and jumps between elements, so that a flow without change of volume has no
 * stiffness (like the elements of Raviart & Thomas 1977). Meshes and systems may be used by one
 * caller at a time; calls are local.
 */
#ifndef RADIAL_H
#define RADIAL_H

#include "apps/tomography/reference/earth_model.h"
#include <stddef.h>

/* Symmetric band matrices, lower triangle: element (i, j), i >= j, is a[j * (width + 1) + i - j].
 * Local, thread-safe. */
typedef struct band {
  int n,     /* order of the matrix */
    width;   /* number of subdiagonals */
  double *a; /* [n * (width + 1)] elements of the lower band, column by column */
} band;

static inline double *band_at(const band *m, int i, int j)
{
  return i >= j ? &m->a[(size_t)j * (size_t)(m->width + 1) + (size_t)(i - j)]
                : &m->a[(size_t)i * (size_t)(m->width + 1) + (size_t)(j - i)];
}

/* A := L D L^T in place, without pivoting (L has a unit diagonal and is stored below the diagonal,
 * which holds D); a pivot of 0 is replaced by a tiny number. Returns the number of negative pivots,
 * which by Sylvester's law of inertia is the number of negative eigenvalues of A. */
int band_factor(band *m);

/* x := A^-1 x, with the factors from band_factor. */
void band_solve(const band *m, double *x);

/* band_multiply: y := A x. band_form: returns x^T A x. */
void band_multiply(const band *m, const double *x, double *y);
double band_form(const band *m, const double *x);

typedef enum radial_kind { RADIAL_TOROIDAL, RADIAL_SPHEROIDAL } radial_kind;

enum {
  RADIAL_DEGREE = 4,
  RADIAL_NODES = RADIAL_DEGREE + 1,
  /* quadrature points of a solid element; a fluid element has RADIAL_DEGREE points */
  RADIAL_POINTS = 7,
  RADIAL_FUNCTIONS = 3, /* number of radial functions: U (W for toroidal modes), V and P */
  RADIAL_LOCAL = RADIAL_FUNCTIONS * RADIAL_NODES,
  RADIAL_QUANTITIES = 6 /* length of q: U, V, P and their derivatives */
};

typedef struct radial_element {
  double bottom, top;
  int shell;
  bool fluid;
  /* dof[function * RADIAL_NODES + node]: index of the unknown; -1 if the function has no unknown
   * there */
  int dof[RADIAL_LOCAL];
} radial_element;

typedef struct radial_options {
  double size;          /* greatest size of elements at the surface, km */
  double vp_ratio;      /* ratio dln Vp / dln Vs that the kernels assume */
  bool without_gravity; /* true: neglects gravity, for comparison with theories that neglect it */
} radial_options;

typedef struct radial_mesh {
  radial_kind kind;
  const earth_model *model;
  radial_options options;
  int n_elements, n_dofs, width;
  radial_element *element; /* [n_elements] elements, from the centre upwards */
} radial_mesh;

/* Creates a mesh. The size of elements grows by 0.05 km per km of depth. Toroidal modes use only
 * the uppermost solid. The model must outlive the mesh. Errors: ARG, MEM. */
osla_err radial_mesh_create(const earth_model *model, radial_kind kind,
                            const radial_options *options, radial_mesh **mesh);
void radial_mesh_destroy(radial_mesh **mesh);

/* Points and weights of Gauss-Legendre quadrature on -1 .. 1. */
void radial_gauss(int n, double *x, double *weight);

/* Sets the points and weights of an element's quadrature on -1 .. 1; returns their number. */
int radial_points(const radial_element *element, double xi[RADIAL_POINTS],
                  double weight[RADIAL_POINTS]);

/* radial_quantities computes q (the functions and their derivatives) of the eigenvector x at the
 * point xi (-1 .. 1) of an element. radial_parts computes the contribution to q of each unknown of
 * the element, parts[quantity][local unknown]. */
void radial_quantities(const radial_mesh *mesh, int element, double xi, const double *x,
                       double q[RADIAL_QUANTITIES]);
void radial_parts(const radial_mesh *mesh, int element, double xi,
                  double parts[RADIAL_QUANTITIES][RADIAL_LOCAL]);

/* A quadratic form q^T D q of the energy at a radius. radial_elastic adds the elastic energy to d,
 * radial_gravity the energy of gravity, and radial_kinetic the kinetic energy / omega^2. */
typedef double radial_form[RADIAL_QUANTITIES][RADIAL_QUANTITIES];
void radial_elastic(radial_kind kind, const earth_moduli *m, double k, double r, radial_form d);
void radial_gravity(const earth_point *point, double k, double r, radial_form d);
void radial_kinetic(radial_kind kind, double rho, radial_form d);
/* Returns q^T D q, where D is the quadratic form d. */
double radial_apply(const radial_form d, const double q[RADIAL_QUANTITIES]);

/* The matrices K0, K1, K2, S and M of a mesh, with the moduli at the frequency omega. */
typedef struct radial_system {
  const radial_mesh *mesh;
  double omega;
  band k[3], mass, work;
  double surface; /* the only nonzero element of S, which belongs to P at the surface */
  int surface_dof;
} radial_system;

osla_err radial_system_create(const radial_mesh *mesh, radial_system **system);
void radial_system_destroy(radial_system **system);
void radial_system_set(radial_system *system, double omega);

/* Sets `work` to T(l, omega) at lambda = l + 1/2. omega is the frequency in the kinetic energy; the
 * moduli remain those of radial_system_set. */
void radial_system_sum(radial_system *system, double lambda, double omega);
/* y := (dT / dlambda) x; `room` is work space of n_dofs elements. */
void radial_system_slope(const radial_system *system, double lambda, const double *x, double *y,
                         double *room);

#endif
