/* Prediction of the memory of a job, before the memory is allocated. */
#include "apps/tomography/invert/invert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { RING_LEAST = 256 << 10 };

/* Upper bound of the number of columns of a path's panel: all knots within three mesh spacings
 * (about 1.2 / frequency radians each) of a great circle, as tomo_path.c allocates them. */
static uint64_t bound_columns(const invert_job *job)
{
  double half_width = 3.6 / job->options->frequency;
  double part = half_width < 1.0 ? half_width / 0.7 : 1.5;
  uint64_t columns =
    (uint64_t)((double)job->n * part) + TOMO_MESH_SUPPORT * (uint64_t)job->options->n_radial;
  return columns < (uint64_t)job->n ? columns : (uint64_t)job->n;
}

/* Returns the memory of a thread that traces paths: its panel of G, two copies of the panel sorted
 * by owner, a buffer of values, index lists, sums over the knots and, with several nodes, a message
 * buffer. */
static uint64_t thread_bytes(const invert_job *job, uint64_t element)
{
  const invert_options *o = job->options;
  uint64_t columns = bound_columns(job);
  uint64_t k = (uint64_t)tomo_data_max_count(&job->data);
  uint64_t piece = columns * columns * element;
  if (piece > INVERT_PIECE_BYTES) piece = INVERT_PIECE_BYTES;
  uint64_t pieces = osla_transport_n_nodes(job->t) == 1 ? 1 : 2;
  if (o->reproducible.on) pieces++; /* buffer of products before they are split by owner */
  return 3 * k * columns * element + pieces * piece + 100 * columns + 40 * (uint64_t)job->knots;
}

/* Returns the memory for copies of panels in the factorisation, and for right-hand sides of the
 * solves. */
static uint64_t factor_bytes(const invert_job *job, uint64_t element)
{
  const invert_options *o = job->options;
  uint64_t p = (uint64_t)osla_grid_nprow(job->grid), q = (uint64_t)osla_grid_npcol(job->grid);
  uint64_t n = (uint64_t)job->n, nb = (uint64_t)o->nb < n ? (uint64_t)o->nb : n;
  uint64_t panels = (n / p + n / q + 3 * nb) * nb * element;
  uint64_t sets = osla_transport_n_nodes(job->t) == 1 ? 1 : 5;
  return sets * panels + n * (uint64_t)o->resolution * (sizeof(double) + 2 * element);
}

/* Returns the memory for the vectors of a scan and of --spread, and the memory that the inverse
 * needs in addition to the matrix. */
static uint64_t sure_bytes(const invert_job *job, uint64_t element)
{
  const invert_options *o = job->options;
  const uint64_t n = (uint64_t)job->n, points = (uint64_t)o->points;
  const bool scans = invert_has_scan(o);
  const uint64_t columns = scans ? 1 + (uint64_t)o->scan.vectors : 0;
  /* copies of right-hand sides in the type of H */
  uint64_t most = columns > points ? columns : points;
  uint64_t bytes = n * most * 2 * element + n * sizeof(double) * (2 * points + columns);
  if (scans) bytes += 2 * n * sizeof(double);
  if (o->prior_file) bytes += n * sizeof(double);
  if (!o->posterior) return bytes;
  osla_shape shape;
  const int ranks = osla_grid_nprow(job->grid) * osla_grid_npcol(job->grid);
  const int nodes = osla_transport_n_nodes(job->t), per_node = (ranks + nodes - 1) / nodes;
  bytes += 4 * n * sizeof(double);
  if (job->posterior.width > 0) return bytes + invert_columns_bytes(job, job->posterior.width);
  if (osla_shape_make(ranks, per_node, job->n, o->nb, o->dtype, &shape) == OSLA_OK)
    bytes += osla_potri_memory(&shape);
  return bytes;
}

bool invert_stores_triangle(const invert_options *o)
{
  return o->solver == INVERT_DIRECT && o->factor == INVERT_CHOLESKY && o->uplo == OSLA_LOWER &&
         !o->full && !invert_has_scan(o);
}

/* Returns the memory of a rank for the direct solver: its share of H, replicated vectors, ring
 * buffers between nodes, the mesh, the threads and the factorisation. */
static uint64_t direct_bytes(const invert_job *job)
{
  const invert_options *o = job->options;
  const osla_layout h = {
    job->n, job->n, o->nb, o->nb, osla_grid_nprow(job->grid), osla_grid_npcol(job->grid)};
  uint64_t element = (uint64_t)osla_dtype_size(o->dtype), ranks = (uint64_t)(h.nprow * h.npcol);
  uint64_t rings = osla_transport_n_nodes(job->t) == 1 ? 0 : INVERT_RING_BYTES;
  if (rings > 0 && rings < ranks * RING_LEAST) rings = ranks * RING_LEAST;
  uint64_t vectors = o->reproducible.on ? 10 : 6;
  const uint64_t passing =
    (uint64_t)o->threads * thread_bytes(job, element) + factor_bytes(job, element);
  /* the files are written after the assembly and the factorisation have freed their memory */
  const uint64_t files = invert_files_bytes(job);
  const uint64_t matrix = invert_stores_triangle(o) ? osla_matrix_triangle_bytes(&h, o->dtype)
                                                    : osla_matrix_bytes(&h, o->dtype);
  return matrix + vectors * (uint64_t)job->n * sizeof(double) + rings + (uint64_t)job->knots * 200 +
         (passing > files ? passing : files) + sure_bytes(job, element);
}

