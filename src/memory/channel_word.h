/* A 64-bit word in the peer's inbox of which only the newest value matters (floor 1, internal). */
#ifndef OSLA_CHANNEL_WORD_H
#define OSLA_CHANNEL_WORD_H

#include "src/memory/channel.h"

typedef struct channel_word {
  uint64_t wanted, posted;
  size_t at; /* offset in the peer's inbox */
  osla_posted last;
} channel_word;

/* Posts the value `wanted`, unless an earlier post is still under way. The caller holds the mutex
 * of the set. Errors: MPI. */
osla_err osli_channel_word_send(channel *c, channel_word *word);

/* Calls osli_channel_word_send. Sets *all to false if the value `wanted` has not arrived yet. */
osla_err osli_channel_word_is_delivered(channel *c, channel_word *word, bool *all);

#endif
