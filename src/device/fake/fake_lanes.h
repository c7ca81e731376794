/* The lanes of a fake device: queues of work that runs as late as possible (internal).
 *
 * Work of a lane runs when a call waits for it. A signal is an exception, because another rank may
 * wait for it while this rank waits for nothing: a helper thread runs each lane up to its latest
 * signal, about a millisecond after the signal was submitted. */
#ifndef FAKE_LANES_H
#define FAKE_LANES_H

#include "src/device/device.h"

#include <pthread.h>

/* Type of the function that does a piece of work of a device. Its caller holds the mutex of the
 * lanes. */
typedef osla_err fake_run(device_state *device, device_work work);

/* An entry of a lane, which is a piece of work, or, if `after` is not 0, a wait for the other lane.
 */
typedef struct fake_entry {
  device_work work;
  int64_t *lists;         /* copy of the lists or pivots of the work, or NULL */
  vertices_loop vertices; /* copy of *work.vertices, if the work has a loop over vertices */
  uint64_t after;         /* mark of the work that the other lane must run first, or 0 */
} fake_entry;

typedef struct fake_lane {
  /* [most] entries, of which `first` to first + n_entries - 1 are queued, oldest first */
  fake_entry *entries;
  size_t first, n_entries, most;
  uint64_t done;   /* number of entries of this lane that have run */
  uint64_t signal; /* value of `done` when the latest signal has run; 0 before the first signal */
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
  bool has_helper,           /* true if the thread was started */
    stops;                   /* true if the thread must end */
  pthread_cond_t new_signal; /* wakes the helper when a signal was submitted or `stops` was set */
  osla_err failed; /* first error of work that the helper has run; the next wait returns it */
  char text[256];  /* text of the error `failed` */
} fake_lanes;

/* Sets up the lanes of a device. Local. */
void osli_fake_lanes_open(fake_lanes *lanes, device_state *device, fake_run *run, bool early);
/* Ends the helper thread and frees the queues, which must be empty. Local. */
void osli_fake_lanes_close(fake_lanes *lanes);

/* These functions implement the members `submit`, `mark`, `wait` and `after` of device_ops. Work
 * that returns info (factorisations) runs at once, after the queued work of its lane. Local. */
osla_err osli_fake_lanes_submit(fake_lanes *lanes, const device_work *work);
uint64_t osli_fake_lanes_mark(fake_lanes *lanes, device_lane lane);
osla_err osli_fake_lanes_wait(fake_lanes *lanes, uint64_t mark);
osla_err osli_fake_lanes_after(fake_lanes *lanes, device_lane lane, uint64_t mark);

/* Returns the number of pieces of work in the queue of a lane that have not run. Local. */
uint64_t osli_fake_lanes_queued(fake_lanes *lanes, device_lane lane);

#endif
