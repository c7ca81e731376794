#include "tests/kernels/gemm_reference.h"

#include "osla_index.h"
#include "osla_random.h"
#include "tests/complex_help.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

product product_of_syrk(osla_uplo uplo, osla_trans trans, osla_complex alpha, osla_part a,
                        osla_complex beta, osla_part c)
{
  return (product){.transa = trans,
                   .transb = trans == OSLA_NOTRANS ? OSLA_TRANS : OSLA_NOTRANS,
                   .alpha = alpha,
                   .beta = beta,
                   .a = a,
                   .b = a,
                   .c = c,
                   .syrk = true,
                   .uplo = uplo};
}

product product_of_herk(osla_uplo uplo, osla_trans trans, double alpha, osla_part a, double beta,
                        osla_part c)
{
  product p = product_of_syrk(uplo, trans, alpha, a, beta, c);
  p.herk = true;
  if (p.transa != OSLA_NOTRANS) p.transa = OSLA_CONJTRANS;
  if (p.transb != OSLA_NOTRANS) p.transb = OSLA_CONJTRANS;
  return p;
}

osla_gemm_options product_set_options(const product_options *options)
{
  const product_options o = options ? *options : (product_options){0};
  osla_gemm_ablate(&(osla_gemm_ablation){.blocking = o.blocking,
                                         .copy = o.copy,
                                         .unaware = o.unaware,
                                         .unordered = o.unordered,
                                         .unshifted = o.unshifted,
                                         .narrow = o.narrow});
  return (osla_gemm_options){.panel = o.panel, .memory = o.memory, .layers = o.layers};
}

int64_t product_k(const product *p)
{
  return p->transa == OSLA_NOTRANS ? p->a.n : p->a.m;
}

bool parts_overlap(const osla_part *x, const osla_part *y)
{
  return x->matrix == y->matrix && x->m > 0 && x->n > 0 && y->m > 0 && y->n > 0 &&
         x->i < y->i + y->m && y->i < x->i + x->m && x->j < y->j + y->n && y->j < x->j + x->n;
}

/* ---- contents of the operands ---- */

static const osla_part *part_of(const product *p, int role)
{
  return role == 0 ? &p->a : role == 1 ? &p->b : &p->c;
}

/* 0, 1 or 2 if the matrix is first used as A, B or C of the product. */
static int role_of(const product *p, const osla_matrix *matrix)
{
  return matrix == p->a.matrix ? 0 : matrix == p->b.matrix ? 1 : 2;
}

static bool is_complex(osla_dtype dtype)
{
  return dtype == OSLA_COMPLEX_FLOAT || dtype == OSLA_COMPLEX_DOUBLE;
}

/* The scalar alpha or beta as a product of this type uses it: its real part for real types. */
static osla_complex factor(osla_dtype dtype, osla_complex x)
{
  return is_complex(dtype) ? x : (osla_complex)creal(x);
}

static osla_complex value_at(const product *p, int role, int64_t i, int64_t j)
{
  osla_dtype dtype = osla_matrix_dtype(part_of(p, role)->matrix);
  double part[2];
  for (int s = 0; s < 2; s++) {
    uint64_t seed = 8 * p->seed + (uint64_t)role;
    if (s == 1) seed = ~seed;
    part[s] = p->rounding ? osla_random_uniform(seed, (uint64_t)i, (uint64_t)j)
                          : (double)(osla_random_bits(seed, (uint64_t)i, (uint64_t)j) % 17) - 8.0;
    if (dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT) part[s] = (double)(float)part[s];
  }
  return CMPLX(part[0], is_complex(dtype) ? part[1] : 0.0);
}

static bool in_part(const osla_part *part, int64_t i, int64_t j)
{
  return i >= part->i && i - part->i < part->m && j >= part->j && j - part->j < part->n;
}

/* True if the product computes element (i, j) of the matrix that contains C. */
static bool in_result(const product *p, int64_t i, int64_t j)
{
  if (!in_part(&p->c, i, j)) return false;
  int64_t below = (i - p->c.i) - (j - p->c.j);
  return !p->syrk || (p->uplo == OSLA_LOWER ? below >= 0 : below <= 0);
}

static osla_complex content_at(const product *p, int role, int64_t i, int64_t j)
{
  osla_matrix *matrix = part_of(p, role)->matrix;
  osla_complex value = value_at(p, role, i, j);
  if (matrix == p->c.matrix && in_result(p, i, j))
    return factor(osla_matrix_dtype(matrix), p->beta) == 0.0 ? CMPLX(NAN, NAN) : value;
  if ((matrix == p->a.matrix && in_part(&p->a, i, j)) ||
      (matrix == p->b.matrix && in_part(&p->b, i, j)))
    return factor(osla_matrix_dtype(matrix), p->alpha) == 0.0 ? CMPLX(NAN, NAN) : value;
  return (i + j) % 3 == 0 ? CMPLX(NAN, NAN) : CMPLX(1e30 * (10.0 + creal(value)), -1e30);
}

