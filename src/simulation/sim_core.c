/* The simulated time of a piece of work, from a fitted model or the roofline. */
#include "src/simulation/sim_core.h"
#include "osla_random.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[OSLA_WORK_KINDS] = {
  [OSLA_WORK_GEMM] = "work-gemm",
  [OSLA_WORK_SYRK] = "work-syrk",
  [OSLA_WORK_TRSM_LEFT] = "work-trsm-left",
  [OSLA_WORK_TRSM_RIGHT] = "work-trsm-right",
  [OSLA_WORK_POTRF] = "work-potrf",
  [OSLA_WORK_GETRF] = "work-getrf",
  [OSLA_WORK_LASWP] = "work-laswp",
  [OSLA_WORK_GEMV] = "work-gemv",
  [OSLA_WORK_VECTOR] = "work-vector",
  [OSLA_WORK_COPY] = "work-copy",
  [OSLA_WORK_ADD] = "work-add",
};

const char *osli_sim_work_name(osla_work_kind kind)
{
  return names[kind];
}

/* Parses a monomial such as "mnk", "mmn" or "1". Returns false for any other text. */
static bool read_monomial(const char *text, size_t length, sim_term *term)
{
  memset(term->power, 0, sizeof term->power);
  if (length == 1 && text[0] == '1') return true;
  if (length == 0 || length > 9) return false;
  for (size_t i = 0; i < length; i++) {
    const char *letter = memchr("mnk", text[i], 3);
    if (!letter) return false;
    term->power[letter - (const char *)memchr("mnk", 'm', 3)]++;
  }
  return true;
}

osla_err osli_sim_core_terms(sim_core *core, osla_work_kind kind, const char *value)
{
  const char *at = value;
  int count = 0;
  for (; at[strspn(at, " ")]; count++) {
    char *end;
    sim_term term = {.seconds = strtod(at, &end)};
    const char *word = end + strspn(end, " ");
    size_t length = strcspn(word, " ");
    OSLA_CHECK(end != at && isfinite(term.seconds) && term.seconds >= 0 && count < SIM_TERMS &&
                 read_monomial(word, length, &term),
               OSLA_ERR_ARG,
               "%s is not 1 to %d pairs SECONDS MONOMIAL, such as 5e-11 mnk 2e-7 1: %s",
               names[kind], SIM_TERMS, value);
    core->term[kind][count] = term;
    at = word + length;
  }
  OSLA_CHECK(count > 0, OSLA_ERR_ARG, "%s is empty", names[kind]);
  core->terms[kind] = count;
  return OSLA_OK;
}

/* Cost of an arithmetic operation of the type, relative to one on doubles. */
static double arithmetic(osla_dtype dtype)
{
  bool single = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
  bool real = dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE;
  return (single ? 0.5 : 1) * (real ? 1 : 4);
}

static double size(osla_dtype dtype)
{
  return (double)osla_dtype_size(dtype);
}

static bool is_arithmetic(osla_work_kind kind)
{
  return kind <= OSLA_WORK_GETRF;
}

static double modelled(const sim_core *core, const osla_work *w)
{
  double seconds = 0;
  for (int i = 0; i < core->terms[w->kind]; i++) {
    const sim_term *t = &core->term[w->kind][i];
    double x = t->seconds;
    for (int j = 0; j < t->power[0]; j++)
      x *= w->m;
    for (int j = 0; j < t->power[1]; j++)
      x *= w->n;
    for (int j = 0; j < t->power[2]; j++)
      x *= w->k;
    seconds += x;
  }
  return seconds * (is_arithmetic(w->kind) ? arithmetic(w->dtype) : size(w->dtype) / 8);
}

/* Number of operations, and of elements read and written, of a piece of work. */
static void count(const osla_work *w, double *operations, double *elements)
{
  double m = w->m, n = w->n, k = w->k, small = m < n ? m : n, large = m < n ? n : m;
  switch (w->kind) {
    case OSLA_WORK_GEMM: *operations = 2 * m * n * k, *elements = k * (m + n) + 2 * m * n; break;
    case OSLA_WORK_SYRK: *operations = n * (n + 1) * k, *elements = n * (n + k); break;
    case OSLA_WORK_TRSM_LEFT: *operations = m * m * n, *elements = m * m / 2 + 2 * m * n; break;
    case OSLA_WORK_TRSM_RIGHT: *operations = n * m * n, *elements = n * n / 2 + 2 * m * n; break;
    case OSLA_WORK_POTRF: *operations = n * n * n / 3, *elements = n * n; break;
    case OSLA_WORK_GETRF:
      *operations = small * small * (large - small / 3), *elements = 2 * m * n;
      break;
    case OSLA_WORK_LASWP: *operations = 0, *elements = 4 * n * k; break;
    case OSLA_WORK_GEMV: *operations = 2 * m * n, *elements = m * n; break;
    case OSLA_WORK_VECTOR: *operations = n, *elements = n; break;
    case OSLA_WORK_COPY: *operations = 0, *elements = m * n; break;
    case OSLA_WORK_ADD: *operations = n, *elements = n; break;
    case OSLA_WORK_SWEEP: *operations = 0, *elements = n; break;
    case OSLA_WORK_KINDS: break;
  }
}

static double undisturbed(const sim_core *core, const osla_work *work)
{
  double operations = 0, elements = 0;
  /* work of size 0 takes no time */
  if (work->m <= 0 || work->n <= 0 || work->k <= 0) return 0;
  if (core->terms[work->kind] > 0) return modelled(core, work);
  count(work, &operations, &elements);
  double computing = operations * arithmetic(work->dtype) / core->flops;
  double moving = elements * size(work->dtype) / core->copy;
  return computing > moving ? computing : moving;
}

/* With noise, each time is lengthened by a random share with an exponential distribution: few
 * interrupts are long. */
double osli_sim_core_seconds(const sim_core *core, const osla_work *work)
{
  enum { SEED_NOISE = 31 };
  static uint64_t calls;
  double seconds = undisturbed(core, work);
  if (core->slower > 0) seconds *= core->slower;
  if (core->noise > 0) {
    /* a random number, uniform in [0, 1) */
    double chance = osla_random_uniform(SEED_NOISE, calls++, 0) + 0.5;
    seconds *= 1 - core->noise * log1p(-chance);
  }
  return seconds;
}
