/* Lateral basis on the divided icosahedron.
 *
 * With the mean spacing D0, the cubic spline of Wang & Dahlen (1995) as a function of the distance
 * D to a knot is
 *
 *     b = 3/4 (D/D0)^3 - 3/2 (D/D0)^2 + 1     D <= D0
 *     b = 1/4 (2 - D/D0)^3                    D0 <= D <= 2 D0
 *
 * The basis function is phi_l = b_l / sum of all b (Shepard). Knots are numbered in bands of
 * latitude from north to south, and by longitude within a band. So a binary search in a few bands
 * finds all knots near a point.
 */
#include "apps/tomography/earth/tomo_mesh.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* An icosahedron whose faces are each divided into f^2 triangles.
 *
 * The point with barycentric indices (i, j, k), i + j + k = f, of the face with corners a, b, c is
 * x = (sin(i w / f) a + sin(j w / f) b + sin(k w / f) c) / |...|,   w = angle between corners,
 * which divides the edges equally along their great circles. Corners and edges belong to several
 * faces but are numbered once: corners 0-11, then f - 1 vertices of each edge, then (f - 1)(f -
 * 2) / 2 of each face. Source: Baumgardner & Frederickson (1985), SIAM J. Numer. Anal. 22,
 * 1107-1115.
 */

typedef struct icosahedron_vertex {
  double v[3]; /* position of the vertex, a unit vector */
  int32_t neighbour[TOMO_MESH_NEIGHBOURS];
  int32_t n_neighbours;
} icosahedron_vertex;

enum { CORNERS = 12, FACES = 20, EDGES = 30 };

typedef struct division {
  int f;
  double corner[CORNERS][3];
  int face[FACES][3];
  /* edge[lower corner][higher corner]: index of the edge between two corners */
  int edge[CORNERS][CORNERS];
} division;

/* Sets the corners: the north pole, two rings of five at latitude +-atan(1/2), the south pole. */
static void set_corners(division *d)
{
  const double ring = atan(0.5), step = 0.4 * acos(-1.0);
  for (int i = 0; i < CORNERS; i++) {
    bool pole = i == 0 || i == 11, north = i <= 5;
    double longitude = north ? step * (i - 1) : step * (i - 6 + 0.5);
    d->corner[i][0] = pole ? 0.0 : cos(ring) * cos(longitude);
    d->corner[i][1] = pole ? 0.0 : cos(ring) * sin(longitude);
    d->corner[i][2] = (north ? 1.0 : -1.0) * (pole ? 1.0 : sin(ring));
  }
}

static void set_face(division *d, int face, int a, int b, int c)
{
  d->face[face][0] = a;
  d->face[face][1] = b;
  d->face[face][2] = c;
}

static void number_edges(division *d)
{
  int edges = 0;
  for (int a = 0; a < CORNERS; a++)
    for (int b = 0; b < CORNERS; b++)
      d->edge[a][b] = -1;
  for (int face = 0; face < FACES; face++)
    for (int i = 0; i < 3; i++) {
      int a = d->face[face][i], b = d->face[face][(i + 1) % 3];
      int low = a < b ? a : b, high = a < b ? b : a;
      if (d->edge[low][high] < 0) d->edge[low][high] = edges++;
    }
}

static void init_division(division *d, int frequency)
{
  d->f = frequency;
  set_corners(d);
  for (int i = 0; i < 5; i++) {
    int next = (i + 1) % 5;
    set_face(d, i, 0, 1 + i, 1 + next);
    set_face(d, 5 + i, 1 + i, 6 + i, 1 + next);
    set_face(d, 10 + i, 6 + i, 6 + next, 1 + next);
    set_face(d, 15 + i, 11, 6 + next, 6 + i);
  }
  number_edges(d);
}

/* Index of the vertex on the edge between corners a and b, `t` steps from a. */
static int32_t edge_vertex(const division *d, int a, int b, int t)
{
  int edge = a < b ? d->edge[a][b] : d->edge[b][a];
  int from_low = a < b ? t : d->f - t;
  return CORNERS + edge * (d->f - 1) + from_low - 1;
}

