/* A 64-bit word in the peer's inbox of which only the newest value matters (layer 1, internal). */
#ifndef OSLA_CHANNEL_WORD_H
#define OSLA_CHANNEL_WORD_H

#include "src/memory/channel.h"

typedef struct channel_word {
  uint64_t wanted, posted;
  size_t at; /* offset of the word in the peer's inbox */
  osla_posted last;
} channel_word;

/* Posts the word's value `wanted` to the peer, unless an earlier post of the word is still under
 * way. The caller holds the mutex of the set of channels. Errors: MPI. */
osla_err osli_channel_word_send(channel *c, channel_word *word);

/* Calls osli_channel_word_send. Sets *all to false if the word's value `wanted` has not arrived at
 * the peer yet. */
osla_err osli_channel_word_is_delivered(channel *c, channel_word *word, bool *all);

#endif
