/* Types and functions shared by the sources of src/file (layer 2, private). */
#ifndef OSLA_FILE_PRIVATE_H
#define OSLA_FILE_PRIVATE_H

#include "osla_file.h"
#include "src/base/new_file.h"
#include "src/base/write_at.h"

/* Element types in files. The first four have the values of osla_dtype; the last two are the
 * integers of osla_file_type. */
typedef enum file_type { FILE_S, FILE_D, FILE_C, FILE_Z, FILE_I64, FILE_U64, FILE_TYPES } file_type;

size_t osli_file_type_size(file_type type);
/* "float", "double", "complex float", "complex double", "int64" or "uint64" */
const char *osli_file_type_name(file_type type);

/* Description of an array in a file. Rank 0 broadcasts the struct as bytes, so it holds no
 * pointers. */
typedef struct file_item {
  int64_t m,       /* number of rows; for a vector its length */
    n;             /* number of columns; for a vector 1 */
  uint64_t offset; /* byte of the file at which the data begin */
  /* checksum: osli_file_sum of the data plus osli_file_sum_head of the type and sizes */
  uint64_t checksum;
  int32_t type;   /* element type, a file_type */
  int32_t stored; /* elements of a matrix that have a meaning (all or a triangle), an osla_stored */
  int32_t vector; /* 1 for a vector, 0 for a matrix */
  /* 1: the lower triangle of a matrix of order m = n, packed by columns: column j holds its rows j
   * to n - 1; 0: all elements */
  int32_t packed;
} file_item;

/* Returns the index of the first element of column j in the array. */
static inline int64_t file_column_start(const file_item *item, int64_t j)
{
  if (!item->packed) return j * item->m;
  return j % 2 ? (2 * item->n - j + 1) / 2 * j : j / 2 * (2 * item->n - j + 1);
}

/* Returns the number of elements of an array. */
static inline int64_t file_elements(const file_item *item)
{
  return file_column_start(item, item->n);
}

/* Identity of a save's temporary file, by which a rank detects that another process gave the name
 * to a different file. Rank 0 broadcasts the struct as bytes, so it holds no pointers. */
typedef struct file_identity {
  uint64_t device, number; /* st_dev and st_ino as seen on rank 0's node */
  uint64_t user;           /* st_uid, equal on all nodes */
  uint64_t mark[2];        /* random bits at the beginning of the file; 0 if the job has one node */
} file_identity;

struct osla_file {
  osla_transport *t;
  char *path;
  /* the new file on rank 0; NULL on other ranks and in a file opened for reading */
  osla_new_file *created;
  char *temporary; /* name of the temporary file; NULL in a file opened for reading */
  /* this rank's file descriptor for the data, which on rank 0 belongs to `created`; -1 if not open
   */
  int fd;
  struct file_hdf5 *hdf5; /* HDF5 handle on rank 0; NULL in a raw file and on other ranks */
  bool failed;
};

static inline bool file_is_root(const osla_file *f)
{
  return osla_transport_rank(f->t) == 0;
}

/* --- file_item.c: types, sizes and checksums of arrays; local --- */
/* Sum of the hashes of `count` words of `size` (4 or 8) bytes. `first` is the index of the first
 * word in the array. The sums of parts add up to the sum of the array, modulo 2^64. */
uint64_t osli_file_sum(const void *words, size_t size, int64_t count, uint64_t first);
/* Hash of an array's type and sizes. */
uint64_t osli_file_sum_head(const file_item *item);
/* Checks that sizes are not negative and the bytes fit in 63 bits. Errors: ARG, RANGE. */
osla_err osli_file_check_sizes(const osla_file *file, const char *name, const file_item *item);
/* Size in bytes of the words that an element consists of, and number of words in an element. */
size_t osli_file_word_size(file_type type);
size_t osli_file_word_count(file_type type);

/* --- file_io.c: system calls with error texts; local --- */
/* Opens a regular file for reading. */
osla_err osli_file_open_fd(const char *path, int *fd);
/* Sets the identity of rank 0's temporary file. If `marks` is true, also writes the mark (random
 * bits) to the empty file and flushes it to disk; the saved data overwrite the mark later. */
osla_err osli_file_identify(int fd, const char *path, bool marks, file_identity *identity);
/* Opens rank 0's temporary file on another rank, for writing only.
 *   path    [in] name for error texts
 *   on_node [in] true if this rank is on rank 0's node */
osla_err osli_file_open_temporary(const char *temporary, const char *path,
                                  const file_identity *identity, bool on_node, int *fd);
/* Flushes the file to disk (fsync), closes it, and sets *fd to -1. */
osla_err osli_file_sync_fd(const char *path, int *fd);
osla_err osli_file_read_at(int fd, const char *path, void *bytes, size_t size, uint64_t offset);
osla_err osli_file_length(int fd, const char *path, uint64_t *bytes);

/* --- file_pieces.c: reads or writes this rank's range of a matrix, and sets *sum to the checksum
 * of that range; local --- */
typedef enum file_direction { TO_FILE, FROM_FILE } file_direction;
osla_err osli_file_move_pieces(const osla_file *file, const file_item *item, osla_matrix *a,
                               file_direction way, uint64_t *sum);

/* --- file_raw.c: the trailer of raw files; local, called by rank 0 only --- */
osla_err osli_file_raw_write_trailer(const osla_file *file, const file_item *item);
osla_err osli_file_raw_read_trailer(const osla_file *file, bool *is_raw, file_item *item);

/* --- file.c: collective calls on open files --- */
osla_err osli_file_create_any(osla_transport *t, const char *path, bool raw, osla_file **out);
/* Opens an HDF5 or raw file for reading. For a raw file sets *raw to the description of its array.
 */
osla_err osli_file_open_any(osla_transport *t, const char *path, osla_file **out, file_item *raw,
                            bool *is_raw);
/* Returns error STATE if a file that was opened for reading is to be written, or a new file is to
 * be read. */
osla_err osli_file_check_state(osla_file *file, bool write);
/* Agrees on err over all ranks; an error marks the file as failed (osla_file_commit refuses it). */
osla_err osli_file_agree(osla_file *file, osla_err err);
/* Agrees on err and checks that the arguments are equal on all ranks (osla_agree_same); an error
 * marks the file as failed. */
osla_err osli_file_agree_same(osla_file *file, osla_err err, const char *call,
                              const osla_argument *arguments, int count);
/* Reserves space for an array (sets item->offset); stores the array's checksum, the sum over all
 * ranks of `sum`. */
osla_err osli_file_reserve(osla_file *file, const char *name, file_item *item);
osla_err osli_file_store_checksum(osla_file *file, const char *name, file_item *item, uint64_t sum);
/* Finds an array by name; compares the stored checksum with the sum over all ranks of `sum`. */
osla_err osli_file_find_array(osla_file *file, const char *name, bool vector, file_item *item);
osla_err osli_file_verify(osla_file *file, const char *name, const file_item *item, uint64_t sum);

#endif
