#include "src/base/reserved.h"

#include <inttypes.h>

osla_err osli_reserved_check(const char *name, const uint64_t *words, size_t count)
{
  for (size_t i = 0; i < count; i++)
    OSLA_CHECK(words[i] == 0, OSLA_ERR_ARG,
               "%s: reserved[%zu] = 0x%" PRIx64 " is not 0: begin with {0}, and compile with the "
               "headers of this library",
               name, i, words[i]);
  return OSLA_OK;
}
