/* The loop of DEVICE_VERTICES, which replaces, combines or fetches the numbers of listed vertices.
 * It is compiled as C for the fake device and as CUDA for a GPU (layer 0, internal, pure).
 *
 * A visit handles one number of one vertex. If several vertices of the destination list have the
 * same index, the visit of the first one handles all of them, in the order of the list. So no
 * number is written by two visits, all visits may run at the same time, and no atomic operation is
 * needed. The bits of a sum are those of a serial loop. */
#ifndef OSLA_DEVICE_VERTICES_H
#define OSLA_DEVICE_VERTICES_H

#include <stddef.h>
#include <stdint.h>

/* Marks a function that runs on the host and, if nvcc compiles it, also on the device. */
#ifndef OSLI_EVERYWHERE
#ifdef __CUDACC__
#define OSLI_EVERYWHERE __host__ __device__ static inline
#else
#define OSLI_EVERYWHERE static inline
#endif
#endif

/* Types of numbers. The constants have the values of osla_unit_type. A device cannot handle numbers
 * of type VERTEX_LONG_DOUBLE. */
typedef enum vertex_type {
  VERTEX_BYTES,
  VERTEX_INT8,
  VERTEX_INT16,
  VERTEX_INT32,
  VERTEX_INT64,
  VERTEX_UINT8,
  VERTEX_UINT16,
  VERTEX_UINT32,
  VERTEX_UINT64,
  VERTEX_FLOAT,
  VERTEX_DOUBLE,
  VERTEX_LONG_DOUBLE,
  VERTEX_COMPLEX_FLOAT,
  VERTEX_COMPLEX_DOUBLE,
  VERTEX_FLOAT_AT,
  VERTEX_DOUBLE_AT,
  VERTEX_INT64_AT
} vertex_type;

/* Operations that combine two numbers. The constants have the values of osla_forest_combine. */
typedef enum vertex_combine {
  VERTEX_REPLACE,
  VERTEX_SUM,
  VERTEX_PROD,
  VERTEX_MIN,
  VERTEX_MAX,
  VERTEX_LOGICAL_AND,
  VERTEX_LOGICAL_OR,
  VERTEX_LOGICAL_XOR,
  VERTEX_BITS_AND,
  VERTEX_BITS_OR,
  VERTEX_BITS_XOR,
  VERTEX_MINLOC,
  VERTEX_MAXLOC
} vertex_combine;

/* Vertices of an array. Vertex i lies at base + stride * index, in bytes. The index is at[i] if
 * `at` is not NULL. Otherwise the index is first + i if n[0] = 0. Otherwise the vertices form a
 * block of three dimensions, and vertex i is entry number first + i = i0 + n[0] * (i1 + n[1] * i2)
 * of the block, with the index origin + i0 * step[0] + i1 * step[1] + i2 * step[2]. */
typedef struct vertex_side {
  unsigned char *base; /* address of the vertex with index 0; NULL if there are no vertices */
  int64_t stride;
  const uint32_t *at;
  int64_t first, origin, n[2], step[3];
} vertex_side;

typedef struct vertices_loop {
  vertex_type type;
  vertex_combine combine;
  int64_t n,          /* number of vertices in each list */
    count;            /* number of numbers in a vertex */
  vertex_side to,     /* vertices that are changed */
    from;             /* vertices with which those of `to` are combined */
  vertex_side before; /* receives the old numbers of `to`, unless its base is NULL */
  /* Vertex i of the loop is number start + i of a longer list of destinations, in which several
   * vertices may have equal indices. If all indices differ, `earlier` and `later` are NULL. */
  int64_t start;
  const uint32_t *earlier, /* number in the longer list of the nearest earlier vertex with the same
                              index as each vertex, or UINT32_MAX */
    *later; /* number in the longer list of the nearest later vertex with the same index as each
               vertex, or UINT32_MAX */
} vertices_loop;

