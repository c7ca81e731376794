/* Tests of osla_gemm_predict, which is local and transfers nothing. The sums of its predictions
 * over the ranks must be correct. */
#include "osla_index.h"
#include "tests/kernels/gemm_pool.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static double factor_of(osla_dtype dtype)
{
  return dtype == OSLA_COMPLEX_FLOAT || dtype == OSLA_COMPLEX_DOUBLE ? 8.0 : 2.0;
}

static osla_gemm_plan predict(const product *p, const char *label)
{
  osla_gemm_plan plan;
  memset(&plan, 0x7F, sizeof plan);
  const osla_gemm_options options = product_set_options(p->options);
  osla_err err = osla_gemm_predict(p->transa, p->transb, p->a, p->b, p->c, &options, &plan);
  OSLA_ASSERT_MSG(err == OSLA_OK, "%s: %s", osla_error_text(), product_text(p, label));
  return plan;
}

/* Checks that the predicted amounts of this rank are consistent. */
static void check_plan(const product *p, const osla_gemm_plan *plan, const char *label)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(p->c.matrix));
  bool one_node = osla_transport_n_nodes(t) == 1, copies = p->options && p->options->copy;
  bool unaware = p->options && p->options->unaware;
  bool sane = plan->tasks >= 0 && plan->gets >= 0 && plan->flops >= 0.0;
  if (plan->flops > 0.0) sane &= plan->tasks > 0;
  if (!unaware) sane &= (plan->gets > 0) == (plan->bytes_far > 0);
  if (one_node && !unaware) sane &= plan->gets == 0 && plan->bytes_far == 0;
  if (copies || unaware || osla_transport_node_size(t) == 1) sane &= plan->bytes_place == 0;
  OSLA_ASSERT_MSG(sane,
                  "tasks %" PRId64 " gets %" PRId64 " far %" PRIu64 " near %" PRIu64
                  " place %" PRIu64 " buffers %" PRIu64 " flops %g: %s",
                  plan->tasks, plan->gets, plan->bytes_far, plan->bytes_near, plan->bytes_place,
                  plan->buffers, plan->flops, product_text(p, label));
}

static void check_flops(const product *p, double flops, const char *label)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(p->c.matrix));
  double expected = factor_of(osla_matrix_dtype(p->c.matrix)) * (double)p->c.m * (double)p->c.n *
                    (double)product_k(p);
  OSLA_ASSERT_OK(osla_allreduce(t, &flops, 1, MPI_DOUBLE, MPI_SUM));
  OSLA_ASSERT_MSG(flops == expected, "%.17g flops, not %.17g: %s", flops, expected,
                  product_text(p, label));
}

/* Predictions for random products change no matrix, and the predicted operations of all ranks add
 * up to those of the product. */
static void test_random(void)
{
  osla_transport *t = osla_test_transport();
  int rounds = pool_rounds(t, 60), step = osla_transport_n_nodes(t) == 1 ? 1 : 3;
  for (int g = 0; g < kernel_n_grids(t); g += step) {
    uint64_t seed = 900 + (uint64_t)g;
    gemm_pool pool = pool_make(t, g, (osla_dtype)(g / step % 4), seed);
    for (int round = 0; round < rounds; round++) {
      product_options options;
      product p = pool_product(&pool, 10000 * seed + (uint64_t)round, &options);
      if (parts_overlap(&p.a, &p.c) || parts_overlap(&p.b, &p.c)) continue;
      product_copy copy = product_fill(&p);
      osla_gemm_plan plan = predict(&p, pool.label);
      check_plan(&p, &plan, pool.label);
      check_flops(&p, plan.flops, pool.label);
      (void)product_compare(&p, &copy, false, pool.label);
    }
    pool_free(&pool);
  }
  osla_transport_destroy(&t);
}

/* Each rank in turn calls osla_gemm_predict while the other ranks wait without making progress
 * steps. */
