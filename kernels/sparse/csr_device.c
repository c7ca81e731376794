/* Copies of sparse matrices in device memory, and products with these copies. The star forest of a
 * matrix copies values of x from the devices of their owners to the ghosts on this rank's device.
 *
 * All arrays of a copy lie in one piece of device memory. The product with entries in ghost columns
 * adds to the whole vector y on a device. Therefore the copy stores these entries as a matrix with
 * all rows of this rank, not only the rows that have such entries. */
#include "kernels/forest/forest.h"
#include "kernels/sparse/csr.h"
#include "src/memory/segment_state.h"

#include <inttypes.h>
#include <stdlib.h>

struct csr_device {
  osla_device *device;
  void *memory; /* device memory that holds all arrays of the copy */
  device_csr own, other;
  double *ghost; /* [n_ghosts] values of the ghosts, on the device */
};

/* ---- copies of the arrays ---- */

static size_t whole_units(int64_t elements, size_t bytes)
{
  return ((size_t)elements * bytes + 255) / 256 * 256;
}

static size_t part_bytes(const csr_part *p, int64_t rows)
{
  const int64_t entries = p->first[p->n];
  return whole_units(entries, sizeof(double)) + whole_units(entries, sizeof(int32_t)) +
         whole_units(rows + 1, sizeof(int32_t));
}

/* Copies an array to the address *at in device memory, and advances *at to the first free
 * address after the copy. Returns the address of the copy. */
static const void *put_array(unsigned char **at, int64_t elements, size_t bytes, const void *from)
{
  void *to = *at;
  osli_device_copy_bytes((size_t)elements * bytes, from, to);
  *at += whole_units(elements, bytes);
  return to;
}

/* Copies a part of the matrix to device memory, with all `rows` rows. row[i] is the local index of
 * row i of the part; NULL means that the part has all rows. */
static osla_err put_part(const csr_part *p, const int32_t *row, int64_t rows, int64_t columns,
                         unsigned char **at, device_csr *out)
{
  const int64_t entries = p->first[p->n];
  int32_t *first = malloc((size_t)(rows + 1) * sizeof *first);
  OSLA_CHECK(first, OSLA_ERR_MEM, "no memory for %" PRId64 " rows of a matrix", rows);
  for (int64_t i = 0, part = 0; i <= rows; i++) {
    first[i] = (int32_t)p->first[part];
    if (part < p->n && (!row || row[part] == i)) part++;
  }
  *out = (device_csr){.rows = rows, .columns = columns, .entries = entries};
  out->value = put_array(at, entries, sizeof *p->value, p->value);
  out->first = put_array(at, rows + 1, sizeof *first, first);
  out->column = put_array(at, entries, sizeof *p->column, p->column);
  free(first);
  return OSLA_OK;
}

static osla_err copy_to_device(const osla_csr *a, csr_device *d)
{
  device_queue *q = d->device->queue;
  const int64_t own = a->own.first[a->own.n], other = a->other.first[a->other.n];
  OSLA_CHECK(own < INT32_MAX && other < INT32_MAX, OSLA_ERR_RANGE,
             "%" PRId64 " entries on a rank: a device serves less than 2^31 - 1", own + other);
  OSLA_CALL(osli_device_alloc(q,
                              part_bytes(&a->own, a->rows) + part_bytes(&a->other, a->rows) +
                                whole_units(a->n_ghosts, sizeof(double)),
                              false, &d->memory));
  unsigned char *at = d->memory;
  OSLA_CALL(put_part(&a->own, NULL, a->rows, a->columns, &at, &d->own));
  OSLA_CALL(put_part(&a->other, a->other_row, a->rows, a->n_ghosts, &at, &d->other));
  d->ghost = (double *)(void *)at;
  OSLA_CALL(q->ops->csr_plan(q->state, &d->own));
  OSLA_CALL(q->ops->csr_plan(q->state, &d->other));
  return osli_device_settle(SETTLE_COPY);
}

static osla_err make_local(osla_csr *a, osla_device *device)
{
  OSLA_CHECK(device && device->t == a->t, OSLA_ERR_ARG, "osla_csr_to_device: the device %s",
             device ? "belongs to another transport" : "is NULL");
  OSLA_CHECK(!a->device, OSLA_ERR_ARG,
             "osla_csr_to_device: the matrix has a copy on a device already");
  OSLA_CHECK(osla_transport_size(a->t) == 1 || device->queue->ops->has_kernels,
             OSLA_ERR_UNSUPPORTED,
             "osla_csr_to_device: the plug-in of device \"%s\" was built without kernels, and "
             "products on %d ranks need them: build it where configure finds nvcc, or run one rank",
             device->queue->ops->name, osla_transport_size(a->t));
  csr_device *d = calloc(1, sizeof *d);
  OSLA_CHECK(d, OSLA_ERR_MEM, "copy of a matrix on a device");
  d->device = device;
  a->device = d;
  return copy_to_device(a, d);
}

osla_err osla_csr_to_device(osla_csr *a, osla_device *device)
{
  const bool had_copy = a->device != NULL;
  osla_err err = osla_agree(a->t, make_local(a, device));
  if (err == OSLA_OK)
    osli_forest_read_all_in_place(a->forest);
  else if (!had_copy)
    osli_csr_device_free(a);
  return err;
}

osla_device *osla_csr_device(const osla_csr *a)
{
  return a->device ? a->device->device : NULL;
}

device_queue *osli_csr_queue(const osla_csr *a)
{
  return a->device ? a->device->device->queue : NULL;
}

osla_err osli_csr_check_vector(const double *vector, int64_t n, const char *what,
                               const device_queue *queue, const char *other)
{
  device_queue *q;
  if (n <= 0) return OSLA_OK;
  OSLA_CALL(osli_device_locate(vector, (size_t)n * sizeof *vector, what, &q));
  return q == queue ? OSLA_OK : osli_device_differ(what, q, other, queue);
}

void osli_csr_device_free(osla_csr *a)
{
  csr_device *d = a->device;
  if (!d) return;
  const device_queue *q = d->device->queue;
  osli_device_settle_kept(SETTLE_COPY);
  q->ops->csr_drop(q->state, &d->own);
  q->ops->csr_drop(q->state, &d->other);
  osli_device_free(d->memory);
  free(d);
  a->device = NULL;
}

/* ---- products ---- */

static void queue_product(const device_csr *csr, const double *x, double beta, double *y)
{
  if (csr->rows == 0) return;
  osli_device_keep_error(osli_device_submit(&(device_work){.kind = DEVICE_SPMV,
                                                           .dtype = OSLA_DOUBLE,
                                                           .m = csr->rows,
                                                           .csr = csr,
                                                           .alpha = 1,
                                                           .b = x,
                                                           .beta = beta,
                                                           .c = y}));
}

osla_err osli_csr_multiply_on_device(osla_csr *a, const double *x, double beta, double *y)
{
  const csr_device *d = a->device;
  osla_forest_run run;
  if (osla_transport_size(a->t) == 1) {
    queue_product(&d->own, x, beta, y);
    return OSLA_OK;
  }
  OSLA_CALL(osla_forest_bcast_begin(a->forest, OSLA_ONE_DOUBLE, x, d->ghost, OSLA_REPLACE, &run));
  queue_product(&d->own, x, beta, y);
  OSLA_CALL(osla_forest_end_read(&run));
  if (a->n_ghosts > 0) queue_product(&d->other, d->ghost, 1.0, y);
  return osla_forest_writable(a->forest);
}
