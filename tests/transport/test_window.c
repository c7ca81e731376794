/* Tests windows: the library does only what their info keys promise, and an MPI without suitable
 * windows is reported. The MPI_... functions of this program replace MPI's. */
#include "osla_counter.h"
#include "osla_hessian.h"
#include "tests/osla_test_help.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- comparison of promises with RMA calls --- */

enum { MOST_KEYS = 16, MOST_WORDS = 4096, TEXT = 160 };

static struct {
  pthread_mutex_t lock;
  int n_windows; /* number of windows created */
  int n_keys;    /* number of info keys of the latest window */
  char key[MOST_KEYS][TEXT], value[MOST_KEYS][TEXT];
  int n_words, n_sums, n_replaced, broken;
  char why[TEXT]; /* description of the first broken promise */
  struct word {
    MPI_Win win;
    int rank;
    MPI_Aint disp;
    MPI_Op op;
  } words[MOST_WORDS];
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool refuse_windows, separate_model;

static void look_at_keys(MPI_Info info)
{
  seen.n_windows++;
  seen.n_keys = 0;
  if (info == MPI_INFO_NULL) return;
  (void)MPI_Info_get_nkeys(info, &seen.n_keys);
  for (int i = 0; i < seen.n_keys && i < MOST_KEYS; i++) {
    int flag;
    (void)MPI_Info_get_nthkey(info, i, seen.key[i]);
    (void)MPI_Info_get(info, seen.key[i], TEXT - 1, seen.value[i], &flag);
  }
}

static const char *told(const char *key)
{
  for (int i = 0; i < seen.n_keys && i < MOST_KEYS; i++)
    if (strcmp(seen.key[i], key) == 0) return seen.value[i];
  return "";
}

static void promise(bool kept, const char *what)
{
  if (kept) return;
  if (seen.broken++ == 0) (void)snprintf(seen.why, sizeof seen.why, "%s", what);
}

/* Checks that all accumulates on a word use one operation. */
static void look_at_word(MPI_Win win, int rank, MPI_Aint disp, MPI_Op op)
{
  for (int i = 0; i < seen.n_words; i++) {
    const struct word *w = &seen.words[i];
    if (w->win != win || w->rank != rank || w->disp != disp) continue;
    promise(w->op == op, "accumulate_ops: two operations on one word");
    return;
  }
  promise(seen.n_words < MOST_WORDS, "more words than this test counts");
  if (seen.n_words < MOST_WORDS) seen.words[seen.n_words++] = (struct word){win, rank, disp, op};
}

int MPI_Rget_accumulate(const void *origin, int count, MPI_Datatype type, void *result,
                        int result_count, MPI_Datatype result_type, int rank, MPI_Aint disp,
                        int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                        MPI_Request *request)
{
  (void)pthread_mutex_lock(&seen.lock);
  bool one = count == 1 && result_count == 1 && target_count == 1;
  promise(one, "accumulate_max_bytes: more than an element");
  promise(type == MPI_INT64_T && result_type == type && target_type == type,
          "acc_single_intrinsic: another type");
  promise(disp % 8 == 0, "a word that is not aligned");
  promise(op == MPI_SUM || op == MPI_REPLACE || op == MPI_NO_OP,
          "which_accumulate_ops: another operation");
  look_at_word(win, rank, disp, op);
  seen.n_sums += op == MPI_SUM;
  seen.n_replaced += op == MPI_REPLACE;
  (void)pthread_mutex_unlock(&seen.lock);
  return PMPI_Rget_accumulate(origin, count, type, result, result_count, result_type, rank, disp,
                              target_count, target_type, op, win, request);
}

/* RMA functions of MPI that the library must not call. */
int MPI_Accumulate(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
                   int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win)
{
  promise(false, "MPI_Accumulate");
  return PMPI_Accumulate(origin, count, type, rank, disp, target_count, target_type, op, win);
}

int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp,
                     MPI_Op op, MPI_Win win)
{
  promise(false, "MPI_Fetch_and_op");
  return PMPI_Fetch_and_op(origin, result, type, rank, disp, op, win);
}

int MPI_Compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type,
                         int rank, MPI_Aint disp, MPI_Win win)
{
  promise(false, "MPI_Compare_and_swap");
  return PMPI_Compare_and_swap(origin, compare, result, type, rank, disp, win);
}

/* --- functions that imitate an MPI without suitable windows --- */

int MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
  look_at_keys(info);
  promise(unit == 1, "same_disp_unit");
  if (refuse_windows) return MPI_ERR_WIN;
  return PMPI_Win_create(base, size, unit, info, comm, win);
}

int MPI_Win_get_attr(MPI_Win win, int key, void *value, int *found)
{
  static int separate = MPI_WIN_SEPARATE;
  int code = PMPI_Win_get_attr(win, key, value, found);
  if (separate_model && key == MPI_WIN_MODEL) *(int **)value = &separate;
  return code;
}

/* --- test cases --- */

static bool has_windows(const osla_transport *t)
{
  return osla_transport_n_nodes(t) > 1 && !osla_test_on_offered(t);
}

static void make_segment(osla_transport *t, osla_err expected)
{
  osla_segment *s = NULL;
  osla_err err = osla_segment_create(t, 1000, 1, &s);
  OSLA_ASSERT_MSG(err == expected, "%s instead of %s: %s", osla_err_name(err),
                  osla_err_name(expected), osla_error_text());
  CU_ASSERT((s != NULL) == (expected == OSLA_OK));
  osla_segment_destroy(&s);
}

