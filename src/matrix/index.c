#include "osla_index.h"

int64_t osla_index_count(int64_t n, int64_t nb, int iproc, int nprocs)
{
  if (iproc < 0) return 0;
  int64_t blocks = n / nb; /* number of whole blocks */
  int64_t count = blocks / nprocs * nb;
  int64_t extra = blocks % nprocs;
  if (iproc < extra) count += nb;
  if (iproc == extra) count += n % nb;
  return count;
}
