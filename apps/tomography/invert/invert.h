/* `osla invert`: linearised global surface-wave tomography as one job (layer 5).
 *
 * The job makes one Gauss-Newton step of French et al. (IPDPS 2015), equation (2), with m = m^p =
 * 0 at the start:
 *   (G^T C_d^-1 G + C_m^-1) m = G^T C_d^-1 d.
 * In the comments of this folder H = G^T C_d^-1 G, P = C_m^-1 is the inverse covariance of the
 * prior, g = G^T C_d^-1 d is the gradient, n is the number of unknowns, N_r the number of radial
 * functions. Either H + P is assembled by one-sided updates, factored in place and solved, or the
 * rows of G stay with the ranks that traced the paths, and LSQR or CG finds the model. The data are
 * either a table that the user provides, or synthetic data of a known model plus noise. Synthetic
 * data show what the paths can recover.
 *
 * Each step is a file of this folder; invert.c runs the steps in order. All functions are
 * collective unless the comment says local, and return the same error on all ranks. Functions
 * marked rank 0 are local calls of rank 0.
 */
#ifndef OSLA_INVERT_H
#define OSLA_INVERT_H

#include "apps/tomography/draw/tomo_draw.h"
#include "apps/tomography/earth/tomo_kernel.h"
#include "apps/tomography/earth/tomo_mesh.h"
#include "apps/tomography/earth/tomo_model.h"
#include "apps/tomography/earth/tomo_path.h"
#include "apps/tomography/earth/tomo_radial.h"
#include "apps/tomography/earth/tomo_reference.h"
#include "apps/tomography/earth/tomo_slices.h"
#include "apps/tomography/invert/invert_options.h"
#include "apps/tomography/invert/invert_results.h"
#include "apps/tomography/readers/tomo_data.h"
#include "apps/tomography/readers/tomo_io.h"
#include "apps/tomography/readers/tomo_prior_file.h"
#include "osla_unstable.h"
#include "tools/common/checkpoint.h"
#include "tools/common/order_free.h"
#include "tools/common/reproducible.h"

struct tomo_prisms;
struct tomo_store;

/* Phases of the job whose time is measured. */
typedef enum invert_phase {
  PHASE_COMPUTE, /* tracing of paths, panels of G, data; mean over the threads of a rank */
  PHASE_UPDATE,  /* calls of osla_hessian_update */
  PHASE_COMMIT,  /* commit, which waits for the updates of other ranks */
  PHASE_SCAN,    /* models under the priors of --scan */
  PHASE_FACTOR,
  /* LSQR and CG: products with G, with the rows of the prior, and with both transposes */
  PHASE_PRODUCTS,
  PHASE_SUMS, /* LSQR and CG: global sums */
  /* direct solver: solve with the factor; LSQR and CG: all work that no other phase counts */
  PHASE_SOLVE,
  PHASE_MISFIT,  /* second pass over the data */
  PHASE_INVERSE, /* posterior covariance: computing the inverse and reading its elements */
  N_PHASES
} invert_phase;

typedef struct invert_result {
  double seconds[N_PHASES]; /* seconds of this rank in each phase */
  double wall;              /* seconds of the whole job */
  /* Whitened data d are data divided by their standard deviations. */
  double misfit_before, /* |d|^2, the misfit of the zero model to the whitened data */
    misfit_after;       /* |d - G m|^2, the misfit of the model m to the whitened data */
  /* misfit_after as the normal equations predict it; a difference shows an inaccurate solve */
  double misfit_expected;
  int64_t data;  /* number of data with weight above 0 */
  int64_t info;  /* LAPACK's info of the factorisation */
  double growth; /* element growth of LU */
  /* LSQR and CG: iterations for the model, without the iterations for the resolution */
  int64_t iterations;
  double left;         /* LSQR and CG: final residual norm, which is compared with the tolerance */
  uint64_t rays_bytes; /* memory of the stored rows of G, sum of all ranks */
  /* ray density in km: knots above it are called dense, the other knots sparse */
  double threshold;
  tomo_recovery dense, sparse, all;
  /* mean diagonal element of the resolution matrix, for dense and for sparse knots */
  double resolution_dense, resolution_sparse;
  int sampled_dense, sampled_sparse;
  int64_t updates,       /* number of calls of osla_hessian_update on all ranks */
    elements;            /* number of elements that all ranks have added to H by updates */
  uint64_t bytes;        /* predicted memory of this rank */
  bool map_written;      /* false if the map was not drawn because gnuplot is not installed */
  double report_seconds; /* seconds spent on the HTML report */
} invert_result;

