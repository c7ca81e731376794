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

#define SEED_MAX (1LL << 53) /* exact as a double in the result file */

/* Options whose texts are parsed after popt has read the command line. */
typedef struct raw_options {
  const char *grid, *factor, *test, *model, *precision, *triangle, *solver, *section, *spikes;
  const char *scan, *choose, *spread, *inverse;
  char **data; /* one entry for each --data, NULL after the last */
} raw_options;

invert_options invert_default_options(void)
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
                          .noise = 1.0,
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

/* Checks for one of two words; *second is true for second_word. */
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

/* A solver that factors is also named by its factor, for which --factor is another name. */
static osla_err join_factor(raw_options *raw, bool factor_given)
{
  if (strcmp(raw->solver, "cholesky") != 0 && strcmp(raw->solver, "lu") != 0) return OSLA_OK;
  OSLA_CHECK(!factor_given || strcmp(raw->factor, raw->solver) == 0, OSLA_ERR_ARG,
             "--solver %s, but --factor %s", raw->solver, raw->factor);
  raw->factor = raw->solver;
  raw->solver = "direct";
  return OSLA_OK;
}

static osla_err check_solver(const char *word, invert_options *o)
{
  for (o->solver = INVERT_DIRECT; o->solver <= INVERT_CG; o->solver++)
    if (strcmp(word, invert_solver_name(o->solver)) == 0) break;
  OSLA_CHECK(o->solver <= INVERT_CG, OSLA_ERR_ARG,
             "--solver: '%s' is none of cholesky, lu, lsqr, cg", word);
  if (o->resolution == UNSET) o->resolution = o->solver == INVERT_DIRECT ? RESOLUTION : 0;
  return OSLA_OK;
}

/* Rejects options of the assembled matrix with LSQR and CG, which assemble none. */
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
                 {"--factor lu", o->factor == INVERT_LU},
                 {"--triangle upper", o->uplo == OSLA_UPPER},
                 {"--nb", o->nb != invert_default_options().nb},
                 {"--grid", raw->grid}};
  for (size_t i = 0; o->solver != INVERT_DIRECT && i < sizeof options / sizeof *options; i++)
    OSLA_CHECK(!options[i].given, OSLA_ERR_ARG,
               "%s is of the assembled matrix, and --solver %s assembles none", options[i].option,
               invert_solver_name(o->solver));
  return OSLA_OK;
}

/* Parses the lists, and checks options that require another option. */
static osla_err check_lists(const raw_options *raw, invert_options *o)
{
  OSLA_CALL(invert_parse_scan(raw->scan, &o->scan));
  OSLA_CALL(invert_parse_choice(raw->choose, &o->choose));
  OSLA_CALL(invert_parse_spread(raw->spread, o->depth_km, &o->points, o->point));
  OSLA_CHECK(raw->scan || !raw->choose, OSLA_ERR_ARG, "--choose: there is no --scan");
  OSLA_CHECK(raw->scan || !o->scan_plot, OSLA_ERR_ARG, "--scan-plot: there is no --scan");
  OSLA_CHECK(o->solver == INVERT_DIRECT || (!o->posterior && !raw->spread), OSLA_ERR_ARG,
             "%s needs the assembled matrix: use --solver direct, not %s",
             o->posterior ? "--posterior" : "--spread", invert_solver_name(o->solver));
  OSLA_CALL(invert_parse_inverse(raw->inverse, &o->inverse));
  OSLA_CHECK(!raw->inverse || o->posterior, OSLA_ERR_ARG, "--inverse: there is no --posterior");
  OSLA_CHECK(o->factor == INVERT_CHOLESKY || o->inverse != INVERT_IN_PLACE, OSLA_ERR_ARG,
             "--inverse in-place is that of Cholesky's factor: use --factor cholesky");
  return OSLA_OK;
}

static osla_err check_words(const raw_options *raw, invert_options *o)
{
  bool second;
  OSLA_CALL(check_word("--factor", raw->factor, "cholesky", "lu", &second));
  o->factor = second ? INVERT_LU : INVERT_CHOLESKY;
  OSLA_CALL(check_word("--precision", raw->precision, "double", "float", &second));
  o->dtype = second ? OSLA_FLOAT : OSLA_DOUBLE;
  OSLA_CALL(check_word("--triangle", raw->triangle, "lower", "upper", &second));
  o->uplo = second ? OSLA_UPPER : OSLA_LOWER;
  return OSLA_OK;
}

