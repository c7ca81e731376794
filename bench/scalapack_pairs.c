/* Times small calls of the drop-in and of the real ScaLAPACK routine, in turn in one process, so
 * that a busy machine slows both equally. The real routine is in a second copy of the ScaLAPACK
 * library, which is loaded such that it sees only its own symbols. The program runs with
 * LD_PRELOAD=libosla_scalapack.so OSLA_SCALAPACK=force. Process 0 prints a line for each routine
 * and order: routine, n, nb, nprow, npcol; the tenth percentile of the slowest process's seconds,
 * for the drop-in and for the real routine; the ratio of these two; and the median of the ratios
 * of all pairs of calls. A ratio above 1 says that the drop-in is faster. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int numroc_(const int *n, const int *nb, const int *iproc, const int *source, const int *nprocs);

enum { REAL, DROP_IN, KINDS, WARM = 5 };

/* The routines of a library, and a BLACS context. Names and arguments are ScaLAPACK's. */
typedef struct library {
  void (*Cblacs_get)(int context, int what, int *value);
  void (*Cblacs_gridinit)(int *context, const char *order, int nprow, int npcol);
  void (*Cblacs_gridinfo)(int context, int *nprow, int *npcol, int *prow, int *pcol);
  void (*Cblacs_gridexit)(int context);
  void (*pdgemm_)(const char *, const char *, const int *, const int *, const int *, const double *,
                  const double *, const int *, const int *, const int *, const double *,
                  const int *, const int *, const int *, const double *, double *, const int *,
                  const int *, const int *);
  void (*pdsyrk_)(const char *, const char *, const int *, const int *, const double *,
                  const double *, const int *, const int *, const int *, const double *, double *,
                  const int *, const int *, const int *);
  void (*pdtrsm_)(const char *, const char *, const char *, const char *, const int *, const int *,
                  const double *, const double *, const int *, const int *, const int *, double *,
                  const int *, const int *, const int *);
  void (*pdgetrf_)(const int *, const int *, double *, const int *, const int *, const int *, int *,
                   int *);
  void (*pdgetrs_)(const char *, const int *, const int *, const double *, const int *, const int *,
                   const int *, const int *, double *, const int *, const int *, const int *,
                   int *);
  void (*pdpotrf_)(const char *, const int *, double *, const int *, const int *, const int *,
                   int *);
  void (*pdpotrs_)(const char *, const int *, const int *, const double *, const int *, const int *,
                   const int *, double *, const int *, const int *, const int *, int *);
  int desc[9];
} library;

typedef struct problem {
  int n, nb, nprow, npcol, prow, pcol, rows, cols;
  const char *routine;
  size_t count; /* number of this process's elements */
  double *a, *b, *c, *fresh;
  int *ipiv;
  library side[KINDS];
} problem;

static const int one = 1, zero = 0;

