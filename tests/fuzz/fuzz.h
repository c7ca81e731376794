/* A fuzzer of the file readers. Random files, most of them damaged on purpose, are given to the
 * readers in forked children and to the command. The results are compared with those of the judge,
 * an independent parser.
 *
 * Each input is made from a number, its seed, and can be made again: fuzz KIND SEED. Failures are:
 *   a crash, a sanitizer's report, a leak, a hang
 *   an input that is rejected with any output but one line, or accepted with any output
 *   an input that is accepted, but rejected or read differently by the judge
 *   an undamaged input that is rejected
 * HDF5 itself crashes or hangs on some files. They are counted separately, if plain HDF5 calls also
 * crash or hang in a child of their own; the command must not end with status 0 on them.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- fuzz_bytes.c: random numbers, growing bytes, files --- */
typedef struct fuzz_random {
  uint64_t state;
} fuzz_random;

fuzz_random fuzz_begin(uint64_t seed);
uint64_t fuzz_bits(fuzz_random *random);
/* Returns a random number, uniform in 0 .. n - 1; n >= 1. */
int64_t fuzz_below(fuzz_random *random, int64_t n);
bool fuzz_one_in(fuzz_random *random, int64_t n);
double fuzz_between(fuzz_random *random, double low, double high);

typedef struct fuzz_bytes {
  char *at; /* malloc'ed bytes, followed by a zero byte */
  size_t size;
} fuzz_bytes;

