#define _GNU_SOURCE
#include "tests/adaptors/dropin_program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 7, MOST_BLOCK = 20, MOST_BEFORE = 25 };
enum { M = 2, N, MB, NB, RSRC, CSRC, LLD };

context context_make(const char *order, int nprow, int npcol)
{
  context c = {.nprow = nprow, .npcol = npcol};
  Cblacs_get(-1, 0, &c.number);
  Cblacs_gridinit(&c.number, order, nprow, npcol);
  Cblacs_gridinfo(c.number, &nprow, &npcol, &c.prow, &c.pcol);
  if (nprow < 0) c.prow = c.pcol = -1;
  return c;
}

void context_free(context *c)
{
  if (c->prow >= 0) Cblacs_gridexit(c->number);
}

static uint64_t draws = 1; /* state of the random number generator */

int draw(int low, int high)
{
  draws = draws * 6364136223846793005u + 1442695040888963407u;
  return low + (int)((draws >> 33) % (uint64_t)(high - low + 1));
}

context context_draw(int size)
{
  int nprow = draw(1, size), npcol = draw(1, size / nprow);
  if (draw(0, 2) > 0) npcol = size / nprow;
  return context_make(draw(0, 1) ? "R" : "C", nprow, npcol);
}

uint64_t try_without_memory(const context *c, attempt *run, void *arg)
{
  uint64_t start = draws, right = run(c, arg), end = draws;
  int (*fail)(long number), failed = 1, rank, size;
  void *at = dlsym(RTLD_DEFAULT, "fail_allocation");
  memcpy(&fail, &at, sizeof at);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (long number = 1; at && failed; number++) {
    draws = start;
    if (rank == size - 1) (void)fail(number);
    uint64_t result = run(c, arg);
    failed = rank == size - 1 && fail(0);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (result == right) continue;
    printf("another result where allocation %ld fails\n", number);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
  draws = end;
  return right;
}

static size_t size_of(char type)
{
  return type == 's' ? 4 : type == 'z' ? 16 : 8;
}

void array_set(array *a, int row, int col, double re, double im)
{
  char *at = (char *)a->at + ((size_t)row + (size_t)col * (size_t)a->desc[LLD]) * size_of(a->type);
  float single[2] = {(float)re, (float)im};
  double wide[2] = {re, im};
  if (a->type == 's' || a->type == 'c')
    memcpy(at, single, size_of(a->type));
  else
    memcpy(at, wide, size_of(a->type));
}

void array_walk(const context *c, array *a, array_visit *visit, void *arg)
{
  const int *d = a->desc;
  int prow = (c->prow - d[RSRC] + c->nprow) % c->nprow;
  int pcol = (c->pcol - d[CSRC] + c->npcol) % c->npcol;
  for (int col = 0; col < a->cols; col++)
    for (int row = 0; row < a->rows; row++) {
      int i = (row / d[MB] * c->nprow + prow) * d[MB] + row % d[MB];
      int j = (col / d[NB] * c->npcol + pcol) * d[NB] + col % d[NB];
      visit(a, row, col, i, j, arg);
    }
}

static void set_whole(array *a, int row, int col, int i, int j, void *arg)
{
  unsigned x = (unsigned)i * 7919u + (unsigned)j * 104729u + *(const unsigned *)arg;
  x = (x ^ (x >> 7)) * 2654435761u;
  array_set(a, row, col, (double)(x >> 16 & 7) - 3, (double)(x >> 20 & 7) - 3);
}

void array_allocate(const context *c, array *a, int gap, unsigned salt)
{
  int *d = a->desc;
  if (c->prow < 0) return;
  a->rows = numroc_(&d[M], &d[MB], &c->prow, &d[RSRC], &c->nprow);
  a->cols = numroc_(&d[N], &d[NB], &c->pcol, &d[CSRC], &c->npcol);
  d[LLD] = (a->rows > 1 ? a->rows : 1) + gap;
  size_t bytes = (size_t)d[LLD] * (size_t)(a->cols + 1) * size_of(a->type);
  a->at = malloc(bytes);
  if (!a->at) MPI_Abort(MPI_COMM_WORLD, 3);
  memset(a->at, 0x5a, bytes);
  array_walk(c, a, set_whole, &salt);
}

array array_make(const context *c, char type, int m, int n, const array *like)
{
  array a = {.type = type};
  int *d = a.desc, i = draw(0, MOST_BEFORE), j = draw(0, MOST_BEFORE);
  int aligned = draw(0, 2) == 0, after = draw(0, 9), gap = draw(0, GAP);
  unsigned salt = (unsigned)draw(0, 1 << 20);
  d[0] = 1;
  d[1] = c->number;
  d[MB] = draw(1, MOST_BLOCK);
  d[NB] = draw(0, 2) == 0 ? draw(1, MOST_BLOCK) : d[MB];
  d[RSRC] = draw(0, c->nprow - 1);
  d[CSRC] = draw(0, c->npcol - 1);
  if (like) {
    d[MB] = like->desc[MB];
    d[NB] = like->desc[NB];
    i += like->i - 1;
    j += like->j - 1;
  }
  if (aligned || like) {
    i -= (i - (like ? like->i - 1 : 0)) % d[MB];
    j -= (j - (like ? like->j - 1 : 0)) % d[NB];
  }
  a.i = i + 1;
  a.j = j + 1;
  d[M] = i + m + after;
  d[N] = j + n + after / 2;
  array_allocate(c, &a, gap, salt);
  return a;
}

void array_free(array *a)
{
  free(a->at);
  a->at = NULL;
}

/* The bits of a number. -0 counts as 0, since sums in another order may give -0. */
static uint64_t bits_of(char type, const unsigned char *at)
{
  uint64_t bits = 0;
  size_t bytes = type == 's' || type == 'c' ? 4 : 8;
  memcpy(&bits, at, bytes);
  return bits == UINT64_C(1) << (8 * bytes - 1) ? 0 : bits;
}

uint64_t array_hash(const context *c, const array *a)
{
  uint64_t sum = 0, mine = 14695981039346656037u;
  if (c->prow >= 0) {
    size_t bytes = (size_t)a->desc[LLD] * (size_t)a->cols * size_of(a->type);
    size_t step = a->type == 's' || a->type == 'c' ? 4 : 8;
    for (size_t k = 0; k < bytes; k += step)
      mine = (mine ^ bits_of(a->type, (unsigned char *)a->at + k)) * 1099511628211u;
    mine ^= (uint64_t)(c->prow * 131 + c->pcol) * 0x9e3779b97f4a7c15u;
  }
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