/* Returns the name of a solver: "direct", "lsqr" or "cg". Local. */
const char *invert_solver_name(invert_solver solver);

typedef struct invert_job {
  const invert_options *options;
  osla_transport *t;
  int blas_threads; /* number of BLAS threads while only one thread of a rank calls the BLAS */
  osla_grid *grid;
  tomo_site *stations, *events;
  int64_t n_stations, n_events;
  tomo_counts read_stations, read_events; /* numbers of list entries read, used and rejected */
  /* NULL: the stand-in formulas of tomo_reference.h replace the table */
  tomo_reference *reference;
  /* file of the reference table, or "stand-in" for the formulas */
  char earth[PATH_MAX];
  uint64_t earth_hash;      /* hash of the contents of the reference file */
  tomo_data_reader *reader; /* child process of rank 0 that reads an HDF5 table of measurements */
  /* child process of rank 0 that reads an HDF5 file of the prior */
  tomo_prior_reader *prior_reader;
  tomo_data data;          /* paths and the measurements on them */
  tomo_data_notes notes;   /* notes about rejected rows of the table */
  const int64_t *path_ids; /* [n_paths] ids of the paths, borrowed from `data` */
  /* n_pairs: number of source-station pairs before the selection by distance; if the data are a
   * table, n_pairs is the number of its paths */
  int64_t n_paths, n_pairs;
  bool scanning; /* true if the next model comes from a scan of priors */
  /* [data] weight of each datum (--robust), a factor of the datum and of its row of G; NULL: all
   * 1 */
  double *weight;
  tomo_mesh *mesh;
  tomo_radial *radial;
  tomo_kernel *kernel;
  int64_t knots,                    /* number of knots */
    n;                              /* number of unknowns, knots * n_radial */
  tomo_prior_options prior;         /* prior with which the current model is computed */
  tomo_prior_factors prior_factors; /* arrays from the file of --prior; job->prior borrows them */
  /* [n] true and recovered model, percent; m_true is NULL for measured data */
  double *m_true, *m;
  double *density;          /* [knots] ray density: km of path at each knot */
  osla_hessian *hessian;    /* accumulator of H; NULL if H is not assembled */
  struct invert_rays *rays; /* stored rows of G; NULL if H is assembled */
  double *gradient;         /* [n] G^T C_d^-1 d */
  /* checkpoint of the assembly; the ids of its updates are path ids */
  checkpoint checkpoint;
  reproducible reproducible;
  /* matrix that holds the factor of H + P in the memory of `hessian`; NULL before the
   * factorisation */
  osla_matrix *factor;
  invert_result result;
  invert_fit fit;
  invert_robust robust;
  invert_posterior posterior;
  invert_scan scan;
} invert_job;

/* Reads the input files on rank 0, sends them to all ranks, and lists the usable paths
 * (invert_input.c). */
osla_err invert_read_input(invert_job *job);
/* Lists of stations and earthquakes (invert_tables.c). invert_name_tables (local) finds the names
 * of their files; invert_read_tables reads the files. */
osla_err invert_name_tables(const invert_job *job, invert_tables *tables);
osla_err invert_read_tables(invert_job *job);
/* Broadcasts an array of `bytes` bytes from rank 0; the other ranks allocate *array
 * (invert_tables.c). */
osla_err invert_bcast_new(const invert_job *job, void **array, int64_t bytes);
/* Makes the great-circle arc of a path id. Returns false if the arc is degenerate. Local. */
bool invert_path_arc(const invert_job *job, int64_t path_id, tomo_arc *arc);

/* Finds the name of the file of the reference table, or "stand-in" for the formulas
 * (invert_data.c). Rank 0. Errors: IO. */
osla_err invert_name_reference(const invert_job *job, char file[PATH_MAX]);
/* Read the input data: invert_read_reference reads the reference Earth, invert_read_data the table
 * of measurements or the list of synthetic measurements (invert_data.c). Rank 0 reads the files,
 * and all ranks receive the contents. */
osla_err invert_read_reference(invert_job *job);
osla_err invert_read_data(invert_job *job);

/* Finds the bounds of --reproducible by a pass over all paths, unless the bounds are known
 * (invert_bounds.c). Must precede the creation of the accumulator. */
osla_err invert_find_bounds(invert_job *job);

/* Memory prediction (invert_memory.c). invert_predict_bytes (local) returns the number of bytes
 * that this rank will need for the present value of job->posterior.width. invert_check_memory
 * chooses job->posterior.width, and checks that the memory of all ranks suffices. */