/* An element that this rank owns: its address in the local array, and in a copy without padding. */
typedef struct local_element {
  int64_t i, j;
  unsigned char *at, *copy;
} local_element;

typedef void visitor(const product *p, int role, const local_element *at, void *arg);

static void visit_local(const product *p, int role, unsigned char *copy, visitor *visit, void *arg)
{
  osla_matrix *matrix = part_of(p, role)->matrix;
  osla_layout l = osla_matrix_layout(matrix);
  osla_grid *grid = osla_matrix_grid(matrix);
  size_t e = osla_dtype_size(osla_matrix_dtype(matrix)), n = 0;
  int64_t lld = osla_matrix_lld(matrix, osla_test_rank());
  for (int64_t c = 0; c < osla_matrix_local_cols(matrix); c++)
    for (int64_t r = 0; r < osla_matrix_local_rows(matrix); r++) {
      local_element at = {osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow),
                          osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol),
                          (unsigned char *)osla_matrix_local(matrix) + (size_t)(r + c * lld) * e,
                          copy + e * n++};
      visit(p, role, &at, arg);
    }
}

static void put_content(const product *p, int role, const local_element *at, void *arg)
{
  (void)arg;
  osla_test_store(osla_matrix_dtype(part_of(p, role)->matrix), at->at, 0,
                  content_at(p, role, at->i, at->j));
}

static void keep(const product *p, int role, const local_element *at, void *arg)
{
  (void)arg;
  memcpy(at->copy, at->at, osla_dtype_size(osla_matrix_dtype(part_of(p, role)->matrix)));
}

product_copy product_fill(const product *p)
{
  product_copy copy = {{NULL, NULL, NULL}};
  for (int role = 0; role < 3; role++) {
    osla_matrix *matrix = part_of(p, role)->matrix;
    size_t bytes = (size_t)(osla_matrix_local_rows(matrix) * osla_matrix_local_cols(matrix)) *
                   osla_dtype_size(osla_matrix_dtype(matrix));
    if (role_of(p, matrix) != role) continue;
    copy.of[role] = osla_test_allocate(1, bytes);
    visit_local(p, role, copy.of[role], put_content, NULL);
  }
  /* copies are made after all matrices are filled, because two matrices may share memory */
  for (int role = 0; role < 3; role++)
    if (copy.of[role]) visit_local(p, role, copy.of[role], keep, NULL);
  return copy;
}

/* ---- the serial reference ---- */

/* op(X) as a dense complex matrix, where X is operand A, B or C (role 0, 1, 2). */
static dense operand(const product *p, int role, osla_trans trans)
{
  const osla_part *part = part_of(p, role);
  int owner = role_of(p, part->matrix);
  bool as_is = trans == OSLA_NOTRANS;
  dense d = dense_make(as_is ? part->m : part->n, as_is ? part->n : part->m, 2);
  for (int64_t j = 0; j < d.n; j++)
    for (int64_t i = 0; i < d.m; i++) {
      osla_complex x = value_at(p, owner, part->i + (as_is ? i : j), part->j + (as_is ? j : i));
      dense_at(&d, i, j)[0] = creal(x);
      dense_at(&d, i, j)[1] = trans == OSLA_CONJTRANS ? -cimag(x) : cimag(x);
    }
  return d;
}

static void scale(dense *d, osla_complex f)
{
  for (int64_t i = 0; i < d->m * d->n; i++) {
    double re = d->at[2 * i], im = d->at[2 * i + 1];
    d->at[2 * i] = creal(f) * re - cimag(f) * im;
    d->at[2 * i + 1] = creal(f) * im + cimag(f) * re;
  }
}

typedef struct verdict {
  dense expected, bound; /* `bound` is NULL for an exact comparison */
  double unit;           /* unit round-off of the type of C */
  double worst;          /* largest |element of C - expected| / (unit * bound) of all elements */
  int64_t wrong;         /* number of wrong elements of C */
  int64_t i, j;          /* row and column of the first wrong element of C */
  osla_complex got;
} verdict;

/* Sets the imaginary parts of the diagonal of a complex matrix to zero. */
static void make_real(dense *x)
{
  for (int64_t i = 0; i < x->m; i++)
    dense_at(x, i, i)[1] = 0.0;
}

