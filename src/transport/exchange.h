/* A few bytes from each rank to a few others, which do not know who they hear from (floor 0,
 * internal).
 *
 * Below a number of ranks an all-to-all brings every rank's to every rank. From there on, where
 * that would take memory and time for each rank of the job, messages go to those alone who are
 * concerned: Hoefler, Siebert, Lumsdaine, Scalable communication protocols for dynamic sparse data
 * exchange, PPoPP 2010, algorithm 2 (NBX): synchronous sends, and a nonblocking barrier that a rank
 * enters once all of its own were taken; when that is over, all of all were.
 */
#ifndef OSLA_EXCHANGE_H
#define OSLA_EXCHANGE_H

#include "osla_transport.h"

/* To or from n ranks, none twice; ascending by rank when they have come. */
typedef struct osla_letters {
  int bytes; /* of each */
  int n, room;
  unsigned char *memory; /* [room] a rank, and the bytes */
} osla_letters;

/* Room for so many, so that as many are added without an error; one more, copied. Local. Errors:
 * MEM. */
osla_err osli_letters_reserve(osla_letters *letters, int room);
osla_err osli_letters_add(osla_letters *letters, int rank, const void *letter);
void osli_letters_free(osla_letters *letters);

/* The i-th: whose it is, and its bytes (at a multiple of 8); the one of a rank, among those that
 * have come, NULL: there is none. Local. */
int osli_letter_rank(const osla_letters *letters, int i);
const void *osli_letter(const osla_letters *letters, int i);
const void *osli_letter_of(const osla_letters *letters, int rank);

/* What exchanges of letters of up to so many bytes (at most OSLA_MOST_LETTER) need: memory for an
 * all-to-all, where there will be one. Local; the same bytes on all ranks. Errors: MEM. */
typedef struct osla_exchange osla_exchange;
enum { OSLA_MOST_LETTER = 256 };
osla_err osli_exchange_open(osla_transport *t, int most_bytes, osla_exchange **out);
void osli_exchange_close(osla_exchange **exchange);

/* Collective; sleeps while it waits. Stores of a rank before it are seen by those that have got its
 * letter.
 *   out      [in]  mine; to myself, too; as many bytes each as on all ranks
 *   expected [in]  how many come, where each rank knows that: it may be over before others have
 *                  called; -1, on all ranks: they do not
 *   in       [out] those for me; freed by the caller, also after errors
 * Errors: MPI, of the all-to-all (one among messages ends all ranks: MPI still reads letters then);
 * MEM, of this rank alone: the exchange is over then, but letters are lost. */
osla_err osli_exchange_run(osla_exchange *exchange, const osla_letters *out, int expected,
                           osla_letters *in);

#endif
