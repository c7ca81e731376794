/* OSLA's headers that may change in any release, and those of osla.h. They are the layers below the
 * kernels: BLAS with 64-bit sizes, ablations of products, shared counters, stripes of locks,
 * channels and reductions, hosts, agreement of ranks before a call (osla_meet.h), messages of a
 * rank that ends early (osla_farewell.h), and traces. A program that uses them must be recompiled
 * for each version, and may have to be changed. */
#ifndef OSLA_UNSTABLE_H
#define OSLA_UNSTABLE_H

#include "osla.h"

#include "osla_backend.h"
#include "osla_blas.h"
#include "osla_channel.h"
#include "osla_coarse.h"
#include "osla_counter.h"
#include "osla_device.h"
#include "osla_sparse_device.h"
#include "osla_farewell.h"
#include "osla_gemm_ablation.h"
#include "osla_host.h"
#include "osla_meet.h"
#include "osla_reduction.h"
#include "osla_stripes.h"
#include "osla_trace.h"

#endif
