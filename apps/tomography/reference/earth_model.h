/* A spherical Earth: density, five elastic moduli and Q in shells, density and velocities as cubic
 * polynomials.
 *
 * Units here and in the whole folder: km, s, g/cm^3; moduli in GPa (g/cm^3 km^2/s^2). The material
 * is transversely isotropic about the radius, in Love's notation: A = rho Vph^2, C = rho Vpv^2, L =
 * rho Vsv^2, N = rho Vsh^2, F = eta (A - 2 L).
 *
 * Velocities are given at the reference period. At another period physical dispersion applies, with
 * a Q that does not depend on frequency (Dziewonski & Anderson 1981). To first order the moduli of
 * shear grow by 1 + q_mu D and those of compression by 1 + (E q_mu + (1 - E) q_kappa) D, with D =
 * (2 / pi) ln(omega / omega_0), q = 1 / Q, and E = (4/3) mu / (kappa + (4/3) mu) for Voigt's
 * isotropic average; eta does not change.
 * A model does not change once it is made: calls are local and thread-safe.
 */
#ifndef EARTH_MODEL_H
#define EARTH_MODEL_H

#include <stdbool.h>

#include "osla_error.h"

enum { EARTH_TERMS = 4 }; /* number of coefficients of a polynomial in r / radius */

typedef struct earth_shell {
  double bottom, top; /* radii of the shell's boundaries, km */
  double rho[EARTH_TERMS], vpv[EARTH_TERMS], vph[EARTH_TERMS], vsv[EARTH_TERMS], vsh[EARTH_TERMS],
    eta[EARTH_TERMS];
  double q_mu, /* 1 / Q of shear */
    q_kappa;   /* 1 / Q of compression */
} earth_shell;

typedef struct earth_model {
  char title[200], source[200];
  int n_shells;
  earth_shell *shell;      /* shells from the centre to the surface, without gaps */
  double *mass;            /* [n_shells] mass below each shell divided by 4 pi, in g/cm^3 km^3 */
  double radius;           /* radius of the surface, km */
  double reference_period; /* period in s at which the velocities are given */
  bool dispersive;         /* false if velocities do not depend on the period */
} earth_model;

typedef struct earth_moduli {
  double a, c, f, l, n;
} earth_moduli;

typedef struct earth_point {
  double rho, gravity; /* density in g/cm^3 and gravity in km/s^2 */
  earth_moduli moduli; /* moduli at the frequency omega */
  earth_moduli slope;  /* derivatives of the moduli with respect to ln omega */
  /* derivatives of the moduli with respect to ln Vs: Vsv and Vsh change by the factor 1 + dln Vs,
   * Vpv and Vph by 1 + vp_ratio * dln Vs */
  earth_moduli by_vs;
} earth_point;

/* Creates PREM, with the published ocean or with the upper crust in its place, and with the
 * anisotropic or the isotropic upper mantle. The caller destroys the model. Errors: MEM. */
osla_err earth_prem(bool ocean, bool isotropic, earth_model **model);

/* Reads a model in Mineos' format (CIG, Mineos user manual): three lines of head, then lines of
 * radius (m), density, Vpv, Vsv, Qkappa, Qmu, Vph, Vsh, eta. Values are linear between lines; a
 * radius given twice is a discontinuity. Errors: IO with one line "FILE:LINE: ...", MEM. */
osla_err earth_read(const char *file, earth_model **model);

void earth_destroy(earth_model **model);

/* Sets the radius and the masses of a model whose shells are filled, the last step of creating a
 * model. */
osla_err earth_set_masses(earth_model *model);

/* 4 pi G, in km^3 s^-2 per 10^12 kg. */
double earth_four_pi_g(void);

bool earth_is_fluid(const earth_shell *shell);

/* Sets *point to the values at radius r of a shell, at omega (rad/s); vp_ratio = dln Vp / dln
 * Vs. */
void earth_evaluate(const earth_model *model, int shell, double r, double omega, double vp_ratio,
                    earth_point *point);

#endif