static verdict reference(const product *p)
{
  osla_dtype dtype = osla_matrix_dtype(p->c.matrix);
  verdict v = {.expected = operand(p, 2, OSLA_NOTRANS)};
  dense a = operand(p, 0, p->transa), b = operand(p, 1, p->transb);
  scale(&b, factor(dtype, p->alpha));
  if (p->herk) make_real(&v.expected);
  scale(&v.expected, factor(dtype, p->beta));
  if (p->rounding) {
    dense aa = dense_absolute(&a), ab = dense_absolute(&b);
    v.bound = dense_absolute(&v.expected);
    dense_multiply(1.0, &aa, &ab, &v.bound, 0, 1);
    v.unit = 2.0 * (double)(a.n + 4) * kernel_eps(dtype);
    dense_free(&aa), dense_free(&ab);
  }
  dense_multiply(1.0, &a, &b, &v.expected, 0, 1);
  if (p->herk) make_real(&v.expected);
  dense_free(&a), dense_free(&b);
  return v;
}

/* ---- checks of the result ---- */

/* Compares an element of C with the reference, and stores it in the copy of C's matrix, so that
 * later only elements outside C differ if they were changed. */
static void compare_element(const product *p, int role, const local_element *at, void *arg)
{
  verdict *v = arg;
  if (!in_result(p, at->i, at->j)) return;
  int64_t i = at->i - p->c.i, j = at->j - p->c.j;
  osla_complex got = osla_test_load(osla_matrix_dtype(p->c.matrix), at->at, 0);
  const double *r = dense_at(&v->expected, i, j);
  bool right = creal(got) == r[0] && cimag(got) == r[1];
  if (p->rounding && !right) {
    double bound = v->unit * *dense_at(&v->bound, i, j);
    double re = fabs(creal(got) - r[0]), im = fabs(cimag(got) - r[1]);
    right = re <= bound && im <= bound;
    if (!(re <= v->worst * bound)) v->worst = re / bound;
    if (!(im <= v->worst * bound)) v->worst = im / bound;
  }
  if (!right && v->wrong++ == 0) v->i = i, v->j = j, v->got = got;
  keep(p, role, at, NULL);
}

static bool compare_result(const product *p, unsigned char *copy, const char *label)
{
  static const double none[2] = {0.0, 0.0};
  verdict v = reference(p);
  visit_local(p, role_of(p, p->c.matrix), copy, compare_element, &v);
  const double *r = v.wrong > 0 ? dense_at(&v.expected, v.i, v.j) : none;
  bool held = osla_test_check(v.wrong == 0, __FILE__, __LINE__,
                              "%" PRId64 " of C's wrong (worst %.3g), first (%" PRId64 ", %" PRId64
                              "): %.9g%+.9gi, not %.9g%+.9gi: %s",
                              v.wrong, v.worst, v.i, v.j, creal(v.got), cimag(v.got), r[0], r[1],
                              v.wrong > 0 ? product_text(p, label) : "");
  dense_free(&v.expected), dense_free(&v.bound);
  return held;
}

typedef struct change {
  int64_t count; /* number of elements that differ */
  int64_t i, j;  /* row and column of the first element that differs */
} change;

static void find_change(const product *p, int role, const local_element *at, void *arg)
{
  change *found = arg;
  size_t e = osla_dtype_size(osla_matrix_dtype(part_of(p, role)->matrix));
  if (memcmp(at->at, at->copy, e) != 0 && found->count++ == 0) found->i = at->i, found->j = at->j;
}

bool product_compare(const product *p, product_copy *copy, bool done, const char *label)
{
  bool held = true;
  if (done) held = compare_result(p, copy->of[role_of(p, p->c.matrix)], label);
  for (int role = 0; role < 3; role++) {
    if (!copy->of[role]) continue;
    change found = {0, 0, 0};
    visit_local(p, role, copy->of[role], find_change, &found);
    held &= osla_test_check(
      found.count == 0, __FILE__, __LINE__,
      "%" PRId64 " elements of %c's matrix changed, first (%" PRId64 ", %" PRId64 "): %s",
      found.count, "ABC"[role], found.i, found.j, found.count > 0 ? product_text(p, label) : "");
    free(copy->of[role]);
    copy->of[role] = NULL;
  }
  return held;
}

static osla_err run(const product *p)
{
  const osla_gemm_options set = product_set_options(p->options),
                          *options = p->options ? &set : NULL;
  if (p->herk)
    return osla_herk(p->uplo, p->transa, creal(p->alpha), p->a, creal(p->beta), p->c, options);
  if (p->syrk) return osla_syrk(p->uplo, p->transa, p->alpha, p->a, p->beta, p->c, options);
  return osla_gemm(p->transa, p->transb, p->alpha, p->a, p->b, p->beta, p->c, options);
}

/* Fills the imaginary parts of C's diagonal with NaN and infinities, which osla_herk must
 * ignore. */