OSLI_EVERYWHERE unsigned char *vertex_address(const vertex_side *v, int64_t i)
{
  int64_t index = v->first + i;
  if (v->at) {
    index = v->at[i];
  } else if (v->n[0] > 0) {
    const int64_t row = index / v->n[0];
    index = v->origin + index % v->n[0] * v->step[0] + row % v->n[1] * v->step[1] +
            row / v->n[1] * v->step[2];
  }
  return v->base + v->stride * index;
}

/* Defines the function `name`, which combines the number *to of a type with the number *from.
 * `combinations` are the cases of its switch besides VERTEX_REPLACE. */
#define VERTEX_NUMBER(name, type, combinations)                                                    \
  OSLI_EVERYWHERE void name(vertex_combine combine, type *to, const type *from)                    \
  {                                                                                                \
    const type a = *to, b = *from;                                                                 \
    switch (combine) {                                                                             \
      case VERTEX_REPLACE:                                                                         \
        *to = b;                                                                                   \
        break;                                                                                     \
        combinations(type) default : break;                                                        \
    }                                                                                              \
  }
#define VERTEX_NUMBERS(type)                                                                       \
  case VERTEX_SUM: *to = (type)(a + b); break;                                                     \
  case VERTEX_PROD: *to = (type)(a * b); break;                                                    \
  case VERTEX_MIN: *to = b < a ? b : a; break;                                                     \
  case VERTEX_MAX:                                                                                 \
    *to = b > a ? b : a;                                                                           \
    break;
#define VERTEX_INTEGERS(type)                                                                      \
  VERTEX_NUMBERS(type)                                                                             \
  case VERTEX_LOGICAL_AND: *to = (type)(a && b); break;                                            \
  case VERTEX_LOGICAL_OR: *to = (type)(a || b); break;                                             \
  case VERTEX_LOGICAL_XOR: *to = (type)(!a != !b); break;                                          \
  case VERTEX_BITS_AND: *to = (type)(a & b); break;                                                \
  case VERTEX_BITS_OR: *to = (type)(a | b); break;                                                 \
  case VERTEX_BITS_XOR:                                                                            \
    *to = (type)(a ^ b);                                                                           \
    break;
#define VERTEX_COMPLEX(type)                                                                       \
  case VERTEX_SUM:                                                                                 \
    to->re = a.re + b.re;                                                                          \
    to->im = a.im + b.im;                                                                          \
    break;                                                                                         \
  case VERTEX_PROD:                                                                                \
    to->re = a.re * b.re - a.im * b.im;                                                            \
    to->im = a.re * b.im + a.im * b.re;                                                            \
    break;
/* The cases for numbers that consist of a value and its position. If two values are equal, the
 * result has the smaller position. */
#define VERTEX_POSITIONS(type)                                                                     \
  case VERTEX_MINLOC:                                                                              \
    if (b.value < a.value || (!(a.value < b.value) && b.at < a.at)) *to = b;                       \
    break;                                                                                         \
  case VERTEX_MAXLOC:                                                                              \
    if (b.value > a.value || (!(a.value > b.value) && b.at < a.at)) *to = b;                       \
    break;

typedef struct vertex_complex_float {
  float re, im;
} vertex_complex_float;
typedef struct vertex_complex_double {
  double re, im;
} vertex_complex_double;
typedef struct vertex_float_at {
  float value;
  int32_t at;
} vertex_float_at;
typedef struct vertex_double_at {
  double value;
  int64_t at;
} vertex_double_at;
typedef struct vertex_int64_at {
  int64_t value, at;
} vertex_int64_at;

