/* Options of osla-bench that all kernels have, and the table of a kernel's options. See bench.h and
 * bench_options.h. */
#include "config.h"

#include "bench/bench_options.h"
#include "osla_matrix.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_GIVEN = INT_MIN };
#define DEFAULT_NB "96"
#define DEVICE_NB  "512" /* in products of smaller blocks the memory of a GPU limits the rate */
_Static_assert(OSLA_DEFAULT_BLOCK == 96, "DEFAULT_NB is another");

/* Option values as popt stores them. */
typedef struct raw_options {
  char **n; /* texts of all options --n; popt allocates them, this file frees them */
  char *nb, *grid, *order, *ref, *precision, *json, *trace, *device;
  bool on_device; /* true: --device is given, with or without a kind */
  int reps;
  bench_raw_product product;
  bench_raw_factor factor;
  bench_raw_updates updates;
  bench_raw_forest forest;
  bench_raw_jacobi jacobi;
  bench_raw_splitting splitting;
  bench_raw_channel channel;
} raw_options;

/* Comma-separated names of the reference implementations that a run with or without --device can
 * use; NULL if the kernel has no --device. */
static const char *references(const bench_kernel *kernel, bool on_device)
{
  return on_device ? kernel->device_references : kernel->references;
}

/* Comma-separated names of the reference implementations that several ranks can use with
 * --device. */
static const char *references_of_ranks(const bench_kernel *kernel)
{
  return kernel->device_references_of_ranks ? kernel->device_references_of_ranks : "blas";
}

static int check_refs(const bench_kernel *kernel, bool on_device, int size, const char *list)
{
  const char *known = references(kernel, on_device);
  char item[40];
  if (strcmp(list, "none") == 0) return OSLA_EXIT_OK;
  for (const char *at = list;; at++) {
    size_t length = strcspn(at, ",");
    (void)snprintf(item, sizeof item, "%.*s", (int)length, at);
    if (length == 0 || !bench_list_has(known, item))
      return bench_error(kernel, "--ref: '%s' is not one of none%s%s%s", item, known[0] ? "," : "",
                         known, on_device ? ", the references with --device" : "");
    if (on_device && size > 1 && !bench_list_has(references_of_ranks(kernel), item))
      return bench_error(kernel, "--ref %s uses the device of one rank: run it with 1 rank, not %d",
                         item, size);
    /* the name of a reference that tries several candidates, followed by a hyphen, begins the
     * names of the candidates */
    for (char *hyphen = strchr(item, '-'); hyphen; hyphen = strchr(hyphen + 1, '-')) {
      *hyphen = '\0';
      if (bench_list_has(list, item))
        return bench_error(kernel, "--ref: %s tries %.*s: leave one of them out", item, (int)length,
                           at);
      *hyphen = '-';
    }
    at += length;
    if (*at == '\0') return OSLA_EXIT_OK;
  }
}

static const char *default_references(const bench_kernel *kernel, bool on_device, int size)
{
  if (on_device) return size > 1 ? references_of_ranks(kernel) : kernel->device_references;
  return kernel->default_references ? kernel->default_references : kernel->references;
}

static int default_reps(const bench_kernel *kernel)
{
  return kernel->reps ? kernel->reps : 5;
}

static const char *precisions(const bench_kernel *kernel)
{
  return kernel->precisions ? kernel->precisions : "sd";
}

static int parse_precision(const bench_kernel *kernel, const char *text, bench_settings *settings)
{
  static const char letters[] = "sdcz"; /* letter of each type, indexed by osla_dtype */
  settings->dtype = OSLA_DOUBLE;
  if (!text) return OSLA_EXIT_OK;
  if (strlen(text) != 1 || !strchr(precisions(kernel), text[0]))
    return bench_error(kernel, "--precision: '%s' is not one letter of %s", text,
                       precisions(kernel));
  settings->dtype = (osla_dtype)(strchr(letters, text[0]) - letters);
  return OSLA_EXIT_OK;
}

/* Parses --grid, such as "2x2" or "1x4,2x2". Without the option there is one grid, 0 x 0, whose
 * shape osla_grid_create chooses. */
