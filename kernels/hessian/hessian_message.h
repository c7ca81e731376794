/* Messages to owners on other nodes, as a stream of bytes (internal; no MPI).
 *
 * A message holds a rectangle of a part, restricted to the triangle: a head, the row list, the
 * column list, one end of each column's range of rows (the other end is the first or the last row
 * of the list), padding to 8 bytes, and then either the values of the triangle, packed by columns,
 * or the columns of G whose products they are. Lists hold 32-bit local indices if these fit. A part
 * that needs several messages is sent as a chain: the first message names the stripes to lock for
 * the whole part, and the last message releases these stripes.
 *
 * When the time of work is only modelled (src/blas/work.h), the bytes of values are counted, but
 * the values are not written and the lists are not read. */
#ifndef OSLA_HESSIAN_MESSAGE_H
#define OSLA_HESSIAN_MESSAGE_H

#include "kernels/hessian/hessian_split.h"
#include "osla_types.h"

#include <stdbool.h>

enum { MESSAGE_FIRST = 1, MESSAGE_LAST = 2, MESSAGE_WIDE = 4, MESSAGE_PAD = 8 };

typedef struct message_head {
  uint64_t stripes;  /* mask of the stripes that the whole chain of messages touches */
  uint32_t owner;    /* rank of the owner whose part of H the message updates */
  uint32_t elements; /* number of values if work is only modelled; otherwise 0 */
  uint32_t bytes;    /* bytes of the message with head and padding, a multiple of MESSAGE_PAD */
  uint32_t flags;    /* bits MESSAGE_FIRST, MESSAGE_LAST, MESSAGE_WIDE */
  uint32_t rows;     /* number of rows of the rectangle; 0 if the message has only flags */
  uint32_t cols;     /* number of columns of the rectangle; 0 if the message has only flags */
  /* number of rows of G: if k > 0, the message holds columns of G (k x rows and k x cols) instead
   * of values */
  uint32_t k;
  /* first message of a chain: bytes of the whole chain, or 0 if they are unknown; 0 in other
   * messages */
  uint32_t chain;
} message_head;

/* Function that receives the bytes of a message in order, for a ring or, in tests, for a buffer. If
 * bytes is NULL, the `count` bytes are only modelled and never read. */
typedef void message_write(void *arg, const void *bytes, size_t count);

/* Returns the bytes of a piece's message, without the rows that no column uses. If k > 0, the
 * message holds columns of G with k elements instead of values.
 * SIZE_MAX if a number exceeds INT32_MAX. */
size_t osli_message_size(const piece *p, int64_t k, size_t element);

/* Returns whether the indices of the piece are too large for 32 bits. */
bool osli_message_is_wide(const piece *p);

/* Columns of G for the rows and for the columns of a piece, k elements each. k = 0 means that there
 * are none. */
typedef struct message_panels {
  int64_t k;
  const unsigned char *rows, *cols;
} message_panels;

/* Writes a message and returns its bytes: the values of the piece, or columns of G for a piece
 * without values. Rows that no column uses are left out. */
size_t osli_message_put(const piece *p, int owner, uint64_t stripes, uint32_t flags,
                        const message_panels *g, size_t element, osla_uplo uplo,
                        message_write *write, void *arg);

/* A message that was read from 8-byte aligned memory. The index lists of its piece are stored in
 * `lists`, which has room for rows + 3 cols numbers; values and panels stay in the message. */
typedef struct message_view {
  message_head head;
  piece p; /* piece whose values are packed; the values are NULL if the message has columns of G */
  const unsigned char *row_panel, *col_panel;
} message_view;
message_view osli_message_read(const unsigned char *message, size_t element, osla_uplo uplo,
                               int64_t *lists);

#endif
