/* The command line of `osla solve`. */
#include "solve_command.h"

#include <math.h>
#include <string.h>

enum { SHOW = POPT_ARGFLAG_SHOW_DEFAULT };

static const char name[] = "solve";

static const char about[] =
  "Solves (H + damping I) x = g for the H and g that osla assemble wrote: factors H in memory, "
  "solves, "
  "estimates the condition, and tells the residual with the H of the file. Writes x. Exit status 1 "
  "if x is not finite or the scaled residual is above 16 (see osla-solve(1)).";

static const char after[] = "Example:\n"
                            "  mpiexec -n 4 osla solve system.h5 --damping 0.1 --output x.h5\n";

const char *solve_method_name(solve_method method)
{
  static const char *const names[] = {"cholesky", "lu", "mixed"};
  return names[method];
}

static int check(const solve_options *o, const osla_command_line *line)
{
  if (!(o->damping >= 0.0 && isfinite(o->damping)))
    return osla_command_error(name, "--damping: %g is not a number >= 0", o->damping);
  if (o->nb < 1 || o->nb > 65536)
    return osla_command_error(name, "--nb: %lld is outside 1 to 65536", o->nb);
  if (line->n_arguments != 1)
    return osla_command_error(name, "one file with H and g was expected, and %d are named",
                              line->n_arguments);
  if (!o->output) return osla_command_error(name, "--output: no file is named");
  return OSLA_EXIT_OK;
}

static int check_method(const char *word, solve_method *method)
{
  for (*method = SOLVE_CHOLESKY; *method <= SOLVE_MIXED; (*method)++)
    if (strcmp(word, solve_method_name(*method)) == 0) return OSLA_EXIT_OK;
  return osla_command_error(name, "--method: '%s' is none of cholesky, lu, mixed", word);
}

bool solve_parse(int argc, char **argv, int ranks, solve_options *o, osla_command_line *line,
                 int *status)
{
  char *method = "cholesky", *grid = NULL;
  *o = (solve_options){.nb = 128};
  const struct poptOption table[] = {
    {"output", 'o', POPT_ARG_STRING, &o->output, 0, "write x to FILE (HDF5)", "FILE"},
    {"damping", '\0', POPT_ARG_DOUBLE | SHOW, &o->damping, 0, "added to the diagonal of H", "X"},
    {"method", '\0', POPT_ARG_STRING | SHOW, &method, 0,
     "cholesky, lu (pivots), or mixed (Cholesky in float, refined)", "NAME"},
    {"grid", 'g', POPT_ARG_STRING, &grid, 0, "process grid (default: one row on one node)", "PxQ"},
    {"nb", '\0', POPT_ARG_LONGLONG | SHOW, &o->nb, 0, "block size of H", "N"},
    {"json", 'j', POPT_ARG_STRING, &o->json, 0, "write the report as JSON", "FILE"},
    {"quiet", 'q', POPT_ARG_NONE, &o->quiet, 0, "no report", NULL},
    POPT_TABLEEND};
  *line = (osla_command_line){.name = name,
                              .synopsis = "FILE --output FILE [OPTION...]",
                              .about = about,
                              .after = after,
                              .options = table,
                              .takes_arguments = true};
  if (!osla_command_parse(line, argc, argv, status)) return false;
  *status = check(o, line);
  if (*status == OSLA_EXIT_OK) *status = check_method(method, &o->method);
  if (*status == OSLA_EXIT_OK && grid)
    *status = osla_command_parse_grid(name, "--grid", grid, ranks, &o->nprow, &o->npcol);
  line->options = NULL; /* the table ends with this call; release needs the strings only */
  if (*status == OSLA_EXIT_OK) {
    o->input = line->arguments[0];
    return true;
  }
  osla_command_release(line);
  return false;
}
