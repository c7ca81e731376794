/* Tests of products in which data that several ranks of a node need are transferred to the node
 * only once. Results must be correct with delays, on all grids, for whole matrices and parts. The
 * number of transferred bytes is checked, too. */
#include "osla_index.h"
#include "osla_trace.h"
#include "tests/complex_help.h"
#include "tests/kernels/gemm_reference.h"
#include "tests/osla_test_help.h"

#include <stdio.h>

/* Shapes for which a rank needs at least 4 MiB of operands, but k is too small for its sum to be
 * distributed over the ranks. */
typedef struct shape {
  int64_t m, n, k, mb, nb, kb;
} shape;

static const shape shapes[] = {
  {160, 152, 8000, 8, 8, 64},
  {147, 171, 7901, 16, 5, 100},
  {181, 133, 8111, 200, 40, 16},
  {160, 160, 8000, 3, 110, 9},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* Operands of a product: whole matrices, or parts that begin inside a block of larger matrices. */
typedef struct operands {
  kernel_matrix a, b, c;
  product p;
} operands;

static osla_part part_of(const kernel_matrix *x, bool whole, int64_t m, int64_t n)
{
  return whole ? osla_whole(x->a) : osla_part_at(x->a, 5, 2, m, n);
}

static operands make(osla_grid *grid, osla_dtype dtype, const shape *h, int variant)
{
  operands x;
  bool a = variant % 2 == 0, b = variant / 2 % 2 == 0, whole = variant % 3 > 0;
  int64_t more = whole ? 0 : 7;
  x.a = kernel_make(grid, dtype, (a ? h->m : h->k) + more, (a ? h->k : h->m) + more,
                    a ? h->mb : h->kb, a ? h->kb : h->mb, variant & 4);
  x.b = kernel_make(grid, dtype, (b ? h->k : h->n) + more, (b ? h->n : h->k) + more,
                    b ? h->kb : h->nb, b ? h->nb : h->kb, variant & 8);
  x.c = kernel_make(grid, dtype, h->m + more, h->n + more, h->mb, h->nb, variant & 16);
  x.p = (product){.transa = a ? OSLA_NOTRANS : OSLA_TRANS,
                  .transb = b ? OSLA_NOTRANS : OSLA_CONJTRANS,
                  .alpha = 1,
                  .a = part_of(&x.a, whole, a ? h->m : h->k, a ? h->k : h->m),
                  .b = part_of(&x.b, whole, b ? h->k : h->n, b ? h->n : h->k),
                  .c = part_of(&x.c, whole, h->m, h->n)};
  return x;
}

static void free_operands(operands *x)
{
  kernel_free(&x->a), kernel_free(&x->b), kernel_free(&x->c);
}

/* A grid in which each group of four consecutive ranks is a 2 x 2 square; if nodes have four ranks,
 * each square is one node. NULL unless there are 8 or 16 ranks. */
static osla_grid *grid_of_squares(osla_transport *t)
{
  int size = osla_test_size(), square = osla_test_rank() / 4, within = osla_test_rank() % 4;
  osla_grid *grid = NULL;
  if (size != 8 && size != 16) return NULL;
  OSLA_ASSERT_OK(osla_grid_create_at(t, size / 4, 4, 2 * (square / 2) + within / 2,
                                     2 * (square % 2) + within % 2, &grid));
  return grid;
}

static void check_grid(osla_transport *t, osla_grid *grid, int g)
{
  for (int s = 0; s < N_SHAPES; s++) {
    if (!kernel_turn(g, s)) continue;
    int variant = 7 * g + 5 * s;
    char label[64];
    (void)snprintf(label, sizeof label, "grid %d, shape %d, variant %d", g, s, variant);
    operands x = make(grid, (osla_dtype)((g + s) % 4), &shapes[s], variant);
    delays d;
    if (s % 2) delays_begin(&d, t, (uint64_t)variant);
    x.p.beta = s % 3 - 1;
    x.p.seed = (uint64_t)variant;
    x.p.rounding = (g + s) % 3 == 0;
    (void)product_check(&x.p, label);
    if (s % 2) delays_end(&d);
    free_operands(&x);
  }
}

/* Process grid number `which`; NULL if there are fewer. With many ranks, which are simulated, there
 * is only the grid of squares. */
static osla_grid *grid_at(osla_transport *t, int which)
{
  bool many = osla_test_size() > 8;
  int n = many ? 0 : kernel_n_grids(t), squares = many ? 1 : 3;
  return which < n ? kernel_grid(t, which) : which < n + squares ? grid_of_squares(t) : NULL;
}

static void test_products(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = grid_at(t, g)) != NULL; g++) {
    check_grid(t, grid, g);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static void test_triangles(void)
{
  enum { N = 140, K = 7800, NB = 35, KB = 250 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = grid_at(t, g)) != NULL; g++) {
    bool plain = g % 2;
    kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, plain ? N : K, plain ? K : N, plain ? NB : KB,
                                  plain ? KB : NB, g & 2);
    kernel_matrix c = kernel_make(grid, OSLA_DOUBLE, N, N, NB, NB, g & 4);
    product p = product_of_syrk(g % 3 ? OSLA_LOWER : OSLA_UPPER, plain ? OSLA_NOTRANS : OSLA_TRANS,
                                2, osla_whole(a.a), 1, osla_whole(c.a));
    (void)product_check(&p, "triangle");
    kernel_free(&a), kernel_free(&c);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* ---- number of transfers ---- */

static double got(osla_transport *t, const operands *x, bool alone)
{
  osla_trace_summary s;
  OSLA_ASSERT_OK(osla_trace_start(t));
  osla_gemm_ablate(&(osla_gemm_ablation){.alone = alone});
  OSLA_ASSERT_OK(osla_gemm(x->p.transa, x->p.transb, 1, x->p.a, x->p.b, 0, x->p.c, NULL));
  osla_gemm_ablate(NULL);
  OSLA_ASSERT_OK(osla_trace_summarise(t, &s));
  return s.kind[OSLA_TRACE_GET].amount;
}

/* In a grid of one process row, all ranks need the same panels of A, and each owns the panels of B
 * that it needs. In a grid of one process column, the roles of A and B are exchanged. If nodes have
 * equal size, a node that shares panels transfers as much as one rank does without sharing. */
static void test_got_once(void)
{
  osla_transport *t = osla_test_transport();
  int size = osla_test_size(), node = osla_transport_largest_node(t);
  const shape h = {480, 480, 1200, 480 / size, 480 / size, 1200 / size};
  for (int column = 0; column < 2; column++) {
    osla_grid *grid;
    OSLA_ASSERT_OK(osla_grid_create(t, column ? size : 1, column ? 1 : size, &grid));
    for (int transposed = 0; transposed < (size > 8 ? 1 : 2); transposed++) {
      /* number of the variant in which the operand that ranks share has this transpose */
      int variant = 32 + transposed * (column ? 2 : 1);
      operands x = make(grid, OSLA_DOUBLE, &h, variant);
      (void)product_check(&x.p, "filled");
      double alone = got(t, &x, true), together = got(t, &x, false);
      OSLA_ASSERT_MSG(alone == together * node,
                      "%g bytes alone, %g together, %d ranks a node, variant %d", alone, together,
                      node, variant);
      if (osla_transport_n_nodes(t) > 1) CU_ASSERT(together > 0);
      free_operands(&x);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"products", test_products},
  {"triangles", test_triangles},
  {"got_once", test_got_once},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_gemm_share, cases);
