/* Version of the headers and of the library (layer 0). configure reads the three numbers here.
 *
 * Threads: any thread may call these, at any time.
 * Part: stable (osla.h).
 */
#ifndef OSLA_VERSION_H
#define OSLA_VERSION_H

#include "osla_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OSLA_VERSION_MAJOR 0
#define OSLA_VERSION_MINOR 1
#define OSLA_VERSION_PATCH 0

/* An increasing version number: #if OSLA_VERSION >= OSLA_VERSION_OF(0, 2, 0). MINOR and PATCH are
 * below 100. */
#define OSLA_VERSION_OF(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))

/* Version of these headers. */
#define OSLA_VERSION OSLA_VERSION_OF(OSLA_VERSION_MAJOR, OSLA_VERSION_MINOR, OSLA_VERSION_PATCH)

/* Version of the loaded library. Local. */
OSLA_API int osla_version(void);

/* Version of the loaded library as text, such as "0.1.0". Local; a constant. */
OSLA_API const char *osla_version_text(void);

#ifdef __cplusplus
}
#endif
#endif
