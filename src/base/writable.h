/* Test whether memory of the caller may be written (internal). */
#ifndef OSLA_WRITABLE_H
#define OSLA_WRITABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns false if some page of the range is mapped without write permission in this process, or
 * not mapped at all. Reads the table of mappings of the process; returns true if the system has no
 * such table. Touches no memory of the range. Local. */
bool osli_is_writable(const void *base, size_t bytes);

#endif
