/* Plain MPI, as a program without a library calls it. See bench_reference.h.
 *
 * Each rank's part of a window is a whole number of pages, because MPICH before 4.0.3 has an error:
 * if the parts of a window from MPI_Win_allocate are not multiples of 16 bytes, it writes up to 12
 * bytes before the start of a part. */
#include "bench/bench_reference.h"

#include <string.h>

enum { PAGE = 4096, TAG = 77 };
/* largest number of elements in one MPI_Allreduce */
static const int64_t largest_piece = (int64_t)1 << 28;

osla_err reference_window_create(size_t bytes, reference_window *w)
{
  w->bytes = (bytes + PAGE - 1) / PAGE * PAGE;
  OSLA_MPI(MPI_Win_allocate((MPI_Aint)(w->bytes + PAGE), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w->base,
                            &w->win));
  memset(w->base, 0, w->bytes + PAGE);
  OSLA_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win));
  OSLA_MPI(MPI_Barrier(MPI_COMM_WORLD));
  return OSLA_OK;
}

void reference_window_free(reference_window *w)
{
  if (!w->base) return;
  (void)MPI_Win_unlock_all(w->win);
  (void)MPI_Win_free(&w->win);
  w->base = NULL;
}

osla_err reference_window_put(reference_window *w, int rank, const void *source, size_t bytes)
{
  OSLA_MPI(MPI_Put(source, (int)bytes, MPI_BYTE, rank, 0, (int)bytes, MPI_BYTE, w->win));
  OSLA_MPI(MPI_Win_flush(rank, w->win));
  return OSLA_OK;
}

osla_err reference_window_get(reference_window *w, int rank, void *dest, size_t bytes)
{
  OSLA_MPI(MPI_Get(dest, (int)bytes, MPI_BYTE, rank, 0, (int)bytes, MPI_BYTE, w->win));
  OSLA_MPI(MPI_Win_flush(rank, w->win));
  return OSLA_OK;
}

osla_err reference_window_notify(reference_window *w, int rank, const void *source, size_t bytes,
                                 uint64_t value)
{
  OSLA_CALL(reference_window_put(w, rank, source, bytes));
  OSLA_MPI(MPI_Put(&value, sizeof value, MPI_BYTE, rank, (MPI_Aint)w->bytes, sizeof value, MPI_BYTE,
                   w->win));
  OSLA_MPI(MPI_Win_flush(rank, w->win));
  return OSLA_OK;
}

osla_err reference_window_wait(reference_window *w, uint64_t value)
{
  const uint64_t *flag = (const uint64_t *)(const void *)(w->base + w->bytes);
  int there = 0;
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) < value) {
    OSLA_MPI(MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE));
    OSLA_MPI(MPI_Win_sync(w->win));
  }
  return OSLA_OK;
}

osla_err reference_signal(int rank)
{
  OSLA_MPI(MPI_Send(NULL, 0, MPI_BYTE, rank, TAG, MPI_COMM_WORLD));
  return OSLA_OK;
}

osla_err reference_await(int rank)
{
  OSLA_MPI(MPI_Recv(NULL, 0, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  return OSLA_OK;
}

osla_err reference_allreduce(osla_dtype dtype, void *array, int64_t count)
{
  MPI_Datatype type = dtype == OSLA_FLOAT ? MPI_FLOAT : MPI_DOUBLE;
  for (int64_t at = 0; at < count; at += largest_piece) {
    int64_t piece = count - at < largest_piece ? count - at : largest_piece;
    OSLA_MPI(MPI_Allreduce(MPI_IN_PLACE, (char *)array + (size_t)at * osla_dtype_size(dtype),
                           (int)piece, type, MPI_SUM, MPI_COMM_WORLD));
  }
  return OSLA_OK;
}
