/* Tests factorisations and solves. With a number as argument, makes this number of random calls
 * with matrices of dropin_matrices.c, on contexts of all shapes, and prints INFO and the bits of
 * the results. With the argument "wrong" makes calls with wrong arguments, with "nan" calls with a
 * NaN in the matrix. */
#include "tests/adaptors/dropin_lapack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 56, MOST_BLOCK = 12 };
enum { ROWS = 2, COLS, MB, NB, RSRC, CSRC };

typedef void getrf_routine(const int *m, const int *n, void *a, const int *ia, const int *ja,
                           const int *desca, int *ipiv, int *info);
typedef void getrs_routine(const char *trans, const int *n, const int *nrhs, const void *a,
                           const int *ia, const int *ja, const int *desca, const int *ipiv, void *b,
                           const int *ib, const int *jb, const int *descb, int *info);
typedef void gesv_routine(const int *n, const int *nrhs, void *a, const int *ia, const int *ja,
                          const int *desca, int *ipiv, void *b, const int *ib, const int *jb,
                          const int *descb, int *info);
typedef void potrf_routine(const char *uplo, const int *n, void *a, const int *ia, const int *ja,
                           const int *desca, int *info);
typedef void potrs_routine(const char *uplo, const int *n, const int *nrhs, const void *a,
                           const int *ia, const int *ja, const int *desca, void *b, const int *ib,
                           const int *jb, const int *descb, int *info);
typedef void posv_routine(const char *uplo, const int *n, const int *nrhs, void *a, const int *ia,
                          const int *ja, const int *desca, void *b, const int *ib, const int *jb,
                          const int *descb, int *info);
getrf_routine psgetrf_, pdgetrf_, pcgetrf_, pzgetrf_;
getrs_routine psgetrs_, pdgetrs_, pcgetrs_, pzgetrs_;
gesv_routine psgesv_, pdgesv_, pcgesv_, pzgesv_;
potrf_routine pspotrf_, pdpotrf_, pcpotrf_, pzpotrf_;
potrs_routine pspotrs_, pdpotrs_, pcpotrs_, pzpotrs_;
posv_routine psposv_, pdposv_, pcposv_, pzposv_;

static getrf_routine *const getrf[] = {psgetrf_, pdgetrf_, pcgetrf_, pzgetrf_};
static getrs_routine *const getrs[] = {psgetrs_, pdgetrs_, pcgetrs_, pzgetrs_};
static gesv_routine *const gesv[] = {psgesv_, pdgesv_, pcgesv_, pzgesv_};
static potrf_routine *const potrf[] = {pspotrf_, pdpotrf_, pcpotrf_, pzpotrf_};
static potrs_routine *const potrs[] = {pspotrs_, pdpotrs_, pcpotrs_, pzpotrs_};
static posv_routine *const posv[] = {psposv_, pdposv_, pcposv_, pzposv_};

typedef struct part {
  const dense *values;
  int i, j;
  char uplo; /* stored triangle, or 'A' for the whole matrix */
} part;

static int is_in(const part *p, int i, int j)
{
  if (i < 0 || j < 0 || i >= p->values->m || j >= p->values->n) return 0;
  return p->uplo == 'A' || (p->uplo == 'L' ? i >= j : i <= j);
}

static void set_part(array *a, int row, int col, int i, int j, void *arg)
{
  const part *p = arg;
  i -= p->i;
  j -= p->j;
  if (!is_in(p, i, j)) return;
  double _Complex x = p->values->at[(size_t)i + (size_t)j * (size_t)p->values->m];
  array_set(a, row, col, creal(x), cimag(x));
}

static void set_zero(array *a, int row, int col, int i, int j, void *arg)
{
  const part *p = arg;
  if (is_in(p, i - p->i, j - p->j)) array_set(a, row, col, 0, 0);
}

/* Creates an array that contains the matrix at a random position. If like = NULL, the matrix
 * begins with a block row and a block column; otherwise it begins with the block row of the matrix
 * in `like`, as right-hand sides must. */
