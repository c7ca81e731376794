/* Exchanges of small records between the p ranks of a process column (internal). */
#ifndef OSLA_LU_COLUMN_H
#define OSLA_LU_COLUMN_H

#include "kernels/lu/lu_state.h"

/* Address of this rank's record, which the caller fills. Publishing makes it readable by all ranks
 * of the process column. A record stays valid until the exchange after the next one. */
unsigned char *osli_lu_my_record(const lu *f);
osla_err osli_lu_record_publish(lu *f, size_t bytes);
/* Record of process row `prow` in the latest exchange. Waits until that record has been
 * published. */
const unsigned char *osli_lu_record_of(const lu *f, int prow);

/* Combines two records: `record` becomes record + other. Must be commutative and associative. */
typedef osla_err lu_add(const lu *f, const lu_step *s, void *record, const void *other);

/* Combines the records of all ranks of the process column into `record` in log2 p rounds. Each
 * record is added exactly once. Local, but all ranks of the process column must call it. */
osla_err osli_lu_combine(lu *f, const lu_step *s, void *record, size_t bytes, lu_add *add);
/* Number of slots that osli_lu_combine needs in a set with p process rows. */
int osli_lu_combination_slots(int p);

#endif
