#include "tests/kernels/model_value.h"

#include "osla_random.h"

#include <float.h>
#include <string.h>

typedef enum family { BYTES, SIGNED, UNSIGNED, REAL, COMPLEX, PLACED } family;

static const struct {
  const char *name;
  family family;
  size_t size, align;
} types[OSLA_UNIT_TYPES] = {
  [OSLA_UNIT_BYTES] = {"bytes", BYTES, 1, 1},
  [OSLA_UNIT_INT8] = {"int8", SIGNED, 1, 1},
  [OSLA_UNIT_INT16] = {"int16", SIGNED, 2, _Alignof(int16_t)},
  [OSLA_UNIT_INT32] = {"int32", SIGNED, 4, _Alignof(int32_t)},
  [OSLA_UNIT_INT64] = {"int64", SIGNED, 8, _Alignof(int64_t)},
  [OSLA_UNIT_UINT8] = {"uint8", UNSIGNED, 1, 1},
  [OSLA_UNIT_UINT16] = {"uint16", UNSIGNED, 2, _Alignof(uint16_t)},
  [OSLA_UNIT_UINT32] = {"uint32", UNSIGNED, 4, _Alignof(uint32_t)},
  [OSLA_UNIT_UINT64] = {"uint64", UNSIGNED, 8, _Alignof(uint64_t)},
  [OSLA_UNIT_FLOAT] = {"float", REAL, sizeof(float), _Alignof(float)},
  [OSLA_UNIT_DOUBLE] = {"double", REAL, sizeof(double), _Alignof(double)},
  [OSLA_UNIT_LONG_DOUBLE] = {"long double", REAL, sizeof(long double), _Alignof(long double)},
  [OSLA_UNIT_COMPLEX_FLOAT] = {"complex float", COMPLEX, 8, _Alignof(float)},
  [OSLA_UNIT_COMPLEX_DOUBLE] = {"complex double", COMPLEX, 16, _Alignof(double)},
  [OSLA_UNIT_FLOAT_AT] = {"float at", PLACED, sizeof(osla_float_at), _Alignof(osla_float_at)},
  [OSLA_UNIT_DOUBLE_AT] = {"double at", PLACED, sizeof(osla_double_at), _Alignof(osla_double_at)},
  [OSLA_UNIT_INT64_AT] = {"int64 at", PLACED, sizeof(osla_int64_at), _Alignof(osla_int64_at)},
};

static const char *const combine_names[OSLA_COMBINES] = {
  "replace",     "sum",      "prod",    "min",      "max",    "logical and", "logical or",
  "logical xor", "bits and", "bits or", "bits xor", "minloc", "maxloc",      "sum on arrival",
  "exact sum",
};

size_t model_size(osla_unit_type type)
{
  return types[type].size;
}

size_t model_align(osla_unit_type type)
{
  return types[type].align;
}

const char *model_type_name(osla_unit_type type)
{
  return types[type].name;
}

const char *model_combine_name(osla_forest_combine combine)
{
  return combine_names[combine];
}

bool model_allows(osla_unit_type type, osla_forest_combine combine)
{
  if (combine == OSLA_REPLACE) return true;
  bool placed = combine == OSLA_MINLOC || combine == OSLA_MAXLOC;
  switch (types[type].family) {
    case BYTES: return false;
    case SIGNED:
    case UNSIGNED: return !placed && combine != OSLA_SUM_EXACT;
    case REAL:
      if (combine == OSLA_SUM_EXACT) return type != OSLA_UNIT_LONG_DOUBLE;
      return combine <= OSLA_MAX || combine == OSLA_SUM_ARRIVAL;
    case COMPLEX:
      return combine == OSLA_SUM || combine == OSLA_PROD || combine == OSLA_SUM_ARRIVAL ||
             combine == OSLA_SUM_EXACT;
    case PLACED: return placed;
  }
  return false;
}

/* ---- values in memory ---- */

static model_value get_integer(bool sign, size_t size, const char *from)
{
  int8_t a = 0;
  int16_t b = 0;
  int32_t c = 0;
  int64_t i = 0;
  memcpy(size == 1 ? (void *)&a : size == 2 ? (void *)&b : size == 4 ? (void *)&c : &i, from, size);
  i += a + b + c;
  uint64_t all = size == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * size) - 1;
  return sign ? (model_value){.i = i} : (model_value){.u = (uint64_t)i & all};
}

static void put_integer(uint64_t bits, size_t size, char *to)
{
  uint8_t a = (uint8_t)bits;
  uint16_t b = (uint16_t)bits;
  uint32_t c = (uint32_t)bits;
  memcpy(to,
         size == 1   ? (void *)&a
         : size == 2 ? (void *)&b
         : size == 4 ? (void *)&c
                     : &bits,
         size);
}

