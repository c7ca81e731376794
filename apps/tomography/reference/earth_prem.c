/* PREM: A. M. Dziewonski, D. L. Anderson, Preliminary reference Earth model, Physics of the Earth
 * and Planetary Interiors 25 (1981), Table I: polynomials in r / 6371 km, velocities at 1 s. */
#include "apps/tomography/reference/earth_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PREM with the isotropic upper mantle, in which vph = vpv and vsh = vsv. */
static const struct prem_shell {
  double top, rho[4], vp[4], vs[4], q_mu, q_kappa;
} isotropic_shells[] = {
  {1221.5, {13.0885, 0, -8.8381}, {11.2622, 0, -6.3640}, {3.6678, 0, -4.4475}, 84.6, 1327.7},
  {3480, {12.5815, -1.2638, -3.6426, -5.5281}, {11.0487, -4.0362, 4.8023, -13.5732}, {0}, 0, 57823},
  {3630,
   {7.9565, -6.4761, 5.5283, -3.0807},
   {15.3891, -5.3181, 5.5242, -2.5514},
   {6.9254, 1.4672, -2.0834, 0.9783},
   312,
   57823},
  {5600,
   {7.9565, -6.4761, 5.5283, -3.0807},
   {24.9520, -40.4673, 51.4832, -26.6419},
   {11.1671, -13.7818, 17.4575, -9.2777},
   312,
   57823},
  {5701,
   {7.9565, -6.4761, 5.5283, -3.0807},
   {29.2766, -23.6027, 5.5242, -2.5514},
   {22.3459, -17.2473, -2.0834, 0.9783},
   312,
   57823},
  {5771, {5.3197, -1.4836}, {19.0957, -9.8672}, {9.9839, -4.9324}, 143, 57823},
  {5971, {11.2494, -8.0298}, {39.7027, -32.6166}, {22.3512, -18.5856}, 143, 57823},
  {6151, {7.1089, -3.8045}, {20.3926, -12.2569}, {8.9496, -4.4597}, 143, 57823},
  {6291, {2.6910, 0.6924}, {4.1875, 3.9382}, {2.1519, 2.3481}, 80, 57823},
  {6346.6, {2.6910, 0.6924}, {4.1875, 3.9382}, {2.1519, 2.3481}, 600, 57823},
  {6356, {2.900}, {6.800}, {3.900}, 600, 57823},
  {6368, {2.600}, {5.800}, {3.200}, 600, 57823},
  {6371, {1.020}, {1.450}, {0}, 0, 57823},
};
enum {
  N_SHELLS = sizeof isotropic_shells / sizeof *isotropic_shells,
  /* index of the first of the two anisotropic shells, between 220 and 24.4 km depth */
  FIRST_ANISOTROPIC = 8,
  OCEAN = N_SHELLS - 1
};

static void copy(double to[EARTH_TERMS], const double from[EARTH_TERMS])
{
  memcpy(to, from, EARTH_TERMS * sizeof *to);
}

static void set_shell(earth_shell *to, const struct prem_shell *from, double bottom)
{
  static const double one[EARTH_TERMS] = {1.0};
  to->bottom = bottom;
  to->top = from->top;
  copy(to->rho, from->rho);
  copy(to->vpv, from->vp);
  copy(to->vph, from->vp);
  copy(to->vsv, from->vs);
  copy(to->vsh, from->vs);
  copy(to->eta, one);
  to->q_mu = from->q_mu > 0.0 ? 1.0 / from->q_mu : 0.0;
  to->q_kappa = 1.0 / from->q_kappa;
}

static void set_anisotropy(earth_shell *to)
{
  static const double vpv[EARTH_TERMS] = {0.8317, 7.2180}, vph[EARTH_TERMS] = {3.5908, 4.6172},
                      vsv[EARTH_TERMS] = {5.8582, -1.4678}, vsh[EARTH_TERMS] = {-1.0839, 5.7176},
                      eta[EARTH_TERMS] = {3.3687, -2.4778};
  copy(to->vpv, vpv);
  copy(to->vph, vph);
  copy(to->vsv, vsv);
  copy(to->vsh, vsh);
  copy(to->eta, eta);
}

osla_err earth_prem(bool ocean, bool isotropic, earth_model **out)
{
  *out = NULL;
  earth_model *model = calloc(1, sizeof *model);
  if (model) model->shell = calloc(N_SHELLS, sizeof *model->shell);
  if (!model || !model->shell) {
    earth_destroy(&model);
    return osla_error_set(OSLA_ERR_MEM, "no memory for PREM");
  }
  (void)snprintf(model->title, sizeof model->title, "PREM, %s upper mantle, %s",
                 isotropic ? "isotropic" : "anisotropic",
                 ocean ? "ocean of 3 km" : "crust in place of the ocean");
  (void)snprintf(model->source, sizeof model->source,
                 "Dziewonski & Anderson (1981), Phys. Earth Planet. Inter. 25, Table I");
  model->n_shells = ocean ? N_SHELLS : N_SHELLS - 1;
  model->reference_period = 1.0;
  model->dispersive = true;
  double bottom = 0.0;
  for (int i = 0; i < model->n_shells; i++) {
    set_shell(&model->shell[i], &isotropic_shells[i], bottom);
    if (!isotropic && (i == FIRST_ANISOTROPIC || i == FIRST_ANISOTROPIC + 1))
      set_anisotropy(&model->shell[i]);
    bottom = model->shell[i].top;
  }
  model->shell[model->n_shells - 1].top = isotropic_shells[OCEAN].top;
  osla_err err = earth_set_masses(model);
  if (err != OSLA_OK) earth_destroy(&model);
  *out = model;
  return err;
}
