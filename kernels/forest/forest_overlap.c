#include "kernels/forest/forest_overlap.h"

#include <inttypes.h>
#include <stdlib.h>

/* Vertices low to high of an array. */
typedef struct extent {
  uintptr_t base;
  int64_t low, high;
} extent;

static bool ranges_meet(const forest_transfer *x, const extent *a, const extent *b)
{
  if (a->high < a->low || b->high < b->low) return false;
  int64_t bytes = (int64_t)osli_unit_element(x->type) * x->count, stride = x->stride;
  uintptr_t a_low = a->base + (uintptr_t)(a->low * stride);
  uintptr_t a_end = a->base + (uintptr_t)(a->high * stride + bytes);
  uintptr_t b_low = b->base + (uintptr_t)(b->low * stride);
  uintptr_t b_end = b->base + (uintptr_t)(b->high * stride + bytes);
  return a_low < b_end && b_low < a_end;
}

static void set(unsigned char *bits, int64_t i)
{
  bits[i / 8] |= (unsigned char)(1 << (i % 8));
}
static bool has(const unsigned char *bits, int64_t i)
{
  return bits[i / 8] >> (i % 8) & 1;
}

/* A leaf i that is root i + shift; -1: none is. */
static osla_err find_meeting(const osla_forest *f, int64_t shift, int64_t *out)
{
  int64_t low = f->low_root, n = f->high_root - low + 1;
  unsigned char *joined = calloc((size_t)n / 8 + 1, 1);
  OSLA_CHECK(joined, OSLA_ERR_MEM, "%" PRId64 " bits to see whether roots and leaves lie apart", n);
  for (int l = 0; l < f->to_leaves.n; l++) {
    const forest_link *link = &f->to_leaves.of[l];
    for (int64_t i = 0; i < link->edges; i++)
      set(joined, osla_link_vertex(link, i) - low);
  }
  *out = -1;
  for (int l = 0; l < f->to_roots.n && *out < 0; l++) {
    const forest_link *link = &f->to_roots.of[l];
    for (int64_t i = 0; i < link->edges && *out < 0; i++) {
      int64_t leaf = osla_link_vertex(link, i), root = leaf + shift - low;
      if (root >= 0 && root < n && has(joined, root)) *out = leaf;
    }
  }
  free(joined);
  return OSLA_OK;
}

/* Bytes from a vertex of one to the next of the other. */
static int64_t rest_of(const forest_transfer *x, const extent *a, const extent *b)
{
  int64_t rest = (int64_t)(b->base - a->base) % x->stride;
  return rest < 0 ? rest + x->stride : rest;
}

/* They lie in different places, or in other fields of the same records. */
static bool are_apart(const forest_transfer *x, const extent *a, const extent *b)
{
  if (!ranges_meet(x, a, b)) return true;
  int64_t bytes = (int64_t)osli_unit_element(x->type) * x->count, rest = rest_of(x, a, b);
  return rest >= bytes && x->stride - rest >= bytes;
}

/* The answer for one distance is kept: programs ask for the same again and again. */
static osla_err check_roots(osla_forest *f, const forest_transfer *x, const extent *roots,
                            const extent *leaves, const char *what)
{
  if (are_apart(x, roots, leaves)) return OSLA_OK;
  OSLA_CHECK(rest_of(x, roots, leaves) == 0, OSLA_ERR_ARG, "roots and %s overlap", what);
  int64_t shift = (int64_t)(leaves->base - roots->base) / x->stride, meets = -1;
  if (f->knows_apart && f->apart_shift == shift) return OSLA_OK;
  OSLA_CALL(find_meeting(f, shift, &meets));
  OSLA_CHECK(meets < 0, OSLA_ERR_ARG,
             "roots and %s overlap: leaf %" PRId64 " lies where root %" PRId64 " does", what, meets,
             meets + shift);
  f->knows_apart = true;
  f->apart_shift = shift;
  return OSLA_OK;
}

osla_err osli_forest_check_apart(osla_forest *f, const forest_transfer *x)
{
  bool of_roots = x->kind == FOREST_BCAST;
  extent roots = {(uintptr_t)(of_roots ? x->from : x->to), f->low_root, f->high_root};
  extent leaves = {(uintptr_t)(of_roots ? x->to : x->from), f->low_leaf, f->leaf_space - 1};
  OSLA_CALL(check_roots(f, x, &roots, &leaves, "leaves"));
  if (x->kind != FOREST_FETCH) return OSLA_OK;
  extent before = {(uintptr_t)x->before, f->low_leaf, f->leaf_space - 1};
  OSLA_CHECK(are_apart(x, &leaves, &before), OSLA_ERR_ARG, "leaves and values before overlap");
  return check_roots(f, x, &roots, &before, "values before");
}
