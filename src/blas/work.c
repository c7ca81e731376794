#include "src/blas/work.h"
#include "osla_random.h"

osla_work_charge *osli_work_listener;
bool osli_work_modelled;
static void (*begins)(void);

void osli_work_listen(void (*begin)(void), osla_work_charge *charge)
{
  begins = begin;
  osli_work_listener = charge;
}

void osli_work_only_model(void)
{
  osli_work_modelled = true;
}

bool osli_work_begin(const osla_work *work)
{
  if (osli_work_modelled) {
    osla_work_end(work);
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
