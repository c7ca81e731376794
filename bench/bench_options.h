/* Options of osla-bench, by groups of kernels. Private to bench_options*.c. Each group has three
 * parts. A struct bench_raw_* holds the values that popt stores. A function bench_*_table writes
 * the popt table of the group, which ends with POPT_TABLEEND. A function bench_*_parse checks the
 * values and copies them to the settings; it is called after those of the earlier groups, writes
 * the error line if a value is wrong, and returns an exit status. All functions are local. */
#ifndef OSLA_BENCH_OPTIONS_H
#define OSLA_BENCH_OPTIONS_H

#include "bench/bench.h"
#include "tools/common/command.h"

/* Options of osla-bench for products, and the option --ref-nb. */
typedef struct bench_raw_product {
  char *trans, *memory, *ref_nb;
  long long m, k, panel, layers;
  int ablate, plan;
} bench_raw_product;

/* Values of the product options before parsing: no option is given. */
extern const bench_raw_product bench_raw_product_none;

enum { BENCH_PRODUCT_OPTIONS = 10 };
void bench_product_table(const bench_kernel *kernel, bench_raw_product *raw,
                         struct poptOption table[BENCH_PRODUCT_OPTIONS]);

int bench_product_parse(const bench_kernel *kernel, const bench_raw_product *raw,
                        bench_settings *settings);

/* Options of osla-bench for factorisations and solves. */
typedef struct bench_raw_factor {
  char *pivoting, *forward, *kind;
  int look_ahead, cold;
  long long nrhs;
} bench_raw_factor;

enum { BENCH_FACTOR_OPTIONS = 7 };
void bench_factor_table(const bench_kernel *kernel, bench_raw_factor *raw,
                        struct poptOption table[BENCH_FACTOR_OPTIONS]);
int bench_factor_parse(const bench_kernel *kernel, const bench_raw_factor *raw,
                       bench_settings *settings);

/* Options of osla-bench for updates (kernel hessian). */
typedef struct bench_raw_updates {
  char *count, *density, *uplo;
  long long updates, rows, run, work, ring_bytes, seed;
  int threads;
} bench_raw_updates;

extern const bench_raw_updates bench_raw_updates_default;

enum { BENCH_UPDATES_OPTIONS = 12 };
void bench_updates_table(bench_raw_updates *raw, struct poptOption table[BENCH_UPDATES_OPTIONS]);
int bench_updates_parse(const bench_kernel *kernel, const bench_raw_updates *raw,
                        bench_settings *settings);

/* Options of osla-bench for star forests, and the check of --n for them. */
typedef struct bench_raw_forest {
  char *cases, *matrix, *starts;
  int plain, rewrite, arrival, exact, reach, partition;
} bench_raw_forest;

enum { BENCH_FOREST_OPTIONS = 10 };
void bench_forest_table(bench_raw_forest *raw, struct poptOption table[BENCH_FOREST_OPTIONS]);
int bench_forest_parse(const bench_kernel *kernel, int size, const bench_raw_forest *raw,
                       bench_settings *settings);

/* Options of osla-bench for Jacobi's method. */
typedef struct bench_raw_jacobi {
  char *modes, *slow, *threads, *record;
  long long sweeps, cost_points;
  double tolerance, damping;
  int whole, zeros, period, lead, in_flight, bound, levels, correct_every;
} bench_raw_jacobi;

extern const bench_raw_jacobi bench_raw_jacobi_default;

enum { BENCH_JACOBI_OPTIONS = 17 };
void bench_jacobi_table(bench_raw_jacobi *raw, struct poptOption table[BENCH_JACOBI_OPTIONS]);
int bench_jacobi_parse(const bench_kernel *kernel, int size, const bench_raw_jacobi *raw,
                       bench_settings *settings);

/* Options of osla-bench for splittings. */
typedef struct bench_raw_splitting {
  char *modes, *slow, *inner;
  long long group;
  double tolerance, inner_tolerance;
  int whole, lead;
} bench_raw_splitting;

extern const bench_raw_splitting bench_raw_splitting_default;

enum { BENCH_SPLITTING_OPTIONS = 9 };
void bench_splitting_table(bench_raw_splitting *raw,
                           struct poptOption table[BENCH_SPLITTING_OPTIONS]);
int bench_splitting_parse(const bench_kernel *kernel, int size, const bench_raw_splitting *raw,
                          bench_settings *settings);

/* Names of the modes of iterations, in the order of the bits of settings->cases. */
#define BENCH_MODES "sync,async,racy"

/* Parses the value of --slow, "RANK:F", into settings->slow_rank and slow_factor. After an error
 * writes the error line. Returns an exit status. Local. */
int bench_parse_slow(const bench_kernel *kernel, int size, const char *text,
                     bench_settings *settings);

/* Options of osla-bench for channels, and the check of --bytes. */
typedef struct bench_raw_channel {
  char *cases;
} bench_raw_channel;

enum { BENCH_CHANNEL_OPTIONS = 2 };
void bench_channel_table(bench_raw_channel *raw, struct poptOption table[BENCH_CHANNEL_OPTIONS]);
int bench_channel_parse(const bench_kernel *kernel, const bench_raw_channel *raw,
                        bench_settings *settings);

/* Checks that the value of an option is at least `least`. If not, writes the error line. Returns
 * an exit status. Local. */
int bench_at_least(const bench_kernel *kernel, const char *option, long long value,
                   long long least);

/* Parses a comma-separated list of names: bit k of *out says that `text` lists item k of `names`.
 * After an error writes the error line. Returns an exit status. Local. */
int bench_parse_names(const bench_kernel *kernel, const char *option, const char *names,
                      const char *text, unsigned *out);

/* Appends the sizes that one option gives ("400" or "400,800") to `sizes`, which has room for
 * `most` sizes and holds *count. After an error writes the error line. Returns an exit status.
 * Local. */
int bench_add_sizes(const bench_kernel *kernel, const char *option, const char *text, int most,
                    int64_t *sizes, int *count);

#endif
