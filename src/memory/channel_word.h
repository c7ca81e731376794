/* A word of a channel at the peer, of which the newest value matters (floor 1, private). */
#ifndef OSLA_CHANNEL_WORD_H
#define OSLA_CHANNEL_WORD_H

#include "src/memory/channel.h"

typedef struct channel_word {
  uint64_t wanted, posted;
  size_t at; /* in the peer's inbox */
  osla_posted last;
} channel_word;

/* Posts what is wanted, unless the one before is still under way. Under the set's mutex, as is
 * _gone. Errors: MPI. */
osla_err osli_channel_word_send(channel *c, channel_word *word);

/* The same; *all becomes false where what is wanted is not there yet. */
osla_err osli_channel_word_is_delivered(channel *c, channel_word *word, bool *all);

#endif
