/* Allocates arrays in the memory in which given arrays lie, and scratch memory of a device. Makes
 * the error messages about arrays that lie in the wrong memory. */
#include "src/device/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void *osli_alloc_like(const void *like, size_t bytes)
{
  device_queue *q = osli_device_of(like);
  void *memory = NULL;
  if (!q || osli_device_faults & DEVICE_FAULT_HOST_BUFFER) return malloc(bytes + 1);
  return osli_device_alloc(q, bytes, false, &memory) == OSLA_OK ? memory : NULL;
}

osla_err osli_alloc_like_failed(const void *like, size_t bytes, const char *purpose)
{
  const device_queue *q = osli_device_of(like);
  if (!q) return osla_error_set(OSLA_ERR_MEM, "%s: no memory for %zu bytes", purpose, bytes);
  return osla_error_set(OSLA_ERR_MEM,
                        "%s: %zu bytes of device memory are needed, and the device has %" PRIu64
                        " available",
                        purpose, bytes, q->ops->available(q->state));
}

void osli_free_like(void *memory)
{
  if (osli_device_of(memory))
    osli_device_free(memory);
  else
    free(memory);
}

osla_err osli_device_differ(const char *what, const device_queue *q, const char *other,
                            const device_queue *of_other)
{
  char at[2][50];
  const bool same_number = q && of_other && q->ordinal == of_other->ordinal;
  for (int i = 0; i < 2; i++) {
    const device_queue *one = i == 0 ? q : of_other;
    (void)snprintf(at[i], sizeof at[i], one ? "on device %d%s" : "in host memory",
                   one ? one->ordinal : 0, i == 1 && same_number ? " of another osla_device" : "");
  }
  return osla_error_set(OSLA_ERR_ARG,
                        "%s lies %s, and %s %s: put both into the memory of one osla_device, or "
                        "into host memory",
                        what, at[0], other, at[1]);
}

osla_err osli_device_check_kernels(const device_queue *q, const char *what)
{
  OSLA_CHECK(q->ops->has_kernels, OSLA_ERR_UNSUPPORTED,
             "%s: the array lies on a device of kind \"%s\", whose plug-in was built without "
             "kernels: build it where configure finds nvcc, or pass host memory",
             what, q->ops->name);
  return OSLA_OK;
}

void *osli_device_scratch(device_queue *q, int which, size_t bytes)
{
  device_scratch *s = &q->scratch[which];
  if (bytes <= s->bytes) return s->memory;
  osli_device_free(s->memory);
  *s = (device_scratch){0};
  if (osli_device_alloc(q, bytes, false, &s->memory) == OSLA_OK) s->bytes = bytes;
  return s->memory;
}

osla_err osli_device_refuse(const char *call)
{
  return osla_error_set(OSLA_ERR_UNSUPPORTED,
                        "%s: does not work on device memory; copy the data to host memory first "
                        "(osla_matrix_copy)",
                        call);
}
