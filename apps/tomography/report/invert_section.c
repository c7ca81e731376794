/* Choice of the vertical sections of the HTML report. */
#include "apps/tomography/report/invert_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static osla_err parse_point(const char **at, const char *text, double *latitude, double *longitude)
{
  int used = 0;
  OSLA_CHECK(sscanf(*at, "%lf,%lf%n", latitude, longitude, &used) == 2 && used > 0, OSLA_ERR_ARG,
             "--section: '%s' is not LAT,LON/LAT,LON", text);
  OSLA_CHECK(fabs(*latitude) <= 90.0, OSLA_ERR_ARG,
             "--section: latitude %g is outside -90 to 90 degrees", *latitude);
  OSLA_CHECK(fabs(*longitude) <= 360.0, OSLA_ERR_ARG,
             "--section: longitude %g is outside -360 to 360 degrees", *longitude);
  *at += used;
  return OSLA_OK;
}

static tomo_arc_state make_arc(const invert_section *s, tomo_arc *arc)
{
  double a[3], b[3];
  tomo_unit_vector(s->latitude[0], s->longitude[0], a);
  tomo_unit_vector(s->latitude[1], s->longitude[1], b);
  return tomo_arc_make(a, b, TOMO_ARC_MINOR, arc);
}

osla_err invert_parse_sections(const char *text, invert_section section[INVERT_SECTIONS_MAX],
                               int *count)
{
  *count = 0;
  for (const char *at = text; at; *count += 1) {
    tomo_arc arc;
    OSLA_CHECK(*count < INVERT_SECTIONS_MAX, OSLA_ERR_ARG, "--section: more than %d sections",
               INVERT_SECTIONS_MAX);
    invert_section *s = &section[*count];
    for (int end = 0; end < 2; end++) {
      OSLA_CHECK(end == 0 || *at++ == '/', OSLA_ERR_ARG, "--section: '%s' is not LAT,LON/LAT,LON",
                 text);
      OSLA_CALL(parse_point(&at, text, &s->latitude[end], &s->longitude[end]));
    }
    OSLA_CHECK(make_arc(s, &arc) == TOMO_ARC_OK, OSLA_ERR_ARG,
               "--section: no one great circle joins %g,%g and %g,%g", s->latitude[0],
               s->longitude[0], s->latitude[1], s->longitude[1]);
    OSLA_CHECK(*at == '\0' || *at == '/', OSLA_ERR_ARG, "--section: '%s' is not LAT,LON/LAT,LON",
               text);
    at = *at ? at + 1 : NULL;
  }
  return OSLA_OK;
}

/* Returns the arc whose middle is the point v, with the given azimuth; `half` is half the length of
 * the arc in radians. */
static tomo_arc arc_through(const double v[3], double azimuth, double half)
{
  const double across = hypot(v[0], v[1]);
  double east[3] = {0.0, 1.0, 0.0}, along[3];
  tomo_arc arc = {.angle = 2.0 * half};
  if (across > 1e-9) {
    east[0] = -v[1] / across;
    east[1] = v[0] / across;
  }
  const double north[3] = {v[1] * east[2] - v[2] * east[1], v[2] * east[0] - v[0] * east[2],
                           v[0] * east[1] - v[1] * east[0]};
  for (int i = 0; i < 3; i++)
    along[i] = sin(azimuth) * east[i] + cos(azimuth) * north[i];
  const double s = sin(half), c = cos(half);
  for (int i = 0; i < 3; i++) {
    arc.origin[i] = c * v[i] - s * along[i];
    arc.tangent[i] = s * v[i] + c * along[i];
  }
  return arc;
}

/* Returns the sum of the logarithms of the ray density at points along the arc. A part of the arc
 * without paths makes the sum small. */
static double score_of(const tomo_mesh *mesh, const double *density, const tomo_arc *arc)
{
  enum { PLACES = 24 };
  double score = 0.0;
  for (int i = 0; i < PLACES; i++) {
    int32_t knot[TOMO_MESH_SUPPORT];
    double weight[TOMO_MESH_SUPPORT], v[3], sum = 0.0;
    tomo_arc_point(arc, arc->angle * (i + 0.5) / PLACES, v);
    const int count = tomo_mesh_basis(mesh, v, knot, weight);
    for (int k = 0; k < count; k++)
      sum += weight[k] * density[knot[k]];
    score += log(fmax(sum, 1e-3));
  }
  return score;
}

