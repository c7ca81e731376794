#include "src/blas/work.h"
#include "osla_random.h"

osla_work_charge *osli_work_charge_function;
bool osli_work_modelled;
static void (*begins)(void);

void osli_work_set_model(void (*begin)(void), osla_work_charge *charge)
{
  begins = begin;
  osli_work_charge_function = charge;
}

void osli_work_model_only(void)
{
  osli_work_modelled = true;
}

bool osli_work_begin(const osla_work *work)
{
  if (osli_work_modelled) {
    work_end(work);
    return false;
  }
  if (begins) begins();
  return true;
}

double osli_work_random(void)
{
  enum { SEED = 17 };
  static uint64_t drawn;
  return (double)((osla_random_bits(SEED, drawn++, 0) >> 11) + 1) * 0x1p-53;
}
