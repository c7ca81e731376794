/* A spherical Earth: density and five elastic moduli as cubic polynomials in shells, and Q.
 *
 * Units here and in this whole folder: km, s, g/cm^3; moduli in GPa (g/cm^3 km^2/s^2).
 * Transversely isotropic about the radius, in Love's notation: A = rho Vph^2, C = rho Vpv^2,
 * L = rho Vsv^2, N = rho Vsh^2, F = eta (A - 2 L).
 *
 * Velocities are those of the reference period. At another one, physical dispersion of a Q that
 * does not depend on frequency (Dziewonski & Anderson 1981): the moduli of shear
 * grow by 1 + q_mu D and those of compression by 1 + (E q_mu + (1 - E) q_kappa) D, to first
 * order, with D = (2 / pi) ln(omega / omega_0), q = 1 / Q, E = (4/3) mu / (kappa + (4/3) mu) of the
 * isotropic average after Voigt; eta is kept.
 * A model is not changed once it is made: calls are local and thread-safe.
 */
#ifndef EARTH_MODEL_H
#define EARTH_MODEL_H

#include <stdbool.h>

#include "osla_error.h"

enum { EARTH_TERMS = 4 }; /* of a polynomial in r / radius */

typedef struct earth_shell {
  double bottom, top; /* km from the centre */
  double rho[EARTH_TERMS], vpv[EARTH_TERMS], vph[EARTH_TERMS], vsv[EARTH_TERMS], vsh[EARTH_TERMS],
    eta[EARTH_TERMS];
  double q_mu, q_kappa; /* 1 / Q */
} earth_shell;

typedef struct earth_model {
  char title[200], source[200];
  int n_shells;
  earth_shell *shell;      /* from the centre to the surface, without gaps */
  double *mass;            /* [n_shells] below each shell, / (4 pi), g/cm^3 km^3 */
  double radius;           /* km */
  double reference_period; /* s; of the velocities */
  bool dispersive;         /* false: velocities are the same at all periods */
} earth_model;

typedef struct earth_moduli {
  double a, c, f, l, n;
} earth_moduli;

typedef struct earth_point {
  double rho, gravity; /* g/cm^3, km/s^2 */
  earth_moduli moduli; /* at the frequency */
  earth_moduli slope;  /* their derivative by ln omega */
  earth_moduli by_vs;  /* by ln Vsv = ln Vsh, with Vpv and Vph growing by ln Vs times the ratio */
} earth_point;

/* How PREM is varied: the ocean as published or filled with the crust below, and the anisotropic
 * or the isotropic upper mantle. The caller destroys the model. Errors: MEM. */
osla_err earth_prem(bool ocean, bool isotropic, earth_model **model);

/* A model in Mineos' format (CIG, Mineos user manual): three lines of head, then
 * radius (m), density, Vpv, Vsv, Qkappa, Qmu, Vph, Vsh, eta; linear between the lines, a radius
 * that stands twice is a discontinuity. Errors: IO with one line "FILE:LINE: ...", MEM. */
osla_err earth_read(const char *file, earth_model **model);

void earth_destroy(earth_model **model);

/* Fills in radius and mass of the shells; for makers of models. */
osla_err earth_complete(earth_model *model);

/* 4 pi G, in the units above. */
double earth_four_pi_g(void);

bool earth_is_fluid(const earth_shell *shell);

/* What is at radius r of a shell, at omega (rad/s); vp_ratio = dln Vp / dln Vs. */
void earth_at(const earth_model *model, int shell, double r, double omega, double vp_ratio,
              earth_point *point);

#endif
