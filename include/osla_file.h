/* Matrices, vectors and numbers in files (floor 2).
 *
 * A file appears all at once: it is written under a temporary name in the same directory, put on
 * disk (fsync) and renamed. After any failure the temporary file is gone, and a file that was there
 * before is unchanged (see below for directories that other users may write). Only a job that is
 * killed while it writes leaves FILE.tmp... behind. A file that is replaced passes on its mode,
 * owner, group and access list, as far as the process may set them; it must be one that the process
 * may write. In a directory that its group or all may write, a file of another user (not root)
 * passes on none of them: the new file belongs to the writer, with the mode of any new file, less
 * what the replaced file did not allow. A symbolic link is followed and stays; in such a directory
 * it must belong to the process's user or to root (IO).
 *
 * A disk that is full, or a limit on the size of files (`ulimit -f`), is the error IO. The limit's
 * signal, SIGXFSZ, does not end the program: it is held off in the thread that writes and dropped;
 * what the program does with that signal elsewhere is not changed.
 *
 * Two formats:
 *   HDF5  any number of matrices, vectors, numbers and texts, each with a name. A matrix of m x n
 * is a data set of n x m, a row for each column (HDF5 stores the last index contiguously): in
 *         Python A = h5py.File(path)[name][:].T. Complex numbers are h5py's: a compound of r and i.
 *         Attributes of a matrix: uplo ("whole", "lower", "upper") and checksum.
 *   raw   one matrix, column-major: numpy.fromfile(path, "<f8", count=m*n).reshape(n, m).T. Behind
 *         the data there are 64 bytes with type, sizes, uplo and checksum (file_raw.c).
 * The numbers are the machine's own, which must be little-endian.
 *
 * The checksum is a sum over all elements of a hash of position and bits, so it does not depend on
 * grid, blocks or ranks. Every read verifies it.
 *
 * How it is done: rank 0 alone talks to HDF5, which lays out contiguous data sets and says where
 * in the file they lie (H5Dget_offset). Every rank then moves a contiguous range of it, 4 MiB
 * at a time, between the file and the distributed matrix (one-sided get and put). So there are
 * no collective HDF5 or MPI-IO calls, in which all ranks would hang if one of them met a full disk,
 * and a serial HDF5 is as good as a parallel one. Memory: 8 MiB per rank. The path must lead all
 * ranks to the same file.
 *
 * All calls are made by one thread and collective over the transport, with the same arguments on
 * all ranks but for data: ARG if format, type, sizes or uplo differ; of names rank 0's counts. What
 * is refused while a file is written counts as a failure of it (osla_file_commit).
 * Reads and writes are ordered with accesses to the matrix before and after the call on any rank.
 * A save fails with IO if another user, who may write the directory too, gives the temporary name
 * to another file; that file is not written. If that happens in the moment before the rename, the
 * error comes after it: the other file then stands at the path, and the one that was there before
 * is lost. All ranks must see one file system, and the same owners of files in it.
 * Errors, on all ranks together: IO ("FILE: reason"), ARG, STATE (a file that is being written is
 * read, or the other way round), UNSUPPORTED (no HDF5 in this build, or a big-endian machine),
 * RANGE, MEM, MPI.
 *
 * Threads: one of each rank calls these, as osla_transport.h says of collective calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_FILE_H
#define OSLA_FILE_H

#include "osla_api.h"
#include "osla_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which elements of a matrix mean something. All are written as they are; this is noted. */
typedef enum osla_stored { OSLA_STORED_WHOLE, OSLA_STORED_LOWER, OSLA_STORED_UPPER } osla_stored;

/* --- one matrix, one call ------------------------------------------------------------------- */

typedef enum osla_format {
  OSLA_FORMAT_BY_NAME, /* HDF5 if the path ends in .h5 or .hdf5, else raw */
  OSLA_FORMAT_HDF5,
  OSLA_FORMAT_RAW
} osla_format;

typedef struct osla_save_options {
  osla_format format;
  osla_stored stored;   /* noted in the file; default: whole */
  const char *name;     /* of the data set, HDF5 only; NULL: "matrix" */
  uint64_t reserved[8]; /* 0: osla_types.h */
} osla_save_options;

/* Writes or replaces the file. options: NULL = defaults. */
OSLA_API osla_err osla_matrix_save(const osla_matrix *matrix, const char *path,
                                   const osla_save_options *options);

typedef struct osla_load_options {
  int64_t mb, nb;       /* blocks; 0: OSLA_DEFAULT_BLOCK, and nb = mb if only mb is given */
  const char *name;     /* of the data set, HDF5 only; NULL: "matrix" */
  uint64_t reserved[8]; /* 0: osla_types.h */
} osla_load_options;

