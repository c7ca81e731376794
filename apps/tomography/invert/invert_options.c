/* Options of `osla invert`: table, defaults, checks. */
#include "config.h"

#include "apps/tomography/draw/tomo_map.h"
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/invert/invert_options.h"
#include "tools/common/command.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
enum { HAVE_THREADS = 1 };
#else
enum { HAVE_THREADS = 0 };
#endif

static const char name[] = "invert";

enum { UNSET = INT_MIN, RESOLUTION = 24 };

#define SEED_MAX (1LL << 53) /* limit of the seed, exact as a double */

/* Texts of options that are parsed after popt has read the command line. */
typedef struct raw_options {
  const char *grid, *test, *precision, *triangle, *solver, *section, *spikes;
  const char *scan, *choose, *spread, *inverse;
  char **data; /* value of each --data option, ended by NULL */
} raw_options;

static invert_options default_options(void)
{
  return (invert_options){.files = {.step_degrees = 2.0},
                          .min_distance = INVERT_UNSET,
                          .max_distance = INVERT_UNSET,
                          .outlier = 3.0,
                          .frequency = 10,
                          .n_radial = 4,
                          .depth_km = 1000.0,
                          .stretch = 0.3,
                          .kernel = tomo_kernel_defaults(),
                          .noise = INVERT_NOISE,
                          .model = tomo_model_defaults(),
                          .prior = tomo_prior_defaults(),
                          .nb = OSLA_DEFAULT_BLOCK,
                          .interval = 600.0,
                          .threads = 1,
                          .tolerance = 1e-8,
                          .iterations = 10000,
                          .resolution = UNSET,
                          .map_depth_km = 100.0,
                          .centre = TOMO_MAP_CENTRE};
}

#define SHOW POPT_ARGFLAG_SHOW_DEFAULT

static osla_err check_positive(const char *option, double value)
{
  OSLA_CHECK(isfinite(value) && value > 0.0, OSLA_ERR_ARG, "%s: %g is not a positive number",
             option, value);
  return OSLA_OK;
}

static osla_err check_not_negative(const char *option, double value)
{
  OSLA_CHECK(!isnan(value), OSLA_ERR_ARG, "%s: nan is not a number", option);
  OSLA_CHECK(value >= 0.0, OSLA_ERR_ARG, "%s: %g is negative", option, value);
  OSLA_CHECK(isfinite(value), OSLA_ERR_ARG, "%s: %g is not finite", option, value);
  return OSLA_OK;
}

static osla_err check_range(const char *option, long long value, long long low, long long high)
{
  OSLA_CHECK(value >= low && value <= high, OSLA_ERR_ARG, "%s: %lld is outside %lld to %lld",
             option, value, low, high);
  return OSLA_OK;
}

