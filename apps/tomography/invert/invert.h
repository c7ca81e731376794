/* `osla invert`: linearised global surface-wave tomography as one job (floor 4).
 *
 * One Gauss-Newton step of French et al. (IPDPS 2015), equation (2), from m = m^p = 0:
 *   (G^T C_d^-1 G + C_m^-1) m = G^T C_d^-1 d.
 * The left side is assembled by one-sided updates, factored in the same memory and solved; or the
 * paths' rows of G are kept, and the same model is found by LSQR or CG. The data are a table of the
 * user's, or those of a known model plus noise, so that the job shows what the rays can recover.
 *
 * The steps are files of this folder: options, input, data, problem, then assemble, solve or rays,
 * iterate; robust; judge, resolution, misfit, output, report; invert.c runs them in that order. All
 * functions are collective unless they say otherwise, and return the same error on all ranks.
 */
#ifndef OSLA_INVERT_H
#define OSLA_INVERT_H

#include "apps/tomography/earth/tomo_kernel.h"
#include "apps/tomography/earth/tomo_measure.h"
#include "apps/tomography/earth/tomo_mesh.h"
#include "apps/tomography/earth/tomo_model.h"
#include "apps/tomography/earth/tomo_path.h"
#include "apps/tomography/earth/tomo_radial.h"
#include "apps/tomography/invert/invert_asked.h"
#include "apps/tomography/invert/invert_files.h"
#include "apps/tomography/invert/invert_found.h"
#include "apps/tomography/readers/tomo_data.h"
#include "apps/tomography/readers/tomo_io.h"
#include "apps/tomography/readers/tomo_prior_file.h"
#include "apps/tomography/report/invert_section.h"
#include "osla_unstable.h"
#include "tools/common/checkpoint.h"
#include "tools/common/order_free.h"
#include "tools/common/reproducible.h"

#include <limits.h>

typedef enum invert_factor { INVERT_CHOLESKY, INVERT_LU } invert_factor;
typedef enum invert_solver {
  INVERT_DIRECT, /* H is assembled and factored */
  INVERT_LSQR,   /* G is kept, see invert_rays.h */
  INVERT_CG
} invert_solver;

/* What the user asked for, checked. */
typedef struct invert_options {
  const char *stations, *events;     /* files, as one text; NULL: the shipped sample */
  invert_file_options files;         /* the same, what of them is used, files for others */
  char *const *words;                /* the command line, NULL behind the last */
  const char *data;                  /* file of measurements; NULL: made from a true model */
  const char *reference;             /* file, "prem" or "stand-in"; NULL: see invert_data.c */
  const char *write_data;            /* file; NULL: none */
  bool test;                         /* there is a true model */
  int robust;                        /* weigh outliers down */
  double outlier;                    /* for it: residuals beyond so many deviations */
  const char *output, *map, *json;   /* files; NULL: none */
  const char *report;                /* directory; NULL: none */
  const char *checkpoint;            /* file; NULL: none */
  double interval;                   /* seconds between checkpoints */
  int keep;                          /* the checkpoint */
  const char *data_directory;        /* shipped tables; NULL: not found */
  int major_arc;                     /* also the long way round */
  double min_distance, max_distance; /* degrees, of station-event pairs */
  long long max_paths;               /* 0: all */
  int frequency, n_radial;           /* mesh, radial functions */
  double depth_km, stretch;
  tomo_kernel_options kernel;
  double noise; /* standard deviation in units of sigma */
  tomo_model_options model;
  tomo_prior_options prior;            /* as asked for; job->prior is what the model has */
  bool damping_given, smoothing_given; /* else the defaults are in prior */
  const char *prior_file;              /* NULL: none */
  int posterior;                       /* deviations and resolution of all unknowns */
  invert_inverse inverse;              /* how they are found */
  int points;                          /* where rows of both are wanted */
  invert_point point[INVERT_POINTS_MAX];
  invert_scan_plan scan;
  invert_choice choose;
  const char *scan_plot; /* file; NULL: none */
  invert_solver solver;
  double tolerance; /* of LSQR, CG */
  long long iterations;
  invert_factor factor;
  int nprow, npcol; /* 0: chosen */
  long long nb;
  osla_dtype dtype;
  osla_uplo uplo;
  int threads;      /* producers of each rank */
  long long subset; /* paths handed out at a time; 0: chosen */
  int progress_thread;
  int resolution; /* sampled columns; 0: none */
  double map_depth_km;
  double centre;                               /* longitude in the middle of maps of the world */
  int world;                                   /* maps are of the world, however small the region */
  invert_section section[INVERT_SECTIONS_MAX]; /* of the report; n_sections 0: chosen */
  int n_sections;
  int quiet;
  reproducible reproducible; /* as asked for */
} invert_options;

