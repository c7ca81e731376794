/* OSLA_API marks every public function. All other names are hidden in the shared library.
 *
 * Part: stable (osla.h).
 * Threads: this header declares no calls. */
#ifndef OSLA_API_H
#define OSLA_API_H

#if defined(__GNUC__)
#define OSLA_API __attribute__((visibility("default")))
#else
#define OSLA_API
#endif

#endif