static void stop(const char *why)
{
  fprintf(stderr, "scalapack_pairs: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void find_routine(void *handle, const char *name, void *routine)
{
  void *at = dlsym(handle, name);
  if (!at) stop(dlerror());
  memcpy(routine, &at, sizeof at);
}

#define FIND_ROUTINE(library, handle, name) find_routine(handle, #name, &(library)->name)

static void find_routines(library *l, void *handle)
{
  FIND_ROUTINE(l, handle, Cblacs_get);
  FIND_ROUTINE(l, handle, Cblacs_gridinit);
  FIND_ROUTINE(l, handle, Cblacs_gridinfo);
  FIND_ROUTINE(l, handle, Cblacs_gridexit);
  FIND_ROUTINE(l, handle, pdgemm_);
  FIND_ROUTINE(l, handle, pdsyrk_);
  FIND_ROUTINE(l, handle, pdtrsm_);
  FIND_ROUTINE(l, handle, pdgetrf_);
  FIND_ROUTINE(l, handle, pdgetrs_);
  FIND_ROUTINE(l, handle, pdpotrf_);
  FIND_ROUTINE(l, handle, pdpotrs_);
}

/* Loads a copy of the ScaLAPACK library's file, so that the loader treats it as a different
 * library. */
static void *load_copy(void)
{
  struct link_map *at = NULL;
  char path[] = "/tmp/scalapack_pairs.XXXXXX", bytes[1 << 16];
  void *program = dlopen(NULL, RTLD_NOW);
  if (!program || dlinfo(program, RTLD_DI_LINKMAP, &at) != 0) stop(dlerror());
  while (at && (!strstr(at->l_name, "libscalapack") || strstr(at->l_name, "osla")))
    at = at->l_next;
  if (!at) stop("no ScaLAPACK library is loaded");
  int from = open(at->l_name, O_RDONLY), to = mkstemp(path);
  ssize_t got = 0;
  while (from >= 0 && to >= 0 && (got = read(from, bytes, sizeof bytes)) > 0)
    if (write(to, bytes, (size_t)got) != got) break;
  void *copy = got == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) : NULL;
  (void)close(from);
  (void)close(to);
  (void)unlink(path);
  if (!copy) stop(got == 0 ? dlerror() : "the ScaLAPACK library cannot be copied to /tmp");
  return copy;
}

static void open_context(problem *p, library *l)
{
  int context, nprow, npcol;
  l->Cblacs_get(-1, 0, &context);
  l->Cblacs_gridinit(&context, "R", p->nprow, p->npcol);
  l->Cblacs_gridinfo(context, &nprow, &npcol, &p->prow, &p->pcol);
  if (p->prow < 0) stop("as many processes as the grid has positions");
  l->desc[1] = context;
}

static double element(int i, int j)
{
  unsigned x = (unsigned)i * 2654435761u ^ ((unsigned)j * 40503u + 977u);
  x ^= x >> 15;
  x *= 2246822519u;
  return (double)(x % 65536u) / 65536.0 - 0.5;
}

/* Fills the matrix `fresh`. For LU it needs pivots; for other routines it is symmetric with n on
 * the diagonal. */
static void fill(problem *p)
{
  int symmetric = strcmp(p->routine, "getrf") != 0;
  for (int c = 0; c < p->cols; c++)
    for (int r = 0; r < p->rows; r++) {
      int i = (r / p->nb * p->nprow + p->prow) * p->nb + r % p->nb;
      int j = (c / p->nb * p->npcol + p->pcol) * p->nb + c % p->nb;
      int low = i < j ? i : j, high = i < j ? j : i;
      p->fresh[r + c * p->rows] =
        symmetric ? element(low, high) + (i == j ? p->n : 0) : element(i, j);
    }
  memcpy(p->a, p->fresh, p->count * sizeof *p->a);
  memcpy(p->b, p->fresh, p->count * sizeof *p->b);
}

static void problem_create(problem *p)
{
  p->rows = numroc_(&p->n, &p->nb, &p->prow, &zero, &p->nprow);
  p->cols = numroc_(&p->n, &p->nb, &p->pcol, &zero, &p->npcol);
  p->count = (size_t)p->rows * (size_t)p->cols;
  p->a = calloc(p->count + 1, sizeof *p->a);
  p->b = calloc(p->count + 1, sizeof *p->b);
  p->c = calloc(p->count + 1, sizeof *p->c);
  p->fresh = calloc(p->count + 1, sizeof *p->fresh);
  p->ipiv = calloc((size_t)(p->rows + p->nb), sizeof *p->ipiv);
  if (!p->a || !p->b || !p->c || !p->fresh || !p->ipiv) stop("no memory");
  for (int k = 0; k < KINDS; k++) {
    const int desc[] = {1, p->side[k].desc[1], p->n, p->n, p->nb, p->nb, 0, 0, p->rows};
    memcpy(p->side[k].desc, desc, sizeof desc);
    if (p->rows == 0) p->side[k].desc[8] = 1;
  }
  fill(p);
}

static void problem_free(problem *p)
{
  free(p->a);
  free(p->b);
  free(p->c);
  free(p->fresh);
  free(p->ipiv);
}

static void multiply(problem *p, const library *l, int n, int k)
{
  const double alpha = 1, beta = 0;
  const int *d = l->desc;
  l->pdgemm_("N", "N", &p->n, &n, &k, &alpha, p->a, &one, &one, d, p->b, &one, &one, d, &beta, p->c,
             &one, &one, d);
}

/* Creates a context, computes a product in it, and destroys the context. */
static void use_context(problem *p, const library *l)
{
  library once = *l;
  open_context(p, &once);
  multiply(p, &once, p->n, p->n);
  once.Cblacs_gridexit(once.desc[1]);
}

/* Calls the routine once. The names getrs and potrs may be followed by the number of right-hand
 * sides, which otherwise is n. */
static void call(problem *p, const library *l)
{
  const double alpha = 1, beta = 0;
  const int *n = &p->n, *d = l->desc;
  int info = 0, nrhs = strlen(p->routine) > 6 ? atoi(p->routine + 6) : p->n;
  if (nrhs > p->n) nrhs = p->n;
  if (strcmp(p->routine, "gemm") == 0) multiply(p, l, p->n, p->n);
  /* the inner size of the product is the block size */
  else if (strcmp(p->routine, "gemm-update") == 0)
    multiply(p, l, p->n, p->nb);
  else if (strcmp(p->routine, "gemm-narrow") == 0) /* C has as many columns as a block */
    multiply(p, l, p->nb, p->n);
  else if (strcmp(p->routine, "context") == 0)
    use_context(p, l);
  else if (strcmp(p->routine, "syrk") == 0)
    l->pdsyrk_("L", "N", n, n, &alpha, p->a, &one, &one, d, &beta, p->c, &one, &one, d);
  else if (strcmp(p->routine, "trsm") == 0)
    l->pdtrsm_("L", "L", "N", "N", n, n, &alpha, p->a, &one, &one, d, p->c, &one, &one, d);
  else if (strcmp(p->routine, "trsm-right") == 0)
    l->pdtrsm_("R", "L", "T", "N", n, n, &alpha, p->a, &one, &one, d, p->c, &one, &one, d);
  else if (strcmp(p->routine, "getrf") == 0)
    l->pdgetrf_(n, n, p->c, &one, &one, d, p->ipiv, &info);
  else if (strcmp(p->routine, "potrf") == 0)
    l->pdpotrf_("L", n, p->c, &one, &one, d, &info);
  else if (strncmp(p->routine, "getrs", 5) == 0)
    l->pdgetrs_("N", n, &nrhs, p->a, &one, &one, d, p->ipiv, p->c, &one, &one, d, &info);
  else if (strncmp(p->routine, "potrs", 5) == 0)
    l->pdpotrs_("L", n, &nrhs, p->a, &one, &one, d, p->c, &one, &one, d, &info);
  else
    stop("routines: gemm gemm-update gemm-narrow context syrk trsm trsm-right getrf potrf "
         "getrs[=NRHS] potrs[=NRHS]");
  if (info != 0) stop("a routine failed");
}

/* Computes the factors that the solves need. */
static void prepare(problem *p)
{
  const library *l = &p->side[REAL];
  int info = 0;
  if (strncmp(p->routine, "getrs", 5) == 0)
    l->pdgetrf_(&p->n, &p->n, p->a, &one, &one, l->desc, p->ipiv, &info);
  if (strncmp(p->routine, "potrs", 5) == 0)
    l->pdpotrf_("L", &p->n, p->a, &one, &one, l->desc, &info);
  if (info != 0) stop("a factorisation failed");
}

static double time_of(problem *p, int kind)
{
  memcpy(p->c, p->fresh, p->count * sizeof *p->c);
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = MPI_Wtime();
  call(p, &p->side[kind]);
  seconds = MPI_Wtime() - seconds;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

static int compare(const void *x, const void *y)
{
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

static void measure(problem *p, int pairs)
{
  double *times[KINDS + 1]; /* seconds of the two kinds of calls, then ratios of the two */
  for (int k = 0; k <= KINDS; k++)
    if (!(times[k] = calloc((size_t)pairs, sizeof **times))) stop("no memory");
  prepare(p);
  for (int i = -WARM; i < pairs; i++) {
    double pair[KINDS];
    for (int k = 0; k < KINDS; k++) /* the two kinds of calls take turns in being first */
      pair[(k + i) & 1] = time_of(p, (k + i) & 1);
    if (i < 0) continue;
    times[REAL][i] = pair[REAL];
    times[DROP_IN][i] = pair[DROP_IN];
    times[KINDS][i] = pair[REAL] / pair[DROP_IN];
  }
  for (int k = 0; k <= KINDS; k++)
    qsort(times[k], (size_t)pairs, sizeof **times, compare);
  if (p->prow == 0 && p->pcol == 0) {
    double real = times[REAL][pairs / 10], osla = times[DROP_IN][pairs / 10];
    printf("%-10s %5d %4d %2dx%-2d %11.6f %11.6f %6.2f %6.2f\n", p->routine, p->n, p->nb, p->nprow,
           p->npcol, real, osla, real / osla, times[KINDS][pairs / 2]);
    fflush(stdout);
  }
  for (int k = 0; k <= KINDS; k++)
    free(times[k]);
}

int main(int argc, char **argv)
{
  problem p = {0};
  int pairs = argc > 5 ? atoi(argv[4]) : 0;
  if (pairs < 1) {
    fprintf(stderr, "usage: %s NPROW NPCOL NB PAIRS N,N,... ROUTINE...\n", argv[0]);
    return 2;
  }
  MPI_Init(&argc, &argv);
  p.nprow = atoi(argv[1]);
  p.npcol = atoi(argv[2]);
  p.nb = atoi(argv[3]);
  find_routines(&p.side[REAL], load_copy());
  find_routines(&p.side[DROP_IN], RTLD_DEFAULT);
  open_context(&p, &p.side[REAL]);
  open_context(&p, &p.side[DROP_IN]);
  for (int r = 6; r < argc; r++)
    for (const char *n = argv[5]; n; n = strchr(n, ',') ? strchr(n, ',') + 1 : NULL) {
      p.n = atoi(n);
      p.routine = argv[r];
      problem_create(&p);
      measure(&p, pairs);
      problem_free(&p);
    }
  MPI_Finalize();
  return 0;
}