#define INVERT_PREM "prem.txt" /* the shipped reference, in the data directory */

/* Parses and checks; *status as command_parse. Local, the same on all ranks. `owner` keeps the
 * strings and is released by the caller. */
struct command_line;
bool invert_parse(int argc, char **argv, int ranks, invert_options *options,
                  struct command_line *owner, int *status);

/* invert_options_files.c: a part of the table, INVERT_FILE_OPTIONS with its end, and its checks,
 * after those of the others. What is made of the texts is the line's. */
enum { INVERT_FILE_OPTIONS = 11 };
struct poptOption;
void invert_file_table(invert_file_options *files, struct poptOption *table);
osla_err invert_check_file_options(invert_options *options, struct command_line *line);
/* The depths of --slices, else as many as radial functions (and NULL). */
int invert_count_slices(const invert_options *options, const double **depth_km);

/* Where the seconds of a rank go. */
typedef enum invert_phase {
  PHASE_COMPUTE, /* paths, panels of G, data; sum over threads / threads */
  PHASE_UPDATE,  /* calls of update */
  PHASE_COMMIT,  /* waiting for the others' updates */
  PHASE_SCAN,    /* models under other priors */
  PHASE_FACTOR,
  PHASE_PRODUCTS, /* LSQR, CG: with G, the prior, and what is transposed */
  PHASE_SUMS,     /* of theirs, over the ranks */
  PHASE_SOLVE,    /* of an iteration: the rest */
  PHASE_MISFIT,   /* the second pass over the data */
  PHASE_INVERSE,  /* and what is read from it */
  N_PHASES
} invert_phase;

typedef struct invert_result {
  double seconds[N_PHASES];           /* of this rank */
  double wall;                        /* of the whole job */
  double misfit_before, misfit_after; /* |d|^2, |d - G m|^2, whitened */
  double misfit_expected; /* the second, from the normal equations: a check of the solve */
  int64_t data;           /* number of data */
  int64_t info;           /* of the factorisation */
  double growth;          /* LU */
  int64_t iterations;     /* LSQR, CG: for the model, not for the resolution */
  double left;            /* what they compare with the tolerance */
  uint64_t rays_bytes;    /* G, of all ranks */
  double threshold;       /* ray density (km) that parts dense from sparse knots */
  tomo_recovery dense, sparse, all;
  double resolution_dense, resolution_sparse; /* mean diagonal of the resolution matrix */
  int sampled_dense, sampled_sparse;
  int64_t updates, elements; /* of all ranks */
  uint64_t bytes;            /* memory of a rank, as predicted */
  bool map_written;          /* false without gnuplot */
  double report_seconds;     /* for the page */
} invert_result;

/* "direct", "lsqr", "cg". */
const char *invert_solver_name(invert_solver solver);

typedef struct invert_job {
  const invert_options *options;
  osla_transport *t;
  int blas_threads; /* of the BLAS where a rank calls it from one thread */
  osla_grid *grid;
  tomo_site *stations, *events;
  int64_t n_stations, n_events;
  tomo_counts read_stations, read_events; /* what was read and left out */
  tomo_reference *reference;              /* NULL: the stand-ins */
  char earth[PATH_MAX];                   /* its file, or "stand-in" */
  uint64_t earth_hash;                    /* of the file */
  tomo_data_reader *reader;               /* rank 0's, of a table in HDF5 */
  tomo_prior_reader *prior_reader;        /* rank 0's, of a result file in HDF5 */
  tomo_data data;                         /* paths and what is measured on them */
  tomo_data_notes notes;                  /* of the table */
  const int64_t *path_ids;                /* [n_paths] data's */
  int64_t n_paths, n_pairs; /* pairs: before the choice by distance; of a table its paths */
  bool scanning;            /* the next model is found by a scan of priors */
  double *weight;           /* [data] of --robust: each datum and its row times so much; NULL: 1 */
  tomo_mesh *mesh;
  tomo_radial *radial;
  tomo_kernel *kernel;
  int64_t knots, n;                 /* n = knots * n_radial unknowns */
  tomo_prior_options prior;         /* that the model is made with */
  tomo_prior_factors prior_factors; /* of --prior; job->prior borrows them */
  double *m_true, *m;               /* [n] percent; m_true NULL: data are from a table */
  double *density;                  /* [knots] km */
  osla_hessian *hessian;            /* NULL: it is not assembled */
  struct invert_rays *rays;         /* NULL: it is assembled */
  double *gradient;                 /* [n] G^T d */
  checkpoint checkpoint;            /* of the assembly; its ids are path ids */
  reproducible reproducible;
  osla_matrix *factor; /* the Hessian's own matrix, once factored */
  invert_result result;
  invert_fit fit;
  invert_robust robust;
  invert_posterior posterior;
  invert_scan scan;
} invert_job;

