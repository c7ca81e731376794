/* Tables of measurements as HDF5: each column is a one-dimensional data set in the root group, all
 * of one length (tomo_table.h). Texts are strings of fixed or variable length. Rows are read in
 * blocks, so that memory does not grow with the table. HDF5 may crash on a damaged file, so
 * tomo_table_process.c calls these functions in a separate process.
 * Source: HDF5 Reference Manual, H5D, H5L, H5T (strings). */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "apps/tomography/readers/tomo_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_HDF5

#include "tools/common/library_files.h"

enum { BLOCK = 8192, WIDEST_NUMBER = 16 };

/* A data set that is open as a column of the table. */
typedef struct data_set {
  hid_t set, /* the HDF5 data set */
    type;    /* type of the data set's elements in memory */
  table_key key;
  /* size in bytes, including the final '\0', of strings of fixed length; width is 0 for numbers and
   * for strings of variable length */
  size_t width;
  bool pointers; /* true if the elements are strings of variable length */
  union {
    void *all;
    double *number;
    char *text;
    char **pointer;
  } block;
} data_set;

typedef struct hdf5_table {
  table_header header;
  hid_t file;
  int count;
  data_set column[N_KEYS];
  hsize_t rows;
} hdf5_table;

static void close_table(hdf5_table *t)
{
  for (int i = 0; i < t->count; i++) {
    if (t->column[i].type > 0) H5Tclose(t->column[i].type);
    if (t->column[i].set > 0) H5Dclose(t->column[i].set);
    free(t->column[i].block.all);
  }
  if (t->file > 0) H5Fclose(t->file);
}

/* Chooses the type in memory for a data set; returns false if it holds neither numbers nor
 * strings. */
static bool choose_type(data_set *c)
{
  hid_t stored = H5Dget_type(c->set);
  const H5T_class_t kind = stored >= 0 ? H5Tget_class(stored) : H5T_NO_CLASS;
  size_t element = sizeof(double);
  bool good = (kind == H5T_INTEGER || kind == H5T_FLOAT) && H5Tget_size(stored) <= WIDEST_NUMBER;
  if (good) c->type = H5Tcopy(H5T_NATIVE_DOUBLE);
  if (kind == H5T_STRING) {
    c->pointers = H5Tis_variable_str(stored) > 0;
    const size_t width = H5Tget_size(stored);
    good = c->pointers || (width > 0 && width < TABLE_TEXT);
    if (good) c->type = H5Tcopy(H5T_C_S1);
    if (good && !c->pointers) element = c->width = width + 1;
    if (good) H5Tset_size(c->type, c->pointers ? H5T_VARIABLE : c->width);
    if (good) H5Tset_cset(c->type, H5Tget_cset(stored));
    if (c->pointers) element = sizeof(char *);
  }
  if (stored >= 0) H5Tclose(stored);
  if (good) c->block.all = calloc(BLOCK, element);
  return good && c->type > 0;
}

static osla_err open_column(hdf5_table *t, const char *name)
{
  char shown[TEXT_SHOWN];
  table_key key;
  hsize_t length = 0;
  OSLA_CALL(table_add_column(&t->header, 0, name, &key));
  text_printable(name, shown);
  data_set *c = &t->column[t->count++];
  *c = (data_set){.key = key, .set = H5Dopen2(t->file, name, H5P_DEFAULT)};
  OSLA_CHECK(c->set >= 0, OSLA_ERR_IO, "%s: %s is not a data set", t->header.file, shown);
  hid_t space = H5Dget_space(c->set);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank == 1) H5Sget_simple_extent_dims(space, &length, NULL);
  H5Sclose(space);
  OSLA_CHECK(rank == 1, OSLA_ERR_IO, "%s: data set %s has %d dimensions, not one", t->header.file,
             shown, rank);
  if (t->count == 1) t->rows = length;
  OSLA_CHECK(length == t->rows, OSLA_ERR_IO, "%s: data set %s has %lld elements, and %s %lld",
             t->header.file, shown, (long long)length, t->header.name[t->column[0].key],
             (long long)t->rows);
  OSLA_CHECK(choose_type(c), OSLA_ERR_IO,
             "%s: data set %s has neither numbers nor strings of less than %d bytes",
             t->header.file, shown, TABLE_TEXT);
  OSLA_CHECK(c->block.all, OSLA_ERR_MEM, "no memory for a block of %s", shown);
  return OSLA_OK;
}

