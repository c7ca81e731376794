/* The factorisation W = Q R by the Gram-Schmidt method with reorthogonalisation (Giraud, Langou,
 * Rozloznik, Computers and Mathematics with Applications 50 (2005) 1069-1075). A column of W that
 * depends linearly on the preceding columns adds no row to R. */
#include "apps/tomography/invert/invert_rays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "osla_unstable.h"

osla_err invert_path_qr_create(int most, int radial, invert_path_qr **out)
{
  const size_t k = (size_t)most, n = (size_t)radial;
  invert_path_qr *s = calloc(1, sizeof *s);
  *out = s;
  OSLA_CHECK(s, OSLA_ERR_MEM, "no memory to split responses");
  s->radial = radial;
  s->set = -1;
  s->q = malloc((k * n + 1) * sizeof *s->q);
  s->r = malloc(n * n * sizeof *s->r);
  s->column = malloc((k + 1) * sizeof *s->column);
  OSLA_CHECK(s->q && s->r && s->column, OSLA_ERR_MEM, "no memory for responses of %zu measurements",
             k);
  return OSLA_OK;
}

void invert_path_qr_destroy(invert_path_qr **split)
{
  if (!*split) return;
  free((*split)->q);
  free((*split)->r);
  free((*split)->column);
  free(*split);
  *split = NULL;
}

void invert_path_qr_factor(invert_path_qr *s, const tomo_path *path, int64_t set, bool factored)
{
  const int64_t k = tomo_path_count(path), radial = s->radial;
  if (!factored && set == s->set) return;
  s->set = factored ? -1 : set;
  s->rows = k < radial ? k : radial;
  memset(s->q, 0, (size_t)(k * s->rows) * sizeof *s->q);
  memset(s->r, 0, (size_t)(s->rows * radial) * sizeof *s->r);
  int64_t found = 0; /* number of rows of R found so far */
  for (int64_t c = 0; c < radial; c++) {
    memcpy(s->column, tomo_path_response(path) + c * k, (size_t)k * sizeof *s->column);
    const double whole = sqrt(osla_dot_local(k, s->column, s->column));
    for (int64_t before = 0; before < 2 * found; before++) {
      const double *q = s->q + before % found * k, part = osla_dot_local(k, q, s->column);
      s->r[before % found * radial + c] += part;
      for (int64_t i = 0; i < k; i++)
        s->column[i] -= part * q[i];
    }
    const double left = sqrt(osla_dot_local(k, s->column, s->column));
    if (found == s->rows || left <= 1e-14 * whole) continue;
    s->r[found * radial + c] = left;
    for (int64_t i = 0; i < k; i++)
      s->q[found * k + i] = s->column[i] / left;
    found++;
  }
}
