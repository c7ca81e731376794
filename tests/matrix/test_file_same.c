/* Tests of calls on files in which one argument differs on the last rank. All ranks must refuse the
 * call, and name the argument. */
#include "tests/file_help.h"

enum { N = 12 };

static bool is_odd(void)
{
  return osla_test_rank() > 0 && osla_test_rank() == osla_test_size() - 1;
}

static void refuse(osla_err err, const char *text)
{
  OSLA_ASSERT_ERR(err, OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
}

static void test_save(void)
{
  osla_transport *t = osla_test_transport();
  osla_matrix *a = osla_test_make(t, 0, OSLA_DOUBLE, N, N, 4, 4), *b = NULL;
  scratch_create();
  const char *path = scratch_path("same.raw");
  osla_save_options save = {.format = OSLA_FORMAT_RAW};
  OSLA_ASSERT_OK(osla_matrix_save(a, path, &save));
  if (osla_test_size() > 1) {
    if (is_odd()) save.format = OSLA_FORMAT_BY_NAME;
    refuse(osla_matrix_save(a, path, &save), "osla_matrix_save: format is 2 on rank 0, but 0 on");
    save = (osla_save_options){.stored = is_odd() ? OSLA_STORED_UPPER : OSLA_STORED_WHOLE};
    refuse(osla_matrix_save(a, path, &save), "osla_matrix_save: stored is 0 on rank 0, but 2 on");
    osla_load_options load = {.mb = is_odd() ? 5 : 4};
    refuse(osla_matrix_load(osla_matrix_grid(a), path, &load, NULL, &b),
           "mb is 4 on rank 0, but 5");
    CU_ASSERT_PTR_NULL(b);
  }
  scratch_remove(1);
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

/* Creates a new file for each call, because a file cannot be committed after one of its calls has
 * failed. */
static osla_file *begin(osla_transport *t)
{
  osla_file *file = NULL;
  OSLA_ASSERT_OK(osla_file_create(t, scratch_path("begun.h5"), &file));
  return file;
}

static void refuse_put(osla_file *file, osla_err err, const char *text)
{
  refuse(err, text);
  OSLA_ASSERT_ERR(osla_file_commit(&file), OSLA_ERR_STATE);
}

static void check_puts(osla_transport *t, const osla_matrix *a, const osla_matrix *narrow)
{
  const double x[3] = {1.0, 2.0, 3.0};
  const osla_file_type type = is_odd() ? OSLA_FILE_INT64 : OSLA_FILE_DOUBLE;
  osla_file *f = begin(t);
  refuse_put(f, osla_file_put_vector(f, "x", type, 3, x),
             "osla_file_put_vector: type is 0 on rank 0, but 1 on rank ");
  f = begin(t);
  refuse_put(f, osla_file_put_vector(f, "x", is_odd() ? (osla_file_type)9 : OSLA_FILE_DOUBLE, 3, x),
             "osla_file_put_vector: type is 0 on rank 0, but 9 on rank ");
  f = begin(t);
  refuse_put(f, osla_file_put_vector(f, "x", OSLA_FILE_DOUBLE, is_odd() ? 2 : 3, x),
             "osla_file_put_vector: count is 3 on rank 0, but 2 on rank ");
  f = begin(t);
  refuse_put(f, osla_file_put_parts(f, "x", type, 1, x),
             "osla_file_put_parts: type is 0 on rank 0, but 1 on rank ");
  f = begin(t);
  refuse_put(f, osla_file_put_matrix(f, "a", a, is_odd() ? (osla_stored)7 : OSLA_STORED_LOWER),
             "osla_file_put_matrix: stored is 1 on rank 0, but 7 on rank ");
  f = begin(t);
  refuse_put(f, osla_file_put_matrix(f, "a", is_odd() ? narrow : a, OSLA_STORED_WHOLE),
             "osla_file_put_matrix: m is 12 on rank 0, but 11 on rank ");
}

static void write_sample(osla_transport *t, const osla_matrix *a, const char *path)
{
  const double x[3] = {1.0, 2.0, 3.0};
  osla_file *f = NULL;
  OSLA_ASSERT_OK(osla_file_create(t, path, &f));
  OSLA_ASSERT_OK(osla_file_put_vector(f, "x", OSLA_FILE_DOUBLE, 3, x));
  OSLA_ASSERT_OK(osla_file_put_matrix(f, "a", a, OSLA_STORED_WHOLE));
  OSLA_ASSERT_OK(osla_file_commit(&f));
}

static void check_gets(osla_transport *t, osla_matrix *a, osla_matrix *narrow, const char *path)
{
  const osla_file_type type = is_odd() ? OSLA_FILE_UINT64 : OSLA_FILE_DOUBLE;
  osla_file *f = NULL;
  double x[3];
  int64_t count;
  OSLA_ASSERT_OK(osla_file_open(t, path, &f));
  refuse(osla_file_look_vector(f, "x", type, &count),
         "osla_file_look_vector: type is 0 on rank 0, but 2 on rank ");
  refuse(osla_file_get_vector(f, "x", type, 3, x),
         "osla_file_get_vector: type is 0 on rank 0, but 2 on rank ");
  refuse(osla_file_get_vector(f, "x", OSLA_FILE_DOUBLE, is_odd() ? 2 : 3, x),
         "x has 3 elements, and not 2");
  refuse(osla_file_get_parts(f, "x", type, 0, osla_test_rank() ? 0 : 3, x),
         "osla_file_get_parts: type is 0 on rank 0, but 2 on rank ");
  refuse(osla_file_get_matrix(f, "a", is_odd() ? narrow : a),
         "osla_file_get_matrix: m is 12 on rank 0, but 11 on rank ");
  OSLA_ASSERT_OK(osla_file_get_vector(f, "x", OSLA_FILE_DOUBLE, 3,
                                      x)); /* the file can still be read after refused calls */
  osla_file_close(&f);
}

static void test_several(void)
{
  osla_transport *t = osla_test_transport();
  osla_matrix *a = osla_test_make(t, 0, OSLA_DOUBLE, N, N, 4, 4);
  osla_matrix *narrow = osla_test_make(t, 0, OSLA_DOUBLE, N - 1, N - 1, 4, 4);
  scratch_create();
  const char *path = scratch_path("several.h5");
  write_sample(t, a, path);
  if (osla_test_size() > 1) {
    check_puts(t, a, narrow);
    check_gets(t, a, narrow, path);
  }
  scratch_remove(1);
  osla_test_destroy(narrow);
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"save", test_save},
#ifdef HAVE_HDF5
                                       {"several", test_several},
#endif
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_file_same, cases);