/* Index of the vertex with barycentric indices (i, j, f - i - j) of a face. */
static int32_t vertex_number(const division *d, int face, int i, int j)
{
  const int f = d->f, k = f - i - j, *corner = d->face[face];
  if (i == f) return corner[0];
  if (j == f) return corner[1];
  if (k == f) return corner[2];
  if (k == 0) return edge_vertex(d, corner[0], corner[1], j);
  if (i == 0) return edge_vertex(d, corner[1], corner[2], k);
  if (j == 0) return edge_vertex(d, corner[2], corner[0], i);
  int before =
    /* number of vertices inside the face in the rows 1 .. i - 1; row s has f - 1 - s vertices */
    (i - 1) * (f - 1) - (i - 1) * i / 2;
  return CORNERS + EDGES * (f - 1) + face * ((f - 1) * (f - 2) / 2) + before + j - 1;
}

static void vertex_position(const division *d, int face, int i, int j, double v[3])
{
  const int number[3] = {i, j, d->f - i - j};
  const double angle = atan(2.0); /* angle between neighbouring corners of an icosahedron */
  double x[3] = {0.0, 0.0, 0.0};
  for (int c = 0; c < 3; c++) {
    double weight = sin(angle * number[c] / d->f);
    for (int axis = 0; axis < 3; axis++)
      x[axis] += weight * d->corner[d->face[face][c]][axis];
  }
  double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  for (int axis = 0; axis < 3; axis++)
    v[axis] = x[axis] / length;
}

static void add_neighbour(icosahedron_vertex *vertex, int32_t to)
{
  for (int32_t i = 0; i < vertex->n_neighbours; i++)
    if (vertex->neighbour[i] == to) return;
  vertex->neighbour[vertex->n_neighbours++] = to;
}

static void join_vertices(icosahedron_vertex *vertex, int32_t a, int32_t b)
{
  add_neighbour(&vertex[a], b);
  add_neighbour(&vertex[b], a);
}

/* Fills vertex[0 .. 10 f^2 + 1], which the caller has set to zero: first the corners, then the
 * vertices on edges, then those inside faces. */
static void icosahedron_divide(int frequency, icosahedron_vertex *vertex)
{
  division d;
  init_division(&d, frequency);
  for (int face = 0; face < FACES; face++)
    for (int i = 0; i <= frequency; i++)
      for (int j = 0; j <= frequency - i; j++)
        vertex_position(&d, face, i, j, vertex[vertex_number(&d, face, i, j)].v);
  for (int face = 0; face < FACES; face++)
    for (int i = 0; i < frequency; i++)
      for (int j = 0; j < frequency - i; j++) {
        int32_t a = vertex_number(&d, face, i, j);
        int32_t b = vertex_number(&d, face, i + 1, j);
        int32_t c = vertex_number(&d, face, i, j + 1);
        join_vertices(vertex, a, b);
        join_vertices(vertex, b, c);
        join_vertices(vertex, c, a);
      }
}

/* ---- the mesh ---- */

struct tomo_mesh {
  int64_t knots;
  int64_t bands;
  double spacing;
  double band_height;
  icosahedron_vertex *vertex;
  double *longitude; /* [knots] longitude, -pi .. pi, ascending within a band */
  int64_t *first;    /* [bands + 1] first knot of each band */
};

typedef struct order_key {
  int64_t band;
  double longitude;
  int32_t old;
} order_key;

int64_t tomo_mesh_knots_of(int frequency)
{
  return 10 * (int64_t)frequency * frequency + 2;
}

static int compare_keys(const void *left, const void *right)
{
  const order_key *a = left, *b = right;
  if (a->band != b->band) return a->band < b->band ? -1 : 1;
  if (a->longitude < b->longitude) return -1;
  if (a->longitude > b->longitude) return 1;
  return a->old < b->old ? -1 : a->old > b->old;
}

int tomo_compare_knots(const void *left, const void *right)
{
  int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
  return a < b ? -1 : a > b;
}

static int64_t band_of(const tomo_mesh *mesh, double colatitude)
{
  int64_t band = (int64_t)floor(colatitude / mesh->band_height);
  return band < 0 ? 0 : band < mesh->bands ? band : mesh->bands - 1;
}

static double colatitude_of(const double v[3])
{
  return atan2(hypot(v[0], v[1]), v[2]);
}

