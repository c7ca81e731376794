#include "kernels/common/argument_checks.h"

osla_err osli_check_side(const char *call, osla_side side)
{
  OSLA_CHECK(side == OSLA_LEFT || side == OSLA_RIGHT, OSLA_ERR_ARG,
             "%s: side = %d is neither OSLA_LEFT nor OSLA_RIGHT", call, (int)side);
  return OSLA_OK;
}

osla_err osli_check_trans(const char *call, osla_trans trans)
{
  OSLA_CHECK(trans == OSLA_NOTRANS || trans == OSLA_TRANS || trans == OSLA_CONJTRANS, OSLA_ERR_ARG,
             "%s: trans = %d is not an osla_trans", call, (int)trans);
  return OSLA_OK;
}

osla_err osli_check_diag(const char *call, osla_diag diag)
{
  OSLA_CHECK(diag == OSLA_NONUNIT || diag == OSLA_UNIT, OSLA_ERR_ARG,
             "%s: diag = %d is neither OSLA_NONUNIT nor OSLA_UNIT", call, (int)diag);
  return OSLA_OK;
}

osla_err osli_check_panel_options(const char *call, int look_ahead, osla_forward forward,
                                  int *depth)
{
  *depth = look_ahead < 0 ? 0 : look_ahead == 0 ? 1 : look_ahead;
  OSLA_CHECK(look_ahead >= -1 && look_ahead <= 2, OSLA_ERR_ARG,
             "%s: look_ahead = %d is not -1, 0, 1 or 2", call, look_ahead);
  OSLA_CHECK(forward >= OSLA_FORWARD_CHOSEN && forward <= OSLA_FORWARD_TREE, OSLA_ERR_ARG,
             "%s: forward = %d is not an osla_forward", call, (int)forward);
  return OSLA_OK;
}
