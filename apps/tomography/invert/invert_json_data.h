/* Parts of the JSON report about measurements, their fit, and synthetic tests. The caller owns the
 * returned references; NULL: no memory. Local. */
#ifndef INVERT_JSON_DATA_H
#define INVERT_JSON_DATA_H

#include "apps/tomography/invert/invert.h"

#include <jansson.h>

json_t *invert_data_settings(const invert_job *job);
json_t *invert_data_json(const invert_job *job);

/* Misfit by measure (invert_fit.c); results of --robust (invert_robust.c). */
json_t *invert_fit_json(const invert_job *job);
json_t *invert_robust_json(const invert_job *job);

#endif