static int parse_grids(const bench_kernel *kernel, int size, const char *text,
                       bench_settings *settings)
{
  char name[40], item[40];
  (void)snprintf(name, sizeof name, "-bench %s", kernel->name);
  settings->n_grids = text ? 0 : 1;
  for (const char *at = text; at;) {
    if (settings->n_grids == BENCH_MAX_GRIDS)
      return bench_error(kernel, "--grid: more than %d grids", BENCH_MAX_GRIDS);
    int *grid = settings->grids[settings->n_grids++], length = (int)strcspn(at, ",");
    (void)snprintf(item, sizeof item, "%.*s", length, at);
    int status = command_parse_grid(name, "--grid", item, size, &grid[0], &grid[1]);
    if (status) return status;
    at = at[length] ? at + length + 1 : NULL;
  }
  return OSLA_EXIT_OK;
}

static int parse_order(const bench_kernel *kernel, const char *text, bench_settings *settings)
{
  static const char *const names[] = {"rows", "columns", "nodes", "tiles", "across"};
  enum { ORDERS = sizeof names / sizeof names[0] }; /* number of values that osla_grid_order has */
  settings->order = OSLA_GRID_NODES;
  settings->order_chosen = !text;
  for (int i = 0; text && i < ORDERS; i++)
    if (strcmp(text, names[i]) == 0) {
      settings->order = (osla_grid_order)i;
      return OSLA_EXIT_OK;
    }
  if (!text) return OSLA_EXIT_OK;
  return bench_error(kernel, "--order: '%s' is not rows, columns, nodes, tiles or across", text);
}

/* True if the sizes of the kernel are points along a side of a grid. */
static bool has_points(const bench_kernel *kernel)
{
  return kernel->jacobi || kernel->splitting;
}

static const char *size_option(const bench_kernel *kernel)
{
  return has_points(kernel) ? "--points" : kernel->channel ? "--bytes" : "--n";
}

/* Checks the values that popt stored and copies them to settings. */
static int settings_set(const bench_kernel *kernel, int size, const raw_options *raw,
                        bench_settings *settings)
{
  int status = OSLA_EXIT_OK;
  for (char **text = raw->n; text && *text && !status; text++)
    status = bench_add_sizes(kernel, size_option(kernel), *text, BENCH_MAX_SIZES, settings->n,
                             &settings->n_count);
  for (int i = 0; !raw->n && kernel->sizes[i]; i++)
    settings->n[settings->n_count++] = kernel->sizes[i];
  if (!status)
    status = bench_add_sizes(kernel, "--nb",
                             raw->nb          ? raw->nb
                             : raw->on_device ? DEVICE_NB
                                              : DEFAULT_NB,
                             BENCH_MAX_SIZES, settings->nbs, &settings->n_nbs);
  if (!status) status = parse_precision(kernel, raw->precision, settings);
  if (!status && raw->ref) status = check_refs(kernel, raw->on_device, size, raw->ref);
  if (!status) status = parse_grids(kernel, size, raw->grid, settings);
  if (!status) status = parse_order(kernel, raw->order, settings);
  if (!status && kernel->pairs && size < 2)
    status = bench_error(kernel, "needs at least 2 ranks (mpiexec -n 2 ...)");

  settings->nb = settings->nbs[0];
  settings->reps = raw->reps == NOT_GIVEN ? default_reps(kernel) : raw->reps;
  if (!status) status = bench_at_least(kernel, "--reps", settings->reps, 1);
  if (!status && raw->factor.cold && raw->reps != NOT_GIVEN && raw->reps != 1)
    status = bench_error(kernel, "--cold times one call: leave out --reps %d", raw->reps);
  if (!status && raw->factor.cold && raw->ref && strcmp(raw->ref, "none") != 0)
    status = bench_error(kernel, "--cold times OSLA alone: leave out --ref %s", raw->ref);
  settings->ref = strdup(raw->ref           ? raw->ref
                         : raw->factor.cold ? "none"
                                            : default_references(kernel, raw->on_device, size));
  const char *kind = raw->device ? raw->device : getenv("OSLA_DEVICE");
  settings->device = raw->on_device ? strdup(kind && kind[0] ? kind : "cuda") : NULL;
  settings->json = raw->json ? strdup(raw->json) : NULL;
  settings->trace = raw->trace ? strdup(raw->trace) : NULL;
  if (!status && (!settings->ref || (raw->json && !settings->json) ||
                  (raw->trace && !settings->trace) || (raw->on_device && !settings->device)))
    status = bench_error(kernel, "out of memory");
  if (!status) status = bench_product_parse(kernel, &raw->product, settings);
  if (!status) status = bench_factor_parse(kernel, &raw->factor, settings);
  if (!status) status = bench_updates_parse(kernel, &raw->updates, settings);
  if (!status) status = bench_forest_parse(kernel, size, &raw->forest, settings);
  if (!status) status = bench_jacobi_parse(kernel, size, &raw->jacobi, settings);
  if (!status) status = bench_splitting_parse(kernel, size, &raw->splitting, settings);
  if (!status) status = bench_channel_parse(kernel, &raw->channel, settings);
  return status;
}

