/* The table of device memory of this process, which finds the piece of memory in which an address
 * lies (layer 0, internal). All functions are local and thread-safe. */
#ifndef OSLA_DEVICE_RANGES_H
#define OSLA_DEVICE_RANGES_H

#include "osla_error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Origin of a piece of device memory in the table. */
typedef enum device_origin {
  ORIGIN_ALLOCATED, /* allocated by this library */
  ORIGIN_IMPORTED,  /* allocated by another process, and mapped by this process */
  ORIGIN_REGISTERED /* allocated by the program, which has registered the piece */
} device_origin;

/* One piece of device memory. */
typedef struct device_range {
  uintptr_t from, /* address of the first byte */
    to;           /* 1 + address of the last byte; an address in the range may be equal to `to` */
  struct device_queue *queue; /* open device on which the piece lies */
  device_origin origin;
} device_range;

/* Number of times that this process has entered or removed a registered piece. An address in
 * registered memory that has passed a check need not be checked again while this number does not
 * change. */
extern _Atomic uint64_t osli_registrations;

/* Sets *out to the piece in which the address lies, and returns true; returns false if no piece of
 * the table contains the address. If the address is both the first byte of one piece and the end of
 * another, *out is the piece that begins there. If several registered pieces contain the byte, *out
 * is the one that ends last. */
bool osli_range_find(const void *address, device_range *out);

/* Sets *out to any piece that belongs to the device, and returns true; false if there is none. */
bool osli_range_any(const struct device_queue *queue, device_range *out);

/* Enters a piece. Registered pieces may overlap one another and other pieces. All other pieces are
 * disjoint. Errors: MEM. */
osla_err osli_range_add(device_range range);

/* Removes one piece that equals *range in all four members. Returns false if the table has none. */
bool osli_range_remove(const device_range *range);

#endif