static void test_local(void)
{
  osla_transport *t = osla_test_transport();
  gemm_pool pool = pool_make(t, 0, OSLA_DOUBLE, 3);
  product_options options;
  for (int rank = 0; rank < osla_test_size(); rank++) {
    product p = pool_product(&pool, 77 + (uint64_t)rank, &options);
    p.a = osla_part_at(pool.slot[0].a, 0, 0, 40, 30), p.transa = OSLA_NOTRANS;
    p.b = osla_part_at(pool.slot[5].a, 3, 2, 25, 30), p.transb = OSLA_TRANS;
    p.c = osla_part_at(pool.slot[4].a, 1, 2, 40, 25);
    if (rank == osla_test_rank()) {
      osla_gemm_plan plan = predict(&p, "alone");
      check_plan(&p, &plan, "alone");
    }
    MPI_Barrier(MPI_COMM_WORLD); /* MPI's barrier makes no progress steps of the library */
  }
  pool_free(&pool);
  osla_transport_destroy(&t);
}

/* ---- amounts of data, for operands that are distributed like C ---- */

enum { SIDE = 320, BLOCK = 16 };

typedef struct square {
  osla_grid *grid;
  kernel_matrix x[3];
  product p;
} square;

static square square_make(osla_transport *t, int which, int ops)
{
  square s = {.grid = kernel_grid(t, which)};
  for (int i = 0; i < 3; i++)
    s.x[i] = kernel_make(s.grid, OSLA_DOUBLE, SIDE, SIDE, BLOCK, BLOCK, false);
  s.p = (product){.transa = (osla_trans)(ops % 3),
                  .transb = (osla_trans)(ops / 3),
                  .alpha = 1,
                  .a = osla_whole(s.x[0].a),
                  .b = osla_whole(s.x[1].a),
                  .c = osla_whole(s.x[2].a)};
  return s;
}

static void square_free(square *s)
{
  for (int i = 0; i < 3; i++)
    kernel_free(&s->x[i]);
  osla_grid_destroy(&s->grid);
}

/* Bytes of the rows of op(A) and columns of op(B) that this rank needs for its elements of C: on
 * other nodes, on other ranks of this node, and on this rank. */
typedef struct amounts {
  uint64_t far, near, own;
} amounts;

static void add_operand(amounts *sum, const square *s, bool rows_of_c, osla_trans trans)
{
  osla_grid *grid = s->grid;
  osla_transport *t = osla_grid_transport(grid);
  int nprow = osla_grid_nprow(grid), npcol = osla_grid_npcol(grid);
  int prow = osla_grid_prow(grid), pcol = osla_grid_pcol(grid);
  for (int64_t x = 0; x < SIDE && prow >= 0; x++) {
    if (rows_of_c ? osla_index_owner(x, BLOCK, nprow) != prow
                  : osla_index_owner(x, BLOCK, npcol) != pcol)
      continue;
    for (int64_t k = 0; k < SIDE; k++) {
      /* true if x is a row index of the operand, false if it is a column index */
      bool x_first = rows_of_c == (trans == OSLA_NOTRANS);
      int owner = osla_grid_rank_at(grid, osla_index_owner(x_first ? x : k, BLOCK, nprow),
                                    osla_index_owner(x_first ? k : x, BLOCK, npcol));
      *(owner == osla_test_rank()            ? &sum->own
        : osla_transport_same_node(t, owner) ? &sum->near
                                             : &sum->far) += sizeof(double);
    }
  }
}

/* Checks that the prediction counts all operands of other ranks. Operands without transpose are
 * distributed like C: data of other nodes must be transferred exactly once, and on one node all
 * data are read in place, without a buffer. For other operands, contiguous transfers may include
 * elements that are not needed. */