/* Writes the help texts of the size option and of --ref, with the default values. */
static void describe_defaults(const bench_kernel *kernel, char *sizes, size_t room, char *refs,
                              size_t refs_room)
{
  const char *what = kernel->pairs        ? "Bytes of a transfer"
                     : has_points(kernel) ? "Points along a side"
                                          : "Order of the matrices";
  size_t used = (size_t)snprintf(sizes, room, "%s (default:", what);
  if (kernel->forest)
    used = (size_t)snprintf(sizes, room,
                            "Bytes of a pingpong, edges of each rank of the other cases (default: "
                            "8 to 4194304, 100000");
  if (kernel->channel)
    used = (size_t)snprintf(sizes, room,
                            "Bytes of a message (default: 8 to 80000, in halo 1048576; in stream "
                            "65536 to 4194304");
  for (int i = 0; kernel->sizes[i] && used < room; i++)
    used +=
      (size_t)snprintf(sizes + used, room - used, "%c%" PRId64, i ? ',' : ' ', kernel->sizes[i]);
  if (used < room) (void)snprintf(sizes + used, room - used, "); a comma list, or given again");
  (void)snprintf(refs, refs_room, "References, of none%s%s (default: %s)",
                 kernel->references[0] ? "," : "", kernel->references,
                 default_references(kernel, false, 1));
}

/* Parses the command line by popt with the options that the kernel has. The result and *status are
 * those of command_parse. */