static osla_err check_numbers(const invert_options *o)
{
  OSLA_CALL(check_not_negative("--damping", o->prior.damping));
  OSLA_CALL(check_not_negative("--smoothing", o->prior.lateral));
  OSLA_CALL(check_not_negative("--radial-smoothing", o->prior.radial));
  OSLA_CALL(check_not_negative("--noise", o->noise));
  OSLA_CALL(check_not_negative("--interval", o->interval));
  OSLA_CALL(check_not_negative("--min-distance", o->min_distance));
  OSLA_CHECK(o->max_distance <= 180.0 && o->min_distance < o->max_distance, OSLA_ERR_ARG,
             "--max-distance: %g is not between --min-distance %g and 180", o->max_distance,
             o->min_distance);
  OSLA_CALL(check_positive("--depth", o->depth_km));
  OSLA_CHECK(o->depth_km <= TOMO_EARTH_RADIUS_KM, OSLA_ERR_ARG, "--depth: %g km is below %g",
             o->depth_km, TOMO_EARTH_RADIUS_KM);
  OSLA_CHECK(o->stretch >= 0.0 && o->stretch < 1.0, OSLA_ERR_ARG,
             "--stretch: %g is not in 0 <= x < 1", o->stretch);
  OSLA_CHECK(o->kernel.period_min_s >= 1.0 && o->kernel.period_min_s <= 1e4, OSLA_ERR_ARG,
             "--period-min: %g is outside 1 to 10000 s", o->kernel.period_min_s);
  OSLA_CHECK(o->kernel.period_max_s >= o->kernel.period_min_s && o->kernel.period_max_s <= 1e4,
             OSLA_ERR_ARG, "--period-max: %g is not between --period-min %g and 10000 s",
             o->kernel.period_max_s, o->kernel.period_min_s);
  OSLA_CALL(check_positive("--tolerance", o->tolerance));
  OSLA_CALL(check_positive("--sigma", o->kernel.sigma_fraction));
  OSLA_CALL(check_positive("--outlier", o->outlier));
  OSLA_CALL(check_positive("--amplitude", o->model.amplitude_percent));
  OSLA_CHECK(o->model.cell_degrees >= 1.0 && o->model.cell_degrees <= 180.0, OSLA_ERR_ARG,
             "--cell: %g is outside 1 to 180 degrees", o->model.cell_degrees);
  OSLA_CALL(check_not_negative("--cell-depth", o->model.cell_depth_km));
  OSLA_CALL(check_not_negative("--map-depth", o->map_depth_km));
  OSLA_CHECK(o->centre >= -360.0 && o->centre <= 360.0, OSLA_ERR_ARG,
             "--center: %g is outside -360 to 360 degrees", o->centre);
  OSLA_CHECK(!(o->map || o->report) || o->map_depth_km <= o->depth_km, OSLA_ERR_ARG,
             "--map-depth: %g km is below the model's lower end, --depth %g", o->map_depth_km,
             o->depth_km);
  return OSLA_OK;
}

static osla_err check_counts(const invert_options *o)
{
  OSLA_CALL(check_range("--mesh", o->frequency, 1, TOMO_MESH_FREQUENCY_MAX));
  OSLA_CALL(check_range("--radial", o->n_radial, 1, TOMO_RADIAL_MAX));
  OSLA_CALL(check_range("--periods", o->kernel.n_periods, 1, 1000));
  OSLA_CALL(check_range("--branches", o->kernel.n_branches, 1, 20));
  OSLA_CALL(check_range("--max-paths", o->max_paths, 0, LLONG_MAX));
  OSLA_CALL(check_range("--nb", o->nb, 1, 65536));
  OSLA_CALL(check_range("--subset", o->subset, 0, INT_MAX));
  OSLA_CALL(check_range("--resolution", o->resolution, 0, 4096));
  OSLA_CALL(check_range("--iterations", o->iterations, 1, LLONG_MAX));
  OSLA_CALL(check_range("--threads", o->threads, 1, 1024));
  OSLA_CHECK(HAVE_THREADS || o->threads == 1, OSLA_ERR_UNSUPPORTED,
             "--threads: %d, but this build has no OpenMP", o->threads);
  return OSLA_OK;
}

/* Checks that `word` is one of two keywords. Sets *second to true if it is second_word. */
static osla_err check_word(const char *option, const char *word, const char *first_word,
                           const char *second_word, bool *second)
{
  *second = strcmp(word, second_word) == 0;
  OSLA_CHECK(*second || strcmp(word, first_word) == 0, OSLA_ERR_ARG,
             "%s: '%s' is neither %s nor %s", option, word, first_word, second_word);
  return OSLA_OK;
}

const char *invert_solver_name(invert_solver solver)
{
  static const char *const names[] = {"direct", "lsqr", "cg"};
  return names[solver];
}