static bool crosses(const tomo_arc *a, const tomo_arc *b)
{
  double pole[2][3];
  const tomo_arc *arc[2] = {a, b};
  for (int k = 0; k < 2; k++) {
    const double *o = arc[k]->origin, *t = arc[k]->tangent;
    pole[k][0] = o[1] * t[2] - o[2] * t[1];
    pole[k][1] = o[2] * t[0] - o[0] * t[2];
    pole[k][2] = o[0] * t[1] - o[1] * t[0];
  }
  const double cosine = pole[0][0] * pole[1][0] + pole[0][1] * pole[1][1] + pole[0][2] * pole[1][2];
  return fabs(cosine) <= cos(40.0 * M_PI / 180.0);
}

enum { POINTS = 60 };

/* Returns point p of POINTS evenly distributed points. The points are on a spiral over the sphere,
 * or on a 10 x 6 grid of a region. */
static void candidate_point(const tomo_frame *frame, int p, double v[3])
{
  double latitude, longitude;
  const double z = 1.0 - (2.0 * p + 1.0) / POINTS, r = sqrt(1.0 - z * z);
  const double turn = p * M_PI * (3.0 - sqrt(5.0));
  v[0] = r * cos(turn);
  v[1] = r * sin(turn);
  v[2] = z;
  if (!frame->regional) return;
  if (tomo_frame_inverse(frame, frame->half_width * (p % 10 - 4.5) / 5.0,
                         frame->half_height * (p / 10 - 2.5) / 3.0, &latitude, &longitude))
    tomo_unit_vector(latitude, longitude, v);
}

/* Returns true if both ends of the arc are on the map. */
static bool is_within(const tomo_frame *frame, const tomo_arc *arc)
{
  for (int end = 0; end < 2; end++) {
    double v[3], latitude, longitude, x, y;
    tomo_arc_point(arc, end * arc->angle, v);
    tomo_lat_lon(v, &latitude, &longitude);
    if (!tomo_frame_forward(frame, latitude, longitude, &x, &y) ||
        fabs(x) > 0.95 * frame->half_width || fabs(y) > 0.95 * frame->half_height)
      return false;
  }
  return true;
}

/* Chooses the arc with the largest score_of among the arcs through POINTS points at four azimuths.
 */
static void choose_next(const tomo_mesh *mesh, const double *density, const tomo_frame *frame,
                        tomo_track *track, int chosen)
{
  enum { AZIMUTHS = 4 };
  const double half =
    frame->regional ? 0.7 * fmin(frame->half_width, frame->half_height) : M_PI / 3.0;
  double best = -INFINITY;
  for (int i = 0; i < POINTS * AZIMUTHS; i++) {
    double v[3];
    candidate_point(frame, i / AZIMUTHS, v);
    const tomo_arc arc = arc_through(v, (i % AZIMUTHS) * M_PI / AZIMUTHS, half);
    bool good = !frame->regional || is_within(frame, &arc);
    for (int k = 0; k < chosen; k++)
      good = good && crosses(&arc, &track[k].arc);
    if (!good) continue;
    const double score = score_of(mesh, density, &arc);
    if (score <= best) continue;
    best = score;
    track[chosen].arc = arc;
  }
}

int invert_section_tracks(const invert_section *section, int count, const tomo_mesh *mesh,
                          const double *density, const tomo_frame *frame,
                          tomo_track track[INVERT_SECTIONS_MAX])
{
  enum { CHOSEN = 3 };
  const int n = count ? count : CHOSEN;
  for (int i = 0; i < n; i++) {
    (void)snprintf(track[i].name, sizeof track[i].name, "%c", 'A' + i);
    if (count)
      (void)make_arc(&section[i], &track[i].arc);
    else
      choose_next(mesh, density, frame, track, i);
  }
  return n;
}
