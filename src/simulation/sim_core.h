/* How long a simulated core takes for a piece of work (floor 0, internal to the transport `sim`).
 *
 * The model is a sum of monomials in m, n, k for each kind of work, such as a mnk + b mn + c mk +
 * d nk + e for a product (Cornebize, Legrand, Heinrich, Fast and Faithful Performance Prediction of
 * MPI Applications: the HPL Case Study, CLUSTER 2019, section IV), for numbers in double precision.
 * osla-calibrate measures a real core and writes it. Where a machine file has none, a piece of work
 * takes the larger of flops / flops a second and bytes / bytes a second (the roofline).
 */
#ifndef OSLA_SIM_CORE_H
#define OSLA_SIM_CORE_H

#include "src/blas/work.h"

#include "osla_error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SIM_TERMS = 6 };

/* seconds * m^power[0] n^power[1] k^power[2] */
typedef struct sim_term {
  double seconds;
  unsigned char power[3];
} sim_term;

typedef struct sim_core {
  double flops, copy;         /* see sim_machine */
  double slower;              /* all takes so many times as long; 0: 1 */
  double noise;               /* and on average this share longer, by chance; 0: none */
  int terms[OSLA_WORK_KINDS]; /* all 0: no model */
  sim_term term[OSLA_WORK_KINDS][SIM_TERMS];
} sim_core;

/* The name of the property of a machine file that has the model of this kind of work, as
 * "work-gemm"; its value: "SECONDS MONOMIAL ...", as "5.3e-11 mnk 4e-10 mn 2e-7 1". */
const char *osli_sim_work_name(osla_work_kind kind);

/* Takes the terms of one kind from such a value. Errors: ARG for what is none. */
osla_err osli_sim_core_terms(sim_core *core, osla_work_kind kind, const char *value);

/* With noise no two calls take the same; all runs do. */
double osli_sim_core_seconds(const sim_core *core, const osla_work *work);

#ifdef __cplusplus
}
#endif
#endif
