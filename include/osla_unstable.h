/* OSLA: what may change in any release. The layers that the library stands on, beside osla.h: BLAS
 * with 64-bit sizes, ablations of products, shared counters, stripes of locks, channels and
 * reductions, hosts, meetings of ranks, the farewell and traces. A program that uses them is
 * compiled again for each version, and may have to be changed. */
#ifndef OSLA_UNSTABLE_H
#define OSLA_UNSTABLE_H

#include "osla.h"

#include "osla_backend.h"
#include "osla_blas.h"
#include "osla_channel.h"
#include "osla_counter.h"
#include "osla_farewell.h"
#include "osla_gemm_ablation.h"
#include "osla_host.h"
#include "osla_meet.h"
#include "osla_reduction.h"
#include "osla_stripes.h"
#include "osla_trace.h"

#endif
