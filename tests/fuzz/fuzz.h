/* The fuzzer of the readers: random files, most of them spoilt on purpose, are given to the readers
 * in forked children and to the command, and what comes out is compared with an independent
 * reading.
 *
 * Every input is made from a number, its seed, and can be made again: fuzz KIND SEED. What fails:
 *   a crash, a sanitizer's report, a leak, a hang
 *   anything else than one line about an input that is refused, or any line about another
 *   an input that is taken, and that the independent reading refuses or reads differently
 *   an input that was not spoilt, and is refused
 * HDF5 itself crashes or hangs on some files. That is counted apart, and only where plain HDF5
 * calls do the same in a child of their own; the command must not end with status 0 there either.
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
int64_t fuzz_below(fuzz_random *random, int64_t n); /* 0 .. n - 1; n >= 1 */
bool fuzz_one_in(fuzz_random *random, int64_t n);

typedef struct fuzz_bytes {
  char *at; /* malloc'ed; a zero byte follows */
  size_t size;
} fuzz_bytes;

/* Replaces `remove` bytes from `from` on by others. */
void fuzz_splice(fuzz_bytes *b, size_t from, size_t remove, const void *put, size_t count);
void fuzz_print(fuzz_bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
fuzz_bytes fuzz_load(const char *path);
void fuzz_save(const char *path, fuzz_bytes b);
uint64_t fuzz_hash(uint64_t hash, const void *bytes, size_t size); /* begins with 0 */
void fuzz_need(bool condition, const char *what);                  /* ends the fuzzer with a line */

/* --- what came out of one reading; lies in shared memory --- */
typedef enum fuzz_state { FUZZ_NOT_RUN, FUZZ_RUNNING, FUZZ_REFUSED, FUZZ_TAKEN } fuzz_state;

typedef struct fuzz_result {
  fuzz_state state;  /* RUNNING in the end: it died there */
  int status;        /* of waitpid, when it died; -1: it hung */
  bool leaks;        /* something that its child read */
  uint64_t digest;   /* of what was read */
  int64_t low, high; /* the range of the indices, judge of updates */
  char text[600];    /* the reader's line */
} fuzz_result;

void fuzz_refuse(fuzz_result *result, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

/* --- fuzz_run.c: children --- */
enum { FUZZ_BATCH = 50, FUZZ_SECONDS = 30 /* for one input */ };

/* Reads input number i of a batch. */
typedef void fuzz_call(void *context, int i, fuzz_result *result);

/* Calls `call` for first .. count - 1 in children, one after another; `before` and `after` (or
 * NULL) at the ends of a child. After an input that killed its child another child goes on with the
 * next. The standard error of input i goes to the file `errors` with i in place of %d. Results are
 * in memory that is shared with the children. */
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

/* --- kinds of inputs --- */
typedef struct fuzz_kind {
  const char *name;
  int batch;                            /* inputs for each child */
  bool hdf5;                            /* what HDF5 does itself is told apart */
  bool (*prepare)(const char *scratch); /* once; false: cannot be done here. NULL: nothing */
  /* Makes the input; true if it was spoilt. */
  bool (*make)(uint64_t seed, const char *path);
  void (*before)(void), (*after)(void);
  void (*read)(const char *path, fuzz_result *result);  /* ours */
  void (*judge)(const char *path, fuzz_result *result); /* the independent one */
  /* Arguments of the command behind its name, ending with NULL. `out`: where it may write. */
  void (*command)(const char *path, const char *out, const char *argv[24]);
  /* Is it right that the command took the file? NULL: if the judge takes it. */
  bool (*accept)(const fuzz_result *judged, const char *out);
} fuzz_kind;

extern const fuzz_kind fuzz_stations, fuzz_fdsn, fuzz_events, fuzz_services, fuzz_ndk, fuzz_updates,
  fuzz_checkpoints, fuzz_stationxml, fuzz_quakeml, fuzz_measurements, fuzz_reference;

/* fuzz_text.c: our readers of lists, and the command that is given one */
void fuzz_read_stations(const char *path, fuzz_result *result);
void fuzz_read_events(const char *path, fuzz_result *result);
void fuzz_command_stations(const char *path, const char *out, const char *argv[24]);
void fuzz_command_events(const char *path, const char *out, const char *argv[24]);

/* fuzz_parse.c: the independent reading of the text formats */
void fuzz_judge_stations(const char *path, fuzz_result *result);
void fuzz_judge_events(const char *path, fuzz_result *result);
/* Is a value of an event given? */
bool fuzz_is_given(const char *text);
/* A station or an earthquake, for the digest of a list; both readings call this. The time is in
 * seconds since 1970, NaN: none. An id of 64 bytes or more is none, as if it were "". */
uint64_t fuzz_hash_site(uint64_t hash, double latitude, double longitude, double depth,
                        double magnitude, double time_s, const char *id);
/* fuzz_times.c: seconds since 1970 of ISO 8601, or of parts from the year on; false: there is no
 * such time. */
bool fuzz_time(const char *text, double *time_s);
bool fuzz_time_of(const double part[6], double *time_s);
/* That of an earthquake: NaN where it is not given, and for a year before 1. */
bool fuzz_event_time(const char *text, double *time_s);

/* fuzz_spoil.c */
void fuzz_spoil_text(fuzz_random *random, fuzz_bytes *text);
void fuzz_spoil_bytes(fuzz_random *random, fuzz_bytes *file);

/* fuzz_hdf5.c: reads all that there is with plain HDF5 calls, to see whether HDF5 survives it */
void fuzz_walk(const char *path);
void fuzz_judge_updates(const char *path, fuzz_result *result);

#endif
