/* Loops over words of 8 bytes that follow one another, by lists: most forests. As good as a bare
 * loop: few instructions for each word (private to forests). */
#ifndef FOREST_WORDS_H
#define FOREST_WORDS_H

#include "kernels/forest/forest_units.h"

/* Are these vertices, of so many bytes, words that follow one another? */
static inline bool osla_are_words(const vertex_list *v, size_t bytes)
{
  return bytes == sizeof(uint64_t) && v->stride == (int64_t)bytes &&
         (uintptr_t)v->base % sizeof(uint64_t) == 0;
}

/* to[i] := from[i]. One of them at least is a list. */
void osli_words_replace(const vertex_list *to, const vertex_list *from, int64_t n);

/* Are there loops for sums of this type by such lists? `to` must be a list. */
static inline bool osla_are_sums_of_words(osla_unit_type type, const vertex_list *to)
{
  return to->at &&
         (type == OSLA_UNIT_DOUBLE || type == OSLA_UNIT_INT64 || type == OSLA_UNIT_UINT64);
}

/* to[i] := to[i] + from[i], in that order; before (or NULL): gets to[i] until then. */
void osli_words_sum(osla_unit_type type, const vertex_list *to, const vertex_list *from,
                    const vertex_list *before, int64_t n);

#endif
