/* The fake device: a test bench for device memory on machines without a GPU (internal).
 *
 * Device addresses are mapped without access rights, so an access by the host crashes. The data lie
 * in a file in memory, which only the backend maps, at other addresses; the backends of the ranks
 * of a node map each other's files. Work stays in the queue of its lane until a call waits for it,
 * so that a missing wait gives wrong numbers. A wait for one lane runs work of the other lane only
 * if osli_device_after requires it, so that a missing osli_device_after gives wrong numbers. If
 * OSLA_FAKE_DEVICE is "early", work runs as soon as it is submitted, as on a fast device. This
 * finds functions that change an operand after they have submitted the work. Memory of
 * osli_alloc_like begins as NaN, and freed memory becomes NaN for the ranks that still map it. */
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include "src/device/device.h"

extern const device_ops osli_fake_device;

/* Returns the number of pieces of work in the queue of a lane that have not run. */
uint64_t osli_fake_queued(device_state *state, device_lane lane);

#endif
