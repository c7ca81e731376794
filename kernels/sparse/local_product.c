/* Products of sparse matrices on one rank, row by row (Gustavson, Two fast algorithms for sparse
 * matrices, ACM TOMS 4 (1978), 250-269).
 *
 * Symbolic phase: each entry of a row of the left factor selects a row of the right factor. The row
 * of the product has the columns of all selected rows. These columns are marked in a bitmap, which
 * also sorts them.
 * Numeric phase: the products of entries are added to an array with one sum for each column (a
 * sparse accumulator), and the sums are then copied to the entries of the row. Each product of
 * two entries reads 12 bytes of the right factor, and reads and writes 8 bytes of the
 * accumulator. */
#include "kernels/common/lists.h"
#include "kernels/sparse/product.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbering of columns ---- */

/* Lists in c->other_column the columns of the right factor that are not on this rank: the
 * columns of ghosts, and the columns of entries of copied rows. */
static osla_err list_others(local_product *c, int64_t low, int64_t n_ghosts,
                            const int64_t *ghost_column, int64_t n_far, const int64_t *far_column)
{
  int64_t n = n_ghosts;
  for (int64_t e = 0; e < n_far; e++)
    n += far_column[e] < low || far_column[e] >= low + c->n_own;
  c->other_column = malloc((size_t)(n + 1) * sizeof *c->other_column);
  OSLA_CHECK(c->other_column, OSLA_ERR_MEM, "no memory for %" PRId64 " columns of a product", n);
  if (n_ghosts > 0) memcpy(c->other_column, ghost_column, (size_t)n_ghosts * sizeof *ghost_column);
  n = n_ghosts;
  for (int64_t e = 0; e < n_far; e++)
    if (far_column[e] < low || far_column[e] >= low + c->n_own)
      c->other_column[n++] = far_column[e];
  c->n_others = osli_sort_distinct(c->other_column, n);
  OSLA_CHECK(c->n_own + c->n_others < INT32_MAX, OSLA_ERR_RANGE,
             "%" PRId64 " columns of a product on a rank: 2^31 or more", c->n_own + c->n_others);
  return OSLA_OK;
}

static int32_t number_of_other(const local_product *c, int64_t column)
{
  return (int32_t)(c->n_own + osli_sorted_index(c->other_column, c->n_others, column));
}

/* Sets the column numbers of ghosts and of entries of copied rows. Neighbouring entries of a copied
 * row often have neighbouring columns, so the function first tries the number that follows the
 * number of the previous entry. */
static void number_columns(local_product *c, int64_t low, int64_t n_ghosts,
                           const int64_t *ghost_column, int64_t n_far, const int64_t *far_column)
{
  int64_t next = 0;
  for (int64_t g = 0; g < n_ghosts; g++)
    c->ghost_number[g] = number_of_other(c, ghost_column[g]);
  for (int64_t e = 0; e < n_far; e++) {
    const int64_t column = far_column[e];
    if (column >= low && column < low + c->n_own) {
      c->right_far.column[e] = (int32_t)(column - low);
    } else {
      const bool follows = next < c->n_others && c->other_column[next] == column;
      c->right_far.column[e] = follows ? (int32_t)(c->n_own + next) : number_of_other(c, column);
      next = c->right_far.column[e] - c->n_own + 1;
    }
  }
}

