/* The lanes of a fake device: queues of work that runs as late as possible (internal).
 *
 * Work of a lane runs when a call waits for it. A signal is an exception, because another rank may
 * wait for it while this rank waits for nothing: a helper thread runs each lane up to its latest
 * signal, about a millisecond after the signal was submitted. */
#ifndef FAKE_LANES_H
#define FAKE_LANES_H

#include "src/device/device.h"

#include <pthread.h>

/* Does a piece of work of a device. The caller holds the mutex of the lanes. */
typedef osla_err fake_run(device_state *device, device_work work);

/* An entry of a lane, which is either a piece of work or, if `after` is not 0, a wait for the other
 * lane. */
typedef struct fake_entry {
  device_work work;
  int64_t *lists;         /* copy of the lists or pivots of the work */
  vertices_loop vertices; /* copy of the loop of the work */
  uint64_t after;         /* mark whose work the other lane must have run, or 0 */
} fake_entry;

typedef struct fake_lane {
  /* [most] entries, of which `first` to first + n_entries - 1 are queued, oldest first */
  fake_entry *entries;
  size_t first, n_entries, most;
  uint64_t done;   /* number of entries of this lane that have run */
  uint64_t signal; /* number of entries up to the latest signal; 0 if the lane had no signal */
  bool is_running; /* true while a thread runs an entry of the lane */
} fake_lane;

typedef struct fake_lanes {
  device_state *device;
  fake_run *run;
  bool early;            /* true if work runs as soon as it is submitted */
  pthread_mutex_t mutex; /* guards all other members, and the memory of the device */
  fake_lane lane[LANES];
  /* thread that runs lanes up to their signals; the first signal starts it */
  pthread_t helper;
  bool has_helper, stops;
  pthread_cond_t new_signal; /* becomes true when a signal was submitted, or `stops` is set */
  /* first error of work that the helper has run, which the next wait returns, and its text */
  osla_err failed;
  char text[256];
} fake_lanes;

/* osli_fake_lanes_open sets up the lanes of a device, and osli_fake_lanes_close ends the helper
 * thread and frees the queues, which must be empty. Local. */
void osli_fake_lanes_open(fake_lanes *lanes, device_state *device, fake_run *run, bool early);
void osli_fake_lanes_close(fake_lanes *lanes);

/* These functions do what the members `submit`, `mark`, `wait` and `after` of device_ops do. Work
 * that returns info runs at once, after the queued work of its lane. Local. */
osla_err osli_fake_lanes_submit(fake_lanes *lanes, const device_work *work);
uint64_t osli_fake_lanes_mark(fake_lanes *lanes, device_lane lane);
osla_err osli_fake_lanes_wait(fake_lanes *lanes, uint64_t mark);
osla_err osli_fake_lanes_after(fake_lanes *lanes, device_lane lane, uint64_t mark);

/* Returns the number of pieces of work in the queue of a lane that have not run. Local. */
uint64_t osli_fake_lanes_queued(fake_lanes *lanes, device_lane lane);

#endif
