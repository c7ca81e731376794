/* Matrices, vectors and numbers in files (layer 2).
 *
 * A file appears all at once: it is written under a temporary name in the same directory, flushed
 * to disk (fsync) and renamed. After any failure the temporary file is removed, and a file that
 * existed before is unchanged (exception: directories that other users may write, see below). Only
 * a job that is killed while it writes leaves FILE.tmp... behind.
 * A file can be replaced only if the process may write it. The new file gets the mode, owner, group
 * and access list of the replaced one, as far as the process may set them. In a directory that its
 * group or all users may write, a replaced file of another user (not root) is handled differently:
 * the new file belongs to the writer and has the mode of a new file, without the permissions that
 * the replaced file lacked. A symbolic link stays, and its target is replaced; in a directory that
 * others may write, the link must belong to the process's user or to root (IO).
 *
 * A full disk, or a limit on the size of files (`ulimit -f`), is the error IO. The limit's signal,
 * SIGXFSZ, does not end the program: it is blocked in the writing thread and discarded. The
 * program's own handling of the signal is not changed.
 *
 * Two formats:
 *   HDF5  any number of matrices, vectors, numbers and texts, each with a name. A matrix of m x n
 *         is a data set of n x m, one row for each column of the matrix (HDF5 stores the last index
 *         contiguously): in Python A = h5py.File(path)[name][:].T. Complex numbers are h5py's: a
 *         compound of r and i. Attributes of a matrix: uplo ("whole", "lower", "upper") and
 *         checksum. A triangular matrix of order n is a data set with one dimension of
 *         n (n + 1) / 2 elements, with uplo "lower": the columns one after another, column j with
 *         its rows j to n - 1. In Python: j, i = numpy.triu_indices(n); A[i, j] = h5py.File(path)
 *         [name][:].
 *   raw   one matrix, column-major: numpy.fromfile(path, "<f8", count=m*n).reshape(n, m).T. The
 *         data are followed by 64 bytes with type, sizes, uplo and checksum (file_raw.c).
 * Numbers are stored as in memory, which must be little-endian.
 *
 * The checksum is the sum over all elements of a hash of position and bits, so it does not depend
 * on grid, blocks or ranks. Every read verifies it.
 *
 * Method: only rank 0 calls HDF5, which lays out contiguous data sets and returns their offsets in
 * the file (H5Dget_offset). Every rank then moves a contiguous range of the data, 4 MiB at a time,
 * between the file and the distributed matrix (one-sided get and put). There are no collective HDF5
 * or MPI-IO calls, in which all ranks would hang if one of them met a full disk, and a serial HDF5
 * serves as well as a parallel one. Memory: 8 MiB per rank. If both triangles of a triangular
 * matrix are saved, a rank moves whole block columns, or equal parts of a block column of more than
 * 64 MiB. Its memory is then up to 64 MiB. The path must lead all ranks to one file.
 *
 * All calls are made by one thread and are collective over the transport. Arguments other than data
 * must be equal on all ranks: ARG if format, type, sizes or uplo differ. If names differ, the name
 * on rank 0 is used. An error in a call on a new file makes its osla_file_commit fail.
 * Reads and writes are ordered with accesses to the matrix before and after the call on any rank. A
 * save fails with IO if another user, who may write the directory, gives the temporary name to
 * another file; that file is not written. If it happens in the moment before the rename, the error
 * comes after the rename: the other user's file then has the path, and the previous file is lost.
 * All ranks must see one file system, with the same owners of files.
 * Errors, on all ranks together: IO ("FILE: reason"), ARG, STATE (a new file is read, or a file
 * opened for reading is written), UNSUPPORTED (no HDF5 in this build, or a big-endian machine),
 * RANGE, MEM, MPI.
 *
 * Threads: one thread of each rank makes these calls, as osla_transport.h says of collective calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_FILE_H
#define OSLA_FILE_H

#include "osla_api.h"
#include "osla_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The meaningful elements of a matrix. All elements of a full matrix are saved; the file stores
 * this value beside them.
 * Of a triangular matrix the lower triangle is saved for OSLA_STORED_WHOLE and OSLA_STORED_LOWER,
 * and both triangles for OSLA_STORED_FULL; OSLA_STORED_UPPER is an error (ARG). OSLA_STORED_FULL
 * makes the file of a full matrix with the value OSLA_STORED_WHOLE. For a full matrix
 * OSLA_STORED_FULL and OSLA_STORED_WHOLE mean the same. */
typedef enum osla_stored {
  OSLA_STORED_WHOLE,
  OSLA_STORED_LOWER,
  OSLA_STORED_UPPER,
  OSLA_STORED_FULL
} osla_stored;

/* --- saving and loading one matrix by one call ------------------------------------------------ */

typedef enum osla_format {
  OSLA_FORMAT_BY_NAME, /* format: HDF5 if the path ends in .h5 or .hdf5, otherwise raw */
  OSLA_FORMAT_HDF5,
  OSLA_FORMAT_RAW
} osla_format;

typedef struct osla_save_options {
  osla_format format;
  osla_stored stored;   /* meaningful elements of the matrix, noted in the file; default: whole */
  const char *name;     /* name of the data set, in HDF5 files only; NULL means "matrix" */
  uint64_t reserved[8]; /* must be 0 (osla_types.h) */
} osla_save_options;

