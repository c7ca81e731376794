/* The work of the fake device (internal). */
#ifndef FAKE_WORK_H
#define FAKE_WORK_H

#include "src/device/fake/fake.h"

/* Does a piece of work on the host. All addresses in the work are accessible to the host. Local.
 * Errors: those of the BLAS and LAPACK calls. */
osla_err osli_fake_work(const device_work *work);

#endif
