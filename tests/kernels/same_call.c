#include "tests/kernels/same_call.h"

#include <inttypes.h>
#include <stdio.h>

bool same_is_last_rank(void)
{
  return osla_test_rank() > 0 && osla_test_rank() == osla_test_size() - 1;
}

void same_refuse(same_runner *run, const same_call *c, const char *text)
{
  OSLA_ASSERT_ERR(run(c), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
}

void same_other_part(same_runner *run, same_call *c, osla_part *part, const char *name)
{
  int64_t *const numbers[] = {&part->i, &part->j, &part->m, &part->n};
  for (int k = 0; k < 4; k++) {
    char text[64];
    const int64_t before = *numbers[k];
    (void)snprintf(text, sizeof text, "%s.%c is %" PRId64 " on rank 0, but ", name, "ijmn"[k],
                   before);
    if (same_is_last_rank()) *numbers[k] = k < 2 ? before + 1 : before - 1;
    same_refuse(run, c, text);
    *numbers[k] = before;
  }
}

static osla_matrix *make(const same_matrices *m, osla_dtype dtype, int64_t rows, int64_t cols)
{
  osla_matrix *a;
  OSLA_ASSERT_OK(osla_matrix_create(m->grid, dtype, rows, cols, SAME_NB, SAME_NB, &a));
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_SPD, 1));
  return a;
}

static same_matrices open_all(osla_transport *t)
{
  same_matrices m = {.t = t, .grid = osla_test_square_grid(t)};
  for (int i = 0; i < 3; i++) {
    m.square[i] = make(&m, OSLA_DOUBLE, SAME_N, SAME_N);
    m.complex_square[i] = make(&m, OSLA_COMPLEX_DOUBLE, SAME_N, SAME_N);
    if (i < 2) m.tall[i] = make(&m, OSLA_DOUBLE, SAME_N, 2);
  }
  m.narrow = make(&m, OSLA_DOUBLE, SAME_N - 1, SAME_N - 1);
  return m;
}

static void close_all(same_matrices *m)
{
  for (int i = 0; i < 3; i++) {
    osla_matrix_destroy(&m->square[i]);
    osla_matrix_destroy(&m->complex_square[i]);
    if (i < 2) osla_matrix_destroy(&m->tall[i]);
  }
  osla_matrix_destroy(&m->narrow);
  osla_grid_destroy(&m->grid);
}

void same_run(void (*check)(const same_matrices *m))
{
  osla_transport *t = osla_test_transport();
  same_matrices m = open_all(t);
  if (osla_test_size() > 1) check(&m);
  close_all(&m);
  osla_transport_destroy(&t);
}

same_call same_parts(osla_matrix *const square[3])
{
  return (same_call){.alpha = 1.0,
                     .beta = 0.5,
                     .a = osla_part_at(square[0], 1, 1, 6, 6),
                     .b = osla_part_at(square[1], 1, 1, 6, 6),
                     .c = osla_part_at(square[2], 1, 1, 6, 6),
                     .seed = 5};
}

same_call same_wholes(osla_matrix *a, osla_matrix *b)
{
  return (same_call){.alpha = 1.0, .a = osla_whole(a), .b = osla_whole(b), .anorm = 1.0, .n = 2};
}