static osla_err check_solver(const char *word, invert_options *o)
{
  static const struct {
    const char *word;
    invert_solver solver;
    invert_factor factor;
  } kinds[] = {{"cholesky", INVERT_DIRECT, INVERT_CHOLESKY},
               {"lu", INVERT_DIRECT, INVERT_LU},
               {"lsqr", INVERT_LSQR, INVERT_CHOLESKY},
               {"cg", INVERT_CG, INVERT_CHOLESKY}};
  const size_t n = sizeof kinds / sizeof *kinds;
  size_t i = 0;
  while (i < n && strcmp(word, kinds[i].word) != 0)
    i++;
  OSLA_CHECK(i < n, OSLA_ERR_ARG, "--solver: '%s' is none of cholesky, lu, lsqr, cg", word);
  o->solver = kinds[i].solver;
  o->factor = kinds[i].factor;
  if (o->resolution == UNSET) o->resolution = o->solver == INVERT_DIRECT ? RESOLUTION : 0;
  return OSLA_OK;
}

/* Rejects options that need the assembled matrix if the solver is LSQR or CG. */
static osla_err check_no_matrix(const invert_options *o, const raw_options *raw)
{
  const struct {
    const char *option;
    bool given;
  } options[] = {{"--checkpoint", o->checkpoint},
                 {"--reproducible", o->reproducible.on},
                 {"--bound", o->reproducible.bound[BOUND_OF_H] != 0.0},
                 {"--gradient-bound", o->reproducible.bound[BOUND_OF_GRADIENT] != 0.0},
                 {"--precision float", o->dtype == OSLA_FLOAT},
                 {"--triangle upper", o->uplo == OSLA_UPPER},
                 {"--full", o->full},
                 {"--nb", o->nb != OSLA_DEFAULT_BLOCK},
                 {"--grid", raw->grid}};
  for (size_t i = 0; o->solver != INVERT_DIRECT && i < sizeof options / sizeof *options; i++)
    OSLA_CHECK(!options[i].given, OSLA_ERR_ARG,
               "%s needs an assembled matrix, and --solver %s has none", options[i].option,
               invert_solver_name(o->solver));
  return OSLA_OK;
}

/* Parses list options, and rejects an option if an option that it requires is absent. */
static osla_err check_lists(const raw_options *raw, invert_options *o)
{
  bool second = false;
  OSLA_CALL(invert_parse_scan(raw->scan, &o->scan));
  if (raw->choose) OSLA_CALL(check_word("--choose", raw->choose, "corner", "gcv", &second));
  if (raw->choose) o->choose = second ? INVERT_GCV : INVERT_CORNER;
  OSLA_CALL(invert_parse_spread(raw->spread, o->depth_km, &o->points, o->point));
  OSLA_CHECK(raw->scan || !raw->choose, OSLA_ERR_ARG, "--choose requires --scan");
  OSLA_CHECK(raw->scan || !o->scan_plot, OSLA_ERR_ARG, "--scan-plot requires --scan");
  OSLA_CHECK(o->solver == INVERT_DIRECT || (!o->posterior && !raw->spread), OSLA_ERR_ARG,
             "%s needs an assembled matrix: use --solver cholesky or lu, not %s",
             o->posterior ? "--posterior" : "--spread", invert_solver_name(o->solver));
  if (raw->inverse)
    OSLA_CALL(check_word("--inverse", raw->inverse, "in-place", "columns", &second));
  if (raw->inverse) o->inverse = second ? INVERT_BY_COLUMNS : INVERT_IN_PLACE;
  OSLA_CHECK(!raw->inverse || o->posterior, OSLA_ERR_ARG, "--inverse requires --posterior");
  OSLA_CHECK(o->factor == INVERT_CHOLESKY || o->inverse != INVERT_IN_PLACE, OSLA_ERR_ARG,
             "--inverse in-place requires --solver cholesky");
  return OSLA_OK;
}

static osla_err check_words(const raw_options *raw, invert_options *o)
{
  bool second;
  OSLA_CALL(check_word("--precision", raw->precision, "double", "float", &second));
  o->dtype = second ? OSLA_FLOAT : OSLA_DOUBLE;
  OSLA_CALL(check_word("--triangle", raw->triangle, "lower", "upper", &second));
  o->uplo = second ? OSLA_UPPER : OSLA_LOWER;
  return OSLA_OK;
}