static array place(const context *c, char type, const dense *values, char uplo, const array *like)
{
  array a = {.type = type};
  int *d = a.desc, nb = draw(1, MOST_BLOCK), gap = draw(0, 5);
  int rows_before = draw(0, 3), cols_before = draw(0, 3);
  d[0] = 1;
  d[1] = c->number;
  d[MB] = like ? like->desc[MB] : nb;
  d[NB] = nb;
  d[RSRC] = draw(0, c->nprow - 1);
  d[CSRC] = draw(0, c->npcol - 1);
  a.i = rows_before * d[MB] + 1;
  a.j = cols_before * nb + 1 + (like ? draw(0, nb - 1) : 0);
  if (like) {
    int first = (like->desc[RSRC] + (like->i - 1) / d[MB]) % c->nprow;
    d[RSRC] = (first + (3 * c->nprow) - rows_before) % c->nprow;
  }
  d[ROWS] = a.i - 1 + values->m + draw(0, 9);
  d[COLS] = a.j - 1 + values->n + draw(0, 5);
  array_allocate(c, &a, gap, (unsigned)draw(0, 1 << 20));
  part p = {values, a.i - 1, a.j - 1, uplo};
  if (c->prow >= 0) array_walk(c, &a, set_part, &p);
  return a;
}

/* Hash of those elements of IPIV that belong to pivot rows. The real routine may use the other
 * elements as work space. */
