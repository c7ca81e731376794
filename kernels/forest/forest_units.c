/* Types of numbers in a vertex, and their combinations. A macro writes the loops over vertices and
 * over the numbers of a vertex, for each type and each combination that the type has. */
#include "kernels/forest/forest_units.h"

#include <inttypes.h>
#include <string.h>

/* The last name is that of a combination by a function of the caller (FOREST_BY_FUNCTION in
 * forest.h). */
static const char *const combine_names[OSLA_COMBINES + 1] = {
  "REPLACE",    "SUM",         "PROD",      "MIN",          "MAX",      "LOGICAL_AND",
  "LOGICAL_OR", "LOGICAL_XOR", "BITS_AND",  "BITS_OR",      "BITS_XOR", "MINLOC",
  "MAXLOC",     "SUM_ARRIVAL", "SUM_EXACT", "by a function"};

const char *osli_unit_name(osla_unit_type type)
{
  return osli_unit_facts[type].name;
}
const char *osli_forest_combine_name(osla_forest_combine combine)
{
  return combine_names[combine];
}

static bool allows(const unit_facts *f, osla_forest_combine combine)
{
  switch (combine) {
    case OSLA_REPLACE: return true;
    case OSLA_SUM:
    case OSLA_SUM_ARRIVAL:
    case OSLA_PROD: return f->kind != UNIT_BYTES && f->kind != UNIT_POSITION;
    case OSLA_SUM_EXACT:
      return f->kind == UNIT_COMPLEX ||
             (f->kind == UNIT_REAL && f != &osli_unit_facts[OSLA_UNIT_LONG_DOUBLE]);
    case OSLA_MIN:
    case OSLA_MAX: return f->kind == UNIT_INTEGER || f->kind == UNIT_REAL;
    case OSLA_MINLOC:
    case OSLA_MAXLOC: return f->kind == UNIT_POSITION;
    default: return f->kind == UNIT_INTEGER;
  }
}

osla_err osli_unit_check(osla_unit unit, osla_forest_combine combine)
{
  OSLA_CHECK((unsigned)unit.type < OSLA_UNIT_TYPES, OSLA_ERR_ARG, "unit: type = %d is unknown",
             (int)unit.type);
  OSLA_CHECK((unsigned)combine < OSLA_COMBINES, OSLA_ERR_ARG, "combination %d is unknown",
             (int)combine);
  const unit_facts *f = &osli_unit_facts[unit.type];
  OSLA_CHECK(unit.count > 0, OSLA_ERR_ARG, "unit: count = %" PRId32 " is not positive", unit.count);
  int64_t bytes = (int64_t)osli_unit_bytes(unit);
  OSLA_CHECK(unit.stride == 0 || unit.stride >= bytes, OSLA_ERR_ARG,
             "unit: stride = %" PRId64 " bytes, but %" PRId32 " of %s take %" PRId64, unit.stride,
             unit.count, f->name, bytes);
  OSLA_CHECK(allows(f, combine), OSLA_ERR_ARG, "%s has no %s", f->name, combine_names[combine]);
  return OSLA_OK;
}

/* ---- loops over vertices ---- */

/* number of iterations by which vertices are prefetched if they have an index list, and so may be
 * anywhere in memory */
enum { AHEAD = 16 };

/* Loop for one combination. If `before` is not NULL, the old numbers are also copied to the
 * vertices of keep_list. */
#define EACH(type, expression)                                                                     \
  for (int64_t i = 0; i < n; i++) {                                                                \
    if (to_list.at && i + AHEAD < n) __builtin_prefetch(osli_vertex(&to_list, i + AHEAD), 1);      \
    type *to = (type *)(void *)osli_vertex(&to_list, i);                                           \
    const type *from = (const type *)(const void *)osli_vertex(&from_list, i);                     \
    type *keep = before ? (type *)(void *)osli_vertex(&keep_list, i) : NULL;                       \
    for (int64_t c = 0; c < count; c++) {                                                          \
      if (before) keep[c] = to[c];                                                                 \
      to[c] = (type)(expression);                                                                  \
    }                                                                                              \
  }                                                                                                \
  break

