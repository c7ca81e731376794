/* The options of `osla invert` and their parsers. Local. */
#ifndef INVERT_OPTIONS_H
#define INVERT_OPTIONS_H

#include "apps/tomography/earth/tomo_kernel.h"
#include "apps/tomography/earth/tomo_model.h"
#include "apps/tomography/readers/tomo_selection.h"
#include "osla_unstable.h"
#include "tools/common/reproducible.h"

#include <limits.h>
#include <stdbool.h>

struct command_line;
struct poptOption;

/* ---- options whose value is a list or a keyword: --scan, --spread (invert_list_options.c);
 * --choose, --inverse ---- */

enum { INVERT_POINTS_MAX = 64, INVERT_SCAN_MAX = 1000, INVERT_VECTORS_MAX = 1024 };

/* `count` values from first to last, evenly spaced in their logarithm; count 0: no scan. */
typedef struct invert_range {
  double first, last;
  int count;
} invert_range;

/* Parsed value of --scan, "damping=A:B:N,smoothing=A:B:M,vectors=K". */
typedef struct invert_scan_plan {
  invert_range damping, smoothing;
  int vectors; /* number of random vectors with which each trace is estimated */
} invert_scan_plan;

/* How the prior of the final model is chosen: as the options give it, at the corner of the L-curve,
 * or with the least generalised cross-validation. */
typedef enum invert_choice { INVERT_AS_GIVEN, INVERT_CORNER, INVERT_GCV } invert_choice;

/* How the posterior is computed: the inverse overwrites the factor, or columns of the inverse are
 * computed a few at a time. */
typedef enum invert_inverse {
  INVERT_BY_MEMORY, /* in place if the memory suffices, otherwise by columns */
  INVERT_IN_PLACE,
  INVERT_BY_COLUMNS
} invert_inverse;

/* invert_range_value returns value i of a range; invert_scan_count returns the number of priors of
 * a scan. Local, pure. */
double invert_range_value(const invert_range *range, int i);
int invert_scan_count(const invert_scan_plan *plan);

/* Parse the values of options; a NULL text gives the default. depth_km is the depth of the model's
 * lower end. Local. Errors: OSLA_ERR_ARG, with the wrong word in its text. */
osla_err invert_parse_scan(const char *text, invert_scan_plan *plan);
osla_err invert_parse_spread(const char *text, double depth_km, int *points,
                             tomo_location point[INVERT_POINTS_MAX]);

/* ---- vertical sections of the HTML report (report/invert_section.c) ---- */

enum { INVERT_SECTIONS_MAX = 8 };

typedef struct invert_section {
  double latitude[2], longitude[2]; /* positions of both ends of the section, degrees */
} invert_section;

/* Parses the value of --section: "LAT,LON/LAT,LON", or several such pairs separated by "/"; NULL:
 * no section. Errors: OSLA_ERR_ARG, with the wrong text. */
osla_err invert_parse_sections(const char *text, invert_section section[INVERT_SECTIONS_MAX],
                               int *count);

/* ---- options for input lists of stations and earthquakes, and for files for other programs ----
 */

enum { INVERT_SLICES_MAX = 200 };

typedef struct invert_file_options {
  /* paths of the input lists, ended by NULL; the pointer itself is NULL for the shipped sample */
  char **stations, **events;
  /* texts of the options, NULL if not given; the parsed values are in `choice` and `slice_km` */
  const char *time, *magnitude, *region, *station_region, *slices;
  tomo_selection choice;
  const char *netcdf, *xdmf; /* output files; NULL: none */
  double step_degrees;       /* spacing of the netCDF grid in degrees */
  /* number of depths in slice_km; 0: the output has the depths of the radial functions */
  int n_slices;
  double slice_km[INVERT_SLICES_MAX];
} invert_file_options;

/* Paths of the files of stations and earthquakes. If the user gave no file, the list has one
 * element, the path of the shipped sample. */
typedef struct invert_tables {
  char *const *stations, *const *events;
  int n_stations, n_events;
  char sample_stations[PATH_MAX], sample_events[PATH_MAX];
  char *one[2]; /* lists of one element for the shipped samples */
} invert_tables;

/* ---- all options of the user ---- */