/* Makes a matrix of what osla_matrix_save or osla_file_put_matrix wrote, on any grid, whatever it
 * was written from. The format is recognised.
 *   options [in]  NULL = defaults
 *   stored  [out] NULL, or what was noted
 *   out     [out] owned by the caller; NULL after an error
 * Errors: IO for a file that is missing, foreign, truncated or changed, with the reason. */
OSLA_API osla_err osla_matrix_load(osla_grid *grid, const char *path,
                                   const osla_load_options *options, osla_stored *stored,
                                   osla_matrix **out);

/* --- several things in one HDF5 file -------------------------------------------------------- */

typedef struct osla_file osla_file;

/* Begins a file, or opens one to be read. The transport is borrowed. */
OSLA_API osla_err osla_file_create(osla_transport *transport, const char *path, osla_file **out);
OSLA_API osla_err osla_file_open(osla_transport *transport, const char *path, osla_file **out);

/* Puts a created file in its place and closes it, whether this succeeds or not. Errors: as above,
 * and STATE if an earlier call on this file failed: then nothing is put in place. */
OSLA_API osla_err osla_file_commit(osla_file **file);

/* Closes. What was created and not committed is removed. Accepts NULL and nulls the handle. */
OSLA_API void osla_file_close(osla_file **file);

/* Is there a matrix or vector of that name in a file that was opened? */
OSLA_API osla_err osla_file_has(osla_file *file, const char *name, bool *has);

/* Adds a matrix. A name is used once in a file, and may hold slashes (groups). */
OSLA_API osla_err osla_file_put_matrix(osla_file *file, const char *name, const osla_matrix *matrix,
                                       osla_stored stored);

typedef struct osla_file_matrix {
  osla_dtype dtype;
  int64_t m, n;
  osla_stored stored;
} osla_file_matrix;

/* What a matrix of that name is, without reading it. Errors: as above. */
OSLA_API osla_err osla_file_look_matrix(osla_file *file, const char *name, osla_file_matrix *look);

/* Fills a matrix of the same type and sizes, of any blocks on any grid. After an error its contents
 * are not defined. Errors: as above, ARG if type or sizes differ. */
OSLA_API osla_err osla_file_get_matrix(osla_file *file, const char *name, osla_matrix *matrix);

typedef enum osla_file_type { OSLA_FILE_DOUBLE, OSLA_FILE_INT64, OSLA_FILE_UINT64 } osla_file_type;

/* Adds a vector of elements of 8 bytes: one that all ranks have (rank 0's is written), or one of
 * which each rank has a part, in the order of ranks.
 *   count [in] of the whole vector, the same on all ranks; or of this rank's part, >= 0
 *   data  [in] [count] */
OSLA_API osla_err osla_file_put_vector(osla_file *file, const char *name, osla_file_type type,
                                       int64_t count, const void *data);
OSLA_API osla_err osla_file_put_parts(osla_file *file, const char *name, osla_file_type type,
                                      int64_t count, const void *data);

/* Number of elements of a vector. Errors: IO if there is none of that name or of another type. */
OSLA_API osla_err osla_file_look_vector(osla_file *file, const char *name, osla_file_type type,
                                        int64_t *count);

/* Reads a vector: whole on all ranks, or on each rank `count` elements from `first` on. The parts
 * of all ranks must cover it once (or the checksum will not be right).
 *   count [in]  whole: as osla_file_look_vector says; else, on one rank or several, ARG on all
 *   data  [out] [count] */
OSLA_API osla_err osla_file_get_vector(osla_file *file, const char *name, osla_file_type type,
                                       int64_t count, void *data);
OSLA_API osla_err osla_file_get_parts(osla_file *file, const char *name, osla_file_type type,
                                      int64_t first, int64_t count, void *data);

/* Numbers and texts: attributes of the file. Rank 0's value is written; all ranks get it. A text is
 * cut at `size` - 1 bytes. Errors: IO if there is none of that name and type. */
OSLA_API osla_err osla_file_put_number(osla_file *file, const char *name, double value);
OSLA_API osla_err osla_file_put_int(osla_file *file, const char *name, int64_t value);
OSLA_API osla_err osla_file_put_text(osla_file *file, const char *name, const char *value);
OSLA_API osla_err osla_file_get_number(osla_file *file, const char *name, double *value);
OSLA_API osla_err osla_file_get_int(osla_file *file, const char *name, int64_t *value);
OSLA_API osla_err osla_file_get_text(osla_file *file, const char *name, char *value, size_t size);

#ifdef __cplusplus
}
#endif
#endif