osla_err osli_local_set_right(local_product *c, int64_t low, int64_t n_own, const csr_part *own,
                              const csr_part *ghost, const int32_t *ghost_row, int64_t n_ghosts,
                              const int64_t *ghost_column, const row_copies *copies,
                              const int64_t *far_column)
{
  const int64_t n_far = copies ? copies->first[copies->n] : 0;
  c->right = *own;
  c->right_ghost = *ghost;
  c->n_own = n_own;
  c->n_ghosts = n_ghosts;
  if (copies)
    c->right_far = (csr_part){.n = copies->n, .first = copies->first, .value = copies->value};
  OSLA_CALL(list_others(c, low, n_ghosts, ghost_column, n_far, far_column));
  c->right_ghost_at = malloc((size_t)(own->n + 1) * sizeof *c->right_ghost_at);
  c->ghost_number = malloc((size_t)(n_ghosts + 1) * sizeof *c->ghost_number);
  c->right_far.column = malloc((size_t)(n_far + 1) * sizeof *c->right_far.column);
  OSLA_CHECK(c->right_ghost_at && c->ghost_number && c->right_far.column, OSLA_ERR_MEM,
             "no memory for %" PRId64 " rows and %" PRId64 " entries of a product", own->n, n_far);
  number_columns(c, low, n_ghosts, ghost_column, n_far, far_column);
  for (int64_t i = 0; i < own->n; i++)
    c->right_ghost_at[i] = -1;
  for (int64_t i = 0; i < ghost->n; i++)
    c->right_ghost_at[ghost_row[i]] = (int32_t)i;
  return OSLA_OK;
}

/* ---- symbolic phase ---- */

/* Set of the column numbers of one row of the product. */
typedef struct column_set {
  uint64_t *bits; /* bit c % 64 of bits[c / 64] is 1 if number c is in the set */
  int32_t *word;  /* [n_words] indices of the elements of `bits` that are not 0 */
  int64_t n_words;
} column_set;

/* Numbers of entries for which c->own and c->other have memory. */
typedef struct result_room {
  int64_t own, other;
} result_room;

static inline void add_column(column_set *s, int32_t number)
{
  uint64_t *word = &s->bits[number >> 6];
  if (*word == 0) s->word[s->n_words++] = number >> 6;
  *word |= (uint64_t)1 << (number & 63);
}

static void add_columns(column_set *s, const csr_part *rows, int64_t row)
{
  for (int64_t e = rows->first[row]; e < rows->first[row + 1]; e++)
    add_column(s, rows->column[e]);
}

/* Adds the columns of row i of the product to the set. `left_far` is the index of the row in
 * c->left_far, or -1 if the row multiplies no copied rows. */
static void add_row_columns(const local_product *c, int64_t i, int64_t left_far, column_set *s)
{
  const csr_part *ghost = &c->right_ghost;
  for (int64_t e = c->left.first[i]; e < c->left.first[i + 1]; e++) {
    const int32_t k = c->left.column[e], at = c->right_ghost_at[k];
    add_columns(s, &c->right, k);
    if (at < 0) continue;
    for (int64_t g = ghost->first[at]; g < ghost->first[at + 1]; g++)
      add_column(s, c->ghost_number[ghost->column[g]]);
  }
  if (left_far < 0) return;
  for (int64_t e = c->left_far.first[left_far]; e < c->left_far.first[left_far + 1]; e++)
    add_columns(s, &c->right_far, c->left_far.column[e]);
}

static int compare_int32(const void *left, const void *right)
{
  const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
  return (a > b) - (a < b);
}

/* Sorts n indices in ascending order: at most MOST_MOVED indices by insertion, more by qsort. */
static void sort_words(int32_t *word, int64_t n)
{
  enum { MOST_MOVED = 64 };
  if (n > MOST_MOVED) {
    qsort(word, (size_t)n, sizeof *word, compare_int32);
    return;
  }
  for (int64_t i = 1; i < n; i++) {
    const int32_t moved = word[i];
    int64_t at = i;
    for (; at > 0 && word[at - 1] > moved; at--)
      word[at] = word[at - 1];
    word[at] = moved;
  }
}

static osla_err make_room(csr_part *p, int64_t needed, int64_t *room)
{
  if (needed <= *room) return OSLA_OK;
  const int64_t more = needed / 2 * 3 + 1024;
  int32_t *column = realloc(p->column, (size_t)more * sizeof *column);
  OSLA_CHECK(column, OSLA_ERR_MEM, "no memory for %" PRId64 " entries of a product", more);
  p->column = column;
  *room = more;
  return OSLA_OK;
}

/* Appends row i to the product with the columns of the set in ascending order, and empties the
 * set. */
