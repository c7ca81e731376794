/* Parses and checks the command line of `osla solve`. */
#include "tools/solve/solve_command.h"

#include <math.h>
#include <string.h>

enum { SHOW = POPT_ARGFLAG_SHOW_DEFAULT };

static const char name[] = "solve";

static const char about[] =
  "Solves (H + damping I) x = g for the H and g that osla assemble wrote: factors H in memory, "
  "solves, estimates the condition, and reports the residual with the H of the file. Writes x. "
  "Exit status 1 "
  "if x is not finite or the scaled residual is above 16 (see osla-solve(1)). Or solves a sparse "
  "system from Matrix Market files, A.mtx and --rhs, by CG or LSQR.";

static const char after[] = "Example:\n"
                            "  mpiexec -n 4 osla solve system.h5 --damping 0.1 --output x.h5\n"
                            "  mpiexec -n 4 osla solve A.mtx --rhs b.mtx --output x.h5\n";

const char *solve_method_name(solve_method method)
{
  static const char *const names[] = {"cholesky", "lu", "mixed", "cg", "lsqr"};
  return names[method];
}

static int check_options(const solve_options *o, const command_line *line)
{
  if (!(o->damping >= 0.0 && isfinite(o->damping)))
    return command_error(name, "--damping: %g is not a number >= 0", o->damping);
  if (o->nb < 1 || o->nb > 65536)
    return command_error(name, "--nb: %lld is outside 1 to 65536", o->nb);
  if (line->n_arguments != 1)
    return command_error(name, "one file with H and g is needed, and %d are given",
                         line->n_arguments);
  if (!o->output) return command_error(name, "--output FILE is missing");
  return OSLA_EXIT_OK;
}

static bool ends_with(const char *text, const char *end)
{
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static int check_method(const char *word, solve_options *o)
{
  for (o->method = SOLVE_CHOLESKY; word && o->method < SOLVE_CHOSEN; o->method++)
    if (strcmp(word, solve_method_name(o->method)) == 0) break;
  if (!word) o->method = o->sparse ? SOLVE_CHOSEN : SOLVE_CHOLESKY;
  if (word && o->method == SOLVE_CHOSEN)
    return command_error(name, "--method: '%s' is none of cholesky, lu, mixed, cg, lsqr", word);
  if ((o->method >= SOLVE_CG) != o->sparse)
    return command_error(name, "--method: %s is not for %s matrices (FILE.mtx is sparse)", word,
                         o->sparse ? "sparse" : "dense");
  return OSLA_EXIT_OK;
}

static int check_sparse(const solve_options *o)
{
  if (!(o->tolerance > 0.0 && isfinite(o->tolerance)))
    return command_error(name, "--tolerance: %g is not a positive number", o->tolerance);
  if (o->iterations < 1)
    return command_error(name, "--iterations: %lld is less than 1", o->iterations);
  if (o->block < 0 || o->block > 4096)
    return command_error(name, "--block: %lld is outside 0 to 4096", o->block);
  if (o->sparse && !o->rhs)
    return command_error(name, "--rhs FILE is missing: a sparse system needs it");
  if (!o->sparse && o->rhs)
    return command_error(name, "--rhs: %s, but %s has its own right-hand side", o->rhs, o->input);
  return OSLA_EXIT_OK;
}

/* For a dense matrix, rejects options of sparse matrices, and the other way round. */
static int check_unused_options(int argc, char **argv, const solve_options *o)
{
  static const struct {
    const char *option;
    bool sparse, with_cg;
  } options[] = {{"--tolerance", true, false}, {"--iterations", true, false},
                 {"--block", true, true},      {"--full", false, false},
                 {"--nb", false, false},       {"--grid", false, false}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    if (!command_is_given(argc, argv, options[i].option)) continue;
    if (options[i].sparse != o->sparse)
      return command_error(name, "%s: is not for %s matrices (FILE.mtx is sparse)",
                           options[i].option, o->sparse ? "sparse" : "dense");
    if (options[i].with_cg && o->method == SOLVE_LSQR)
      return command_error(name, "%s: --method lsqr has no preconditioner", options[i].option);
  }
  if (o->full && o->method == SOLVE_LU)
    return command_error(name, "--full: leave it out, --method lu stores the full matrix anyway");
  return OSLA_EXIT_OK;
}

bool solve_parse(int argc, char **argv, int ranks, solve_options *o, command_line *line,
                 int *status)
{
  char *method = NULL, *grid = NULL;
  *o =
    (solve_options){.nb = OSLA_DEFAULT_BLOCK, .tolerance = 1e-8, .iterations = 10000, .block = 1};
  const struct poptOption table[] = {
    {"output", 'o', POPT_ARG_STRING, &o->output, 0, "write x to FILE (HDF5)", "FILE"},
    {"damping", '\0', POPT_ARG_DOUBLE | SHOW, &o->damping, 0, "number added to the diagonal of H",
     "X"},
    {"method", '\0', POPT_ARG_STRING, &method, 0,
     "cholesky (default), lu (with pivoting), or mixed (Cholesky in float, refined); for a sparse "
     "matrix cg or lsqr (default: cg if it is symmetric)",
     "NAME"},
    {"rhs", '\0', POPT_ARG_STRING, &o->rhs, 0, "sparse: b (Matrix Market, array)", "FILE"},
    {"tolerance", '\0', POPT_ARG_DOUBLE | SHOW, &o->tolerance, 0, "sparse: relative tolerance",
     "X"},
    {"iterations", '\0', POPT_ARG_LONGLONG | SHOW, &o->iterations, 0, "sparse: limit of iterations",
     "N"},
    {"block", '\0', POPT_ARG_LONGLONG | SHOW, &o->block, 0,
     "sparse, cg: block size of block-Jacobi; 1: Jacobi, 0: no preconditioner", "N"},
    {"full", '\0', POPT_ARG_NONE, &o->full, 0,
     "cholesky, mixed: keep all of H in memory, not only its lower triangle", NULL},
    {"grid", 'g', POPT_ARG_STRING, &grid, 0, "process grid (default: one row on one node)", "PxQ"},
    {"nb", '\0', POPT_ARG_LONGLONG | SHOW, &o->nb, 0, "block size of H", "N"},
    {"json", 'j', POPT_ARG_STRING, &o->json, 0, "write the report as JSON", "FILE"},
    {"quiet", 'q', POPT_ARG_NONE, &o->quiet, 0, "print no report", NULL},
    POPT_TABLEEND};
  *line = (command_line){.name = name,
                         .synopsis = "FILE --output FILE [OPTION...]",
                         .about = about,
                         .after = after,
                         .options = table,
                         .takes_arguments = true};
  if (!command_parse(line, argc, argv, status)) return false;
  *status = check_options(o, line);
  o->sparse = *status == OSLA_EXIT_OK && ends_with(line->arguments[0], ".mtx");
  if (*status == OSLA_EXIT_OK) {
    o->input = line->arguments[0];
    *status = check_method(method, o);
  }
  if (*status == OSLA_EXIT_OK) *status = check_sparse(o);
  if (*status == OSLA_EXIT_OK) *status = check_unused_options(argc, argv, o);
  if (*status == OSLA_EXIT_OK && grid)
    *status = command_parse_grid(name, "--grid", grid, ranks, &o->nprow, &o->npcol);
  if (*status == OSLA_EXIT_OK) return true;
  command_release(line);
  return false;
}
