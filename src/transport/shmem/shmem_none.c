/* The library libosla_shmem of a build without OpenSHMEM. */
#include "osla_shmem.h"

osla_err osla_shmem_offer(void)
{
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "OSLA was built without OpenSHMEM");
}
