/* An icosahedron whose faces are each divided into f^2 triangles.
 *
 * The point with barycentric indices (i, j, k), i + j + k = f, of the face with corners a, b, c is
 * x = (sin(i w / f) a + sin(j w / f) b + sin(k w / f) c) / |...|,   w = angle between corners,
 * which divides the edges equally along their great circles. Corners and edges belong to several
 * faces but are numbered once: corners 0-11, then f - 1 vertices of each edge, then (f - 1)(f -
 * 2) / 2 of each face. Source: Baumgardner & Frederickson (1985), SIAM J. Numer. Anal. 22,
 * 1107-1115.
 */
#include "apps/tomography/earth/tomo_icosahedron.h"

#include <math.h>
#include <stdbool.h>

enum { CORNERS = 12, FACES = 20, EDGES = 30 };

typedef struct division {
  int f;
  double corner[CORNERS][3];
  int face[FACES][3];
  int edge[CORNERS][CORNERS]; /* index of the edge from the lower to the higher corner */
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
    /* vertices in the rows 1 .. i - 1 inside the face, of which row s has f - 1 - s */
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

void icosahedron_divide(int frequency, icosahedron_vertex *vertex)
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
