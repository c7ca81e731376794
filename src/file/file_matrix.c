/* Saves and loads matrices. */
#include "src/base/reserved.h"
#include "src/file/file.h"
#include "src/matrix/memory_kind.h"

#include <inttypes.h>
#include <string.h>

static osla_err check_matrix(const osla_file *f, const osla_matrix *a, osla_stored stored)
{
  OSLA_CHECK(osla_grid_transport(osla_matrix_grid(a)) == f->t, OSLA_ERR_ARG,
             "%.200s: file and matrix have different transports", f->path);
  OSLA_CHECK(stored >= OSLA_STORED_WHOLE && stored <= OSLA_STORED_FULL, OSLA_ERR_ARG,
             "%.200s: stored = %d is not known", f->path, (int)stored);
  OSLA_CHECK(!osla_matrix_is_triangle(a) || stored != OSLA_STORED_UPPER, OSLA_ERR_ARG,
             "%.200s: stored is the upper triangle, but the matrix has the lower one", f->path);
  return OSLA_OK;
}

/* Checks that the matrix's sizes, type and `stored` are equal on all ranks. */
static osla_err agree_on_matrix(osla_file *f, const char *call, const osla_matrix *a,
                                osla_stored stored)
{
  const osla_layout l = osla_matrix_layout(a);
  const osla_argument same[] = {
    {"m", l.m}, {"n", l.n}, {"type", osla_matrix_dtype(a)}, {"stored", stored}};
  return osli_file_agree_same(f, check_matrix(f, a, stored), call, same,
                              (int)(sizeof same / sizeof *same));
}

osla_err osla_file_put_matrix(osla_file *f, const char *name, const osla_matrix *a,
                              osla_stored stored)
{
  OSLA_NEEDS_HOST("osla_file_put_matrix", a);
  osla_layout l = osla_matrix_layout(a);
  uint64_t sum = 0;
  OSLA_CALL(agree_on_matrix(f, "osla_file_put_matrix", a, stored));
  file_item item = {.m = l.m,
                    .n = l.n,
                    .type = (int32_t)osla_matrix_dtype(a),
                    .stored = (int32_t)stored,
                    .packed = osla_matrix_is_triangle(a) && stored != OSLA_STORED_FULL};
  if (item.packed) item.stored = OSLA_STORED_LOWER;
  if (stored == OSLA_STORED_FULL) item.stored = OSLA_STORED_WHOLE;
  /* the barrier in this call also orders earlier stores into the matrix */
  OSLA_CALL(osli_file_reserve(f, name, &item));
  /* Casts const away, because reading and writing share one function, which does not change the
   * matrix here. */
  osla_matrix *only_read = (osla_matrix *)(uintptr_t)a;
  OSLA_CALL(osli_file_agree(f, osli_file_move_pieces(f, &item, only_read, TO_FILE, &sum)));
  return osli_file_store_checksum(f, name, &item, sum);
}

/* Reads the array `item` into a matrix of equal type and sizes. */
static osla_err read_matrix(osla_file *f, const char *name, const file_item *item, osla_matrix *a)
{
  uint64_t sum = 0;
  OSLA_CALL(osla_barrier(f->t)); /* all ranks have finished their accesses to the old contents */
  OSLA_CALL(osli_file_agree(f, osli_file_move_pieces(f, item, a, FROM_FILE, &sum)));
  return osli_file_verify(f, name, item, sum);
}

osla_err osla_file_look_matrix(osla_file *f, const char *name, osla_file_matrix *look)
{
  file_item item;
  OSLA_CALL(osli_file_find_array(f, name, false, &item));
  *look = (osla_file_matrix){(osla_dtype)item.type, item.m, item.n, (osla_stored)item.stored};
  return OSLA_OK;
}

