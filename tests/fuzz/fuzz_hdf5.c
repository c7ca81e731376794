/* Plain HDF5 calls: the independent parser of updates, and a walk through a whole file that shows
 * whether HDF5 itself crashes on it. */
#include "tests/fuzz/fuzz.h"

#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 22 }; /* greatest number of elements of a data set that is read */

typedef struct array {
  bool there;
  hsize_t dims[2];
  size_t count;
  union {
    int64_t *i;
    double *x;
    void *any;
  } at;
} array;

typedef struct file {
  hid_t id;
  const char *wrong;
  bool large;
} file;

/* Reads a whole data set. If floating-point numbers are expected, integers are accepted, too. A
 * link that cannot be opened is an error. */
static array load(file *f, const char *name, H5T_class_t class, int rank)
{
  array a = {.dims = {0, 1}};
  htri_t exists = H5Lexists(f->id, name, H5P_DEFAULT);
  if (exists == 0) return a;
  hid_t set = exists > 0 ? H5Dopen2(f->id, name, H5P_DEFAULT) : -1;
  hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  double elements = 1;
  a.there = true;
  const H5T_class_t stored = H5Tget_class(type);
  if (set < 0 || (stored != class && stored != H5T_INTEGER) ||
      H5Sget_simple_extent_type(space) != H5S_SIMPLE || H5Sget_simple_extent_ndims(space) != rank) {
    f->wrong = name;
    return a;
  }
  (void)H5Sget_simple_extent_dims(space, a.dims, NULL);
  for (int i = 0; i < rank; i++)
    elements *= (double)a.dims[i];
  if (elements > MOST) {
    f->large = true;
    return a;
  }
  a.count = (size_t)elements;
  a.at.any = calloc(a.count + 1, sizeof(double));
  hid_t memory = class == H5T_INTEGER ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
  if (a.count > 0 && H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, a.at.any) < 0)
    f->wrong = name;
  for (size_t i = 0; class == H5T_FLOAT && i < a.count; i++)
    if (!isfinite(a.at.x[i])) f->wrong = name;
  (void)H5Sclose(space);
  (void)H5Tclose(type);
  (void)H5Dclose(set);
  return a;
}

static void need(file *f, bool condition, const char *what)
{
  if (!condition && !f->wrong) f->wrong = what;
}

static uint64_t sum_of(const array *a, size_t from)
{
  return a->there && a->count > from
           ? fuzz_hash(0, a->at.x + from, (a->count - from) * sizeof *a->at.x)
           : 0;
}

/* Checks that the arrays fit together, and computes their digest. */
static void compare(file *f, fuzz_result *result)
{
  array ix = load(f, "ix", H5T_INTEGER, 1), offset = load(f, "offset", H5T_INTEGER, 1);
  array values = load(f, "G", H5T_FLOAT, 2), w = {0}, r = {0}, g = load(f, "g", H5T_FLOAT, 1);
  bool panels = values.there;
  if (!panels) values = load(f, "U", H5T_FLOAT, 1);
  if (panels) w = load(f, "w", H5T_FLOAT, 2);
  if (panels) r = load(f, "r", H5T_FLOAT, 2);
  need(f, ix.there && values.there, "ix, G or U is missing");
  if (f->wrong || f->large) return;
  int64_t one[2] = {0, (int64_t)ix.count};
  if (!offset.there) offset = (array){.there = true, .count = 2, .at.i = one};
  need(f, offset.count > 0 && offset.at.i[0] == 0, "offset begins");
  need(f, offset.count > 0 && offset.at.i[offset.count - 1] == (int64_t)ix.count, "offset ends");
  double squares = 0;
  for (size_t u = 1; !f->wrong && u < offset.count; u++) {
    double n = (double)(offset.at.i[u] - offset.at.i[u - 1]);
    need(f, offset.at.i[u] >= offset.at.i[u - 1], "offset falls");
    squares += n * n;
  }
  hsize_t count = offset.count - 1;
  need(f,
       panels ? values.dims[0] == ix.count && values.dims[1] > 0 : (double)values.count == squares,
       "shape of G or U");
  need(f, !w.there || (w.dims[0] == count && w.dims[1] == values.dims[1]), "shape of w");
  need(f, !r.there || (r.dims[0] == count && r.dims[1] == values.dims[1]), "shape of r");
  need(f, !g.there || g.count == ix.count, "shape of g");
  for (size_t i = 0; w.there && i < w.count; i++)
    need(f, w.at.x[i] >= 0, "w is negative");
  for (size_t i = 0; i < ix.count; i++) {
    if (i == 0 || ix.at.i[i] < result->low) result->low = ix.at.i[i];
    if (i == 0 || ix.at.i[i] > result->high) result->high = ix.at.i[i];
  }
  if (f->wrong) return;
  const uint64_t sum[6] = {sum_of(&offset, 1), sum_of(&ix, 0), sum_of(&values, 0),
                           sum_of(&w, 0),      sum_of(&r, 0),  sum_of(&g, 0)};
  result->digest = fuzz_hash(0, sum, sizeof sum);
}