/* sizes of the accumulator's buffers in bytes */
enum { INVERT_PIECE_BYTES = 64 << 20, INVERT_RING_BYTES = 64 << 20 };
uint64_t invert_predict_bytes(const invert_job *job);
osla_err invert_check_memory(invert_job *job);
/* Returns the number of bytes that rank 0 will need to write the output files, when the memory of
 * the assembly and of the factorisation is free again; 0 on other ranks. Local
 * (invert_memory_files.c). */
uint64_t invert_files_bytes(const invert_job *job);
/* Checks the memory, and makes the mesh, the bases, the true model and the accumulator
 * (invert_problem.c). */
osla_err invert_make_problem(invert_job *job);
/* Replaces the accumulator, if any, by an empty accumulator. */
osla_err invert_replace_hessian(invert_job *job);
void invert_destroy(invert_job *job);

/* Returns true if this rank prints progress lines: it is rank 0, --quiet is not given, and its
 * stderr appears on a terminal, directly or through the pipe of an mpiexec on this host
 * (invert_terminal.c). Local. */
bool invert_shows_progress(const invert_job *job);

/* Passes over all paths (invert_pass.c): distributes the paths over ranks and threads by a counter
 * that they increment by one-sided fetch-and-add. Each thread traces its paths in its workspace
 * (worker.path) and calls `work` for each path. After a failure no rank starts another subset of
 * paths; if pass->fixed, only the failing rank stops early. On return all ranks have finished, and
 * total->sums are the sums of all ranks, with bits that do not depend on the distribution. The
 * caller frees the sums by invert_free_sums, also after an error. *seconds is the time this rank
 * was busy. */
enum { SUM_MISFIT, SUM_KNOTS, SUM_UNKNOWNS, SUM_BEFORE, SUM_AFTER, SUM_DATA, N_SUMS };

typedef struct invert_worker {
  invert_job *job;
  tomo_path *path; /* workspace of this thread, with the path traced last */
  int64_t index;   /* index of this path in the list of all paths, job->path_ids */
  int64_t path_id, columns;
  tomo_set set;         /* set of measurements of the path, k data */
  const double *factor; /* [k] weights of the path's data (--robust); NULL: all 1 */
  double *d;            /* [k] whitened data of the path */
  /* [k * maximum number of columns] scratch memory of `work` for a panel of G; NULL unless
   * pass->panels */
  void *g;
  /* [maximum number of columns] scratch memory of `work`; NULL unless pass->panels */
  double *g_sum;
  struct invert_path_qr *split; /* scratch memory of `work` (invert_rays.h); initially NULL */
  order_free_sums sums[N_SUMS]; /* sums of this thread */
  int64_t data;
  double seconds_update;
} invert_worker;

typedef struct invert_pass {
  const char *what; /* title of the progress line */
  osla_err (*work)(invert_worker *worker);
  int64_t n_sums[N_SUMS];
  bool panels; /* true if `work` uses the worker's members g and g_sum */
  bool fixed;  /* true: each rank has the same paths in every run; false: dynamic distribution */
  checkpoint *points; /* checkpoints that the pass writes; NULL: it writes no checkpoints */
} invert_pass;
osla_err invert_for_all_paths(invert_job *job, const invert_pass *pass, invert_worker *total,
                              double *seconds);
void invert_free_sums(invert_worker *total);

/* Restores the accumulator from the checkpoint file, if the file exists (invert_resume.c). */
osla_err invert_restore_checkpoint(invert_job *job);

/* Sums of the first pass (invert_pass.c). invert_add_path (local) adds a path's data, ray density
 * and misfit of the zero model to the sums of its worker. invert_store_totals stores the totals of
 * all ranks in the job. */
void invert_add_path(invert_worker *worker);
osla_err invert_store_totals(invert_job *job, const invert_worker *total);

/* Sets job->prior from the options and the prior file; must precede the assembly
 * (invert_prior.c). */
osla_err invert_make_prior(invert_job *job);
/* Visits the elements (i, j) of the prior in the stored triangle that this rank owns, for a matrix
 * `h` with the distribution of H. Each knot that contributes to an element causes one call of
 * `visit`: `part` is the contribution, and `at` the index of the element in the local array of h
 * (tools/common/local_elements.h). Local. */
typedef void invert_prior_element(int64_t i, int64_t j, int64_t at, double part, void *arg);
osla_err invert_visit_prior(const invert_job *job, const osla_matrix *h,
                            invert_prior_element *visit, void *arg);

