/* `osla invert`: linearised global surface-wave tomography as one job (floor 4).
 *
 * One Gauss-Newton step of French et al. (IPDPS 2015), equation (2), from m = m^p = 0:
 *   (G^T C_d^-1 G + C_m^-1) m = G^T C_d^-1 d.
 * The left side is assembled by one-sided updates, factored in the same memory and solved; or the
 * paths' rows of G are kept, and the same model is found by LSQR or CG. The data are those of a
 * known model plus noise, so that the job shows what the rays can recover.
 *
 * The steps are files of this folder: options, input, problem, then assemble, solve or rays,
 * iterate; judge, resolution, misfit, output, report; invert.c runs them in that order. All
 * functions are collective unless they say otherwise, and return the same error on all ranks.
 */
#ifndef OSLA_INVERT_H
#define OSLA_INVERT_H

#include "checkpoint.h"
#include "order_free.h"
#include "osla.h"
#include "reproducible.h"
#include "tomo_io.h"
#include "tomo_kernel.h"
#include "tomo_mesh.h"
#include "tomo_model.h"
#include "tomo_path.h"
#include "tomo_radial.h"

#include <limits.h>

typedef enum invert_factor { INVERT_CHOLESKY, INVERT_LU } invert_factor;
typedef enum invert_solver {
  INVERT_DIRECT, /* H is assembled and factored */
  INVERT_LSQR,   /* G is kept, see invert_rays.h */
  INVERT_CG
} invert_solver;

/* What the user asked for, checked. */
typedef struct invert_options {
  const char *stations, *events;     /* files; NULL: the shipped sample */
  const char *output, *map, *json;   /* files; NULL: none */
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
  tomo_prior_options prior;
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
  int quiet;
  reproducible reproducible; /* as asked for */
} invert_options;

/* Parses and checks; *status as osla_command_parse. Local, the same on all ranks. `owner` keeps the
 * strings and is released by the caller. */
struct osla_command_line;
bool invert_parse(int argc, char **argv, int ranks, invert_options *options,
                  struct osla_command_line *owner, int *status);

/* Where the seconds of a rank go. */
typedef enum invert_phase {
  PHASE_COMPUTE, /* paths, panels of G, data; sum over threads / threads */
  PHASE_UPDATE,  /* calls of update */
  PHASE_COMMIT,  /* waiting for the others' updates */
  PHASE_FACTOR,
  PHASE_PRODUCTS, /* LSQR, CG: with G, the prior, and what is transposed */
  PHASE_SUMS,     /* of theirs, over the ranks */
  PHASE_SOLVE,    /* of an iteration: the rest */
  PHASE_MISFIT,   /* the second pass over the data */
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
  int64_t *path_ids;        /* [n_paths], ascending: tomo_path_id */
  int64_t n_paths, n_pairs; /* pairs: before the choice by distance */
  tomo_mesh *mesh;
  tomo_radial *radial;
  tomo_kernel *kernel;
  int64_t knots, n;         /* n = knots * n_radial unknowns */
  double *m_true, *m;       /* [n] percent */
  double *density;          /* [knots] km */
  osla_hessian *hessian;    /* NULL: it is not assembled */
  struct invert_rays *rays; /* NULL: it is assembled */
  double *gradient;         /* [n] G^T d */
  checkpoint checkpoint;    /* of the assembly; its ids are path ids */
  reproducible reproducible;
  osla_matrix *factor; /* the Hessian's own matrix, once factored */
  invert_result result;
} invert_job;

/* invert_input.c: reads on rank 0, tells all ranks, lists the usable paths. */
osla_err invert_read_input(invert_job *job);
/* The files it reads. Local. */
osla_err invert_name_tables(const invert_job *job, char stations[PATH_MAX], char events[PATH_MAX]);
/* The arc of a path id; false when it is degenerate. Local. */
bool invert_arc(const invert_job *job, int64_t path_id, tomo_arc *arc);

/* invert_bounds.c: the bounds of --reproducible, by a pass over all paths if they are not known;
 * before there is an accumulator. */