/* Saves a matrix; replaces a file of that name. A lower triangle is saved as HDF5 only
 * (UNSUPPORTED). options: NULL = defaults. */
OSLA_API osla_err osla_matrix_save(const osla_matrix *matrix, const char *path,
                                   const osla_save_options *options);

typedef struct osla_load_options {
  int64_t mb, nb;   /* sizes of blocks; 0: OSLA_DEFAULT_BLOCK, and nb = mb if only mb is given */
  const char *name; /* name of the data set, in HDF5 files only; NULL means "matrix" */
  uint64_t reserved[8]; /* must be 0 (osla_types.h) */
} osla_load_options;

/* Creates a matrix from a file of osla_matrix_save or osla_file_put_matrix, on any grid; the grid
 * and blocks at the time of the save do not matter. The format is detected. A file of a triangular
 * matrix makes a triangular matrix, whose block size is options.nb, or mb if nb is 0.
 *   options [in]  NULL = defaults
 *   stored  [out] the value of `stored` that the save was given; may be NULL
 *   out     [out] owned by the caller; NULL after an error
 * Errors: IO, with the reason, for a file that is missing, foreign, truncated or changed. */
OSLA_API osla_err osla_matrix_load(osla_grid *grid, const char *path,
                                   const osla_load_options *options, osla_stored *stored,
                                   osla_matrix **out);

/* --- files with several objects, HDF5 only -------------------------------------------------- */

typedef struct osla_file osla_file;

/* Creates a file, or opens one for reading. The transport is borrowed. */
OSLA_API osla_err osla_file_create(osla_transport *transport, const char *path, osla_file **out);
OSLA_API osla_err osla_file_open(osla_transport *transport, const char *path, osla_file **out);

/* Flushes a created file to disk, renames it to its path, and closes it in any case. Errors: those
 * at the head of this file, and STATE if an earlier call on this file failed; the path is then
 * unchanged. */
OSLA_API osla_err osla_file_commit(osla_file **file);

/* Closes a file. A created file that was not committed is removed. Accepts NULL; sets the handle to
 * NULL. */
OSLA_API void osla_file_close(osla_file **file);

/* Sets *has to true if a file opened for reading contains a matrix or vector of this name,
 * otherwise to false. */
OSLA_API osla_err osla_file_has(osla_file *file, const char *name, bool *has);

/* Adds a matrix to a new file. A name can be used once in a file and may contain slashes
 * (groups). */
OSLA_API osla_err osla_file_put_matrix(osla_file *file, const char *name, const osla_matrix *matrix,
                                       osla_stored stored);

typedef struct osla_file_matrix {
  osla_dtype dtype;
  int64_t m, n;
  osla_stored stored;
} osla_file_matrix;

/* Reads type and sizes of a matrix, but not its data. Errors: those at the head of this file. */
OSLA_API osla_err osla_file_look_matrix(osla_file *file, const char *name, osla_file_matrix *look);

/* Reads a matrix into an existing one of equal type and sizes, with any blocks on any grid. One of
 * the two may be triangular. A triangular matrix takes the lower triangle of a full one. The file
 * of a triangular matrix sets the lower triangle of a full matrix, and elements above the diagonal
 * keep their values (osla_matrix_mirror sets them). After an error the contents are undefined.
 * Errors: those at the head of this file, and ARG if type or sizes differ, or if the file has an
 * upper triangle and the matrix is triangular. */
OSLA_API osla_err osla_file_get_matrix(osla_file *file, const char *name, osla_matrix *matrix);

typedef enum osla_file_type { OSLA_FILE_DOUBLE, OSLA_FILE_INT64, OSLA_FILE_UINT64 } osla_file_type;

/* Adds a vector of 8-byte elements. put_vector: all ranks have the whole vector, and rank 0's is
 * written. put_parts: each rank has a part, and the parts follow each other in the order of ranks.
 *   count [in] put_vector: length, equal on all ranks; put_parts: length of this rank's part, >= 0
 *   data  [in] [count] */
OSLA_API osla_err osla_file_put_vector(osla_file *file, const char *name, osla_file_type type,
                                       int64_t count, const void *data);
OSLA_API osla_err osla_file_put_parts(osla_file *file, const char *name, osla_file_type type,
                                      int64_t count, const void *data);

/* Reads the length of a vector. Errors: IO if no vector has this name, or the vector has another
 * type. */
OSLA_API osla_err osla_file_look_vector(osla_file *file, const char *name, osla_file_type type,
                                        int64_t *count);

/* Reads a vector. get_vector reads the whole vector on all ranks. get_parts reads on each rank the
 * elements [first, first + count); the ranks' parts must cover the vector exactly once, because the
 * checksum is verified.
 *   count [in]  get_vector: the length; ARG on all ranks if it is wrong on any
 *   data  [out] [count] */
OSLA_API osla_err osla_file_get_vector(osla_file *file, const char *name, osla_file_type type,
                                       int64_t count, void *data);
OSLA_API osla_err osla_file_get_parts(osla_file *file, const char *name, osla_file_type type,
                                      int64_t first, int64_t count, void *data);

/* Writes and reads numbers and texts, which are attributes of the file. put: rank 0's value is
 * written. get: all ranks get the value; a text is cut to `size` - 1 bytes. Errors: IO if no
 * attribute has this name and type. */
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