static double mean_spacing(const icosahedron_vertex *vertex, int64_t knots)
{
  double sum = 0.0, pairs = 0.0;
  for (int64_t l = 0; l < knots; l++)
    for (int32_t i = 0; i < vertex[l].n_neighbours; i++) {
      const double *a = vertex[l].v, *b = vertex[vertex[l].neighbour[i]].v;
      sum += 2.0 * asin(0.5 * sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                                   (a[2] - b[2]) * (a[2] - b[2])));
      pairs += 1.0;
    }
  return sum / pairs;
}

/* Numbers the knots by band and longitude. The arrays `key` and `renumber`, with one element for
 * each knot, are work space. */
static void sort_knots(tomo_mesh *mesh, const icosahedron_vertex *old, order_key *key,
                       int32_t *renumber)
{
  for (int64_t l = 0; l < mesh->knots; l++) {
    key[l].band = band_of(mesh, colatitude_of(old[l].v));
    key[l].longitude = atan2(old[l].v[1], old[l].v[0]);
    key[l].old = (int32_t)l;
  }
  qsort(key, (size_t)mesh->knots, sizeof *key, compare_keys);
  for (int64_t l = 0; l < mesh->knots; l++)
    renumber[key[l].old] = (int32_t)l;
  for (int64_t l = 0; l < mesh->knots; l++) {
    icosahedron_vertex *to = &mesh->vertex[l];
    *to = old[key[l].old];
    mesh->longitude[l] = key[l].longitude;
    for (int32_t i = 0; i < to->n_neighbours; i++)
      to->neighbour[i] = renumber[to->neighbour[i]];
    qsort(to->neighbour, (size_t)to->n_neighbours, sizeof *to->neighbour, tomo_compare_knots);
  }
  int64_t l = 0;
  for (int64_t band = 0; band <= mesh->bands; band++) {
    while (l < mesh->knots && key[l].band < band)
      l++;
    mesh->first[band] = l;
  }
}

osla_err tomo_mesh_create(int frequency, tomo_mesh **out)
{
  *out = NULL;
  OSLA_CHECK(frequency >= 1 && frequency <= TOMO_MESH_FREQUENCY_MAX, OSLA_ERR_ARG,
             "mesh frequency %d is outside 1 to %d", frequency, TOMO_MESH_FREQUENCY_MAX);
  size_t knots = (size_t)tomo_mesh_knots_of(frequency);
  icosahedron_vertex *old = calloc(knots, sizeof *old);
  order_key *key = calloc(knots, sizeof *key);
  int32_t *renumber = calloc(knots, sizeof *renumber);
  tomo_mesh *mesh = calloc(1, sizeof *mesh);
  osla_err err = OSLA_OK;
  bool enough = old && key && renumber && mesh;
  if (enough) {
    icosahedron_divide(frequency, old);
    mesh->knots = (int64_t)knots;
    mesh->spacing = mean_spacing(old, mesh->knots);
    mesh->bands = (int64_t)ceil(M_PI / mesh->spacing);
    mesh->band_height = M_PI / (double)mesh->bands;
    mesh->vertex = calloc(knots, sizeof *mesh->vertex);
    mesh->longitude = calloc(knots, sizeof *mesh->longitude);
    mesh->first = calloc((size_t)mesh->bands + 1, sizeof *mesh->first);
    enough = mesh->vertex && mesh->longitude && mesh->first;
  }
  if (enough) {
    sort_knots(mesh, old, key, renumber);
    *out = mesh;
  } else {
    tomo_mesh_destroy(&mesh);
    err = osla_error_set(OSLA_ERR_MEM, "no memory for a mesh of %zu knots", knots);
  }
  free(old);
  free(key);
  free(renumber);
  return err;
}

void tomo_mesh_destroy(tomo_mesh **mesh)
{
  if (!*mesh) return;
  free((*mesh)->vertex);
  free((*mesh)->longitude);
  free((*mesh)->first);
  free(*mesh);
  *mesh = NULL;
}

int64_t tomo_mesh_knots(const tomo_mesh *mesh)
{
  return mesh->knots;
}

double tomo_mesh_spacing(const tomo_mesh *mesh)
{
  return mesh->spacing;
}

const double *tomo_mesh_knot(const tomo_mesh *mesh, int64_t knot)
{
  return mesh->vertex[knot].v;
}

int tomo_mesh_neighbours(const tomo_mesh *mesh, int64_t knot, const int32_t **neighbours)
{
  *neighbours = mesh->vertex[knot].neighbour;
  return mesh->vertex[knot].n_neighbours;
}