static void spoil_diagonal(const product *p)
{
  osla_matrix *c = p->c.matrix;
  const osla_layout l = osla_matrix_layout(c);
  const osla_grid *grid = osla_matrix_grid(c);
  const int64_t lld = osla_matrix_lld(c, osla_transport_rank(osla_grid_transport(grid)));
  for (int64_t k = 0; k < p->c.n; k++) {
    const int64_t i = p->c.i + k, j = p->c.j + k;
    if (osla_index_owner(i, l.mb, l.nprow) != osla_grid_prow(grid)) continue;
    if (osla_index_owner(j, l.nb, l.npcol) != osla_grid_pcol(grid)) continue;
    const int64_t at =
      osla_index_local(i, l.mb, l.nprow) + osla_index_local(j, l.nb, l.npcol) * lld;
    if (osla_matrix_dtype(c) == OSLA_COMPLEX_FLOAT)
      ((float *)osla_matrix_local(c))[2 * at + 1] = k % 2 ? NAN : INFINITY;
    if (osla_matrix_dtype(c) == OSLA_COMPLEX_DOUBLE)
      ((double *)osla_matrix_local(c))[2 * at + 1] = k % 2 ? NAN : INFINITY;
  }
}

bool product_check(const product *p, const char *label)
{
  product_copy copy = product_fill(p);
  if (p->herk) spoil_diagonal(p);
  osla_err err = run(p);
  bool held = osla_test_check(err == OSLA_OK, __FILE__, __LINE__, "%s (%s): %s", osla_err_name(err),
                              osla_error_text(), err == OSLA_OK ? "" : product_text(p, label));
  return product_compare(p, &copy, err == OSLA_OK, label) && held;
}

bool product_refused(const product *p, osla_err code, const char *text, const char *label)
{
  product_copy copy = product_fill(p);
  osla_err err = run(p);
  bool named = err == OSLA_OK || !text || strstr(osla_error_text(), text);
  bool held = osla_test_check(
    err == code && named, __FILE__, __LINE__, "%s (%s), not %s with \"%s\": %s", osla_err_name(err),
    err ? osla_error_text() : "", osla_err_name(code), text ? text : "", product_text(p, label));
  if (err != OSLA_OK) held &= OSLA_ASSERT_SAME_TEXT();
  return product_compare(p, &copy, false, label) && held;
}

/* ---- description of a product as text ---- */

static int describe_part(char *text, size_t size, char name, osla_trans trans,
                         const osla_part *part)
{
  osla_layout l = osla_matrix_layout(part->matrix);
  osla_grid *grid = osla_matrix_grid(part->matrix);
  int last = osla_grid_rank_at(grid, l.nprow - 1, l.npcol - 1);
  return snprintf(text, size,
                  "%c%s: %" PRId64 " x %" PRId64 " at (%" PRId64 ", %" PRId64 ") of %" PRId64
                  " x %" PRId64 " in %" PRId64 " x %" PRId64 " on %d x %d from rank %d to %d; ",
                  name,
                  trans == OSLA_NOTRANS ? ""
                  : trans == OSLA_TRANS ? "^T"
                                        : "^H",
                  part->m, part->n, part->i, part->j, l.m, l.n, l.mb, l.nb, l.nprow, l.npcol,
                  osla_grid_rank_at(grid, 0, 0), last);
}

const char *product_text(const product *p, const char *label)
{
  static char text[800];
  const size_t size = sizeof text;
  product_options o = p->options ? *p->options : (product_options){.panel = 0};
  int at =
    snprintf(text, size, "%s, seed %" PRIu64 ", %s%s '%c', (%g%+gi), (%g%+gi), ", label, p->seed,
             p->herk   ? "herk"
             : p->syrk ? "syrk"
                       : "gemm",
             !p->syrk                ? ""
             : p->uplo == OSLA_LOWER ? " lower"
                                     : " upper",
             osla_dtype_letter(osla_matrix_dtype(p->c.matrix)), creal(p->alpha), cimag(p->alpha),
             creal(p->beta), cimag(p->beta));
  at += describe_part(text + at, size - (size_t)at, 'A', p->transa, &p->a);
  if (!p->syrk) at += describe_part(text + at, size - (size_t)at, 'B', p->transb, &p->b);
  at += describe_part(text + at, size - (size_t)at, 'C', OSLA_NOTRANS, &p->c);
  (void)snprintf(text + at, size - (size_t)at, "%s%s%s%s%s%spanel %" PRId64 " memory %" PRIu64,
                 o.blocking ? "blocking " : "", o.copy ? "copy " : "", o.unaware ? "unaware " : "",
                 o.unordered ? "unordered " : "", o.unshifted ? "unshifted " : "",
                 o.narrow ? "narrow " : "", o.panel, o.memory);
  return text;
}
