/* A writer thread and a reader thread of src/memory/ring.h, with plain copies, for ThreadSanitizer
 * (tests/commands/test_threads.sh). The exit status is 1 if a message is inconsistent, lost or out
 * of order. */
#include "src/memory/ring.h"

#include <pthread.h>
#include <stdio.h>

enum { MESSAGES = 50000, IN_FLIGHT = 3, ELEMENTS = 37 };

static ring words;
static struct {
  ring_slot head;
  uint64_t elements[ELEMENTS];
} slots[IN_FLIGHT + 1];

static void *write_messages(void *arg)
{
  int place = 0;
  for (uint64_t n = 1; n <= MESSAGES; n++) {
    while (!ring_has_room(&words, n - 1, IN_FLIGHT))
      continue;
    for (uint64_t i = 0; i < ELEMENTS; i++)
      slots[place].elements[i] = n ^ i;
    slots[place].head.stamp = n;
    ring_publish(&slots[place].head, n);
    place = ring_next(place, IN_FLIGHT);
  }
  return arg;
}

int main(void)
{
  pthread_t writer;
  int place = 0, bad = 0;
  if (pthread_create(&writer, NULL, write_messages, NULL) != 0) return 2;
  for (uint64_t n = 1; n <= MESSAGES; n++) {
    while (!ring_holds(&slots[place].head, n))
      continue;
    ring_acknowledge(&words, n);
    bad += slots[place].head.stamp != n;
    for (uint64_t i = 0; i < ELEMENTS; i++)
      bad += slots[place].elements[i] != (n ^ i);
    place = ring_next(place, IN_FLIGHT);
  }
  (void)pthread_join(writer, NULL);
  printf("received %d messages, %d bad\n", MESSAGES, bad);
  return bad > 0;
}