osla_err osla_file_get_matrix(osla_file *f, const char *name, osla_matrix *a)
{
  OSLA_NEEDS_HOST("osla_file_get_matrix", a);
  osla_layout l = osla_matrix_layout(a);
  file_item item;
  OSLA_CALL(agree_on_matrix(f, "osla_file_get_matrix", a, OSLA_STORED_WHOLE));
  OSLA_CALL(osli_file_find_array(f, name, false, &item));
  OSLA_CHECK(item.m == l.m && item.n == l.n && item.type == (int32_t)osla_matrix_dtype(a),
             OSLA_ERR_ARG,
             "%.200s: %.63s is %" PRId64 " x %" PRId64 " of type %s, the matrix %" PRId64
             " x %" PRId64 " of type %s",
             f->path, name, item.m, item.n, osli_file_type_name((file_type)item.type), l.m, l.n,
             osli_file_type_name((file_type)osla_matrix_dtype(a)));
  OSLA_CHECK(!osla_matrix_is_triangle(a) || item.stored != OSLA_STORED_UPPER, OSLA_ERR_ARG,
             "%.200s: %.63s holds the upper triangle, but the matrix stores the lower one", f->path,
             name);
  return read_matrix(f, name, &item, a);
}

static bool ends_in(const char *text, const char *end)
{
  size_t length = strlen(text), of_end = strlen(end);
  return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

static const char *name_or_default(const char *name)
{
  return name ? name : "matrix";
}

static osla_err check_save(const char *path, const osla_save_options *o)
{
  OSLA_CALL(OSLA_RESERVED(osla_save_options, o));
  OSLA_CHECK(o->format >= OSLA_FORMAT_BY_NAME && o->format <= OSLA_FORMAT_RAW, OSLA_ERR_ARG,
             "%.200s: format = %d is not known", path, (int)o->format);
  return OSLA_OK;
}

osla_err osla_matrix_save(const osla_matrix *a, const char *path, const osla_save_options *options)
{
  OSLA_NEEDS_HOST("osla_matrix_save", a);
  const osla_save_options o = options ? *options : (osla_save_options){.name = NULL};
  const osla_argument same[] = {{"format", o.format}, {"stored", o.stored}};
  OSLA_CALL(osla_agree_same(osla_grid_transport(osla_matrix_grid(a)), check_save(path, &o),
                            "osla_matrix_save", same, 2));
  bool hdf5 = o.format == OSLA_FORMAT_HDF5 ||
              (o.format == OSLA_FORMAT_BY_NAME && (ends_in(path, ".h5") || ends_in(path, ".hdf5")));
  osla_file *f = NULL;
  OSLA_CHECK(hdf5 || !osla_matrix_is_triangle(a) || o.stored == OSLA_STORED_FULL,
             OSLA_ERR_UNSUPPORTED,
             "%.200s: the raw format has no triangular matrices: save it as HDF5 (.h5), or both "
             "triangles (OSLA_STORED_FULL)",
             path);
  OSLA_CALL(osli_file_create_any(osla_grid_transport(osla_matrix_grid(a)), path, !hdf5, &f));
  osla_err err = osla_file_put_matrix(f, name_or_default(o.name), a, o.stored);
  if (err == OSLA_OK) return osla_file_commit(&f);
  osla_file_close(&f);
  return err;
}

osla_err osla_matrix_load(osla_grid *grid, const char *path, const osla_load_options *options,
                          osla_stored *stored, osla_matrix **out)
{
  const osla_load_options o = options ? *options : (osla_load_options){.name = NULL};
  const char *name = name_or_default(o.name);
  int64_t mb = o.mb ? o.mb : OSLA_DEFAULT_BLOCK;
  osla_file *f = NULL;
  osla_matrix *a = NULL;
  file_item item;
  bool is_raw;
  osla_err err;
  *out = NULL;
  OSLA_CALL(osla_agree(osla_grid_transport(grid), OSLA_RESERVED(osla_load_options, options)));
  OSLA_CALL(osli_file_open_any(osla_grid_transport(grid), path, &f, &item, &is_raw));
  if (!is_raw) OSLA_TRY(osli_file_find_array(f, name, false, &item));
  const int64_t nb = o.nb ? o.nb : mb;
  const osla_dtype dtype = (osla_dtype)item.type;
  OSLA_TRY(item.packed ? osla_matrix_create_triangle(grid, dtype, item.n, nb, &a)
                       : osla_matrix_create(grid, dtype, item.m, item.n, mb, nb, &a));
  OSLA_TRY(read_matrix(f, is_raw ? "the matrix" : name, &item, a));
  if (stored) *stored = (osla_stored)item.stored;
  *out = a;
  a = NULL;
cleanup:
  osla_matrix_destroy(&a);
  osla_file_close(&f);
  return err;
}