/* invert_input.c: reads on rank 0, sends to all ranks, lists the usable paths. */
osla_err invert_read_input(invert_job *job);
/* invert_tables.c: the files it reads (local), and the reading. */
osla_err invert_find_tables(const invert_job *job, invert_tables *tables);
osla_err invert_read_tables(invert_job *job);
/* The arc of a path id; false when it is degenerate. Local. */
bool invert_arc(const invert_job *job, int64_t path_id, tomo_arc *arc);

/* The point where a path id begins: an event, or a station (ambient noise). Local. */
const tomo_site *invert_source(const invert_job *job, int64_t path_id);

/* invert_data.c: the reference table's file, or "stand-in". Rank 0. Errors: IO. */
osla_err invert_name_reference(const invert_job *job, char file[PATH_MAX]);
/* invert_data.c: the reference Earth; the table of measurements, or that of a test without one.
 * Rank 0 reads, all ranks get them. */
osla_err invert_read_reference(invert_job *job);
osla_err invert_read_data(invert_job *job);

/* invert_bounds.c: the bounds of --reproducible, by a pass over all paths if they are not known;
 * before there is an accumulator. */
osla_err invert_find_bounds(invert_job *job);

/* invert_memory.c: bytes that this rank will need, with job->posterior.width as it is. Local. And:
 * chooses that width, and checks that all ranks have the memory. */
enum { INVERT_PIECE_BYTES = 64 << 20, INVERT_RING_BYTES = 64 << 20 }; /* of the accumulator */
uint64_t invert_predict_bytes(const invert_job *job);
osla_err invert_check_memory(invert_job *job);
/* invert_memory_files.c: of which to write the files, on rank 0, where what else is taken is free
 * again. Local. */
uint64_t invert_files_bytes(const invert_job *job);
/* invert_problem.c: predicts the memory, then makes mesh, bases, true model, accumulator. */
osla_err invert_make_problem(invert_job *job);
osla_err invert_renew_hessian(invert_job *job); /* an empty one in the place of the other, if any */
void invert_destroy(invert_job *job);

/* invert_terminal.c: does what this rank writes to stderr appear on a terminal, also through the
 * pipe of an mpiexec on this host? Local. */
bool invert_on_terminal(void);

/* invert_work.c: distributes the paths over all ranks and threads, one-sided, in subsets. Each
 * thread traces its paths in its own workspace (worker.path) and calls `work` for each. A failure
 * takes the paths that are left, so that all ranks end soon (of those that are fixed, a rank's
 * own). On return all ranks have finished, and total->sums are those of all ranks, in bits that do
 * not depend on who did what; they are the caller's to free (invert_free_sums), whatever is
 * returned. *seconds is how long this rank was busy. */
enum { SUM_MISFIT, SUM_KNOTS, SUM_UNKNOWNS, SUM_BEFORE, SUM_AFTER, SUM_DATA, N_SUMS };

typedef struct invert_worker {
  invert_job *job;
  tomo_path *path; /* traced when work is called */
  int64_t index;   /* of the path in job->path_ids */
  int64_t path_id, columns;
  tomo_set set;                 /* what is measured on it: k data */
  const double *factor;         /* [k] their weights; NULL: 1 */
  double *d;                    /* [k] whitened */
  void *g;                      /* [k * greatest columns] for work's use, or NULL */
  double *g_sum;                /* [greatest columns] for work's use, or NULL */
  struct invert_split *split;   /* for work's use, see invert_split.h; begins as NULL */
  order_free_sums sums[N_SUMS]; /* of this thread */
  int64_t data;
  double seconds_update;
} invert_worker;

