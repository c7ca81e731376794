#include "src/blas/work.h"
#include "osla_random.h"

osla_work_charge *osla_work_listener;
bool osla_work_modelled;
static void (*begins)(void);

void osla_work_listen(void (*begin)(void), osla_work_charge *charge)
{
  begins = begin;
  osla_work_listener = charge;
}

void osla_work_only_model(void)
{
  osla_work_modelled = true;
}

bool osla_work_begin(const osla_work *work)
{
  if (osla_work_modelled) {
    osla_work_end(work);
    return false;
  }
  if (begins) begins();
  return true;
}

double osla_work_random(void)
{
  enum { SEED = 17 };
  static uint64_t drawn;
  return (double)((osla_random_bits(SEED, drawn++, 0) >> 11) + 1) * 0x1p-53;
}
