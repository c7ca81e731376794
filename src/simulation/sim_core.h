/* The time that a simulated core takes for a piece of work (layer 0, internal to the transport
 * `sim`).
 *
 * For each kind of work the model is a sum of monomials in m, n, k, for example a mnk + b mn + c mk
 * + d nk + e for a product in double precision (Cornebize, Legrand, Heinrich, Fast and Faithful
 * Performance Prediction of MPI Applications: the HPL Case Study, CLUSTER 2019, section IV).
 * osla-calibrate measures a real core and writes the model. If a machine file has no model, a piece
 * of work takes max(flops / rate of the core, bytes / rate of copies) seconds (the roofline).
 */
#ifndef OSLA_SIM_CORE_H
#define OSLA_SIM_CORE_H

#include "src/blas/work.h"

#include "osla_error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SIM_TERMS = 6 };

/* One term of a model: seconds * m^power[0] n^power[1] k^power[2]. */
typedef struct sim_term {
  double seconds;
  unsigned char power[3];
} sim_term;

typedef struct sim_core {
  double flops,  /* number of floating-point operations per second (see sim_machine) */
    copy;        /* number of copied bytes per second (see sim_machine) */
  double slower; /* factor by which all times are multiplied; 0 means 1 */
  double noise;  /* mean relative lengthening of times by random noise; 0: none */
  /* number of terms in the model of each kind of work; all 0: no model, so the roofline is used */
  int terms[OSLA_WORK_KINDS];
  sim_term term[OSLA_WORK_KINDS][SIM_TERMS];
} sim_core;

/* Name of the machine file's property that holds the model of this kind of work, for example
 * "work-gemm". Its value is "SECONDS MONOMIAL ...", for example "5.3e-11 mnk 4e-10 mn 2e-7 1".
 * NULL for a sweep, which has no such model. */
const char *osli_sim_work_name(osla_work_kind kind);

/* Parses the value of a property into the terms of one kind of work. Errors: ARG. */
osla_err osli_sim_core_terms(sim_core *core, osla_work_kind kind, const char *value);

/* Seconds of a piece of work. With noise, successive calls differ, but every run of the program
 * gets the same values. */
double osli_sim_core_seconds(const sim_core *core, const osla_work *work);

#ifdef __cplusplus
}
#endif
#endif