static bool parse_raw(const bench_kernel *kernel, int argc, char **argv, raw_options *raw,
                      command_line *line, int *status)
{
  char sizes[200], refs[240], precision[40], reps[60], on_device[240];
  struct poptOption product[BENCH_PRODUCT_OPTIONS], factor[BENCH_FACTOR_OPTIONS],
    updates[BENCH_UPDATES_OPTIONS], forest[BENCH_FOREST_OPTIONS], jacobi[BENCH_JACOBI_OPTIONS],
    splitting[BENCH_SPLITTING_OPTIONS], channel[BENCH_CHANNEL_OPTIONS];
  describe_defaults(kernel, sizes, sizeof sizes, refs, sizeof refs);
  (void)snprintf(reps, sizeof reps, "Repetitions that are counted (default: %d)",
                 default_reps(kernel));
  (void)snprintf(precision, sizeof precision, "One letter of %s (default: d)", precisions(kernel));
  (void)snprintf(
    on_device, sizeof on_device,
    "Matrices on a device: cuda or fake (default: OSLA_DEVICE, else cuda), with --nb " DEVICE_NB
    " and --ref %s unless given",
    kernel->device_references ? kernel->device_references : "");
  bench_product_table(kernel, &raw->product, product);
  bench_factor_table(kernel, &raw->factor, factor);
  bench_updates_table(&raw->updates, updates);
  bench_forest_table(&raw->forest, forest);
  bench_jacobi_table(&raw->jacobi, jacobi);
  bench_splitting_table(&raw->splitting, splitting);
  bench_channel_table(&raw->channel, channel);
  const struct poptOption common[] = {
    {size_option(kernel) + strlen("--"), '\0', POPT_ARG_ARGV, &raw->n, 0, sizes, "N"},
    {"ref", '\0', POPT_ARG_STRING, &raw->ref, 0, refs, "LIST"},
    {"reps", '\0', POPT_ARG_INT, &raw->reps, 0, reps, "R"},
    {"json", '\0', POPT_ARG_STRING, &raw->json, 0,
     "Append one JSON object a line, for each implementation and size", "FILE"},
    {"trace", '\0', POPT_ARG_STRING, &raw->trace, 0,
     "Write what each rank does in the last repetition of osla, for a trace viewer", "FILE"},
    POPT_TABLEEND};
  const struct poptOption matrix[] = {
    {"nb", '\0', POPT_ARG_STRING, &raw->nb, 0,
     "Block size of the distribution (default: " DEFAULT_NB "); a comma list", "NB"},
    {"grid", '\0', POPT_ARG_STRING, &raw->grid, 0,
     "Process grid (default: one row on one node); a comma list", "PxQ"},
    {"order", '\0', POPT_ARG_STRING, &raw->order, 0,
     "Ranks in it by rows, columns, nodes (columns, each on as few nodes as can be), tiles (each "
     "node a rectangle) or across (as nodes, but these follow one another in process rows); "
     "default: tiles from 16 process rows and 8 ranks a node on, else nodes",
     "ORDER"},
    {"precision", '\0', POPT_ARG_STRING, &raw->precision, 0, precision, "X"},
    POPT_TABLEEND};
  struct poptOption none[] = {POPT_TABLEEND};
  const struct poptOption device[] = {
    {"device", '\0', POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL, &raw->device, 0, on_device, "KIND"},
    POPT_TABLEEND};
  bool matrices = !kernel->pairs && !kernel->forest && !has_points(kernel);
  const struct poptOption table[] = {
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)common, 0, NULL, NULL},
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE, matrices ? (void *)(uintptr_t)matrix : none, 0, NULL,
     NULL},
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE,
     kernel->device_references ? (void *)(uintptr_t)device : none, 0, NULL, NULL},
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE, kernel->updates ? updates : none, 0, NULL, NULL},
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE, product, 0, NULL, NULL},
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE, factor, 0, NULL, NULL},
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE, kernel->forest ? forest : none, 0, NULL, NULL},
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE, kernel->jacobi ? jacobi : none, 0, NULL, NULL},
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE, kernel->splitting ? splitting : none, 0, NULL, NULL},
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE, kernel->channel ? channel : none, 0, NULL, NULL},
    POPT_TABLEEND};
  line->options = table;
  bool go_on = command_parse(line, argc, argv, status);
  line->options = NULL;
  return go_on;
}

bool bench_options_parse(const bench_kernel *kernel, int size, int argc, char **argv,
                         bench_settings *settings, int *status)
{
  raw_options raw = {.reps = NOT_GIVEN, .factor.nrhs = 1, .forest.reach = 3};
  raw.updates = bench_raw_updates_default;
  raw.product = bench_raw_product_none;
  raw.jacobi = bench_raw_jacobi_default;
  raw.splitting = bench_raw_splitting_default;
  char name[40];
  (void)snprintf(name, sizeof name, "-bench %s", kernel->name);
  command_line line = {.name = name, .about = kernel->about, .after = kernel->after};
  memset(settings, 0, sizeof *settings);
  raw.on_device = kernel->device_references && command_is_given(argc, argv, "--device");
  bool go_on = parse_raw(kernel, argc, argv, &raw, &line, status);
  if (go_on) {
    *status = settings_set(kernel, size, &raw, settings);
    command_release(&line);
    go_on = *status == OSLA_EXIT_OK;
    if (!go_on) bench_settings_free(settings);
  }
  return go_on;
}

void bench_settings_free(bench_settings *settings)
{
  free(settings->ref);
  free(settings->json);
  free(settings->trace);
  free(settings->device);
  free(settings->record);
  free(settings->matrix);
  settings->ref = settings->json = settings->trace = settings->record = settings->device = NULL;
}
