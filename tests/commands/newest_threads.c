/* A writer thread and a reader thread of src/memory/newest.h, with plain copies, for
 * ThreadSanitizer (tests/commands/test_threads.sh). The exit status is 1 if a message is
 * inconsistent or older than the preceding message, or if the last message is lost. */
#include "src/memory/newest.h"

#include <pthread.h>
#include <stdio.h>

enum { MESSAGES = 200000, ELEMENTS = 37 };

static newest word;
static uint64_t slots[NEWEST_SLOTS][ELEMENTS];

static void *write_messages(void *arg)
{
  uint32_t slot = NEWEST_WRITER_FIRST;
  for (uint64_t stamp = 1; stamp <= MESSAGES; stamp++) {
    for (uint64_t i = 0; i < ELEMENTS; i++)
      slots[slot][i] = stamp ^ i;
    slot = newest_publish(&word, slot);
  }
  return arg;
}

int main(void)
{
  pthread_t writer;
  uint32_t slot = NEWEST_READER_FIRST;
  uint64_t last = 0, received = 0;
  int bad = 0;
  if (pthread_create(&writer, NULL, write_messages, NULL) != 0) return 2;
  while (last < MESSAGES) {
    if (!newest_is_fresh(&word)) continue;
    slot = newest_acquire(&word, slot);
    const uint64_t stamp = slots[slot][0];
    for (uint64_t i = 0; i < ELEMENTS; i++)
      bad += slots[slot][i] != (stamp ^ i);
    bad += stamp <= last;
    last = stamp;
    received++;
  }
  (void)pthread_join(writer, NULL);
  printf("received %d of %d messages, %d bad\n", (int)received, MESSAGES, bad);
  return bad > 0;
}