VERTEX_NUMBER(vertex_int8, int8_t, VERTEX_INTEGERS)
VERTEX_NUMBER(vertex_int16, int16_t, VERTEX_INTEGERS)
VERTEX_NUMBER(vertex_int32, int32_t, VERTEX_INTEGERS)
VERTEX_NUMBER(vertex_int64, int64_t, VERTEX_INTEGERS)
VERTEX_NUMBER(vertex_uint8, uint8_t, VERTEX_INTEGERS)
VERTEX_NUMBER(vertex_uint16, uint16_t, VERTEX_INTEGERS)
VERTEX_NUMBER(vertex_uint32, uint32_t, VERTEX_INTEGERS)
VERTEX_NUMBER(vertex_uint64, uint64_t, VERTEX_INTEGERS)
VERTEX_NUMBER(vertex_float, float, VERTEX_NUMBERS)
VERTEX_NUMBER(vertex_double, double, VERTEX_NUMBERS)
VERTEX_NUMBER(vertex_of_complex_float, vertex_complex_float, VERTEX_COMPLEX)
VERTEX_NUMBER(vertex_of_complex_double, vertex_complex_double, VERTEX_COMPLEX)
VERTEX_NUMBER(vertex_of_float_at, vertex_float_at, VERTEX_POSITIONS)
VERTEX_NUMBER(vertex_of_double_at, vertex_double_at, VERTEX_POSITIONS)
VERTEX_NUMBER(vertex_of_int64_at, vertex_int64_at, VERTEX_POSITIONS)

/* Copies number c of vertex i of `to` to `before`, if wanted, and then combines it with number c of
 * vertex i of `from`, by the given function for the given type. */
#define VERTEX_EACH(function, type)                                                                \
  do {                                                                                             \
    type *to = (type *)(void *)vertex_address(&l->to, i) + c;                                      \
    const type *from = (const type *)(const void *)vertex_address(&l->from, i) + c;                \
    if (l->before.base) ((type *)(void *)vertex_address(&l->before, i))[c] = *to;                  \
    function(l->combine, to, from);                                                                \
  } while (0);                                                                                     \
  break

OSLI_EVERYWHERE void vertices_number(const vertices_loop *l, int64_t i, int64_t c)
{
  switch (l->type) {
    case VERTEX_INT8: VERTEX_EACH(vertex_int8, int8_t);
    case VERTEX_INT16: VERTEX_EACH(vertex_int16, int16_t);
    case VERTEX_INT32: VERTEX_EACH(vertex_int32, int32_t);
    case VERTEX_INT64: VERTEX_EACH(vertex_int64, int64_t);
    case VERTEX_BYTES:
    case VERTEX_UINT8: VERTEX_EACH(vertex_uint8, uint8_t);
    case VERTEX_UINT16: VERTEX_EACH(vertex_uint16, uint16_t);
    case VERTEX_UINT32: VERTEX_EACH(vertex_uint32, uint32_t);
    case VERTEX_UINT64: VERTEX_EACH(vertex_uint64, uint64_t);
    case VERTEX_FLOAT: VERTEX_EACH(vertex_float, float);
    case VERTEX_DOUBLE: VERTEX_EACH(vertex_double, double);
    case VERTEX_LONG_DOUBLE: break;
    case VERTEX_COMPLEX_FLOAT: VERTEX_EACH(vertex_of_complex_float, vertex_complex_float);
    case VERTEX_COMPLEX_DOUBLE: VERTEX_EACH(vertex_of_complex_double, vertex_complex_double);
    case VERTEX_FLOAT_AT: VERTEX_EACH(vertex_of_float_at, vertex_float_at);
    case VERTEX_DOUBLE_AT: VERTEX_EACH(vertex_of_double_at, vertex_double_at);
    case VERTEX_INT64_AT: VERTEX_EACH(vertex_of_int64_at, vertex_int64_at);
  }
}

/* Makes visit number k, from 0, of the n * count visits of the loop. The visit of a vertex that has
 * the same index as an earlier one of the loop does nothing. */
OSLI_EVERYWHERE void vertices_visit(const vertices_loop *l, int64_t k)
{
  const int64_t i = k / l->count, c = k % l->count;
  if (!l->earlier) {
    vertices_number(l, i, c);
    return;
  }
  const uint32_t before = l->earlier[l->start + i];
  if (before != UINT32_MAX && (int64_t)before >= l->start) return;
  for (int64_t j = l->start + i; j < l->start + l->n; j = l->later[j])
    vertices_number(l, j - l->start, c);
}

static inline void vertices_all(const vertices_loop *l)
{
  for (int64_t k = 0; k < l->n * l->count; k++)
    vertices_visit(l, k);
}

#endif