model_value model_load(osla_unit_type type, const void *array, int64_t at)
{
  const char *from = (const char *)array + (size_t)at * types[type].size;
  float f[2];
  double d[2];
  long double l;
  osla_float_at fa;
  osla_double_at da;
  osla_int64_at ia;
  switch (type) {
    case OSLA_UNIT_FLOAT: memcpy(f, from, sizeof *f); return (model_value){.x = f[0]};
    case OSLA_UNIT_DOUBLE: memcpy(d, from, sizeof *d); return (model_value){.x = d[0]};
    case OSLA_UNIT_LONG_DOUBLE: memcpy(&l, from, sizeof l); return (model_value){.x = l};
    case OSLA_UNIT_COMPLEX_FLOAT:
      memcpy(f, from, sizeof f);
      return (model_value){.x = f[0], .y = f[1]};
    case OSLA_UNIT_COMPLEX_DOUBLE:
      memcpy(d, from, sizeof d);
      return (model_value){.x = d[0], .y = d[1]};
    case OSLA_UNIT_FLOAT_AT:
      memcpy(&fa, from, sizeof fa);
      return (model_value){.x = fa.value, .at = fa.at};
    case OSLA_UNIT_DOUBLE_AT:
      memcpy(&da, from, sizeof da);
      return (model_value){.x = da.value, .at = da.at};
    case OSLA_UNIT_INT64_AT:
      memcpy(&ia, from, sizeof ia);
      return (model_value){.i = ia.value, .at = ia.at};
    default: return get_integer(types[type].family == SIGNED, types[type].size, from);
  }
}

void model_store(osla_unit_type type, void *array, int64_t at, model_value value)
{
  char *to = (char *)array + (size_t)at * types[type].size;
  float f[2] = {(float)value.x, (float)value.y};
  double d[2] = {(double)value.x, (double)value.y};
  osla_float_at fa = {(float)value.x, (int32_t)value.at};
  osla_double_at da = {(double)value.x, value.at};
  osla_int64_at ia = {value.i, value.at};
  switch (type) {
    case OSLA_UNIT_FLOAT: memcpy(to, f, sizeof *f); break;
    case OSLA_UNIT_DOUBLE: memcpy(to, d, sizeof *d); break;
    case OSLA_UNIT_LONG_DOUBLE: memcpy(to, &value.x, sizeof value.x); break;
    case OSLA_UNIT_COMPLEX_FLOAT: memcpy(to, f, sizeof f); break;
    case OSLA_UNIT_COMPLEX_DOUBLE: memcpy(to, d, sizeof d); break;
    case OSLA_UNIT_FLOAT_AT: memcpy(to, &fa, sizeof fa); break;
    case OSLA_UNIT_DOUBLE_AT: memcpy(to, &da, sizeof da); break;
    case OSLA_UNIT_INT64_AT: memcpy(to, &ia, sizeof ia); break;
    default: put_integer((uint64_t)value.i | value.u, types[type].size, to);
  }
}

bool model_equal(model_value a, model_value b)
{
  return a.i == b.i && a.u == b.u && a.x == b.x && a.y == b.y && a.at == b.at;
}

/* ---- combinations of two values ---- */

static int64_t combine_signed(osla_forest_combine combine, int64_t a, int64_t b)
{
  switch (combine) {
    case OSLA_SUM: return a + b;
    case OSLA_PROD: return a * b;
    case OSLA_MIN: return a < b ? a : b;
    case OSLA_MAX: return a > b ? a : b;
    case OSLA_LOGICAL_AND: return a && b;
    case OSLA_LOGICAL_OR: return a || b;
    case OSLA_LOGICAL_XOR: return !a != !b;
    case OSLA_BITS_AND: return a & b;
    case OSLA_BITS_OR: return a | b;
    case OSLA_BITS_XOR: return a ^ b;
    default: return b;
  }
}

static uint64_t combine_unsigned(osla_forest_combine combine, uint64_t a, uint64_t b)
{
  switch (combine) {
    case OSLA_SUM: return a + b;
    case OSLA_PROD: return a * b;
    case OSLA_MIN: return a < b ? a : b;
    case OSLA_MAX: return a > b ? a : b;
    default: return (uint64_t)combine_signed(combine, (int64_t)a, (int64_t)b);
  }
}

static model_value combine_real(osla_forest_combine combine, model_value a, model_value b)
{
  model_value r = b;
  switch (combine) {
    case OSLA_SUM: r.x = a.x + b.x, r.y = a.y + b.y; break;
    case OSLA_PROD: r.x = a.x * b.x - a.y * b.y, r.y = a.x * b.y + a.y * b.x; break;
    case OSLA_MIN: r = a.x < b.x ? a : b; break;
    case OSLA_MAX: r = a.x > b.x ? a : b; break;
    default: break;
  }
  return r;
}

/* Combines two values with positions (MINLOC, MAXLOC). A value is in member x or in member i, and
 * the other member is 0. */