static uint64_t hash_ipiv(const context *c, const array *a, const int *ipiv, int order)
{
  const int *d = a->desc;
  int distance = c->prow < 0 ? 0 : (c->prow - d[RSRC] + c->nprow) % c->nprow;
  uint64_t mine = 0, sum;
  for (int row = 0; row < a->rows; row++) {
    int i = (row / d[MB] * c->nprow + distance) * d[MB] + row % d[MB] - (a->i - 1);
    if (i >= 0 && i < order) mine = (mine ^ (uint64_t)ipiv[row]) * 1099511628211u;
  }
  mine *= (uint64_t)(2 * (c->prow * 17 + c->pcol) + 3);
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

typedef struct result {
  int info;
  uint64_t a, b, ipiv;
} result;

/* which: 0 runs p?getrf, 1 p?getrf and p?getrs, 2 p?gesv */
static result run_lu(const context *c, int which, int t)
{
  int is_complex = t > 1, n = draw(2, MOST), m = which == 0 && draw(0, 1) ? draw(2, MOST) : n;
  int nrhs = draw(1, 12), zero = draw(0, 3) == 0 ? draw(0, (m < n ? m : n) - 1) : -1;
  char trans = which == 1 ? "NTC"[draw(0, 2)] : 'N';
  result r = {.info = 0};
  if (which == 1) zero = -1;
  dense values = dense_make_lu(m, n, is_complex, zero);
  dense x = dense_make_whole(n, nrhs, is_complex);
  dense right = which == 0 ? dense_make_whole(m, nrhs, 0) : dense_product(trans, &values, &x);
  array a = place(c, "sdcz"[t], &values, 'A', NULL);
  array b = place(c, "sdcz"[t], &right, 'A', &a);
  int count = a.rows + a.desc[MB], *ipiv = calloc((size_t)count + 1, sizeof *ipiv);
  if (!ipiv) MPI_Abort(MPI_COMM_WORLD, 3);
  memset(ipiv, 0x11, (size_t)count * sizeof *ipiv);
  if (c->prow >= 0 && which < 2) getrf[t](&m, &n, a.at, &a.i, &a.j, a.desc, ipiv, &r.info);
  if (c->prow >= 0 && which == 1)
    getrs[t](&trans, &n, &nrhs, a.at, &a.i, &a.j, a.desc, ipiv, b.at, &b.i, &b.j, b.desc, &r.info);
  if (c->prow >= 0 && which == 2)
    gesv[t](&n, &nrhs, a.at, &a.i, &a.j, a.desc, ipiv, b.at, &b.i, &b.j, b.desc, &r.info);
  r.a = array_hash(c, &a);
  r.b = array_hash(c, &b);
  r.ipiv = hash_ipiv(c, &a, ipiv, m < n ? m : n);
  free(ipiv);
  array_free(&a);
  array_free(&b);
  dense_free(&values);
  dense_free(&x);
  dense_free(&right);
  return r;
}

/* which: 0 runs p?potrf, 1 p?potrf and p?potrs, 2 p?posv */
static result run_cholesky(const context *c, int which, int t)
{
  int is_complex = t > 1, n = draw(2, MOST), nrhs = draw(1, 12);
  int bad = which != 1 && draw(0, 3) == 0 ? draw(0, n - 1) : -1;
  char uplo = "LU"[draw(0, 1)];
  result r = {.info = 0};
  dense values = dense_make_cholesky(n, is_complex, bad);
  dense x = dense_make_whole(n, nrhs, is_complex), right = dense_product('N', &values, &x);
  array a = place(c, "sdcz"[t], &values, uplo, NULL);
  array b = place(c, "sdcz"[t], &right, 'A', &a);
  if (c->prow >= 0 && which < 2) potrf[t](&uplo, &n, a.at, &a.i, &a.j, a.desc, &r.info);
  if (c->prow >= 0 && which == 1)
    potrs[t](&uplo, &n, &nrhs, a.at, &a.i, &a.j, a.desc, b.at, &b.i, &b.j, b.desc, &r.info);
  if (c->prow >= 0 && which == 2)
    posv[t](&uplo, &n, &nrhs, a.at, &a.i, &a.j, a.desc, b.at, &b.i, &b.j, b.desc, &r.info);
  part p = {&values, a.i - 1, a.j - 1, uplo};
  /* If the matrix was not positive definite, the triangle is undefined, so it is set to zero. */
  if (c->prow >= 0 && r.info > 0) array_walk(c, &a, set_zero, &p);
  r.a = array_hash(c, &a);
  r.b = array_hash(c, &b);
  array_free(&a);
  array_free(&b);
  dense_free(&values);
  dense_free(&x);
  dense_free(&right);
  return r;
}

typedef struct drawn {
  int cholesky, which, t;
  result result; /* INFO and bits that the latest run gave */
} drawn;

static uint64_t run_drawn(const context *c, void *arg)
{
  drawn *d = arg;
  d->result = (d->cholesky ? run_cholesky : run_lu)(c, d->which, d->t);
  const result *r = &d->result;
  return r->a + 3 * r->b + 5 * r->ipiv + 7 * (uint64_t)r->info;
}

static void run_random(int count, int size, int rank)
{
  static const char *const names[2][3] = {{"getrf", "getrs", "gesv"}, {"potrf", "potrs", "posv"}};
  enum { PER_CONTEXT = 8 };
  context c = {0};
  for (int done = 0; done < count; done++) {
    if (done % PER_CONTEXT == 0) c = context_draw(size);
    drawn d;
    d.cholesky = draw(0, 1);
    d.which = draw(0, 2);
    d.t = draw(0, 3);
    (void)try_without_memory(&c, run_drawn, &d);
    const result *r = &d.result;
    if (rank == 0)
      printf("%d p%c%s %dx%d info %d a %016llx b %016llx ipiv %016llx\n", done, "sdcz"[d.t],
             names[d.cholesky][d.which], c.nprow, c.npcol, r->info, (unsigned long long)r->a,
             (unsigned long long)r->b, (unsigned long long)r->ipiv);
    if (done % PER_CONTEXT == PER_CONTEXT - 1 || done == count - 1) context_free(&c);
  }
}

/* --- wrong arguments --- */

typedef struct wrong {
  const char *what;
  /* entry: index of the descriptor entry to change, 0 .. 8 for A, 10 .. 18 for B, -1 for none.
   * value: new value of that entry. */
  int entry, value;
  int n, nrhs, i, j, ib; /* amounts that are added to the arguments of these names */
  char letter;
} wrong;

/* Calls all routines with one wrong argument, and prints INFO of this process. */
static void call_wrong(const context *c, const wrong *w)
{
  dense values = dense_make_lu(20, 20, 0, -1), right = dense_make_whole(20, 4, 0);
  array a = place(c, 'd', &values, 'A', NULL), b = place(c, 'd', &right, 'A', &a);
  int n = 20 + w->n, nrhs = 4 + w->nrhs, info[6] = {99, 99, 99, 99, 99, 99};
  int *ipiv = calloc((size_t)(a.rows + a.desc[MB] + 64), sizeof *ipiv);
  char letter = w->letter ? w->letter : 'L', trans = w->letter ? w->letter : 'N';
  if (!ipiv) MPI_Abort(MPI_COMM_WORLD, 3);
  if (w->entry >= 0 && w->entry < 10) a.desc[w->entry] = w->value;
  if (w->entry >= 10) b.desc[w->entry - 10] = w->value;
  a.i += w->i;
  a.j += w->j;
  b.i += w->ib;
  pdgetrf_(&n, &n, a.at, &a.i, &a.j, a.desc, ipiv, &info[0]);
  pdpotrf_(&letter, &n, a.at, &a.i, &a.j, a.desc, &info[1]);
  pdgetrs_(&trans, &n, &nrhs, a.at, &a.i, &a.j, a.desc, ipiv, b.at, &b.i, &b.j, b.desc, &info[2]);
  pdpotrs_(&letter, &n, &nrhs, a.at, &a.i, &a.j, a.desc, b.at, &b.i, &b.j, b.desc, &info[3]);
  pdgesv_(&n, &nrhs, a.at, &a.i, &a.j, a.desc, ipiv, b.at, &b.i, &b.j, b.desc, &info[4]);
  pdposv_(&letter, &n, &nrhs, a.at, &a.i, &a.j, a.desc, b.at, &b.i, &b.j, b.desc, &info[5]);
  printf("%s: (%d,%d): %d %d %d %d %d %d\n", w->what, c->prow, c->pcol, info[0], info[1], info[2],
         info[3], info[4], info[5]);
  free(ipiv);
  array_free(&a);
  array_free(&b);
  dense_free(&values);
  dense_free(&right);
}

static void run_wrong(int size)
{
  context c = context_make("R", size > 1 ? 2 : 1, size > 1 ? size / 2 : 1);
  const wrong calls[] = {
    {.what = "type of A", .entry = 0, .value = 5},
    {.what = "blocks of A", .entry = MB, .value = MOST_BLOCK + 1},
    {.what = "rows of A", .entry = ROWS, .value = 3},
    {.what = "source of A", .entry = RSRC, .value = 9},
    {.what = "lld of A", .entry = 8, .value = c.prow == 0 ? 0 : 100},
    {.what = "type of B", .entry = 10, .value = 5},
    {.what = "blocks of B", .entry = 10 + MB, .value = MOST_BLOCK + 2},
    {.what = "n", .entry = -1, .n = -21},
    {.what = "n too large", .entry = -1, .n = 100},
    {.what = "ia", .entry = -1, .i = -100},
    {.what = "ja", .entry = -1, .j = -100},
    {.what = "nrhs too large", .entry = 10 + COLS, .value = 1},
    {.what = "ib", .entry = -1, .ib = -100},
    {.what = "n = 0", .entry = -1, .n = -20},
  };
  for (size_t k = 0; k < sizeof calls / sizeof calls[0] && c.prow >= 0; k++)
    call_wrong(&c, &calls[k]);
  context_free(&c);
}

/* --- a NaN --- */

/* Factors a matrix with a NaN at (row, column), counted from 0, and solves with the factors.
 * Prints INFO, and whether B has changed. */
static void call_nan(const context *c, int cholesky, int t, int row, int column)
{
  enum { N = 50, NRHS = 3 };
  int n = N, nrhs = NRHS, info = -99;
  dense values = cholesky ? dense_make_cholesky(N, t > 1, -1) : dense_make_lu(N, N, t > 1, -1);
  dense right = dense_make_whole(N, NRHS, 0);
  values.at[row + column * N] = NAN;
  array a = place(c, "sdcz"[t], &values, 'A', NULL), b = place(c, "sdcz"[t], &right, 'A', &a);
  int *ipiv = calloc((size_t)(a.rows + a.desc[MB] + 1), sizeof *ipiv);
  uint64_t before = array_hash(c, &b);
  if (!ipiv) MPI_Abort(MPI_COMM_WORLD, 3);
  if (cholesky)
    posv[t]("L", &n, &nrhs, a.at, &a.i, &a.j, a.desc, b.at, &b.i, &b.j, b.desc, &info);
  else
    gesv[t](&n, &nrhs, a.at, &a.i, &a.j, a.desc, ipiv, b.at, &b.i, &b.j, b.desc, &info);
  int same = array_hash(c, &b) == before;
  printf("p%c%s, NaN at (%d, %d): info %d, B is %s\n", "sdcz"[t], cholesky ? "posv" : "gesv",
         row + 1, column + 1, info, same ? "as it was" : "changed");
  free(ipiv);
  array_free(&a);
  array_free(&b);
  dense_free(&values);
  dense_free(&right);
}

static void run_nan(int size)
{
  static const int at[][2] = {{0, 0}, {49, 0}, {30, 7}, {49, 48}, {49, 49}};
  for (int which = 0; which < 2; which++) {
    context c = context_make("R", which ? size : 1, which ? 1 : size);
    for (size_t k = 0; k < sizeof at / sizeof at[0]; k++)
      for (int cholesky = 0; cholesky < 2; cholesky++)
        call_nan(&c, cholesky, (int)k % 4, at[k][0], at[k][1]);
    call_nan(&c, 0, 1, 7, 30); /* a NaN above the diagonal */
    context_free(&c);
  }
}

int main(int argc, char **argv)
{
  int rank, size, is_wrong = argc > 1 && strcmp(argv[1], "wrong") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (is_wrong)
    run_wrong(size);
  else if (argc > 1 && strcmp(argv[1], "nan") == 0)
    run_nan(size);
  else
    run_random(argc > 1 ? atoi(argv[1]) : 40, size, rank);
  MPI_Finalize();
  return 0;
}