/* Reads a file of updates by plain HDF5 calls and computes its digest. The call runs in a child
 * that ends, so nothing is freed. */
void fuzz_judge_updates(const char *path, fuzz_result *result)
{
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  file f = {.id = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT)};
  need(&f, f.id >= 0, "not an HDF5 file");
  if (!f.wrong) compare(&f, result);
  if (f.id >= 0) (void)H5Fclose(f.id);
  result->state = f.large ? FUZZ_NOT_RUN : FUZZ_ACCEPTED;
  if (f.wrong) fuzz_reject(result, "%s", f.wrong);
}

static herr_t walk_attribute(hid_t at, const char *name, const H5A_info_t *info, void *unused)
{
  (void)info, (void)unused;
  hid_t attribute = H5Aopen(at, name, H5P_DEFAULT), type = H5Aget_type(attribute);
  hid_t space = H5Aget_space(attribute);
  hssize_t points = H5Sget_simple_extent_npoints(space);
  size_t size = H5Tget_size(type);
  if (points > 0 && points < MOST && size < MOST && points * (hssize_t)size < 8 * MOST) {
    void *value = calloc((size_t)points, size + 1);
    if (value) (void)H5Aread(attribute, type, value);
    free(value);
  }
  (void)H5Sclose(space);
  (void)H5Tclose(type);
  (void)H5Aclose(attribute);
  return 0;
}

static void walk_set(hid_t id, const char *name)
{
  if (H5Lexists(id, name, H5P_DEFAULT) <= 0) return;
  hid_t set = H5Dopen2(id, name, H5P_DEFAULT);
  if (set < 0) return;
  hid_t type = H5Dget_type(set), space = H5Dget_space(set), list = H5Dget_create_plist(set);
  hssize_t points = H5Sget_simple_extent_npoints(space);
  H5T_class_t class = H5Tget_class(type);
  (void)H5Dget_offset(set);
  (void)H5Pget_layout(list);
  (void)H5Aiterate2(set, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, walk_attribute, NULL);
  if (points > 0 && points < MOST && (class == H5T_FLOAT || class == H5T_INTEGER)) {
    void *data = calloc((size_t)points, sizeof(double));
    hid_t memory = class == H5T_INTEGER ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
    if (data) (void)H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    free(data);
  }
  (void)H5Pclose(list);
  (void)H5Sclose(space);
  (void)H5Tclose(type);
  (void)H5Dclose(set);
}

void fuzz_walk(const char *path)
{
  static const char *const names[] = {"ix", "offset", "G", "U",        "w",  "r",
                                      "g",  "H",      "h", "gradient", "ids"};
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t id = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (id < 0) return;
  (void)H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, walk_attribute, NULL);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    walk_set(id, names[i]);
  (void)H5Fclose(id);
  (void)H5close();
}
