#include "kernels/forest/forest_words.h"

/* A list's vertices lie anywhere: so many before their turn they are brought nearer. */
enum { AHEAD_SUM = 16, AHEAD_COPY = 32, MANY = 8192 };

/* What the indices of a list count from; where there is none, the first. */
static void *word(const vertex_list *v)
{
  return v->base + (v->at ? 0 : v->first * v->stride);
}

/* ---- replacing ---- */

/* What is NULL, and `ahead` (0, or how many words before its turn each of from's is asked for), is
 * known where these are put in. */
static inline __attribute__((always_inline)) void copy_word(uint64_t *restrict to,
                                                            const uint32_t *to_at,
                                                            const uint64_t *restrict from,
                                                            const uint32_t *from_at, int64_t i,
                                                            int64_t ahead)
{
  if (ahead > 0) __builtin_prefetch(&from[from_at[i + ahead]]);
  to[to_at ? to_at[i] : i] = from[from_at ? from_at[i] : i];
}

static inline __attribute__((always_inline)) void copy_words(uint64_t *restrict to,
                                                             const uint32_t *to_at,
                                                             const uint64_t *restrict from,
                                                             const uint32_t *from_at, int64_t n,
                                                             int64_t ahead)
{
  int64_t i = 0;
  for (; i + 4 <= n - ahead; i += 4) {
    copy_word(to, to_at, from, from_at, i, ahead);
    copy_word(to, to_at, from, from_at, i + 1, ahead);
    copy_word(to, to_at, from, from_at, i + 2, ahead);
    copy_word(to, to_at, from, from_at, i + 3, ahead);
  }
  for (; i < n; i++)
    copy_word(to, to_at, from, from_at, i, 0);
}

void osli_words_replace(const vertex_list *to_list, const vertex_list *from_list, int64_t n)
{
  const uint32_t *to_at = to_list->at, *from_at = from_list->at;
  uint64_t *to = word(to_list);
  const uint64_t *from = word(from_list);
  if (!from_at)
    copy_words(to, to_at, from, NULL, n, 0);
  else if (!to_at && n > MANY)
    copy_words(to, NULL, from, from_at, n, AHEAD_COPY);
  else if (!to_at)
    copy_words(to, NULL, from, from_at, n, 0);
  else if (n > MANY)
    copy_words(to, to_at, from, from_at, n, AHEAD_COPY);
  else
    copy_words(to, to_at, from, from_at, n, 0);
}

/* ---- sums ---- */

/* Of signed integers by unsigned ones, which have the same bits. */
#define SUMS(name, type)                                                                           \
  static inline __attribute__((always_inline)) void name##_step(                                   \
    type *to, const type *restrict from, const uint32_t *from_at, type *restrict before,           \
    const uint32_t *before_at, int64_t i)                                                          \
  {                                                                                                \
    if (before) before[before_at ? before_at[i] : i] = *to;                                        \
    *to += from[from_at ? from_at[i] : i];                                                         \
  }                                                                                                \
  static inline __attribute__((always_inline)) void name##_loop(                                   \
    type *restrict to, const uint32_t *to_at, const type *restrict from, const uint32_t *from_at,  \
    type *restrict before, const uint32_t *before_at, int64_t n)                                   \
  {                                                                                                \
    int64_t i = 0;                                                                                 \
    for (; i < n - AHEAD_SUM; i++) {                                                               \
      __builtin_prefetch(&to[to_at[i + AHEAD_SUM]], 1);                                            \
      name##_step(&to[to_at[i]], from, from_at, before, before_at, i);                             \
    }                                                                                              \
    for (; i < n; i++)                                                                             \
      name##_step(&to[to_at[i]], from, from_at, before, before_at, i);                             \
  }                                                                                                \
  static void name(const vertex_list *to_list, const vertex_list *from_list,                       \
                   const vertex_list *before_list, int64_t n)                                      \
  {                                                                                                \
    const uint32_t *from_at = from_list->at, *before_at = before_list ? before_list->at : NULL;    \
    type *to = (type *)(void *)to_list->base;                                                      \
    const type *from = (const type *)word(from_list);                                              \
    type *before = before_list ? (type *)word(before_list) : NULL;                                 \
    if (!before && from_at)                                                                        \
      name##_loop(to, to_list->at, from, from_at, NULL, NULL, n);                                  \
    else if (!before)                                                                              \
      name##_loop(to, to_list->at, from, NULL, NULL, NULL, n);                                     \
    else if (from_at && before_at)                                                                 \
      name##_loop(to, to_list->at, from, from_at, before, before_at, n);                           \
    else if (from_at)                                                                              \
      name##_loop(to, to_list->at, from, from_at, before, NULL, n);                                \
    else if (before_at)                                                                            \
      name##_loop(to, to_list->at, from, NULL, before, before_at, n);                              \
    else                                                                                           \
      name##_loop(to, to_list->at, from, NULL, before, NULL, n);                                   \
  }

SUMS(sum_doubles, double)
SUMS(sum_integers, uint64_t)

void osli_words_sum(osla_unit_type type, const vertex_list *to, const vertex_list *from,
                    const vertex_list *before, int64_t n)
{
  if (type == OSLA_UNIT_DOUBLE)
    sum_doubles(to, from, before, n);
  else
    sum_integers(to, from, before, n);
}
