/* Small exchanges between the p ranks of a process column (internal). */
#ifndef OSLA_LU_COLUMN_H
#define OSLA_LU_COLUMN_H

#include "kernels/lu/lu_state.h"

/* Where I write my record; then all ranks of the column publish theirs, and read the others'.
 * A record stays until the exchange after the next one. */
unsigned char *osli_lu_my_record(const lu *f);
osla_err osli_lu_record_publish(lu *f, size_t bytes);
const unsigned char *osli_lu_record_of(const lu *f, int prow); /* of the last exchange; waits */

/* record := record and other, in any order with the same result. */
typedef osla_err lu_add(const lu *f, const lu_step *s, void *record, const void *other);

/* record := the combination of the records of all, each added once, in log p rounds. Local, but all
 * ranks of the column call it. */
osla_err osli_lu_combine(lu *f, const lu_step *s, void *record, size_t bytes, lu_add *add);
int osli_lu_combination_slots(int p); /* records of a set that it needs */

/* Where a slot of an exchange's set lies in the store. */
size_t osli_lu_slot_offset(const lu *f, uint64_t exchange, int slot);

#endif