typedef struct invert_pass {
  const char *what; /* for the progress line */
  osla_err (*work)(invert_worker *worker);
  int64_t n_sums[N_SUMS];
  bool panels;        /* work uses g and g_sum */
  bool fixed;         /* each rank has the same paths in every run; else who asks first gets them */
  checkpoint *points; /* NULL: none are taken */
} invert_pass;
osla_err invert_for_all_paths(invert_job *job, const invert_pass *pass, invert_worker *total,
                              double *seconds);
void invert_free_sums(invert_worker *total);

/* invert_resume.c: goes on from the checkpoint, if there is one. */
osla_err invert_resume(invert_job *job);

/* invert_totals.c: what each path adds to misfit of the zero model, data and density; what all have
 * added. The first is of a worker. */
void invert_add_path(invert_worker *worker);
osla_err invert_share_totals(invert_job *job, const invert_worker *total);

/* invert_prior.c: job->prior, from options and file; before the assembly. */
osla_err invert_make_prior(invert_job *job);
/* The elements of the prior that this rank has in triangle `uplo` of a matrix like H: what is done
 * for each, `at` being its place in the local array. A pair (i, j) comes once for each knot that
 * adds to it, with that part. Local. */
typedef void invert_prior_element(int64_t i, int64_t j, int64_t at, double part, void *arg);
osla_err invert_visit_prior(const invert_job *job, const osla_matrix *h,
                            invert_prior_element *visit, void *arg);

/* invert_forecast.c: what the job will take of time, where it is asked for more than a model; a
 * line on standard output before the work, and one when a factorisation has been timed. */
osla_err invert_forecast_work(invert_job *job);
void invert_forecast_inverse(invert_job *job);
/* Operations of the inverse in n^3, as it is found. Local. */
double invert_inverse_work(const invert_job *job);

/* invert_assemble.c: H, gradient, density, misfit of the zero model; prior, unless it is scanned;
 * commit. */
osla_err invert_assemble(invert_job *job);
/* invert_misfit.c: |d - G m|^2 by a second pass over the data. invert_fit.c: keeps what it has
 * summed up by measure; the second is local. */
osla_err invert_measure_misfit(invert_job *job);
osla_err invert_keep_fit(invert_job *job, const invert_worker *total);
void invert_free_fit(invert_fit *fit);
/* invert_robust.c: after a first model, others with less weight for outliers, if asked for; a scan
 * follows with their weights. invert.c: finds the model again, with the weights of now. */
osla_err invert_solve_robustly(invert_job *job);
osla_err invert_find_again(invert_job *job);

/* invert_scan.c: models under the priors of --scan; then job->prior is the one that the model shall
 * have, and added to H. */
bool invert_scans(const invert_options *options);
osla_err invert_scan_priors(invert_job *job);
void invert_release_scan(invert_scan *scan);

/* invert_solve.c: factor in place, solve. */
osla_err invert_solve(invert_job *job);
/* x := H^-1 x for columns that every rank has, by the factor of that kind in job->factor. */
osla_err invert_solve_columns(invert_job *job, invert_factor kind, int64_t columns, double *x);
/* invert_iterate.c: the paths' rows; the model from them by LSQR or CG; and the diagonal element of
 * the resolution matrix of an unknown. */
osla_err invert_trace(invert_job *job);
osla_err invert_iterate(invert_job *job);
osla_err invert_iterate_resolution(invert_job *job, int64_t unknown, double *value);
/* For the scan, under job->prior: the model, into job->m, and its |d - G m|^2; and z^T R z. */
osla_err invert_iterate_scan(invert_job *job, double *misfit);
osla_err invert_iterate_freedom(invert_job *job, const double *z, double *value);
/* invert_judge.c: the model beside the true one. Local. */
void invert_judge(invert_job *job);
/* invert_resolution.c: diagonal of the resolution matrix for a sample of unknowns. */
osla_err invert_sample_resolution(invert_job *job);