static model_value combine_placed(osla_forest_combine combine, model_value a, model_value b)
{
  bool less = a.x < b.x || a.i<b.i, more = a.x> b.x || a.i > b.i;
  if (combine == OSLA_REPLACE) return b;
  if (!less && !more) return a.at < b.at ? a : b;
  return less == (combine == OSLA_MINLOC) ? a : b;
}

/* Replaces the special sums by the plain sum, which is equal, since sums of drawn values are exact
 * in any order. */
static osla_forest_combine plain(osla_forest_combine combine)
{
  return combine == OSLA_SUM_ARRIVAL || combine == OSLA_SUM_EXACT ? OSLA_SUM : combine;
}

model_value model_combine(osla_unit_type type, osla_forest_combine combine, model_value old,
                          model_value value)
{
  combine = plain(combine);
  switch (types[type].family) {
    case SIGNED: return (model_value){.i = combine_signed(combine, old.i, value.i)};
    case UNSIGNED: return (model_value){.u = combine_unsigned(combine, old.u, value.u)};
    case REAL:
    case COMPLEX: return combine_real(combine, old, value);
    case PLACED: return combine_placed(combine, old, value);
    case BYTES: break;
  }
  return value;
}

/* ---- random values ---- */

/* Draws an integer of `size` bytes. It is returned in 64 bits, of which the type takes the lower
 * ones. */
static uint64_t draw_integer(osla_forest_combine combine, bool sign, size_t size, uint64_t bits)
{
  uint64_t low = size > 1 ? bits >> 40 & 15 : 0,
           scale = (uint64_t)1 << (size > 1 ? 8 * size - 12 : 0);
  switch (combine) {
    case OSLA_SUM: return (bits % 19 - (sign ? 9 : 0)) / (sign ? 1 : 2) * scale + low;
    case OSLA_PROD:
      if (bits % 4 == 0) return size > 1 ? 3 : 2;
      return sign && bits % 4 == 1 ? UINT64_MAX : 1;
    case OSLA_LOGICAL_AND:
    case OSLA_LOGICAL_OR:
    case OSLA_LOGICAL_XOR:
      if (bits % 8 < 3) return 0;
      return bits % 8 == 4 && size > 1 ? bits << 8 : bits >> 8 | 1;
    default: return bits;
  }
}

/* Draws a number that the type represents exactly; it uses at most `digits` bits of the mantissa.
 */
static long double draw_real(osla_forest_combine combine, int digits, uint64_t bits)
{
  int64_t whole = (int64_t)(bits >> (64 - digits)) - ((int64_t)1 << (digits - 1));
  int64_t factor = digits <= 24 ? 1 : ((int64_t)1 << (digits > 53 ? 52 : 42)) + 1;
  switch (combine) {
    case OSLA_SUM: return (long double)(((int64_t)(bits % 19) - 9) * factor);
    case OSLA_PROD: return (long double)((int64_t)(bits % 5) - 2);
    default: return (long double)whole / 1024.0L;
  }
}

/* Draws a value with a position. There are only five values, so that many are equal. */
static model_value draw_placed(osla_unit_type type, uint64_t bits)
{
  int64_t value = (int64_t)(bits % 5) - 2, at = (int64_t)(bits >> 20 & 1023) - 512;
  if (type == OSLA_UNIT_FLOAT_AT) return (model_value){.x = (long double)value, .at = at * 4000000};
  at = at * (((int64_t)1 << 53) + 1);
  if (type == OSLA_UNIT_INT64_AT)
    return (model_value){.i = value * (((int64_t)1 << 58) + 1), .at = at};
  return (model_value){.x = (long double)(value * (((int64_t)1 << 50) + 1)), .at = at};
}

model_value model_draw(osla_unit_type type, osla_forest_combine combine, uint64_t seed, uint64_t i,
                       uint64_t j)
{
  combine = plain(combine);
  uint64_t bits = osla_random_bits(seed, i, j), other = osla_random_bits(~seed, i, j);
  size_t size = types[type].size;
  bool sign = types[type].family == SIGNED;
  int digits = type == OSLA_UNIT_FLOAT || type == OSLA_UNIT_COMPLEX_FLOAT ? FLT_MANT_DIG
               : type != OSLA_UNIT_LONG_DOUBLE || LDBL_MANT_DIG < 60      ? DBL_MANT_DIG
                                                                          : 60;
  model_value value = {.x = draw_real(combine, digits, bits)};
  switch (types[type].family) {
    case COMPLEX: value.y = draw_real(combine, digits, other); return value;
    case REAL: return value;
    case PLACED: return draw_placed(type, bits);
    default: break;
  }
  char raw[8] = "";
  put_integer(draw_integer(combine, sign, size, bits), size, raw);
  return get_integer(sign, size, raw);
}