/* Time forecasts, printed only for --posterior and --scan (invert_forecast.c). invert_forecast_work
 * prints a forecast of the whole work on standard output before the work. invert_forecast_inverse
 * (local) prints a forecast of the inverse after the factorisation has been timed. */
osla_err invert_forecast_work(invert_job *job);
void invert_forecast_inverse(invert_job *job);
/* Returns the number of floating-point operations of the inverse, divided by n^3, for the chosen
 * method. Local. */
double invert_inverse_work(const invert_job *job);

/* Assembles H, gradient, ray density and the misfit of the zero model, adds the prior unless
 * job->scanning, and commits (invert_assemble.c). */
osla_err invert_assemble(invert_job *job);
/* invert_measure_misfit computes |d - G m|^2 by a second pass over the data, and the misfit of each
 * measure. invert_free_fit (local) frees the misfit of each measure (invert_fit.c). */
osla_err invert_measure_misfit(invert_job *job);
void invert_free_fit(invert_fit *fit);
/* With --robust, replaces the first model by models with less weight for outliers
 * (invert_robust.c). */
osla_err invert_solve_robustly(invert_job *job);
/* Computes a model with the weights job->weight, and with a scan of priors if job->scanning. With
 * the direct solver, H is assembled anew: from zero if `again` is true, otherwise from the
 * checkpoint if there is one (invert_robust.c). */
osla_err invert_compute_model(invert_job *job, bool again);

/* Computes models under the priors of --scan (invert_scan.c). On return job->prior is the chosen
 * prior, and H includes it. invert_has_scan (local) returns true if the user asked for a scan. */
bool invert_has_scan(const invert_options *options);
osla_err invert_scan_priors(invert_job *job);
void invert_release_scan(invert_scan *scan);

/* Factors H + P in place and solves for the model (invert_solve.c). */
osla_err invert_solve(invert_job *job);
/* x := (H + P)^-1 x for `columns` columns. All ranks pass equal x and get the result. job->factor
 * holds the factor, and `kind` says whether the factorisation is Cholesky or LU. */
osla_err invert_solve_columns(invert_job *job, invert_factor kind, int64_t columns, double *x);
/* LSQR and CG (invert_iterate.c): invert_trace_paths stores the rows of the paths,
 * invert_iterate_model finds the model, invert_iterate_resolution returns the diagonal element of
 * the resolution matrix for one unknown. */
osla_err invert_trace_paths(invert_job *job);
osla_err invert_iterate_model(invert_job *job);
osla_err invert_iterate_resolution(invert_job *job, int64_t unknown, double *value);
/* For a scan of priors: invert_iterate_scan computes the model job->m under job->prior and its
 * misfit |d - G m|^2; invert_iterate_freedom computes z^T R z, R being the resolution matrix under
 * job->prior. */
osla_err invert_iterate_scan(invert_job *job, double *misfit);
osla_err invert_iterate_freedom(invert_job *job, const double *z, double *value);
/* Compares the recovered model with the true model (invert_resolution.c). Local. */
void invert_compare_models(invert_job *job);
/* Computes the diagonal of the resolution matrix for a sample of unknowns (invert_resolution.c). */
osla_err invert_sample_resolution(invert_job *job);

/* Computes rows of the resolution matrix and of the posterior covariance at the points of
 * --spread, with the factor (invert_rows.c). */
osla_err invert_find_rows(invert_job *job);
void invert_release_rows(invert_posterior *posterior);
/* Uncertainty of all unknowns. invert_find_posterior computes standard deviations and the diagonal
 * of the resolution matrix (invert_posterior.c). It overwrites the factor by the inverse, unless
 * the method is by columns. With C = (H + P)^-1, invert_add_columns adds this rank's part of the
 * diagonals of C and C P, and computes job->posterior.width columns of C at a time
 * (invert_columns.c). invert_columns_bytes (local) returns the memory of a rank for `width`
 * columns. */
osla_err invert_find_posterior(invert_job *job);
osla_err invert_add_columns(invert_job *job, double *variance, double *pulled);
uint64_t invert_columns_bytes(const invert_job *job, int64_t width);

/* Reports. invert_print_report prints the text report on standard output of rank 0
 * (invert_report.c). invert_write_json writes the results and settings to the file of --json, if
 * the option is given (invert_json.c). */
osla_err invert_print_report(invert_job *job);
osla_err invert_write_json(invert_job *job);
/* Returns the settings of the job as a JSON object that the caller owns; NULL: no memory. Local. */
json_t *invert_settings_json(const invert_job *job);

