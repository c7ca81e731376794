/* The options of products and of --ref-nb, and those of factorisations, apart from the rest.
 * Private to bench_options*.c. */
#ifndef OSLA_BENCH_OPTIONS_H
#define OSLA_BENCH_OPTIONS_H

#include "bench.h"
#include "command.h"

/* As popt stores them. */
typedef struct bench_raw_product {
  char *trans, *memory, *ref_nb;
  long long m, k, panel;
  int ablate, plan;
} bench_raw_product;

/* Before popt: nothing given. */
extern const bench_raw_product bench_raw_product_none;

/* Writes the options that the kernel has, ended by POPT_TABLEEND. Local. */
enum { BENCH_PRODUCT_OPTIONS = 10 };
void bench_product_table(const bench_kernel *kernel, bench_raw_product *raw,
                         struct poptOption table[BENCH_PRODUCT_OPTIONS]);

/* Checks them and moves them to settings, whose other fields are done. Returns an exit status,
 * after the error line. Local. */
int bench_product_take(const bench_kernel *kernel, const bench_raw_product *raw,
                       bench_settings *settings);

/* The same for the options of factorisations and solves. */
typedef struct bench_raw_factor {
  char *pivoting, *kind;
  int look_ahead;
  long long nrhs;
} bench_raw_factor;

enum { BENCH_FACTOR_OPTIONS = 5 };
void bench_factor_table(const bench_kernel *kernel, bench_raw_factor *raw,
                        struct poptOption table[BENCH_FACTOR_OPTIONS]);
int bench_factor_take(const bench_kernel *kernel, const bench_raw_factor *raw,
                      bench_settings *settings);

/* Appends the sizes of one option: "400" or "400,800". The same for the rest. */
int bench_add_sizes(const bench_kernel *kernel, const char *option, const char *text, int most,
                    int64_t *sizes, int *count);

#endif
