/* Of the JSON report what speaks of measurements, their fit, and the test. Local; references are
 * the caller's; NULL: no memory. */
#ifndef INVERT_JSON_DATA_H
#define INVERT_JSON_DATA_H

#include "apps/tomography/invert/invert.h"

#include <jansson.h>

json_t *invert_data_settings(const invert_job *job);
json_t *invert_data_json(const invert_job *job);

/* invert_fit.c, invert_robust.c */
json_t *invert_fit_json(const invert_job *job);
json_t *invert_robust_json(const invert_job *job);

#endif