/* Returns the directory of the shipped tables: $OSLA_DATA, the installed directory, or data/ of the
 * source tree. NULL: the sample is in none of these. */
static const char *find_data_directory(void)
{
  const char *places[] = {getenv("OSLA_DATA"), OSLA_PKGDATADIR, OSLA_SOURCE_DATADIR};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    char file[PATH_MAX];
    if (!places[i]) continue;
    (void)snprintf(file, sizeof file, "%s/sample_stations.csv", places[i]);
    if (access(file, R_OK) == 0) return places[i];
  }
  return NULL;
}

/* Rejects options without effect: those that modify an option which the user did not give. */
static osla_err check_idle(int argc, char **argv, const invert_options *o)
{
  const struct {
    const char *option, *of;
    bool done;
  } options[] = {{"--outlier", "--robust", o->robust},
                 {"--section", "--report", o->report},
                 {"--netcdf-step", "--netcdf", o->files.netcdf},
                 {"--interval", "--checkpoint", o->checkpoint},
                 {"--tolerance", "--solver lsqr or cg", o->solver != INVERT_DIRECT},
                 {"--iterations", "--solver lsqr or cg", o->solver != INVERT_DIRECT},
                 {"--world", "--map or --report", o->map || o->report},
                 {"--center", "--map or --report", o->map || o->report},
                 {"--map-depth", "--map, --report or --test spike",
                  o->map || o->report || o->model.kind == TOMO_MODEL_SPIKE}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    OSLA_CHECK(options[i].done || !command_is_given(argc, argv, options[i].option), OSLA_ERR_ARG,
               "%s requires %s", options[i].option, options[i].of);
  return OSLA_OK;
}

static const char about[] =
  "Inverts surface-wave delays of station-earthquake paths for shear velocity in the Earth: G^T G "
  "is assembled by one-sided updates, factored in place and solved, all in one job; or, with "
  "--solver lsqr or cg, the same model is found from the rows of G, without assembly. The data are "
  "those of --data; without it they are made from a known model plus noise, to see what the paths "
  "can recover. Without --stations and --events a small shipped sample is used.";

static const char after[] =
  "Example:\n"
  "  mpiexec -n 4 osla invert --stations STATIONS --events e.csv --data d.csv --output m.h5\n";

bool invert_parse(int argc, char **argv, int ranks, invert_options *o, struct command_line *line,
                  int *status)
{
  raw_options raw = {.solver = "cholesky", .precision = "double", .triangle = "lower"};
  *o = default_options();
  long long seed = (long long)o->model.seed;
  struct poptOption files[INVERT_FILE_OPTIONS];
  invert_file_table(&o->files, files);
  const struct poptOption table[] = {
    {"data", 'd', POPT_ARG_ARGV, &raw.data, 0,
     "table of measurements: CSV with header, or HDF5; see doc/measurements.md", "FILE"},
    {"reference", '\0', POPT_ARG_STRING, &o->reference, 0,
     "table of the reference Earth, or prem, or stand-in (default: prem with --data if the shipped "
     "table is found, else stand-in)",
     "FILE"},
    {"write-data", '\0', POPT_ARG_STRING, &o->write_data, 0,
     "write the synthetic data, with their noise, as CSV", "FILE"},
    {"output", 'o', POPT_ARG_STRING, &o->output, 0,
     "write model, gradient and settings (HDF5; plain format if FILE ends in .osla)", "FILE"},
    {"map", 'm', POPT_ARG_STRING, &o->map, 0, "draw maps with gnuplot (PNG, SVG or PDF)", "FILE"},
    {"report", 'r', POPT_ARG_STRING, &o->report, 0,
     "write an HTML report with pictures and tables to DIR/index.html", "DIR"},
    {"section", '\0', POPT_ARG_STRING, &raw.section, 0,
     "vertical sections of the HTML report, separated by / (default: three where paths are dense)",
     "LAT,LON/LAT,LON"},
    {"json", 'j', POPT_ARG_STRING, &o->json, 0, "write the report as JSON", "FILE"},
    {"checkpoint", '\0', POPT_ARG_STRING, &o->checkpoint, 0,
     "write checkpoints of the assembly to FILE (HDF5), and resume from it", "FILE"},
    {"interval", '\0', POPT_ARG_DOUBLE | SHOW, &o->interval, 0, "time between checkpoints",
     "SECONDS"},
    {"keep-checkpoint", '\0', POPT_ARG_NONE, &o->keep, 0,
     "at the end keep FILE, with all paths in it", NULL},
    {"map-depth", '\0', POPT_ARG_DOUBLE | SHOW, &o->map_depth_km, 0, "depth of the maps", "KM"},
    {"world", '\0', POPT_ARG_NONE, &o->world, 0,
     "draw maps of the world even if the paths cover a small region", NULL},
    {"center", '\0', POPT_ARG_DOUBLE | SHOW, &o->centre, 0, "longitude of the middle of world maps",
     "LON"},
    {"quiet", 'q', POPT_ARG_NONE, &o->quiet, 0, "print no report and no progress line", NULL},
    {"major-arc", '\0', POPT_ARG_NONE, &o->major_arc, 0, "also use major arcs", NULL},
    {"min-distance", '\0', POPT_ARG_DOUBLE, &o->min_distance, 0,
     "least distance of station and event (default: 10; with --data 0)", "DEG"},
    {"max-distance", '\0', POPT_ARG_DOUBLE, &o->max_distance, 0,
     "greatest distance of station and event (default: 170; with --data 180)", "DEG"},
    {"max-paths", '\0', POPT_ARG_LONGLONG | SHOW, &o->max_paths, 0,
     "choose N paths at random; 0: use all", "N"},
    {"mesh", '\0', POPT_ARG_INT | SHOW, &o->frequency, 0,
     "lateral mesh: icosahedron of frequency F, 10 F^2 + 2 knots", "F"},
    {"radial", '\0', POPT_ARG_INT | SHOW, &o->n_radial, 0, "number of radial B-splines", "N"},
    {"depth", '\0', POPT_ARG_DOUBLE | SHOW, &o->depth_km, 0, "depth of the model's lower end",
     "KM"},
    {"stretch", '\0', POPT_ARG_DOUBLE | SHOW, &o->stretch, 0,
     "0: evenly spaced radial knots; towards 1: finer near the surface", "X"},
    {"periods", '\0', POPT_ARG_INT | SHOW, &o->kernel.n_periods, 0,
     "number of periods of each path", "N"},
    {"branches", '\0', POPT_ARG_INT | SHOW, &o->kernel.n_branches, 0,
     "number of branches: fundamental mode and overtones", "N"},
    {"period-min", '\0', POPT_ARG_DOUBLE | SHOW, &o->kernel.period_min_s, 0, "shortest period",
     "S"},
    {"period-max", '\0', POPT_ARG_DOUBLE | SHOW, &o->kernel.period_max_s, 0, "longest period", "S"},
    {"sigma", '\0', POPT_ARG_DOUBLE | SHOW, &o->kernel.sigma_fraction, 0,
     "standard deviation of a delay, as a fraction of its period; with --data where the table has "
     "none",
     "X"},
    {"noise", '\0', POPT_ARG_DOUBLE | SHOW, &o->noise, 0,
     "noise of synthetic data, in standard deviations of the data", "X"},
    {"test", '\0', POPT_ARG_STRING, &raw.test, 0,
     "invert synthetic data of a true model: checkerboard, blobs or spike (default: checkerboard; "
     "with --data none)",
     "KIND"},
    {"spike-at", '\0', POPT_ARG_STRING, &raw.spikes, 0,
     "positions LAT,LON or LAT,LON,KM of the spikes, separated by : (default: "
     "40,-110:0,20:-25,135 at --map-depth)",
     "PLACES"},
    {"amplitude", '\0', POPT_ARG_DOUBLE | SHOW, &o->model.amplitude_percent, 0,
     "amplitude of the true model", "PERCENT"},
    {"cell", '\0', POPT_ARG_DOUBLE | SHOW, &o->model.cell_degrees, 0,
     "lateral size of the true model's cells", "DEG"},
    {"cell-depth", '\0', POPT_ARG_DOUBLE | SHOW, &o->model.cell_depth_km, 0,
     "radial size of the true model's cells; 0: no change with depth", "KM"},
    {"seed", '\0', POPT_ARG_LONGLONG | SHOW, &seed, 0, "seed of noise, blobs and choice of paths",
     "N"},
    {"damping", '\0', POPT_ARG_DOUBLE | SHOW, &o->prior.damping, 0,
     "prior: 1 / (standard deviation in percent)^2", "X"},
    {"smoothing", '\0', POPT_ARG_DOUBLE | SHOW, &o->prior.lateral, 0,
     "prior: weight of lateral roughness", "X"},
    {"radial-smoothing", '\0', POPT_ARG_DOUBLE | SHOW, &o->prior.radial, 0,
     "prior: weight of radial roughness", "X"},
    {"prior", '\0', POPT_ARG_STRING, &o->prior_file, 0,
     "prior of layers (CSV), or the deviations of a result file; damping and smoothing multiply it",
     "FILE"},
    {"scan", '\0', POPT_ARG_STRING, &raw.scan, 0,
     "compare priors: damping=A:B:N or smoothing=A:B:N or both; vectors=K for the traces", "LIST"},
    {"choose", '\0', POPT_ARG_STRING, &raw.choose, 0,
     "choose the prior of the scan: corner (of the L-curve) or gcv (least cross-validation)",
     "KIND"},
    {"scan-plot", '\0', POPT_ARG_STRING, &o->scan_plot, 0, "draw the scan with gnuplot",
     "FILE.png"},
    {"posterior", '\0', POPT_ARG_NONE, &o->posterior, 0,
     "compute standard deviation and resolution of every unknown", NULL},
    {"inverse", '\0', POPT_ARG_STRING, &raw.inverse, 0,
     "method for --posterior: in-place or columns (default: in-place if the memory suffices)",
     "KIND"},
    {"spread", '\0', POPT_ARG_STRING, &raw.spread, 0,
     "compute rows of resolution and covariance at these points", "LAT,LON,KM;..."},
    {"robust", '\0', POPT_ARG_NONE, &o->robust, 0,
     "repeat the inversion with less weight for outliers and without cycle skips", NULL},
    {"outlier", '\0', POPT_ARG_DOUBLE | SHOW, &o->outlier, 0,
     "limit of outliers for --robust, in standard deviations", "K"},
    {"solver", '\0', POPT_ARG_STRING | SHOW, &raw.solver, 0,
     "cholesky or lu: assemble and factor; lsqr or cg: iterate without assembly", "KIND"},
    {"tolerance", '\0', POPT_ARG_DOUBLE | SHOW, &o->tolerance, 0,
     "relative tolerance of lsqr and cg", "X"},
    {"iterations", '\0', POPT_ARG_LONGLONG | SHOW, &o->iterations, 0,
     "limit of iterations of lsqr and cg", "N"},
    {"precision", '\0', POPT_ARG_STRING | SHOW, &raw.precision, 0,
     "precision of the matrix: double or float", "KIND"},
    {"triangle", '\0', POPT_ARG_STRING | SHOW, &raw.triangle, 0,
     "triangle of the matrix that is stored: lower or upper", "KIND"},
    {"full", '\0', POPT_ARG_NONE, &o->full, 0, "store the matrix as a square", NULL},
    {"grid", 'g', POPT_ARG_STRING, &raw.grid, 0, "process grid (default: one row on one node)",
     "PxQ"},
    {"nb", '\0', POPT_ARG_LONGLONG | SHOW, &o->nb, 0, "block size of the matrix", "N"},
    {"threads", 't', POPT_ARG_INT | SHOW, &o->threads, 0, "threads of each rank that trace paths",
     "N"},
    {"subset", '\0', POPT_ARG_LONGLONG | SHOW, &o->subset, 0,
     "paths in one piece of work; 0: chosen by the program", "N"},
    {"progress-thread", '\0', POPT_ARG_NONE, &o->progress_thread, 0,
     "serve transfers of other nodes in a thread", NULL},
    {"reproducible", '\0', POPT_ARG_NONE, &o->reproducible.on, 0,
     "compute the same bits of H and gradient on any number of ranks and any grid", NULL},
    {"bound", '\0', POPT_ARG_DOUBLE, &o->reproducible.bound[BOUND_OF_H], 0,
     "with --reproducible: upper bound of |H[i, j]|, prior included (default: found by a first "
     "pass)",
     "X"},
    {"gradient-bound", '\0', POPT_ARG_DOUBLE, &o->reproducible.bound[BOUND_OF_GRADIENT], 0,
     "with --reproducible: upper bound of the gradient", "X"},
    {"resolution", '\0', POPT_ARG_INT, &o->resolution, 0,
     "unknowns sampled for the resolution matrix; 0: none (default: 24; with lsqr and cg 0, "
     "because each takes as long as the model)",
     "N"},
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE, files, 0,
     "Input lists, and files for other programs:", NULL},
    POPT_TABLEEND};
  *line = (command_line){.name = name, .about = about, .after = after, .options = table};
  if (!command_parse(line, argc, argv, status)) return false;
  o->model.seed = (uint64_t)seed;
  o->words = argv;
  o->damping_given = command_is_given(argc, argv, "--damping");
  o->world = o->world || command_is_given(argc, argv, "--center");
  o->smoothing_given = command_is_given(argc, argv, "--smoothing");
  o->data = raw.data ? raw.data[0] : NULL;
  osla_err err = check_range("--seed", seed, 0, SEED_MAX);
  if (err == OSLA_OK && raw.data && raw.data[1])
    err = osla_error_set(OSLA_ERR_ARG, "--data: %.80s and %.80s: only one table is possible",
                         raw.data[0], raw.data[1]);
  if (err == OSLA_OK) err = invert_check_data_options(o, raw.test, raw.spikes);
  if (err == OSLA_OK) err = check_numbers(o);
  if (err == OSLA_OK) err = check_words(&raw, o);
  if (err == OSLA_OK) err = check_solver(raw.solver, o);
  if (err == OSLA_OK) err = check_idle(argc, argv, o);
  if (err == OSLA_OK) err = check_lists(&raw, o);
  if (err == OSLA_OK) err = check_counts(o);
  if (err == OSLA_OK) err = invert_check_file_options(o, line);
  if (err == OSLA_OK) err = check_no_matrix(o, &raw);
  if (err == OSLA_OK) err = invert_parse_sections(raw.section, o->section, &o->n_sections);
  if (err == OSLA_OK) err = reproducible_check(&o->reproducible, o->dtype);
  if (err == OSLA_OK && o->keep && !o->checkpoint)
    err = osla_error_set(OSLA_ERR_ARG, "--keep-checkpoint requires --checkpoint");
  *status = command_fail(name, err);
  if (*status == OSLA_EXIT_OK && raw.grid)
    *status = command_parse_grid(name, "--grid", raw.grid, ranks, &o->nprow, &o->npcol);
  o->data_directory = find_data_directory();
  if (*status == OSLA_EXIT_OK) return true;
  command_release(line);
  return false;
}
