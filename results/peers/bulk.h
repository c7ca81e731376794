/* Memory of matrices whose values nobody reads (own_globals.c). */
#ifndef OSLA_BULK_H
#define OSLA_BULK_H

#include <stddef.h>

#define BULK_BYTES ((size_t)64 << 30)
void *bulk_memory(void); /* BULK_BYTES, one piece for all ranks */

#endif
