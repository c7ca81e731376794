/* Check of the reserved words at the end of each options struct (layer 0, internal).
 *
 * Later versions turn reserved words into members. The words are 0 in a struct that began as {0}. A
 * word that is not 0 was never initialised, or was set for a newer version of the library than this
 * one; in both cases the call must be refused. */
#ifndef RESERVED_H
#define RESERVED_H

#include <stddef.h>
#include <stdint.h>

#include "osla_error.h"

/* Returns ARG if one of the `count` words is not 0, with its index and value. `name` is the
 * struct's name for the message. Local. */
osla_err osli_reserved_check(const char *name, const uint64_t *words, size_t count);

/* Checks the reserved words of an options struct; NULL options are valid. */
#define OSLA_RESERVED(type, options)                                                               \
  ((options) ? osli_reserved_check(#type, (options)->reserved,                                     \
                                   sizeof((options)->reserved) / sizeof *(options)->reserved)      \
             : OSLA_OK)

#endif
