/* Words at the end of each options struct that later members will take (floor 0, internal).
 *
 * They are 0 in a struct that began as {0}. What is not 0 was never set to anything, or belongs to
 * a newer version of the library than this one: either way the call must not go on. */
#ifndef RESERVED_H
#define RESERVED_H

#include <stddef.h>
#include <stdint.h>

#include "osla_error.h"

/* ARG if a word is not 0, with its number and value; `name` is the struct's. Local. */
osla_err osli_reserved_check(const char *name, const uint64_t *words, size_t count);

/* The same for the options that a call was given; NULL is right. */
#define OSLA_RESERVED(type, options)                                                               \
  ((options) ? osli_reserved_check(#type, (options)->reserved,                                     \
                                   sizeof((options)->reserved) / sizeof *(options)->reserved)      \
             : OSLA_OK)

#endif