/* Output of the posterior, the rows of the resolution matrix and the scan of priors
 * (invert_report_uncertainty.c): in the text report, as a JSON object (NULL: no memory), and as
 * arrays of the result file. Rank 0. */
void invert_print_uncertainty(const invert_job *job);
json_t *invert_uncertainty_json(const invert_job *job);
osla_err invert_store_uncertainty(const invert_job *job, struct tomo_store *store);
/* Writes the command line to `out`, with quotes around words that a shell would change
 * (invert_report.c). Local. */
void invert_put_command(const invert_options *o, FILE *out);
/* Print parts of the text report: the misfit of each measure (invert_fit.c), and the outliers and
 * cycle skips (invert_robust.c). Local. */
void invert_print_fit(const invert_job *job);
void invert_print_robust(const invert_job *job);

/* Minimum, mean and maximum over all ranks of the seconds that each phase took. */
typedef struct invert_phase_times {
  double min[N_PHASES], mean[N_PHASES], max[N_PHASES];
} invert_phase_times;
/* Computes the phase times for the text, JSON and HTML reports from the times of all ranks.
 * Collective. */
osla_err invert_gather_phase_times(const invert_job *job, invert_phase_times *times);
/* True if this job has the phase. Local. */
bool invert_phase_is_used(const invert_job *job, invert_phase phase);
const char *invert_phase_name(invert_phase phase);
/* Returns the amount of work of a phase, from which the reports compute a rate, and sets *unit to
 * the unit of the amount. Returns 0 if the reports show no rate for the phase. Local. */
double invert_phase_work(const invert_job *job, invert_phase phase, const char **unit);

/* Writes the HTML report of --report, with the phase times of all ranks (invert_page.c). Rank 0.
 * Without gnuplot the report has no pictures and says so. */
osla_err invert_write_page(const invert_job *job, const invert_phase_times *times);

/* Writes the model, the map, and the files for other programs; rank 0 writes (invert_output.c). */
osla_err invert_write_output(invert_job *job);
/* --write-data (invert_write_data.c). Before the work, invert_check_write_data checks that a later
 * job with --data could find all stations and earthquakes of the table. invert_write_data writes
 * the synthetic data as a table. Errors: ARG, IO, MEM. */
osla_err invert_check_write_data(const invert_job *job);
osla_err invert_write_data(invert_job *job);

/* Returns the frame, coastlines and sites that all maps have in common (invert_input.c). Local. */
tomo_world invert_world(const invert_job *job);

/* netCDF output (invert_netcdf.c). invert_netcdf_bytes returns a lower bound of the file's size in
 * bytes; invert_write_netcdf writes the file. Rank 0. */
uint64_t invert_netcdf_bytes(const invert_job *job);
osla_err invert_write_netcdf(const invert_job *job);
/* Lists the fields that the job has computed, as variables of netCDF and XDMF files. Returns their
 * number. Local.
 *   v          [out]  at most TOMO_GRID_VARIABLES_MAX variables
 *   ancillary  [out]  text that the variables borrow */
int invert_list_variables(const invert_job *job, tomo_variable *v, char ancillary[80]);

/* XDMF output (invert_xdmf.c). Rank 0. invert_check_xdmf checks that the XDMF file can name the
 * result file. invert_xdmf_bytes returns the size of the mesh in the result file in bytes.
 * invert_make_prisms makes the mesh with the values of the fields at its points; the caller
 * destroys it. invert_write_xdmf writes the XDMF file. */
osla_err invert_check_xdmf(const invert_options *options);
uint64_t invert_xdmf_bytes(const invert_job *job);
osla_err invert_make_prisms(const invert_job *job, struct tomo_prisms **mesh);
osla_err invert_write_xdmf(const invert_job *job, const struct tomo_prisms *mesh);

/* Selection of stations and earthquakes (invert_selection.c). The first two functions print, or
 * return as JSON, the numbers of entries read, used and rejected; the third returns the options of
 * the selection as JSON. NULL: no memory. Local. */
void invert_print_selection(const invert_job *job);
json_t *invert_selection_json(const invert_job *job);
json_t *invert_selection_settings(const invert_options *options);

/* Parts of the JSON report about measurements, their misfit, and synthetic tests. The caller owns
 * the returned objects; NULL: no memory. Local. */
/* JSON objects: the misfit of each measure (invert_fit.c), the results of --robust
 * (invert_robust.c). */
json_t *invert_fit_json(const invert_job *job);
json_t *invert_robust_json(const invert_job *job);

#endif
