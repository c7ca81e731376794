/* Prediction of the memory that rank 0 needs to write files. The files are written one after the
 * other, after assembly and factorisation have freed their memory. */
#include "apps/tomography/draw/tomo_map.h"
#include "apps/tomography/earth/tomo_prisms.h"
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/readers/tomo_grid_file.h"

/* memory of HDF5 and netCDF after their start, bytes (7 MB were measured) */
enum { LIBRARIES = 8 << 20 };

/* Number of depth-dependent fields in the output: the model; with --posterior its standard
 * deviation and resolution; with a synthetic test the true model. */
static int count_fields(const invert_options *o)
{
  return 1 + (o->posterior ? 2 : 0) + (o->test ? 1 : 0);
}

/* Returns the memory for the image of the netCDF file, and for the values of all fields along one
 * parallel. */
static uint64_t netcdf_bytes(const invert_options *o)
{
  const double *depth_km;
  const int depths = invert_count_slices(o, &depth_km), fields = count_fields(o) + 1;
  const double parallel = 2.0 * 180.0 / o->files.step_degrees + 1.0;
  return tomo_grid_bytes(o->files.step_degrees, depths, fields, 0) +
         (uint64_t)(parallel * fields * depths * sizeof(double));
}

/* Returns the memory for the arrays of the result file. The mesh for XDMF counts twice. */
static uint64_t store_bytes(const invert_job *job)
{
  const invert_options *o = job->options;
  const double *depth_km;
  const uint64_t n = (uint64_t)job->n, knots = (uint64_t)job->knots;
  const uint64_t vectors = 1 + (uint64_t)count_fields(o) + 2 * (uint64_t)o->points;
  uint64_t arrays = (vectors * n + 3 * knots) * sizeof(double), mesh = 0;
  if (o->files.xdmf)
    mesh =
      tomo_prisms_bytes(o->frequency, invert_count_slices(o, &depth_km), count_fields(o) + 1) +
      (uint64_t)tomo_mesh_count_triangles(tomo_mesh_knots_of(o->frequency)) * 3 * sizeof(int32_t);
  arrays += mesh;
  return mesh + 2 * arrays; /* HDF5 makes an image of the file in memory, and copies it */
}

/* Memory for pictures in bytes. The raster needs PER_PIXEL for each pixel, because it stores up to
 * 20 knots for a pixel (tomo_raster.h). gnuplot 5.4 needs a fixed part, and GNUPLOT_PER_PIXEL for
 * each pixel. */
enum { PER_PIXEL = 190, GNUPLOT = 24 << 20, GNUPLOT_PER_PIXEL = 130, MAP_WIDTH = 560 };

static uint64_t pixels_of(const tomo_frame *frame, uint64_t width)
{
  return width * (uint64_t)((double)width * frame->half_height / frame->half_width + 1.0);
}

static uint64_t map_bytes(const tomo_frame *frame, const char *file)
{
  const bool fine = tomo_draw_format_of(file) == TOMO_DRAW_PNG;
  return GNUPLOT +
         pixels_of(frame, fine ? 2 * MAP_WIDTH : MAP_WIDTH) * (PER_PIXEL + GNUPLOT_PER_PIXEL);
}

/* Returns the memory for two gnuplot processes, the fields of two models at four depths, and the
 * growing HTML text with its pictures of at most 150 kB each. */
static uint64_t page_bytes(const tomo_frame *frame, const invert_options *o)
{
  const uint64_t pixels = pixels_of(frame, MAP_WIDTH), fields = (uint64_t)count_fields(o);
  const uint64_t pictures = 4 * fields + 2 + 2 * INVERT_SECTIONS_MAX + (uint64_t)o->points + 6;
  return pixels * (PER_PIXEL + 8 * sizeof(float)) + pictures * 2 * 150000 +
         2 * (GNUPLOT + pixels * GNUPLOT_PER_PIXEL);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

uint64_t invert_files_bytes(const invert_job *job)
{
  const invert_options *o = job->options;
  uint64_t most = 0;
  if (osla_transport_rank(job->t) != 0) return 0;
  if (o->output) most = larger(most, store_bytes(job));
  if (o->files.netcdf) most = larger(most, netcdf_bytes(o));
  if (o->map || o->report) {
    const tomo_frame frame = invert_world(job).frame;
    if (o->map) most = larger(most, map_bytes(&frame, o->map));
    if (o->report) most = larger(most, page_bytes(&frame, o));
  }
  return most > 0 ? most + LIBRARIES : 0;
}