/* Replaces `remove` bytes from `from` on by `count` other bytes. */
void fuzz_splice(fuzz_bytes *b, size_t from, size_t remove, const void *put, size_t count);
void fuzz_print(fuzz_bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
fuzz_bytes fuzz_load(const char *path);
void fuzz_save(const char *path, fuzz_bytes b);
/* Continues a hash (FNV-1a) by `size` bytes and returns the new hash. The initial hash is 0. */
uint64_t fuzz_hash(uint64_t hash, const void *bytes, size_t size);
/* If the condition is false, prints `what` and the text of errno, and ends the program. */
void fuzz_require(bool condition, const char *what);

/* --- the result of one reading, in memory shared with the children --- */
typedef enum fuzz_state { FUZZ_NOT_RUN, FUZZ_RUNNING, FUZZ_REJECTED, FUZZ_ACCEPTED } fuzz_state;

typedef struct fuzz_result {
  /* FUZZ_RUNNING after the end of the child: the child died while it read this input */
  fuzz_state state;
  int status;      /* status from waitpid if the child died; -1 if the child hung */
  bool leaks;      /* true if the child leaked memory in this or another input */
  uint64_t digest; /* hash of the values read */
  /* least and greatest index in a file of updates; for a list of sites, `high` is the number of
   * entries */
  int64_t low, high;
  char text[600]; /* error message of a rejected input */
} fuzz_result;

void fuzz_reject(fuzz_result *result, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

/* --- fuzz_run.c: running readers in child processes --- */
/* FUZZ_SECONDS: time limit of one input, in seconds */
enum { FUZZ_BATCH = 50, FUZZ_SECONDS = 30 };

/* Reads input i of a batch into *result. */
typedef void fuzz_call(void *context, int i, fuzz_result *result);

/* Calls `call` for the inputs first .. count - 1 in a child; `before` and `after` (may be NULL) are
 * called at the begin and end of the child. If an input kills the child, another child continues
 * with the next input. The standard error of input i goes to the file `errors`-i. Results are in
 * memory shared with the children. */
typedef struct fuzz_batch {
  int first, count;
  fuzz_call *call;
  void (*before)(void), (*after)(void);
  void *context;
  const char *errors;
  fuzz_result *result; /* [FUZZ_BATCH] */
} fuzz_batch;
fuzz_result *fuzz_make_results(void);
void fuzz_run_batch(const fuzz_batch *batch);

/* Runs a program. Returns its exit status, 1000 + the signal, or -1 if it hung. */
int fuzz_run_program(const char *const *argv, const char *out, const char *err);

/* --- kinds of inputs, one for each file format --- */
typedef struct fuzz_kind {
  const char *name;
  int batch; /* number of inputs that one child reads */
  bool hdf5; /* true if the reader uses HDF5; failures of HDF5 itself are counted separately */
  /* Prepares tests of this kind once. Returns false if the kind cannot be tested here. NULL if
   * nothing must be prepared. */
  bool (*prepare)(const char *scratch);
  /* Makes the input of a seed; returns true if it was damaged. */
  bool (*make)(uint64_t seed, const char *path);
  void (*before)(void), (*after)(void);
  void (*read)(const char *path, fuzz_result *result);  /* calls the reader under test */
  void (*judge)(const char *path, fuzz_result *result); /* calls the independent parser */
  /* Sets the command's arguments after its name, ending with NULL. The command may write to
   * `out`. */
  void (*command)(const char *path, const char *out, const char *argv[24]);
  /* Checks whether the command was right to accept the file. If it is NULL, the command was right
   * if the judge accepts the file. */
  bool (*accept)(const fuzz_result *judged, const char *out);
} fuzz_kind;

extern const fuzz_kind fuzz_stations, fuzz_fdsn, fuzz_events, fuzz_services, fuzz_ndk, fuzz_updates,
  fuzz_checkpoints, fuzz_triangles, fuzz_stationxml, fuzz_quakeml, fuzz_measurements,
  fuzz_reference;

/* Initialises MPI and creates the transport and the grid of a child process
 * (fuzz_checkpoints.c). */
void fuzz_osla_begin(void);
/* Returns the grid of a child process, from fuzz_osla_begin to fuzz_osla_end. */
struct osla_grid *fuzz_osla_grid(void);
/* Destroys the grid and the transport of a child process, and ends MPI. */
void fuzz_osla_end(void);

/* The first two functions call the reader of a list of stations or of earthquakes. The other two
 * set the arguments of the command for such a list (fuzz_text.c). */
void fuzz_read_stations(const char *path, fuzz_result *result);
void fuzz_read_events(const char *path, fuzz_result *result);
void fuzz_command_stations(const char *path, const char *out, const char *argv[24]);
void fuzz_command_events(const char *path, const char *out, const char *argv[24]);

/* Each function parses a list of stations or of earthquakes in a text format, independently of the
 * readers (fuzz_parse.c). */
void fuzz_judge_stations(const char *path, fuzz_result *result);
void fuzz_judge_events(const char *path, fuzz_result *result);
/* Does the text of a field contain a value? False for an empty text and for NaN. */
bool fuzz_is_given(const char *text);
/* Continues a hash by one station or earthquake of a list. The reader under test and the
 * independent parser call this function for the same entries. The time is in seconds since 1970, or
 * NaN. An id of 64 bytes or more counts as "". */
uint64_t fuzz_hash_site(uint64_t hash, double latitude, double longitude, double depth,
                        double magnitude, double time_s, const char *id);
/* Converts a time, given as year, month, day, hour, minute and second, to seconds since 1970.
 * Returns false if the time is invalid (fuzz_times.c). */
bool fuzz_time_of(const double part[6], double *time_s);
/* Sets the time of an earthquake; NaN if it is missing or before the year 1. Returns false if the
 * time is invalid. */
bool fuzz_event_time(const char *text, double *time_s);

/* fuzz_damage_text damages a text at random, and fuzz_damage_bytes the bytes of any file
 * (fuzz_damage.c). */
void fuzz_damage_text(fuzz_random *random, fuzz_bytes *text);
void fuzz_damage_bytes(fuzz_random *random, fuzz_bytes *file);

/* Reads a whole file with plain HDF5 calls, to see whether HDF5 itself crashes (fuzz_hdf5.c). */
void fuzz_walk(const char *path);
void fuzz_judge_updates(const char *path, fuzz_result *result);

#endif