typedef enum invert_factor { INVERT_CHOLESKY, INVERT_LU } invert_factor;
typedef enum invert_solver {
  INVERT_DIRECT, /* direct solver: H is assembled and factored */
  /* iterative solver: the rows of G are stored (invert_rays.h), H is not assembled */
  INVERT_LSQR,
  INVERT_CG
} invert_solver;
/* The checked options of the user. */
typedef struct invert_options {
  /* for reports: the names of all input files of a list in one text; NULL: the shipped sample */
  const char *stations, *events;
  invert_file_options files; /* input lists, selection of their entries, netCDF and XDMF output */
  char *const *words;        /* words of the command line; NULL follows the last word */
  const char *data;          /* table of measurements; NULL: synthetic data of the true model */
  /* file of the reference Earth, "prem" or "stand-in"; NULL: the default (see invert_data.c) */
  const char *reference;
  const char *write_data;          /* file to which the synthetic data are written; NULL: none */
  bool test;                       /* true if the data are synthetic, with a true model */
  int robust;                      /* 1: reweight outliers (--robust) */
  double outlier;                  /* outlier limit of --robust, in robust standard deviations */
  const char *output, *map, *json; /* output files; NULL: none */
  const char *report;              /* directory of the HTML report; NULL: none */
  const char *checkpoint;          /* checkpoint file; NULL: none */
  double interval;                 /* seconds between checkpoints */
  int keep;                        /* 1: the checkpoint file stays after the job */
  /* directory of the shipped tables; NULL: no such directory was found */
  const char *data_directory;
  int major_arc;                     /* 1: also use major arcs */
  double min_distance, max_distance; /* limits of the station-event distance, degrees */
  long long max_paths;               /* upper limit of the number of paths; 0: no limit */
  int frequency,                     /* frequency of the icosahedral mesh */
    n_radial;                        /* number of radial functions */
  double depth_km, stretch;
  tomo_kernel_options kernel;
  double noise; /* standard deviation of the noise of synthetic data, in units of sigma */
  tomo_model_options model;
  tomo_prior_options prior; /* prior of the command line; the prior in use is job->prior */
  /* true if the user gave the value; otherwise `prior` holds the default */
  bool damping_given, smoothing_given;
  const char *prior_file; /* file of --prior; NULL: none */
  int posterior;          /* 1: compute standard deviation and resolution of all unknowns */
  invert_inverse inverse; /* method by which the posterior is computed */
  int points;             /* number of points of --spread */
  tomo_location point[INVERT_POINTS_MAX];
  invert_scan_plan scan;
  invert_choice choose;
  const char *scan_plot; /* file for the picture of the scan; NULL: none */
  invert_solver solver;
  double tolerance; /* relative tolerance of LSQR and CG */
  long long iterations;
  invert_factor factor;
  int nprow, npcol; /* process grid; 0: chosen by the library */
  long long nb;
  osla_dtype dtype;
  osla_uplo uplo;
  int full;         /* 1: H is stored as a square also for Cholesky (--full) */
  int threads;      /* number of threads of each rank that trace paths */
  long long subset; /* number of paths that a thread fetches at a time; 0: chosen by the program */
  int progress_thread;
  int resolution; /* number of sampled columns of the resolution matrix; 0: none */
  double map_depth_km;
  double centre; /* longitude of the middle of world maps, degrees */
  int world;     /* 1: draw world maps even if the paths cover a small region */
  /* vertical sections of the report; if n_sections is 0, the program chooses the sections */
  invert_section section[INVERT_SECTIONS_MAX];
  int n_sections;
  int quiet;
  /* settings of --reproducible as the user gave them; the job copies and completes them */
  reproducible reproducible;
} invert_options;

/* Returns whether only the lower triangle of H is stored (invert_memory.c). LU needs a square. A
 * scan also needs one, because the factor overwrites one triangle and a copy of H is kept in the
 * other (invert_saved_hessian.c). Local. */
bool invert_stores_triangle(const invert_options *options);

/* name of the shipped table of the reference Earth in the data directory */
#define INVERT_PREM "prem.txt"

/* Parses and checks the command line. Local, with the same result on all ranks. `owner` stores the
 * strings of the options, and the caller releases it. If the function returns false, the command
 * ends with exit status *status. */
bool invert_parse(int argc, char **argv, int ranks, invert_options *options,
                  struct command_line *owner, int *status);

/* Options for input lists and for netCDF and XDMF output (invert_options_files.c).
 * invert_file_table fills a table of INVERT_FILE_OPTIONS entries, including the end mark.
 * invert_check_file_options runs after the checks of all other options; `line` owns the strings
 * that invert_check_file_options makes. Local. */
enum { INVERT_FILE_OPTIONS = 11 };
void invert_file_table(invert_file_options *files, struct poptOption *table);
osla_err invert_check_file_options(invert_options *options, struct command_line *line);
/* Returns the number of depths of netCDF and XDMF output. Sets *depth_km to the list of --slices,
 * or to NULL if the output has the depths of the radial functions. Local. */
int invert_count_slices(const invert_options *options, const double **depth_km);

/* ---- functions that only the parser of the options uses ---- */

/* initial value of a numeric option; it remains if the user does not give the option */
#define INVERT_UNSET (-1e300)

#define INVERT_NOISE 1.0 /* default of --noise, in standard deviations of the data */

/* Checks the options for measurements and for synthetic tests for contradictions, and sets the true
 * model and the limits of the distance. `test` and `spikes` are the values of --test and --spikes,
 * or NULL. Errors: ARG. */
osla_err invert_check_data_options(invert_options *options, const char *test, const char *spikes);

#endif