/* First knot in [from, to) whose longitude is at least `longitude`. */
static int64_t search_longitude(const tomo_mesh *mesh, int64_t from, int64_t to, double longitude)
{
  while (from < to) {
    int64_t middle = from + (to - from) / 2;
    if (mesh->longitude[middle] < longitude)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

/* Unnormalised spline at distance d in units of the spacing. */
static double spline(double d)
{
  if (d <= 1.0) return (0.75 * d - 1.5) * d * d + 1.0;
  if (d < 2.0) return 0.25 * (2.0 - d) * (2.0 - d) * (2.0 - d);
  return 0.0;
}

typedef struct basis_list {
  const double *v;
  int32_t *knot;
  double *weight;
  double sum;
  int count;
} basis_list;

/* Appends to the list those of the knots [from, to) whose basis function is not zero at the
 * point. */
static void collect(const tomo_mesh *mesh, int64_t from, int64_t to, basis_list *list)
{
  for (int64_t l = from; l < to; l++) {
    const double *a = mesh->vertex[l].v, *v = list->v;
    double x = a[0] - v[0], y = a[1] - v[1], z = a[2] - v[2];
    double half_chord = 0.5 * sqrt(x * x + y * y + z * z);
    double b = spline(2.0 * asin(fmin(half_chord, 1.0)) / mesh->spacing);
    if (b <= 0.0 || list->count == TOMO_MESH_SUPPORT) continue;
    list->knot[list->count] = (int32_t)l;
    list->weight[list->count++] = b;
    list->sum += b;
  }
}

/* Number of triangles by Euler's formula, with 3 edges for every 2 triangles. */
int64_t tomo_mesh_count_triangles(int64_t knots)
{
  return 2 * knots - 4;
}

static bool are_neighbours(const icosahedron_vertex *a, int32_t b)
{
  for (int i = 0; i < a->n_neighbours; i++)
    if (a->neighbour[i] == b) return true;
  return false;
}

static bool is_anticlockwise(const double *a, const double *b, const double *c)
{
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]) >
         0.0;
}

/* In the divided icosahedron any three mutual neighbours are the corners of a triangle. */
void tomo_mesh_triangles(const tomo_mesh *mesh, int32_t (*triangle)[3])
{
  for (int32_t l = 0; l < mesh->knots; l++) {
    const icosahedron_vertex *vertex = mesh->vertex, *at = &vertex[l];
    for (int i = 0; i < at->n_neighbours; i++)
      for (int j = 0; j < i; j++) {
        /* neighbours are listed in ascending order, so b < c */
        const int32_t b = at->neighbour[j], c = at->neighbour[i];
        if (b < l || !are_neighbours(&vertex[b], c)) continue;
        const bool turned = !is_anticlockwise(at->v, vertex[b].v, vertex[c].v);
        int32_t *to = *triangle++;
        to[0] = l;
        to[1] = turned ? c : b;
        to[2] = turned ? b : c;
      }
  }
}

int tomo_mesh_basis(const tomo_mesh *mesh, const double v[3], int32_t *knot, double *weight)
{
  basis_list list = {v, knot, weight, 0.0, 0};
  const double support = 2.0 * mesh->spacing;
  const double colatitude = colatitude_of(v), longitude = atan2(v[1], v[0]);
  const bool pole = colatitude <= support || colatitude >= M_PI - support;
  const double width = pole ? M_PI : asin(fmin(sin(support) / sin(colatitude), 1.0)) + 1e-9;
  const int64_t last = band_of(mesh, colatitude + support);
  for (int64_t band = band_of(mesh, colatitude - support); band <= last; band++) {
    const int64_t from = mesh->first[band], to = mesh->first[band + 1];
    if (width >= 0.5 * M_PI) {
      collect(mesh, from, to, &list);
      continue;
    }
    const double west = longitude - width, east = longitude + width;
    collect(mesh, search_longitude(mesh, from, to, west), search_longitude(mesh, from, to, east),
            &list);
    if (west < -M_PI) collect(mesh, search_longitude(mesh, from, to, west + 2.0 * M_PI), to, &list);
    if (east > M_PI)
      collect(mesh, from, search_longitude(mesh, from, to, east - 2.0 * M_PI), &list);
  }
  for (int i = 0; i < list.count; i++)
    weight[i] /= list.sum;
  return list.count;
}