#define NUMBERS(type)                                                                              \
  case OSLA_SUM: EACH(type, to[c] + from[c]);                                                      \
  case OSLA_PROD:                                                                                  \
    EACH(type, to[c] * from[c])

#define ORDERED(type)                                                                              \
  NUMBERS(type);                                                                                   \
  case OSLA_MIN: EACH(type, from[c] < to[c] ? from[c] : to[c]);                                    \
  case OSLA_MAX:                                                                                   \
    EACH(type, from[c] > to[c] ? from[c] : to[c])

#define INTEGERS(type)                                                                             \
  ORDERED(type);                                                                                   \
  case OSLA_LOGICAL_AND: EACH(type, to[c] && from[c]);                                             \
  case OSLA_LOGICAL_OR: EACH(type, to[c] || from[c]);                                              \
  case OSLA_LOGICAL_XOR: EACH(type, !to[c] != !from[c]);                                           \
  case OSLA_BITS_AND: EACH(type, to[c] & from[c]);                                                 \
  case OSLA_BITS_OR: EACH(type, to[c] | from[c]);                                                  \
  case OSLA_BITS_XOR:                                                                              \
    EACH(type, to[c] ^ from[c])

#define BEFORE(a, b) (a.at < b.at ? a : b)
#define PLACES(type)                                                                               \
  case OSLA_MINLOC:                                                                                \
    EACH(type, from[c].value < to[c].value   ? from[c]                                             \
               : to[c].value < from[c].value ? to[c]                                               \
                                             : BEFORE(from[c], to[c]));                            \
  case OSLA_MAXLOC:                                                                                \
    EACH(type, from[c].value > to[c].value   ? from[c]                                             \
               : to[c].value > from[c].value ? to[c]                                               \
                                             : BEFORE(from[c], to[c]))

#define LOOPS(name, type, combinations)                                                            \
  static inline __attribute__((always_inline)) void name##_loops(                                  \
    osla_forest_combine combine, int64_t count, vertex_list to_list, vertex_list from_list,        \
    const vertex_list *before, int64_t n)                                                          \
  {                                                                                                \
    const vertex_list keep_list = before ? *before : to_list;                                      \
    switch (combine) {                                                                             \
      case OSLA_REPLACE: EACH(type, from[c]); combinations(type);                                  \
      default: break;                                                                              \
    }                                                                                              \
  }                                                                                                \
  static void name(osla_forest_combine combine, int64_t count, const vertex_list *to,              \
                   const vertex_list *from, const vertex_list *before, int64_t n)                  \
  {                                                                                                \
    const int64_t dense = sizeof(type);                                                            \
    if (count == 1 && to->stride == dense && from->stride == dense) {                              \
      const vertex_list to_dense = {to->base, dense, to->at, to->first, NULL, NULL};               \
      const vertex_list from_dense = {from->base, dense, from->at, from->first, NULL, NULL};       \
      if (before)                                                                                  \
        name##_loops(combine, 1, to_dense, from_dense, before, n);                                 \
      else                                                                                         \
        name##_loops(combine, 1, to_dense, from_dense, NULL, n);                                   \
    } else if (before) {                                                                           \
      name##_loops(combine, count, *to, *from, before, n);                                         \
    } else {                                                                                       \
      name##_loops(combine, count, *to, *from, NULL, n);                                           \
    }                                                                                              \
  }

#define NOTHING(type)
LOOPS(on_bytes, unsigned char, NOTHING)
LOOPS(on_int8, int8_t, INTEGERS)
LOOPS(on_int16, int16_t, INTEGERS)
LOOPS(on_int32, int32_t, INTEGERS)
LOOPS(on_int64, int64_t, INTEGERS)
LOOPS(on_uint8, uint8_t, INTEGERS)
LOOPS(on_uint16, uint16_t, INTEGERS)
LOOPS(on_uint32, uint32_t, INTEGERS)
LOOPS(on_uint64, uint64_t, INTEGERS)
LOOPS(on_float, float, ORDERED)
LOOPS(on_double, double, ORDERED)
LOOPS(on_long_double, long double, ORDERED)
LOOPS(on_complex_float, float _Complex, NUMBERS)
LOOPS(on_complex_double, double _Complex, NUMBERS)
LOOPS(on_float_at, osla_float_at, PLACES)
LOOPS(on_double_at, osla_double_at, PLACES)
LOOPS(on_int64_at, osla_int64_at, PLACES)

