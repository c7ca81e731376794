/* OSLA, one-sided linear algebra: every public header, bottom-up. */
#ifndef OSLA_H
#define OSLA_H

#include "osla_types.h"
#include "osla_error.h"
#include "osla_clock.h"
#include "osla_log.h"
#include "osla_random.h"

#endif