/* invert_rows.c: rows of resolution and covariance at the points of --spread; of the factor. */
osla_err invert_find_rows(invert_job *job);
void invert_release_rows(invert_posterior *posterior);
/* invert_posterior.c: deviations and resolution of all unknowns; job->factor becomes the inverse,
 * unless it is found by columns. invert_columns.c: that: my share of the diagonals of C and of C P,
 * by job->posterior.width columns at a time; the bytes that this takes of a rank (local). */
osla_err invert_find_posterior(invert_job *job);
osla_err invert_find_columns(invert_job *job, double *variance, double *pulled);
uint64_t invert_columns_bytes(const invert_job *job, int64_t width);

/* invert_report.c: the page for people, on rank 0's standard output. invert_json.c: the same and
 * the settings as JSON, in the file that the user named, if any. */
osla_err invert_print_report(invert_job *job);
osla_err invert_write_json(invert_job *job);

/* invert_sure_report.c: what posterior, rows and scan say, on the page and in the JSON report
 * (NULL: no memory); and their arrays in the result file. Of rank 0. invert_scan_plot.c: the
 * picture. */
struct json_t;
struct tomo_store;
void invert_print_sure(const invert_job *job);
struct json_t *invert_sure_json(const invert_job *job);
osla_err invert_store_sure(const invert_job *job, struct tomo_store *store);
/* invert_report_data.c: the command, words that a shell would take for others in quotes. Local. */
void invert_put_command(const invert_options *o, FILE *out);
/* Of that page, the data and what became of a table's rows. Local. */
void invert_print_data(const invert_job *job);
/* invert_fit.c, invert_robust.c: theirs. */
void invert_print_fit(const invert_job *job);
void invert_print_robust(const invert_job *job);

/* What both say of the phases: seconds over the ranks, and what a phase did, for its rate (0: no
 * rate). The first is collective, the second local. */
typedef struct invert_spread {
  double min[N_PHASES], mean[N_PHASES], max[N_PHASES];
} invert_spread;
osla_err invert_spread_over_ranks(const invert_job *job, invert_spread *spread);
bool invert_phase_is_of(const invert_job *job, invert_phase phase); /* does its solver have it? */
const char *invert_phase_name(invert_phase phase);
double invert_phase_work(const invert_job *job, invert_phase phase, const char **unit);

/* invert_json.c: the settings as a JSON object, the caller's; NULL: no memory. Local. */
struct json_t;
struct json_t *invert_settings_json(const invert_job *job);

/* invert_scan_plot.c: the picture of --scan-plot. Local. */
osla_err invert_plot_scan(const invert_job *job);

/* invert_page.c: the page of --report; rank 0 alone, with the times of all. Without gnuplot it has
 * no pictures, and says so. */
osla_err invert_write_page(const invert_job *job, const invert_spread *spread);

/* invert_check_files.c: are all files different, and can be written? and: is there room for them,
 * once the problem is made? Rank 0 works. */
osla_err invert_check_files(const invert_job *job, bool room);
/* invert_output.c: writes model, map, and the files for other programs. Rank 0 works. */
osla_err invert_write_output(invert_job *job);
/* invert_write_data.c: the test's data as a table, if the user named a file. Before the work: would
 * --data find all stations and earthquakes of it? Collective. Errors: ARG; IO, MEM. */
osla_err invert_check_write_data(const invert_job *job);
osla_err invert_write_data(invert_job *job);

/* invert_frame.c: what all maps show. Local. */
tomo_frame invert_choose_frame(const invert_job *job);

/* invert_netcdf.c: the bytes of that file, at least; writes it. Local. */
uint64_t invert_netcdf_bytes(const invert_job *job);
osla_err invert_write_netcdf(const invert_job *job);

/* invert_xdmf.c: can the file of --xdmf name the result file? the bytes of the mesh in that one;
 * the mesh, with the fields at its points, the caller's to destroy; the file. Local. */
struct tomo_prisms;
osla_err invert_check_xdmf(const invert_options *options);
uint64_t invert_xdmf_bytes(const invert_job *job);
osla_err invert_make_prisms(const invert_job *job, struct tomo_prisms **mesh);
osla_err invert_write_xdmf(const invert_job *job, const struct tomo_prisms *mesh);

/* invert_selection.c: what was read and left out, for the page and for JSON (NULL: no memory); and
 * the options that chose. Local. */
struct json_t;
void invert_print_selection(const invert_job *job);
struct json_t *invert_selection_json(const invert_job *job);
struct json_t *invert_selection_settings(const invert_options *options);

#endif
