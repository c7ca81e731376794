/* The library libosla_armci of a build without ARMCI. */
#include "osla_armci.h"

osla_err osla_armci_offer(void)
{
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "OSLA was built without ARMCI");
}