static void test_keys(void)
{
  (void)unsetenv("OSLA_WINDOW_INFO");
  osla_transport *t = osla_test_transport();
  bool windows = has_windows(t);
  seen.n_windows = 0;
  make_segment(t, OSLA_OK);
  CU_ASSERT(seen.n_windows == windows);
  if (windows) {
    CU_ASSERT_STRING_EQUAL(told("accumulate_ops"), "same_op");
    CU_ASSERT_STRING_EQUAL(told("accumulate_ordering"), "waw");
    CU_ASSERT_STRING_EQUAL(told("same_disp_unit"), "true");
    CU_ASSERT_STRING_EQUAL(told("which_accumulate_ops"), "sum,replace,no_op");
    CU_ASSERT_STRING_EQUAL(told("accumulate_max_bytes"), "8");
    CU_ASSERT_STRING_EQUAL(told("disable_shm_accumulate"), "true");
    CU_ASSERT_STRING_EQUAL(told("acc_single_intrinsic"), "true");
    /* the key same_size is not set, because the sizes of the ranks' memory differ */
    CU_ASSERT_STRING_EQUAL(told("same_size"), "");
  }
  osla_transport_destroy(&t);

  (void)setenv("OSLA_WINDOW_INFO", "off", 1);
  t = osla_test_transport();
  make_segment(t, OSLA_OK);
  if (windows) CU_ASSERT(seen.n_keys == 0);
  osla_transport_destroy(&t);
  (void)unsetenv("OSLA_WINDOW_INFO");
}

/* Uses words of all kinds: waiting and posted notifies, two at a time, and a counter. */
static void use_words(osla_transport *t)
{
  enum { ROUNDS = 20 };
  osla_segment *s = NULL;
  osla_counter *counter = NULL;
  int size = osla_test_size(), to = (osla_test_rank() + size / 2) % size;
  int from = (osla_test_rank() + size - size / 2) % size;
  char data[100] = "data";
  OSLA_ASSERT_OK(osla_segment_create(t, sizeof data, 2, &s));
  OSLA_ASSERT_OK(osla_counter_create(t, &counter));
  for (uint64_t i = 1; i <= ROUNDS; i++) {
    osla_posted posted;
    int64_t before;
    OSLA_ASSERT_OK(osla_put_notify_post(s, to, 0, data, sizeof data, 0, 2 * i - 1, &posted));
    OSLA_ASSERT_OK(osla_notify_post(s, to, 0, 2 * i));
    OSLA_ASSERT_OK(osla_counter_next(counter, 1, &before));
    osla_notify_wait(s, from, 0, 2 * i);
    /* the second of two words to this slot has arrived last */
    CU_ASSERT(osla_notify_read(s, from, 0) == 2 * i);
    OSLA_ASSERT_OK(osla_posted_wait(s, &posted));
    OSLA_ASSERT_OK(osla_put_notify(s, to, 0, data, sizeof data, 1, i));
    osla_notify_wait(s, from, 1, i);
    OSLA_ASSERT_OK(osla_barrier(t));
  }
  osla_counter_destroy(&counter);
  osla_segment_destroy(&s);
}

static void assemble(osla_transport *t)
{
  enum { N = 300, UPDATES = 30 };
  osla_grid *grid = osla_test_square_grid(t);
  osla_hessian *h = NULL;
  OSLA_ASSERT_OK(osla_hessian_create(grid, N, NULL, &h));
  for (int64_t k = 0; k < UPDATES; k++) {
    int64_t ix[3];
    double g[3] = {1, 2, 3};
    for (int a = 0; a < 3; a++)
      ix[a] = osla_test_choose(7, 3 * (k * osla_test_size() + osla_test_rank()) + a, N);
    OSLA_ASSERT_OK(osla_hessian_update(h, 3, ix, 1, g, 1));
  }
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  osla_hessian_destroy(&h);
  osla_grid_destroy(&grid);
}

/* Tests words that travel as messages, and words that travel as accumulates. */
static void test_promises(void)
{
  static const char *const messages[] = {"on", "off"};
  bool windows = false;
  for (int i = 0; i < 2; i++) {
    (void)setenv("OSLA_MESSAGES", messages[i], 1);
    osla_transport *t = osla_test_transport();
    windows = has_windows(t);
    use_words(t);
    assemble(t);
    osla_transport_destroy(&t);
    (void)unsetenv("OSLA_MESSAGES");
  }
  OSLA_ASSERT_MSG(seen.broken == 0, "%d promises broken, first: %s", seen.broken, seen.why);
  if (windows)
    CU_ASSERT(seen.n_sums > 0 && seen.n_replaced > 0); /* the test has used all kinds of words */
}

static void test_no_window(void)
{
  osla_transport *t = osla_test_transport();
  bool windows = has_windows(t);
  refuse_windows = true;
  make_segment(t, windows ? OSLA_ERR_UNSUPPORTED : OSLA_OK);
  refuse_windows = false;
  if (windows) {
    OSLA_ASSERT_TEXT("this MPI gives no window (MPI_Win_create: ");
    OSLA_ASSERT_TEXT("): try ");
    OSLA_ASSERT_SAME_TEXT();
  }
  make_segment(t, OSLA_OK); /* the transport works after the failure */
  osla_transport_destroy(&t);
}

static void test_separate(void)
{
  osla_transport *t = osla_test_transport();
  bool windows = has_windows(t);
  separate_model = true;
  make_segment(t, windows ? OSLA_ERR_UNSUPPORTED : OSLA_OK);
  separate_model = false;
  if (windows) {
    OSLA_ASSERT_TEXT("not MPI_WIN_UNIFIED");
    OSLA_ASSERT_SAME_TEXT();
  }
  make_segment(t, OSLA_OK);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"keys", test_keys},
                                       {"promises", test_promises},
                                       {"no_window", test_no_window},
                                       {"separate", test_separate},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_window, cases);
