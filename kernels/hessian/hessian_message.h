/* What travels to owners on another node: messages in a stream of bytes (internal; no MPI).
 *
 * A message is a rectangle of a part, restricted to the triangle: a head, the row list, the column
 * list, one bound for each column (the other one is an end of the row list), padding to 8 bytes,
 * and then either the values of the triangle, packed by columns, or the columns of G whose products
 * they are. Lists hold 32-bit local indices where these fit. A part that needs several messages is
 * a chain: the first names the stripes of the whole part, the last gives them back.
 *
 * Where work is only modelled, values are only counted, and nobody reads their lists (work.h).
 */
#ifndef OSLA_HESSIAN_MESSAGE_H
#define OSLA_HESSIAN_MESSAGE_H

#include "kernels/hessian/hessian_piece.h"
#include "osla_types.h"

#include <stdbool.h>

enum { MESSAGE_FIRST = 1, MESSAGE_LAST = 2, MESSAGE_WIDE = 4, MESSAGE_PAD = 8 };

typedef struct message_head {
  uint64_t stripes;    /* of the whole chain */
  uint32_t owner;      /* the rank whose part of H it is for */
  uint32_t elements;   /* values, where work is only modelled */
  uint32_t bytes;      /* with head and padding, a multiple of MESSAGE_PAD */
  uint32_t flags;      /* MESSAGE_FIRST, ... */
  uint32_t rows, cols; /* both 0: only the flags count */
  uint32_t k;          /* > 0: columns of G, k x rows and k x cols, in place of values */
  uint32_t chain;      /* bytes of the whole chain; 0 in all but the first, and where not known */
} message_head;

/* Where the bytes go, in order: a ring, or a buffer in tests. bytes NULL: bulk data where work is
 * only modelled, so many that nobody reads. */
typedef void message_write(void *arg, const void *bytes, size_t count);

/* Bytes of a message with this many rows, columns and values, and of one with columns of G. Both
 * are meant for sizes below 2^31 and answer SIZE_MAX beyond that. */
size_t osli_message_bytes(int64_t rows, int64_t cols, int64_t values, size_t element, bool wide);
size_t osli_message_bytes_of_g(int64_t rows, int64_t cols, int64_t k, size_t element, bool wide);

/* The same for a piece as it will be written, without the rows that no column holds; k > 0: with
 * columns of G. */
size_t osli_message_size(const piece *p, int64_t k, size_t element);

/* Do the piece's indices need 64 bits? */
bool osli_message_is_wide(const piece *p);

/* Writes a message; returns its bytes, as above. With values: those of the piece. With k > 0:
 * row_panel (k x rows) and col_panel (k x cols), the piece has no values. Rows that no
 * column holds stay at home. */
size_t osli_message_put(const piece *p, int owner, uint64_t stripes, uint32_t flags, size_t element,
                        osla_uplo uplo, message_write *write, void *arg);
size_t osli_message_put_g(const piece *p, int owner, uint64_t stripes, uint32_t flags, int64_t k,
                          const void *row_panel, const void *col_panel, size_t element,
                          osla_uplo uplo, message_write *write, void *arg);

/* Reads a whole message of 8-byte aligned memory. The piece's lists are written to `lists`, which
 * has room for rows + 3 cols; values, or the panels, stay in the message. */
typedef struct message_view {
  message_head head;
  piece p; /* values: packed, NULL with panels */
  const unsigned char *row_panel, *col_panel;
} message_view;
message_view osli_message_read(const unsigned char *message, size_t element, osla_uplo uplo,
                               int64_t *lists);

#endif
