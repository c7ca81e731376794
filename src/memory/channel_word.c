#include "src/memory/channel_word.h"

osla_err osli_channel_word_send(channel *c, channel_word *word)
{
  if (word->wanted == word->posted) return OSLA_OK;
  bool done;
  OSLA_CALL(osla_posted_test(c->segment, &word->last, &done));
  if (!done) return OSLA_OK;
  word->posted = word->wanted;
  return osla_word_post(c->segment, c->end.peer, c->peer_inbox + word->at, word->wanted,
                        &word->last);
}

osla_err osli_channel_word_is_delivered(channel *c, channel_word *word, bool *all)
{
  bool done;
  OSLA_CALL(osli_channel_word_send(c, word));
  OSLA_CALL(osla_posted_test(c->segment, &word->last, &done));
  *all = *all && done && word->wanted == word->posted;
  return OSLA_OK;
}
