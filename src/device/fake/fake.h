/* The fake device: a test bench for device memory on machines without a GPU (internal).
 *
 * A device address is a mapping without access rights, so an access by the host crashes. The data
 * are in a file in memory that the backend alone maps, elsewhere; ranks of a node map each other's
 * files. Work waits in the queue of its lane and runs as late as possible, when somebody waits for
 * it, so that a missing wait gives wrong numbers. A wait for one lane runs nothing of the other
 * lane but the work after which it starts, so that a missing order of lanes gives wrong numbers.
 * OSLA_FAKE_DEVICE=early runs work at once, as a fast device would; it finds functions that free or
 * overwrite an operand too late. Memory of osli_alloc_like begins as NaN, and freed memory becomes
 * NaN for the ranks that still map it. */
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include "src/device/device.h"

extern const device_ops osli_fake_device;

/* Number of pieces of work of a lane that have not run. */
uint64_t osli_fake_queued(device_state *state, device_lane lane);

#endif
