/* What the sources of src/file share (floor 2, private). */
#ifndef OSLA_FILE_PRIVATE_H
#define OSLA_FILE_PRIVATE_H

#include "osla_file.h"
#include "src/base/new_file.h"
#include "src/base/write_at.h"

/* Element types of files; the first four are those of osla_dtype, the others osla_file_type's. */
typedef enum file_type { FILE_S, FILE_D, FILE_C, FILE_Z, FILE_I64, FILE_U64, FILE_TYPES } file_type;

size_t osli_file_type_size(file_type type);
const char *osli_file_type_name(file_type type); /* "float", ... */

/* An array in a file. Rank 0 sends it to all as bytes: no pointers. */
typedef struct file_item {
  int64_t m, n;      /* rows and columns; of a vector its length and 1 */
  uint64_t offset;   /* where in the file the data begins */
  uint64_t checksum; /* osli_file_sum of the data, plus osli_file_sum_head */
  int32_t type;      /* file_type */
  int32_t stored;    /* osla_stored */
  int32_t vector;    /* 1: a vector */
  int32_t unused;
} file_item;

/* Identifies the temporary file of a save, so that a rank recognises another file that somebody
 * gave the same name. Rank 0 sends this struct to all ranks as bytes, so it holds no pointers. */
typedef struct file_identity {
  uint64_t device, number; /* st_dev and st_ino, as rank 0's node counts them */
  uint64_t user;           /* st_uid, which all nodes see alike */
  uint64_t mark[2];        /* random bits at the beginning of the file; 0 in a job of one node */
} file_identity;

struct osla_file {
  osla_transport *t;
  char *path;
  osla_new_file *created; /* on rank 0; NULL in a file that is read */
  char *temporary;        /* its name; NULL in a file that is read */
  int fd;                 /* each rank's own, for the data (created's on rank 0); -1: not open */
  struct file_hdf5 *hdf5; /* on rank 0; NULL in a raw file */
  bool failed;
};

/* --- file_sum.c: the checksum --- */
/* Sum of the hashes of `count` words of `size` (4 or 8) bytes, the first of which is word `first`
 * of the array. Sums of parts add up, modulo 2^64. */
uint64_t osli_file_sum(const void *words, size_t size, int64_t count, uint64_t first);
/* The hash of type and sizes. */
uint64_t osli_file_sum_head(const file_item *item);
/* Bytes of the words that elements consist of, and words of an element. */
size_t osli_file_word_size(file_type type);
size_t osli_file_word_count(file_type type);

/* --- file_io.c: opening, reading; local --- */
osla_err osli_file_open_fd(const char *path, int *fd); /* to be read */
/* Rank 0 sets the identity of its temporary file. With `marks` it writes the mark, to disk: the
 * file must be empty, and whatever is saved overwrites the mark. */
osla_err osli_file_identify(int fd, const char *path, bool marks, file_identity *identity);
/* Another rank opens that file, to write data; the descriptor cannot read. `path` is for the error
 * texts. `on_node`: this rank is on rank 0's node. */
osla_err osli_file_open_temporary(const char *temporary, const char *path,
                                  const file_identity *identity, bool on_node, int *fd);
osla_err osli_file_sync_fd(const char *path, int *fd); /* fsync and close */
osla_err osli_file_read_at(int fd, const char *path, void *bytes, size_t size, uint64_t offset);
osla_err osli_file_length(int fd, const char *path, uint64_t *bytes);

/* --- file_pieces.c: a rank's pieces of a matrix; local. *sum gets the checksum of them. --- */
osla_err osli_file_write_pieces(const osla_file *file, const file_item *item, const osla_matrix *a,
                                uint64_t *sum);
osla_err osli_file_read_pieces(const osla_file *file, const file_item *item, osla_matrix *a,
                               uint64_t *sum);

/* --- file_raw.c: the trailer of raw files; local, rank 0 --- */
osla_err osli_file_raw_seal(const osla_file *file, const file_item *item);
osla_err osli_file_raw_find(const osla_file *file, bool *is_raw, file_item *item);

/* --- file.c; collective --- */
osla_err osli_file_begin(osla_transport *t, const char *path, bool raw, osla_file **out);
/* Opens a file of either format; a raw one gives its item. */
osla_err osli_file_open_any(osla_transport *t, const char *path, osla_file **out, file_item *raw,
                            bool *is_raw);
/* Is the file in the right state for the call? */
osla_err osli_file_check_state(osla_file *file, bool write);
/* Agrees on err, and remembers a failure of writing. */
osla_err osli_file_agree(osla_file *file, osla_err err);
/* The same of a call with arguments that must be the same on all ranks (osla_agree_same). */
osla_err osli_file_agree_same(osla_file *file, osla_err err, const char *call,
                              const osla_argument *arguments, int count);
/* Can an array be of these sizes? Then its bytes fit 63 bits. Local. Errors: ARG, RANGE. */
osla_err osli_file_check_sizes(const osla_file *file, const char *name, const file_item *item);
/* Reserves room for an array; then notes its checksum, from each rank's sum. */
osla_err osli_file_reserve(osla_file *file, const char *name, file_item *item);
osla_err osli_file_seal(osla_file *file, const char *name, file_item *item, uint64_t sum);
/* Finds an array, and compares the sum of what was read. */
osla_err osli_file_find(osla_file *file, const char *name, bool vector, file_item *item);
osla_err osli_file_verify(osla_file *file, const char *name, const file_item *item, uint64_t sum);

#endif