static osla_err open_table(hdf5_table *t, const char *file)
{
  H5G_info_t info;
  char name[TOMO_LINE_MAX];
  t->file = H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT);
  OSLA_CHECK(t->file >= 0, OSLA_ERR_IO, "%s: HDF5 cannot open this file", t->header.file);
  OSLA_CHECK(H5Gget_info(t->file, &info) >= 0, OSLA_ERR_IO, "%s: HDF5 cannot list this file",
             t->header.file);
  for (hsize_t i = 0; i < info.nlinks; i++) {
    const ssize_t length = H5Lget_name_by_idx(t->file, ".", H5_INDEX_NAME, H5_ITER_INC, i, name,
                                              sizeof name, H5P_DEFAULT);
    OSLA_CHECK(length > 0, OSLA_ERR_IO, "%s: HDF5 cannot name data set %lld", t->header.file,
               (long long)i);
    OSLA_CALL(open_column(t, name));
  }
  OSLA_CALL(table_check_header(&t->header, 0));
  OSLA_CHECK(t->rows > 0, OSLA_ERR_IO, "%s: no measurement in this file", t->header.file);
  return OSLA_OK;
}

static osla_err read_block(hdf5_table *t, hsize_t from, hsize_t count)
{
  for (int i = 0; i < t->count; i++) {
    data_set *c = &t->column[i];
    hid_t space = H5Dget_space(c->set), memory = H5Screate_simple(1, &count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &from, NULL, &count, NULL);
    const herr_t read = H5Dread(c->set, c->type, memory, space, H5P_DEFAULT, c->block.all);
    H5Sclose(space);
    H5Sclose(memory);
    if (read < 0)
      OSLA_CALL(osli_hdf5_check_filters(c->set, t->header.file, t->header.name[c->key]));
    OSLA_CHECK(read >= 0, OSLA_ERR_IO, "%s: HDF5 cannot read %s", t->header.file,
               t->header.name[c->key]);
  }
  return OSLA_OK;
}

/* Frees the strings that HDF5 has allocated. */
static void release_block(hdf5_table *t, hsize_t count)
{
  for (int i = 0; i < t->count; i++) {
    data_set *c = &t->column[i];
    if (!c->pointers) continue;
    hid_t memory = H5Screate_simple(1, &count, NULL);
    H5Dvlen_reclaim(c->type, memory, H5P_DEFAULT, c->block.all);
    H5Sclose(memory);
    memset(c->block.pointer, 0, BLOCK * sizeof *c->block.pointer);
  }
}

static osla_err take_block(const hdf5_table *t, hsize_t from, hsize_t count,
                           table_row_callback *callback, void *arg)
{
  table_line line = {.header = &t->header, .elements = true};
  for (hsize_t row = 0; row < count; row++) {
    line.place = (int64_t)(from + row);
    for (int i = 0; i < t->count; i++) {
      const data_set *c = &t->column[i];
      table_cell *cell = &line.cell[c->key];
      if (c->pointers)
        cell->text = c->block.pointer[row] ? c->block.pointer[row] : "";
      else if (c->width > 0)
        cell->text = c->block.text + row * c->width;
      else
        cell->number = c->block.number[row];
    }
    OSLA_CALL(callback(arg, &line));
  }
  return OSLA_OK;
}

static osla_err read_table(hdf5_table *t, const char *file, table_row_callback *callback, void *arg)
{
  OSLA_CALL(open_table(t, file));
  for (hsize_t from = 0; from < t->rows; from += BLOCK) {
    const hsize_t count = t->rows - from < BLOCK ? t->rows - from : BLOCK;
    osla_err err = read_block(t, from, count);
    if (err == OSLA_OK) err = take_block(t, from, count, callback, arg);
    release_block(t, count);
    OSLA_CALL(err);
  }
  return OSLA_OK;
}

osla_err table_read_hdf5_here(const char *file, table_row_callback *callback, void *arg)
{
  const size_t length = strlen(file);
  hdf5_table t = {.header = {.file = length > 200 ? file + length - 200 : file}};
  osla_err err;
  H5E_BEGIN_TRY
  {
    err = read_table(&t, file, callback, arg);
    close_table(&t);
  }
  H5E_END_TRY
  return err;
}

#else

osla_err table_read_hdf5_here(const char *file, table_row_callback *callback, void *arg)
{
  (void)callback;
  (void)arg;
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "%.200s: this build reads no HDF5", file);
}

#endif
