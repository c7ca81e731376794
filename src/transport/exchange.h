/* Sparse exchange of short letters: each rank sends a few bytes to a few ranks, and the receivers
 * do not know their senders (layer 0, internal).
 *
 * With few ranks an all-to-all carries the letters. With many ranks (OSLA_SPARSE_FROM) its memory
 * and time would grow with the number of ranks, so letters travel as messages by algorithm 2 (NBX)
 * of Hoefler, Siebert, Lumsdaine, Scalable communication protocols for dynamic sparse data
 * exchange, PPoPP 2010: each rank sends synchronously, and enters a nonblocking barrier when its
 * letters have been received. When the barrier completes, all letters have been received. */
#ifndef OSLA_EXCHANGE_H
#define OSLA_EXCHANGE_H

#include "osla_transport.h"

/* Letters to or from n different ranks. Received letters are sorted by rank. */
typedef struct osla_letters {
  int bytes; /* size of each letter in bytes */
  int n, room;
  unsigned char *memory; /* [room] rank and bytes of each letter */
} osla_letters;

/* osli_letters_reserve reserves memory for `room` letters, so that adding that many cannot fail.
 * osli_letters_add copies one letter. Local. Errors: MEM. */
osla_err osli_letters_reserve(osla_letters *letters, int room);
osla_err osli_letters_add(osla_letters *letters, int rank, const void *letter);
void osli_letters_free(osla_letters *letters);

/* Rank and bytes of letter i, and the bytes of the received letter of a rank (NULL if there is
 * none). Bytes begin at a multiple of 8. Local. */
int osli_letter_rank(const osla_letters *letters, int i);
const void *osli_letter(const osla_letters *letters, int i);
const void *osli_letter_of(const osla_letters *letters, int rank);

/* Creates memory for exchanges of letters of up to most_bytes bytes, at most OSLA_MOST_LETTER;
 * most_bytes must be equal on all ranks. Local. Errors: MEM. */
typedef struct osla_exchange osla_exchange;
enum { OSLA_MOST_LETTER = 256 };
osla_err osli_exchange_open(osla_transport *t, int most_bytes, osla_exchange **out);
void osli_exchange_close(osla_exchange **exchange);

/* Exchanges letters. Collective; sleeps while it waits. A rank that receives a letter sees the
 * sender's earlier stores.
 *   out      [in]  letters to send, also to this rank; their size is equal on all ranks
 *   expected [in]  number of letters that this rank receives; -1 on all ranks if unknown. If it is
 *                  known, the call may return before other ranks have made it.
 *   in       [out] received letters; freed by the caller, also after errors
 * Errors: MPI, only from the all-to-all (an MPI error of a message ends all ranks, because MPI may
 * still read the letters); MEM, on this rank alone: the exchange is complete, but some received
 * letters are lost. */
osla_err osli_exchange_run(osla_exchange *exchange, const osla_letters *out, int expected,
                           osla_letters *in);

#endif