/* Estimates the number of knots within two mesh spacings of an arc; these are the knots whose
 * lateral functions the arc touches (tomo_mesh.h). The estimate is the area of a strip with round
 * ends on the sphere, plus 10 %. */
static double touched_knots(const invert_job *job, const tomo_arc *arc)
{
  const double knots = (double)job->knots, pi = acos(-1.0);
  const double reach = 2.0 * sqrt(8.0 * pi / (sqrt(3.0) * knots));
  const double area = 2.0 * reach * arc->angle + pi * reach * reach;
  return fmin(1.1 * area * knots / (4.0 * pi) + TOMO_MESH_SUPPORT, knots);
}

/* Returns the memory of all ranks together for the rows of G in factored form (invert_rays.h), the
 * data of these rows, and two vectors of the same length. */
static double rays_bytes(const invert_job *job)
{
  double knots = 0.0;
  for (int64_t i = 0; i < job->n_paths; i++) {
    tomo_arc arc;
    if (invert_path_arc(job, job->path_ids[i], &arc)) knots += touched_knots(job, &arc);
  }
  const double radial = (double)job->options->n_radial;
  const double sets = fmin((double)job->data.n_sets, (double)job->n_paths) * 8.0 * radial * radial;
  return 12.0 * knots + (double)job->n_paths * (3.0 * 8.0 * radial + 80.0) + sets;
}

/* Returns the memory of a rank for LSQR and CG: its share of the rows of G, of the rows of the
 * prior and of seven vectors; ghost coefficients and their star forests; replicated vectors; the
 * mesh; the threads. */
static uint64_t iterative_bytes(const invert_job *job)
{
  const invert_options *o = job->options;
  const double ranks = (double)osla_transport_size(job->t), knots = (double)job->knots;
  const double radial = (double)o->n_radial, n = knots * radial;
  const double prior = 3.0 * radial * (TOMO_MESH_NEIGHBOURS + 1) * 12.0 + 2.0 * 8.0 * radial;
  const double shares = rays_bytes(job) + knots * prior + 7.0 * 8.0 * n;
  const double ghosts = 8.0 * n + 100.0 * knots, replicated = 8.0 * 8.0 * n;
  const double threads = (double)o->threads * 60.0 * knots;
  return (uint64_t)(shares / ranks + ghosts + replicated + 200.0 * knots +
                    fmax(threads, (double)invert_files_bytes(job)));
}

/* Returns the memory for the kernels of the measures, and for the weights and residuals of
 * --robust. The table of measurements is already in memory, and is not counted. */
static uint64_t data_bytes(const invert_job *job)
{
  const uint64_t kernels = 2 * (uint64_t)job->data.n_measures * (uint64_t)job->options->n_radial;
  const uint64_t data = (uint64_t)tomo_data_first(&job->data, job->n_paths);
  return sizeof(double) * (kernels + (job->options->robust ? 3 * data : 0));
}

uint64_t invert_predict_bytes(const invert_job *job)
{
  const bool direct = job->options->solver == INVERT_DIRECT;
  return data_bytes(job) + (direct ? direct_bytes(job) : iterative_bytes(job));
}

static osla_err check_width(invert_job *job, int64_t width)
{
  job->posterior.width = width < job->n ? width : job->n;
  job->result.bytes = invert_predict_bytes(job);
  return osla_memory_check(job->t, job->result.bytes);
}

/* If the memory does not suffice, the error text says how much is missing. */
osla_err invert_check_memory(invert_job *job)
{
  /* candidates for the number of columns that are solved at a time; fewer columns take longer */
  static const int64_t widths[] = {256, 64, 16, 4, 1};
  const invert_options *o = job->options;
  const bool in_place =
    !o->posterior || (o->factor == INVERT_CHOLESKY && o->inverse != INVERT_BY_COLUMNS);
  const bool by_columns = o->posterior && o->inverse != INVERT_IN_PLACE;
  osla_err err = in_place ? check_width(job, 0) : OSLA_ERR_MEM;
  for (size_t i = 0; err == OSLA_ERR_MEM && by_columns && i < sizeof widths / sizeof *widths; i++)
    err = check_width(job, widths[i]);
  if (err != OSLA_ERR_MEM) return err;
  char text[400];
  (void)snprintf(text, sizeof text, "%s", osla_error_text());
  return osla_error_set(OSLA_ERR_MEM, "%" PRId64 " unknowns do not fit: %s", job->n, text);
}