#define FACTS(name, type, kind, loops)                                                             \
  {                                                                                                \
    name, sizeof(type), _Alignof(type), kind, loops                                                \
  }
const unit_facts osli_unit_facts[OSLA_UNIT_TYPES] = {
  [OSLA_UNIT_BYTES] = FACTS("bytes", unsigned char, UNIT_BYTES, on_bytes),
  [OSLA_UNIT_INT8] = FACTS("int8", int8_t, UNIT_INTEGER, on_int8),
  [OSLA_UNIT_INT16] = FACTS("int16", int16_t, UNIT_INTEGER, on_int16),
  [OSLA_UNIT_INT32] = FACTS("int32", int32_t, UNIT_INTEGER, on_int32),
  [OSLA_UNIT_INT64] = FACTS("int64", int64_t, UNIT_INTEGER, on_int64),
  [OSLA_UNIT_UINT8] = FACTS("uint8", uint8_t, UNIT_INTEGER, on_uint8),
  [OSLA_UNIT_UINT16] = FACTS("uint16", uint16_t, UNIT_INTEGER, on_uint16),
  [OSLA_UNIT_UINT32] = FACTS("uint32", uint32_t, UNIT_INTEGER, on_uint32),
  [OSLA_UNIT_UINT64] = FACTS("uint64", uint64_t, UNIT_INTEGER, on_uint64),
  [OSLA_UNIT_FLOAT] = FACTS("float", float, UNIT_REAL, on_float),
  [OSLA_UNIT_DOUBLE] = FACTS("double", double, UNIT_REAL, on_double),
  [OSLA_UNIT_LONG_DOUBLE] = FACTS("long double", long double, UNIT_REAL, on_long_double),
  [OSLA_UNIT_COMPLEX_FLOAT] =
    FACTS("complex float", float _Complex, UNIT_COMPLEX, on_complex_float),
  [OSLA_UNIT_COMPLEX_DOUBLE] =
    FACTS("complex double", double _Complex, UNIT_COMPLEX, on_complex_double),
  [OSLA_UNIT_FLOAT_AT] = FACTS("float with position", osla_float_at, UNIT_POSITION, on_float_at),
  [OSLA_UNIT_DOUBLE_AT] =
    FACTS("double with position", osla_double_at, UNIT_POSITION, on_double_at),
  [OSLA_UNIT_INT64_AT] = FACTS("int64 with position", osla_int64_at, UNIT_POSITION, on_int64_at),
};

/* ---- identities of combinations ---- */

/* Identity of an integer combination, in the low bytes of the result. */
static uint64_t identity_bits(osla_unit_type type, osla_forest_combine combine)
{
  const uint64_t ones = UINT64_MAX >> (64 - 8 * osli_unit_facts[type].bytes);
  const bool sign = type <= OSLA_UNIT_INT64;
  switch (combine) {
    case OSLA_PROD:
    case OSLA_LOGICAL_AND: return 1;
    case OSLA_BITS_AND: return ones;
    case OSLA_MIN: return sign ? ones >> 1 : ones;
    case OSLA_MAX: return sign ? ones - (ones >> 1) : 0;
    default: return 0;
  }
}

void osli_unit_identity(osla_unit_type type, osla_forest_combine combine, int64_t count,
                        unsigned char *to, int64_t stride, int64_t n)
{
  const size_t bytes = osli_unit_facts[type].bytes;
  const uint64_t bits = osli_unit_is_integer(type) ? identity_bits(type, combine) : 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t c = 0; c < count; c++) {
      unsigned char *at = to + i * stride + c * (int64_t)bytes;
      switch (bytes) {
        case 1: *at = (uint8_t)bits; break;
        case 2: memcpy(at, &(uint16_t){(uint16_t)bits}, bytes); break;
        case 4: memcpy(at, &(uint32_t){(uint32_t)bits}, bytes); break;
        case 8: memcpy(at, &bits, bytes); break;
        default: memset(at, 0, bytes);
      }
    }
}