osla_err invert_find_bounds(invert_job *job);

/* invert_memory.c: bytes that this rank will need. Local. */
enum { INVERT_PIECE_BYTES = 64 << 20, INVERT_RING_BYTES = 64 << 20 }; /* of the accumulator */
uint64_t invert_predict_bytes(const invert_job *job);
/* invert_problem.c: predicts the memory, then makes mesh, bases, true model, accumulator. */
osla_err invert_make_problem(invert_job *job);
void invert_destroy(invert_job *job);

/* invert_terminal.c: does what this rank writes to stderr appear on a terminal, also through the
 * pipe of an mpiexec on this host? Local. */
bool invert_on_terminal(void);

/* invert_work.c: deals the paths to all ranks and threads, one-sided, in subsets. Each thread
 * traces its paths in its own workspace (worker.path) and calls `work` for each. A failure takes
 * the paths that are left, so that all ranks end soon (of those that are dealt, a rank's own). On
 * return all ranks have finished, and total->sums are those of all ranks, in bits that do not
 * depend on who did what; they are the caller's to free (invert_free_sums), whatever is returned.
 * *seconds is how long this rank was busy. */
enum { SUM_MISFIT, SUM_KNOTS, SUM_UNKNOWNS, N_SUMS };

typedef struct invert_worker {
  invert_job *job;
  tomo_path *path; /* traced when work is called */
  int64_t index;   /* of the path in job->path_ids */
  int64_t path_id, columns;
  double *d;                    /* [k] the path's whitened data */
  void *g;                      /* [k * greatest columns] for work's use, or NULL */
  double *g_sum;                /* [greatest columns] for work's use, or NULL */
  order_free_sums sums[N_SUMS]; /* of this thread */
  int64_t data;
  double seconds_update;
} invert_worker;

typedef struct invert_pass {
  const char *what; /* for the progress line */
  osla_err (*work)(invert_worker *worker);
  int64_t n_sums[N_SUMS];
  bool panels;        /* work uses g and g_sum */
  bool dealt;         /* each rank has the same paths in every run; else who asks first gets them */
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

/* invert_assemble.c: H, gradient, density, misfit of the zero model; prior; commit. */
osla_err invert_assemble(invert_job *job);
/* invert_misfit.c: |d - G m|^2 by a second pass over the data. */
osla_err invert_measure_misfit(invert_job *job);

/* invert_solve.c: factor in place, solve. */
osla_err invert_solve(invert_job *job);
/* invert_iterate.c: the model by LSQR or CG, from the paths' rows; and the diagonal element of the
 * resolution matrix of an unknown. */
osla_err invert_iterate(invert_job *job);
osla_err invert_iterate_resolution(invert_job *job, int64_t unknown, double *value);
/* invert_judge.c: the model beside the true one. Local. */
void invert_judge(invert_job *job);
/* invert_resolution.c: diagonal of the resolution matrix for a sample of unknowns. */
osla_err invert_sample_resolution(invert_job *job);

/* invert_report.c: the page for people, on rank 0's standard output. invert_json.c: the same and
 * the settings as JSON, in the file that the user named, if any. */
osla_err invert_print_report(invert_job *job);
osla_err invert_write_json(invert_job *job);

/* What both say of the phases: seconds over the ranks, and what a phase did, for its rate (0: no
 * rate). The first is collective, the second local. */
typedef struct invert_spread {
  double min[N_PHASES], mean[N_PHASES], max[N_PHASES];
} invert_spread;
osla_err invert_spread_over_ranks(const invert_job *job, invert_spread *spread);
bool invert_phase_is_of(const invert_job *job, invert_phase phase); /* does its solver have it? */
double invert_phase_work(const invert_job *job, invert_phase phase, const char **unit);

/* invert_output.c: are all files different, and can be written? and: is there room for them, once
 * the problem is made? and: write model and map. Rank 0 works. */
osla_err invert_check_files(const invert_job *job, bool room);
osla_err invert_write_output(invert_job *job);

#endif