static osla_err append_row(local_product *c, int64_t i, column_set *s, result_room *room)
{
  int64_t own = c->own.first[i], other = c->other.first[c->other.n], n = 0;
  const int64_t before = other;
  for (int64_t w = 0; w < s->n_words; w++)
    n += __builtin_popcountll(s->bits[s->word[w]]);
  OSLA_CALL(make_room(&c->own, own + n, &room->own));
  OSLA_CALL(make_room(&c->other, other + n, &room->other));
  sort_words(s->word, s->n_words);
  for (int64_t w = 0; w < s->n_words; w++) {
    const int64_t base = (int64_t)s->word[w] * 64;
    for (uint64_t bits = s->bits[s->word[w]]; bits; bits &= bits - 1) {
      const int64_t number = base + __builtin_ctzll(bits);
      if (number < c->n_own)
        c->own.column[own++] = (int32_t)number;
      else
        c->other.column[other++] = (int32_t)(number - c->n_own);
    }
    s->bits[s->word[w]] = 0;
  }
  s->n_words = 0;
  c->own.first[i + 1] = own;
  if (other == before) return OSLA_OK;
  c->other_row[c->other.n++] = (int32_t)i;
  c->other.first[c->other.n] = other;
  return OSLA_OK;
}

/* Renumbers the columns of other ranks: columns that occur in the product get consecutive
 * numbers, and the others are removed. */
static osla_err renumber_others(local_product *c)
{
  int32_t *number = malloc((size_t)(c->n_others + 1) * sizeof *number), n = 0;
  OSLA_CHECK(number, OSLA_ERR_MEM, "no memory for %" PRId64 " columns of a product", c->n_others);
  for (int64_t i = 0; i < c->n_others; i++)
    number[i] = -1;
  for (int64_t e = 0; e < c->other.first[c->other.n]; e++)
    number[c->other.column[e]] = 0;
  for (int64_t i = 0; i < c->n_others; i++) {
    if (number[i] < 0) continue;
    c->other_column[n] = c->other_column[i];
    number[i] = n++;
  }
  for (int64_t e = 0; e < c->other.first[c->other.n]; e++)
    c->other.column[e] = number[c->other.column[e]];
  if (c->right_far.n > 0)
    for (int64_t e = 0; e < c->right_far.first[c->right_far.n]; e++)
      if (c->right_far.column[e] >= c->n_own)
        c->right_far.column[e] = (int32_t)(c->n_own + number[c->right_far.column[e] - c->n_own]);
  for (int64_t g = 0; g < c->n_ghosts; g++)
    c->ghost_number[g] = (int32_t)(c->n_own + number[c->ghost_number[g] - c->n_own]);
  c->n_others = n;
  free(number);
  return OSLA_OK;
}

static osla_err open_result(local_product *c, column_set *s)
{
  const int64_t rows = c->left.n, words = (c->n_own + c->n_others) / 64 + 1;
  s->bits = calloc((size_t)words, sizeof *s->bits);
  s->word = malloc((size_t)words * sizeof *s->word);
  c->own.first = calloc((size_t)rows + 1, sizeof *c->own.first);
  c->other.first = calloc((size_t)rows + 1, sizeof *c->other.first);
  c->other_row = malloc((size_t)(rows + 1) * sizeof *c->other_row);
  OSLA_CHECK(s->bits && s->word && c->own.first && c->other.first && c->other_row, OSLA_ERR_MEM,
             "no memory for %" PRId64 " rows of a product", rows);
  c->own.n = rows;
  return OSLA_OK;
}

static osla_err add_rows(local_product *c, column_set *s)
{
  result_room room = {0};
  for (int64_t i = 0, far = 0; i < c->left.n; i++) {
    const bool needs_copies = far < c->left_far.n && c->left_far_row[far] == i;
    add_row_columns(c, i, needs_copies ? far++ : -1, s);
    OSLA_CALL(append_row(c, i, s, &room));
  }
  return OSLA_OK;
}

/* Allocates the values of a part of the product, and reduces the memory of its column list to
 * the number of its entries. */
