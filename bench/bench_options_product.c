/* Options of osla-bench for products, and the option --ref-nb. See bench_options.h. */
#include "config.h"

#include "bench/bench_options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define NOT_GIVEN LLONG_MIN

const bench_raw_product bench_raw_product_none = {
  .m = NOT_GIVEN, .k = NOT_GIVEN, .panel = NOT_GIVEN, .layers = NOT_GIVEN};

void bench_product_table(const bench_kernel *kernel, bench_raw_product *raw,
                         struct poptOption table[BENCH_PRODUCT_OPTIONS])
{
  const struct poptOption shapes[] = {
    {"trans", '\0', POPT_ARG_STRING, &raw->trans, 0,
     "op of A and B: N as is, T transposed, C conjugate transposed (default: NN)", "XY"},
    {"m", '\0', POPT_ARG_LONGLONG, &raw->m, 0, "Rows of C (default: N)", "M"},
    {"ablate", '\0', POPT_ARG_NONE, &raw->ablate, 0,
     "Also run OSLA with its protocols switched on one by one", NULL},
    {"plan", '\0', POPT_ARG_NONE, &raw->plan, 0,
     "Print what each rank would do (transfers, bytes, buffers), and run nothing", NULL},
    {"layers", '\0', POPT_ARG_LONGLONG, &raw->layers, 0,
     "Number of layers of ranks among which OSLA divides the inner size (default: 1)", "COUNT"}};
  const struct poptOption product[] = {
    {"k", '\0', POPT_ARG_LONGLONG, &raw->k, 0, "Inner size (default: N)", "K"},
    {"panel", '\0', POPT_ARG_LONGLONG, &raw->panel, 0,
     "Widest panel of the inner size that OSLA copies at once (default: chosen)", "COLUMNS"},
    {"memory", '\0', POPT_ARG_STRING, &raw->memory, 0,
     "Most memory for OSLA's buffers on a rank, such as 64M (default: chosen)", "BYTES"}};
  const struct poptOption other_nb[] = {
    {"ref-nb", '\0', POPT_ARG_STRING, &raw->ref_nb, 0,
     "Block sizes of ScaLAPACK, each with a row (default: the fastest of 32,64,96,128,192 in a "
     "trial)",
     "LIST"}};
  if (kernel->shapes) {
    memcpy(table, shapes, sizeof shapes);
    table += sizeof shapes / sizeof *shapes;
  }
  if (kernel->product) {
    memcpy(table, product, sizeof product);
    table += sizeof product / sizeof *product;
  }
  if (kernel->other_nb && bench_list_has(kernel->references, "scalapack")) *table++ = other_nb[0];
  *table = (struct poptOption)POPT_TABLEEND;
}

static int parse_trans(const bench_kernel *kernel, const char *text, bench_settings *settings)
{
  static const char letters[] = "NTC"; /* letters of op, indexed by osla_trans */
  settings->transa = settings->transb = OSLA_NOTRANS;
  if (!text) return OSLA_EXIT_OK;
  if (strlen(text) != 2 || !strchr(letters, text[0]) || !strchr(letters, text[1]))
    return bench_error(kernel, "--trans: '%s' is not two letters of N, T, C", text);
  settings->transa = (osla_trans)(strchr(letters, text[0]) - letters);
  settings->transb = (osla_trans)(strchr(letters, text[1]) - letters);
  return OSLA_EXIT_OK;
}

/* Checks that a size is at least 1. *out := 0 if the option was not given. */
static int parse_size(const bench_kernel *kernel, const char *option, long long value, int64_t *out)
{
  *out = 0;
  if (value == NOT_GIVEN) return OSLA_EXIT_OK;
  if (value < 1) return bench_error(kernel, "%s: %lld is less than 1", option, value);
  *out = value;
  return OSLA_EXIT_OK;
}

/* Parses --memory: "67108864", "65536K", "64M" or "1G". */
static int parse_memory(const bench_kernel *kernel, const char *text, uint64_t *bytes)
{
  static const char units[] = "KMG";
  *bytes = 0;
  if (!text) return OSLA_EXIT_OK;
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  const char *unit = *end ? strchr(units, *end) : NULL;
  int shift = unit ? 10 * (int)(unit - units + 1) : 0;
  if (unit) end++;
  if (text[0] < '0' || text[0] > '9' || *end || errno || value < 1 || value > UINT64_MAX >> shift)
    return bench_error(kernel, "--memory: '%s' is not a number of bytes, such as 67108864 or 64M",
                       text);
  *bytes = (uint64_t)value << shift;
  return OSLA_EXIT_OK;
}

static int parse_ref_nb(const bench_kernel *kernel, const char *text, bench_settings *settings)
{
  settings->ref_nb_chosen = !text;
  int status = bench_add_sizes(kernel, "--ref-nb", text ? text : "32,64,96,128,192",
                               BENCH_MAX_REF_NB, settings->ref_nb, &settings->n_ref_nb);
  for (int i = 0; i < settings->n_ref_nb && !status; i++)
    for (int j = 0; j < i && !status; j++)
      if (settings->ref_nb[i] == settings->ref_nb[j])
        status = bench_error(kernel, "--ref-nb: %" PRId64 " is given twice", settings->ref_nb[i]);
  if (!status && text && !bench_list_has(settings->ref, "scalapack"))
    status = bench_error(kernel, "--ref-nb %s needs --ref scalapack", text);
  return status;
}

int bench_product_parse(const bench_kernel *kernel, const bench_raw_product *raw,
                        bench_settings *settings)
{
  int status = parse_trans(kernel, raw->trans, settings);
  if (!status) status = parse_size(kernel, "--m", raw->m, &settings->m);
  if (!status) status = parse_size(kernel, "--k", raw->k, &settings->k);
  if (!status) status = parse_size(kernel, "--panel", raw->panel, &settings->panel);
  if (!status) status = parse_size(kernel, "--layers", raw->layers, &settings->layers);
  if (!status) status = parse_memory(kernel, raw->memory, &settings->memory);
  if (!status) status = parse_ref_nb(kernel, raw->ref_nb, settings);
  settings->ablate = raw->ablate != 0;
  settings->plan = raw->plan != 0;
  if (!status && settings->plan && settings->json)
    status = bench_error(kernel, "--plan measures nothing: leave out --json %s", settings->json);
  return status;
}
