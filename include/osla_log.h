/* Messages for the user, prefixed by the rank (layer 0).
 *
 * Threads: any thread may call these, at any time.
 * Part: stable (osla.h).
 */
#ifndef OSLA_LOG_H
#define OSLA_LOG_H

#include "osla_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes one line "osla: TEXT" (rank < 0) or "osla[RANK]: TEXT" to stderr with a single write, so
 * that lines of different ranks do not mix. Local, thread-safe. */
OSLA_API void osla_log(int rank, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#endif