static osla_err make_values(csr_part *p)
{
  const int64_t entries = p->first[p->n];
  int32_t *column = realloc(p->column, (size_t)(entries + 1) * sizeof *column);
  if (column) p->column = column;
  p->value = malloc((size_t)(entries + 1) * sizeof *p->value);
  OSLA_CHECK(column && p->value, OSLA_ERR_MEM, "no memory for %" PRId64 " entries of a product",
             entries);
  return OSLA_OK;
}

osla_err osli_local_symbolic(local_product *c)
{
  column_set s = {0};
  osla_err err = open_result(c, &s);
  if (err == OSLA_OK) err = add_rows(c, &s);
  free(s.bits);
  free(s.word);
  OSLA_CALL(err);
  OSLA_CALL(renumber_others(c));
  OSLA_CALL(make_values(&c->own));
  OSLA_CALL(make_values(&c->other));
  c->sum = calloc((size_t)(c->n_own + c->n_others + 1), sizeof *c->sum);
  OSLA_CHECK(c->sum, OSLA_ERR_MEM, "no memory for a row of a product");
  return OSLA_OK;
}

/* ---- numeric phase ---- */

/* Adds `factor` times row `row` of a part to the accumulator `sum`. */
static inline void add_entries(double factor, const csr_part *rows, int64_t row,
                               double *restrict sum)
{
  const int64_t end = rows->first[row + 1];
  for (int64_t e = rows->first[row]; e < end; e++)
    sum[rows->column[e]] += factor * rows->value[e];
}

static void add_ghost_entries(const local_product *c, double factor, int32_t at,
                              double *restrict sum)
{
  const csr_part *ghost = &c->right_ghost;
  for (int64_t g = ghost->first[at]; g < ghost->first[at + 1]; g++)
    sum[c->ghost_number[ghost->column[g]]] += factor * ghost->value[g];
}

/* Copies the sums of a row from the accumulator to the entries of the product, and sets these
 * sums to 0. */
static inline void move_sums(const csr_part *p, int64_t row, double *restrict sum)
{
  const int64_t end = p->first[row + 1];
  for (int64_t e = p->first[row]; e < end; e++) {
    p->value[e] = sum[p->column[e]];
    sum[p->column[e]] = 0.0;
  }
}

/* Computes the values of row i of the product. `left_far` and `other` are the indices of the row
 * in c->left_far and c->other, or -1 if the row is not there. */
static void compute_row(const local_product *c, int64_t i, int64_t left_far, int64_t other)
{
  const csr_part *left = &c->left, *far = &c->left_far;
  for (int64_t e = left->first[i]; e < left->first[i + 1]; e++) {
    const int32_t k = left->column[e];
    add_entries(left->value[e], &c->right, k, c->sum);
    if (other >= 0 && c->right_ghost_at[k] >= 0)
      add_ghost_entries(c, left->value[e], c->right_ghost_at[k], c->sum);
  }
  if (left_far >= 0)
    for (int64_t e = far->first[left_far]; e < far->first[left_far + 1]; e++)
      add_entries(far->value[e], &c->right_far, far->column[e], c->sum);
  move_sums(&c->own, i, c->sum);
  if (other >= 0) move_sums(&c->other, other, c->sum + c->n_own);
}

void osli_local_numeric(const local_product *c, bool needs_copies)
{
  for (int64_t i = 0, far = 0, other = 0; i < c->left.n; i++) {
    const bool has_far = far < c->left_far.n && c->left_far_row[far] == i;
    const bool has_other = other < c->other.n && c->other_row[other] == i;
    if (has_far == needs_copies) compute_row(c, i, has_far ? far : -1, has_other ? other : -1);
    far += has_far;
    other += has_other;
  }
}

void osli_local_free(local_product *c)
{
  free(c->right_ghost_at);
  free(c->ghost_number);
  free(c->right_far.column);
  free(c->sum);
  if (!c->is_moved) {
    free(c->own.first);
    free(c->own.column);
    free(c->own.value);
    free(c->other.first);
    free(c->other.column);
    free(c->other.value);
    free(c->other_row);
    free(c->other_column);
  }
  *c = (local_product){0};
}