static void check_amounts(square *s, const product_options *options, const char *label)
{
  amounts need = {0, 0, 0};
  add_operand(&need, s, true, s->p.transa);
  add_operand(&need, s, false, s->p.transb);
  s->p.options = options;
  osla_gemm_plan plan = predict(&s->p, label);
  check_plan(&s->p, &plan, label);
  check_flops(&s->p, plan.flops, label);
  osla_transport *t = osla_grid_transport(s->grid);
  bool one_node = osla_transport_n_nodes(t) == 1, fits = s->p.transa + s->p.transb == 0;
  bool aware = !options || !options->unaware, capped = options && options->memory > 0;
  uint64_t moved = plan.bytes_far + plan.bytes_near + plan.bytes_place;
  bool right = moved >= need.far + need.near && plan.bytes_far >= need.far;
  if (fits && aware && !capped) right &= plan.bytes_far == need.far;
  if (fits && !capped) right &= moved <= need.far + need.near + need.own;
  if (fits && !options && one_node) right &= plan.bytes_place == need.near && plan.buffers == 0;
  if (capped) right &= plan.buffers <= options->memory;
  OSLA_ASSERT_MSG(right,
                  "far %" PRIu64 " near %" PRIu64 " place %" PRIu64 " buffers %" PRIu64
                  ", elsewhere %" PRIu64 " far, %" PRIu64 " near, %" PRIu64 " own: %s",
                  plan.bytes_far, plan.bytes_near, plan.bytes_place, plan.buffers, need.far,
                  need.near, need.own, product_text(&s->p, label));
}

static void test_amounts(void)
{
  static const product_options list[] = {
    {.copy = true},
    {.unaware = true},
    {.memory = 200000},
    {.memory = 100000, .copy = true, .blocking = true},
    {.panel = 8, .narrow = true},
    {.memory = 150000, .copy = true, .unordered = true},
    {.unshifted = true, .unaware = true},
  };
  osla_transport *t = osla_test_transport();
  int step = osla_test_size() <= 2 ? 1 : osla_transport_n_nodes(t) == 1 ? 2 : 4;
  for (int g = 0; g < kernel_n_grids(t); g += step) {
    square s = square_make(t, g, 0);
    for (int ops = 0; ops < 9; ops++) {
      char label[32];
      (void)snprintf(label, sizeof label, "grid %d", g);
      s.p.transa = (osla_trans)(ops % 3), s.p.transb = (osla_trans)(ops / 3);
      check_amounts(&s, NULL, label);
      for (int i = 0; i < (int)(sizeof list / sizeof list[0]); i++)
        check_amounts(&s, &list[i], label);
    }
    square_free(&s);
  }
  osla_transport_destroy(&t);
}

/* ---- errors of predictions ---- */

static void refuse(const product *p, const char *text)
{
  osla_gemm_plan plan;
  const osla_gemm_options options = product_set_options(p->options);
  OSLA_ASSERT_ERR(osla_gemm_predict(p->transa, p->transb, p->a, p->b, p->c, &options, &plan),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
}

/* Wrong calls on one rank only fail on that rank, since the call is local. */
static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, 4, 6, 2, 2, false);
  kernel_matrix b = kernel_make(grid, OSLA_DOUBLE, 6, 3, 2, 2, false);
  kernel_matrix c = kernel_make(grid, OSLA_DOUBLE, 4, 3, 2, 2, false);
  kernel_matrix f = kernel_make(grid, OSLA_FLOAT, 6, 3, 2, 2, false);
  if (osla_test_rank() == osla_test_size() - 1) {
    const product good = {.a = osla_whole(a.a), .b = osla_whole(b.a), .c = osla_whole(c.a)};
    product p = good;
    p.transa = OSLA_TRANS;
    refuse(&p, "6 x 4");
    p = good;
    p.b.matrix = f.a;
    refuse(&p, "'s'");
    p = good;
    p.a.i = 2;
    refuse(&p, "4 x 6");
    p = good;
    p.a = osla_part_at(c.a, 1, 1, 2, 2), p.b = osla_part_at(b.a, 0, 0, 2, 2);
    p.c = osla_part_at(c.a, 2, 1, 2, 2);
    refuse(&p, "overlap");
    product_options options = {.panel = -5};
    p = good;
    p.options = &options;
    refuse(&p, "-5");
    p.options = NULL;
    (void)predict(&p, "after errors");
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  kernel_free(&a), kernel_free(&b), kernel_free(&c), kernel_free(&f);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"random", test_random}, {"local", test_local}, {"amounts", test_amounts},
  {"errors", test_errors}, {NULL, NULL},
};
OSLA_TEST_SUITE(test_gemm_predict, cases);