/* The directory of the shipped tables: $OSLA_DATA, the installed directory, or data/ of the source
 * tree; NULL: none has the sample. */
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

/* Rejects options that modify another option which is absent. */
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
                 {"--world", "--map and no --report", o->map || o->report},
                 {"--center", "--map and no --report", o->map || o->report},
                 {"--map-depth", "--map, no --report and no --test spike",
                  o->map || o->report || o->model.kind == TOMO_MODEL_SPIKE}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    OSLA_CHECK(options[i].done || !command_is_given(argc, argv, options[i].option), OSLA_ERR_ARG,
               "%s: there is no %s", options[i].option, options[i].of);
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
  "  mpiexec -n 4 osla invert --stations STATIONS --events events.csv --data delays.csv "
  "--output m.h5\n";

bool invert_parse(int argc, char **argv, int ranks, invert_options *o, struct command_line *line,
                  int *status)
{
  raw_options raw = {
    .solver = "direct", .factor = "cholesky", .precision = "double", .triangle = "lower"};
  *o = invert_default_options();
  long long seed = (long long)o->model.seed;
  struct poptOption files[INVERT_FILE_OPTIONS];
  invert_file_table(&o->files, files);
  const struct poptOption table[] = {
    {"data", 'd', POPT_ARG_ARGV, &raw.data, 0,
     "invert these measurements: CSV with header, or HDF5; see doc/measurements.md", "FILE"},
    {"reference", '\0', POPT_ARG_STRING, &o->reference, 0,
     "table of the unperturbed Earth, or prem, or stand-in (default: prem with --data, if it is "
     "shipped; else stand-in)",
     "FILE"},
    {"write-data", '\0', POPT_ARG_STRING, &o->write_data, 0,
     "write the data of the test, with their noise, as CSV", "FILE"},
    {"output", 'o', POPT_ARG_STRING, &o->output, 0,
     "write model, gradient, settings (HDF5; plain if FILE ends in .osla)", "FILE"},
    {"map", 'm', POPT_ARG_STRING, &o->map, 0, "write a picture with gnuplot (PNG, SVG, PDF)",
     "FILE"},
    {"report", 'r', POPT_ARG_STRING, &o->report, 0,
     "write a page with pictures and tables, DIR/index.html", "DIR"},
    {"section", '\0', POPT_ARG_STRING, &raw.section, 0,
     "vertical section of the report; more, with / between them (default: three, where paths are "
     "dense)",
     "LAT,LON/LAT,LON"},
    {"json", 'j', POPT_ARG_STRING, &o->json, 0, "write the report as JSON", "FILE"},
    {"checkpoint", '\0', POPT_ARG_STRING, &o->checkpoint, 0,
     "keep what is assembled so far in FILE (HDF5), and go on from it", "FILE"},
    {"interval", '\0', POPT_ARG_DOUBLE | SHOW, &o->interval, 0, "between checkpoints", "SECONDS"},
    {"keep-checkpoint", '\0', POPT_ARG_NONE, &o->keep, 0,
     "keep FILE, with all paths in it, when the job is done", NULL},
    {"map-depth", '\0', POPT_ARG_DOUBLE | SHOW, &o->map_depth_km, 0, "depth of the maps", "KM"},
    {"world", '\0', POPT_ARG_NONE, &o->world, 0,
     "maps of the world, also where the paths are of a small region", NULL},
    {"center", '\0', POPT_ARG_DOUBLE | SHOW, &o->centre, 0, "longitude in the middle of such maps",
     "LON"},
    {"quiet", 'q', POPT_ARG_NONE, &o->quiet, 0, "no report and no progress line", NULL},
    {"major-arc", '\0', POPT_ARG_NONE, &o->major_arc, 0, "also use the long way round", NULL},
    {"min-distance", '\0', POPT_ARG_DOUBLE, &o->min_distance, 0,
     "use pairs that are at least so far apart (default: 10; with --data 0)", "DEG"},
    {"max-distance", '\0', POPT_ARG_DOUBLE, &o->max_distance, 0,
     "use pairs that are at most so far apart (default: 170; with --data 180)", "DEG"},
    {"max-paths", '\0', POPT_ARG_LONGLONG | SHOW, &o->max_paths, 0,
     "use a random choice of N paths; 0: all", "N"},
    {"mesh", '\0', POPT_ARG_INT | SHOW, &o->frequency, 0,
     "lateral grid: icosahedron of frequency F, 10 F^2 + 2 knots", "F"},
    {"radial", '\0', POPT_ARG_INT | SHOW, &o->n_radial, 0, "radial B-splines", "N"},
    {"depth", '\0', POPT_ARG_DOUBLE | SHOW, &o->depth_km, 0, "lower end of the model", "KM"},
    {"stretch", '\0', POPT_ARG_DOUBLE | SHOW, &o->stretch, 0,
     "0: even radial knots; towards 1: finer near the surface", "X"},
    {"periods", '\0', POPT_ARG_INT | SHOW, &o->kernel.n_periods, 0, "periods of each path", "N"},
    {"branches", '\0', POPT_ARG_INT | SHOW, &o->kernel.n_branches, 0,
     "fundamental mode and overtones", "N"},
    {"period-min", '\0', POPT_ARG_DOUBLE | SHOW, &o->kernel.period_min_s, 0, "shortest period",
     "S"},
    {"period-max", '\0', POPT_ARG_DOUBLE | SHOW, &o->kernel.period_max_s, 0, "longest period", "S"},
    {"sigma", '\0', POPT_ARG_DOUBLE | SHOW, &o->kernel.sigma_fraction, 0,
     "standard deviation of a delay (C_d), as a part of its period; of --data where none is given",
     "X"},
    {"noise", '\0', POPT_ARG_DOUBLE | SHOW, &o->noise, 0,
     "noise in the data, in standard deviations", "X"},
    {"test", '\0', POPT_ARG_STRING, &raw.test, 0,
     "true model: checkerboard, blobs or spike (default: checkerboard; with --data none)", "KIND"},
    {"model", '\0', POPT_ARG_STRING, &raw.model, 0, "another name of --test", "KIND"},
    {"spike-at", '\0', POPT_ARG_STRING, &raw.spikes, 0,
     "LAT,LON or LAT,LON,KM, with : between them, KM as --map-depth (default: "
     "40,-110:0,20:-25,135)",
     "PLACES"},
    {"amplitude", '\0', POPT_ARG_DOUBLE | SHOW, &o->model.amplitude_percent, 0, "of the true model",
     "PERCENT"},
    {"cell", '\0', POPT_ARG_DOUBLE | SHOW, &o->model.cell_degrees, 0, "its lateral size", "DEG"},
    {"cell-depth", '\0', POPT_ARG_DOUBLE | SHOW, &o->model.cell_depth_km, 0,
     "its radial size; 0: no change with depth", "KM"},
    {"seed", '\0', POPT_ARG_LONGLONG | SHOW, &seed, 0, "of noise, blobs, choice of paths", "N"},
    {"damping", '\0', POPT_ARG_DOUBLE | SHOW, &o->prior.damping, 0,
     "prior (C_m): 1 / (standard deviation in percent)^2", "X"},
    {"smoothing", '\0', POPT_ARG_DOUBLE | SHOW, &o->prior.lateral, 0,
     "prior: weight of lateral roughness", "X"},
    {"radial-smoothing", '\0', POPT_ARG_DOUBLE | SHOW, &o->prior.radial, 0,
     "prior: weight of radial roughness", "X"},
    {"prior", '\0', POPT_ARG_STRING, &o->prior_file, 0,
     "prior of layers (CSV), or the deviations of a result file; damping and smoothing are its "
     "factors",
     "FILE"},
    {"scan", '\0', POPT_ARG_STRING, &raw.scan, 0,
     "try priors: damping=A:B:N or smoothing=A:B:N or both, and vectors=K for traces", "LIST"},
    {"choose", '\0', POPT_ARG_STRING, &raw.choose, 0,
     "take the prior of a scan: corner (of the L-curve) or gcv (least cross-validation)", "KIND"},
    {"scan-plot", '\0', POPT_ARG_STRING, &o->scan_plot, 0, "draw the scan with gnuplot",
     "FILE.png"},
    {"posterior", '\0', POPT_ARG_NONE, &o->posterior, 0,
     "standard deviation and resolution of every unknown, by the inverse", NULL},
    {"inverse", '\0', POPT_ARG_STRING, &raw.inverse, 0,
     "for it: in-place, or by columns (default: in place where memory allows)", "KIND"},
    {"spread", '\0', POPT_ARG_STRING, &raw.spread, 0,
     "rows of resolution and covariance at these places", "LAT,LON,KM;..."},
    {"robust", '\0', POPT_ARG_NONE, &o->robust, 0,
     "find the model again with less weight for outliers, without cycle skips", NULL},
    {"outlier", '\0', POPT_ARG_DOUBLE | SHOW, &o->outlier, 0,
     "for it: residuals beyond so many deviations", "K"},
    {"solver", '\0', POPT_ARG_STRING | SHOW, &raw.solver, 0,
     "direct (assemble and factor; also: cholesky, lu), or without assembly: lsqr, cg", "KIND"},
    {"tolerance", '\0', POPT_ARG_DOUBLE | SHOW, &o->tolerance, 0,
     "of lsqr and cg: they end when so much is left, relatively", "X"},
    {"iterations", '\0', POPT_ARG_LONGLONG | SHOW, &o->iterations, 0, "of lsqr and cg, at most",
     "N"},
    {"factor", '\0', POPT_ARG_STRING | SHOW, &raw.factor, 0, "cholesky or lu", "KIND"},
    {"precision", '\0', POPT_ARG_STRING | SHOW, &raw.precision, 0, "of the matrix: double or float",
     "KIND"},
    {"triangle", '\0', POPT_ARG_STRING | SHOW, &raw.triangle, 0, "stored: lower or upper", "KIND"},
    {"grid", 'g', POPT_ARG_STRING, &raw.grid, 0, "process grid (default: one row on one node)",
     "PxQ"},
    {"nb", '\0', POPT_ARG_LONGLONG | SHOW, &o->nb, 0, "block size of the matrix", "N"},
    {"threads", 't', POPT_ARG_INT | SHOW, &o->threads, 0, "producing threads of each rank", "N"},
    {"subset", '\0', POPT_ARG_LONGLONG | SHOW, &o->subset, 0,
     "paths handed out at a time; 0: chosen", "N"},
    {"progress-thread", '\0', POPT_ARG_NONE, &o->progress_thread, 0,
     "serve other nodes' transfers from a thread", NULL},
    {"reproducible", '\0', POPT_ARG_NONE, &o->reproducible.on, 0,
     "the same bits of H and gradient on any number of ranks and any grid", NULL},
    {"bound", '\0', POPT_ARG_DOUBLE, &o->reproducible.bound[BOUND_OF_H], 0,
     "for it: |H[i, j]| <= X, prior and all (default: found by a first pass)", "X"},
    {"gradient-bound", '\0', POPT_ARG_DOUBLE, &o->reproducible.bound[BOUND_OF_GRADIENT], 0,
     "for it: of the gradient", "X"},
    {"resolution", '\0', POPT_ARG_INT, &o->resolution, 0,
     "unknowns sampled for the resolution matrix; 0: none (default: 24; of lsqr and cg 0, as each "
     "costs them as much as the model)",
     "N"},
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE, files, 0, "Lists, and files for other programs:", NULL},
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
    err = osla_error_set(OSLA_ERR_ARG, "--data: %.80s and %.80s: one table is wanted", raw.data[0],
                         raw.data[1]);
  if (err == OSLA_OK && raw.test && raw.model)
    err = osla_error_set(OSLA_ERR_ARG, "--model: another name of --test, which is there, too");
  if (err == OSLA_OK)
    err = invert_check_data_options(o, raw.test ? raw.test : raw.model, raw.spikes);
  if (err == OSLA_OK) err = check_numbers(o);
  if (err == OSLA_OK) err = join_factor(&raw, command_is_given(argc, argv, "--factor"));
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
    err = osla_error_set(OSLA_ERR_ARG, "--keep-checkpoint: there is no --checkpoint");
  *status = command_fail(name, err);
  if (*status == OSLA_EXIT_OK && raw.grid)
    *status = command_parse_grid(name, "--grid", raw.grid, ranks, &o->nprow, &o->npcol);
  o->data_directory = find_data_directory();
  line->options = NULL; /* the table is a local variable; command_release needs only the strings */
  if (*status == OSLA_EXIT_OK) return true;
  command_release(line);
  return false;
}
