/* Runs offloaded calls on the device of OSLA_SCALAPACK_DEVICE.
 *
 * Each process copies its elements of the sub-matrices to device memory before the computation. The
 * copy has the caller's distribution, so that a process copies large contiguous pieces of its own
 * array. With one process any block size describes the same array, so blocks get the size that
 * suits a device. With several processes the caller's blocks are used: for matrices that are large
 * enough for a device, copies over PCIe take longer than products of small blocks, and a
 * redistribution would copy all elements once more. Only blocks that are also too small for kernels
 * on the host are enlarged (choose_block of lapack.c, `stage` of gemm.c).
 *
 * The caller's arrays change only when results are copied back. So a call that fails on the device
 * before the copy back is repeated on the host. Device memory is freed at the end of each call,
 * because the program may need it; the allocation takes less time than a call that gains.
 */
#include "scalapack_adapt/adapt.h"

#include "src/memory/segment_state.h"

#include <inttypes.h>
#include <stdio.h>

/* Opens the device of the call's context, unless the device is open already. Any failure except a
 * lack of memory ends all ranks. Collective. Errors: MEM. */
static osla_err open_device(adapt_call *call)
{
  osla_device **device = adapt_context_device(call->context);
  osla_transport *t = adapt_context_transport(call->context);
  const osla_device_options options = {.kind = adapt_settings_get()->device};
  const osla_err err = *device ? OSLA_OK : osla_device_open(t, &options, device);
  call->device = *device;
  if (err == OSLA_OK || err == OSLA_ERR_MEM) return err;
  char text[400];
  (void)snprintf(text, sizeof text, "%s", osla_error_text());
  /* Only rank 0 prints the message. The other ranks wait here until rank 0 ends the job. */
  if (osla_transport_rank(t) > 0) (void)osla_barrier(t);
  osla_transport_abort(t, osla_error_set(err,
                                         "OSLA_SCALAPACK_DEVICE=%.60s: %s. Unset the variable to "
                                         "run without a device",
                                         options.kind, text));
}

/* Gives a sub-matrix of a single process large blocks, which begin with element (0, 0) of the
 * sub-matrix. */
static void make_blocks_large(adapt_sub *sub, osla_dtype dtype)
{
  sub->local += (size_t)(sub->row + sub->col * sub->lld) * osla_dtype_size(dtype);
  sub->row = sub->col = 0;
  sub->mb = sub->nb = ADAPT_DEVICE_BLOCK;
}

/* Checks that the device has enough memory for copies of all sub-matrices of the call. Collective.
 * Errors, on all ranks together: MEM. */
static osla_err check_memory(const adapt_call *call, int count, const adapt_sub *subs)
{
  const device_queue *q = call->device->queue;
  uint64_t needed = 0, available = q->ops->available(q->state);
  for (int i = 0; i < count; i++) {
    const adapt_sub *s = &subs[i];
    const osla_layout l = {
      s->row + s->m,           s->col + s->n, s->mb, s->nb, osla_grid_nprow(s->grid),
      osla_grid_npcol(s->grid)};
    needed += osla_matrix_bytes(&l, call->dtype);
  }
  osla_err err = OSLA_OK;
  if (needed > available)
    err = osla_error_set(
      OSLA_ERR_MEM,
      "%" PRIu64 " bytes of device memory are needed, and the device has %" PRIu64 " available",
      needed, available);
  return osla_agree(adapt_context_transport(call->context), err);
}

void adapt_device_choose(adapt_call *call, double flops, double moved, adapt_place place, int count,
                         adapt_sub *subs)
{
  const adapt_settings *s = adapt_settings_get();
  if (!s->device) return;
  call->place = place;
  if (flops < s->device_min * moved) call->place = ADAPT_HOST_SMALL;
  if (call->place != ADAPT_ON_DEVICE) return;
  osla_err err = open_device(call);
  if (err == OSLA_OK) err = check_memory(call, count, subs);
  if (adapt_device_lacks(call, err)) return;
  for (int i = 0; i < count && call->alone; i++)
    make_blocks_large(&subs[i], call->dtype);
}

bool adapt_device_lacks(adapt_call *call, osla_err err)
{
  if (call->place != ADAPT_ON_DEVICE || err == OSLA_OK) return false;
  if (err != OSLA_ERR_MEM && err != OSLA_ERR_UNSUPPORTED && err != OSLA_ERR_ARG)
    osla_transport_abort(adapt_context_transport(call->context), err);
  call->place = err == OSLA_ERR_MEM ? ADAPT_HOST_MEMORY : ADAPT_HOST_UNSERVED;
  call->device = NULL;
  adapt_lock();
  adapt_count *count = adapt_count_of(call->routine, call->dtype);
  (void)snprintf(count->device_error, sizeof count->device_error, "%s", osla_error_text());
  adapt_unlock();
  return true;
}
