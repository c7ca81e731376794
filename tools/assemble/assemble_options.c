/* The command line of `osla assemble`. */
#include "tools/assemble/assemble.h"

#include <string.h>

enum { SHOW = POPT_ARGFLAG_SHOW_DEFAULT };

static const char name[] = "assemble";

static const char about[] =
  "Sums updates H[ix, ix] += G^T diag(w) G and g[ix] += G^T diag(w) r, or H[ix, ix] += U and "
  "g[ix] += g, from HDF5 files. The ranks fetch updates dynamically. Writes "
  "one triangle of H (or both), and g, for osla solve; exit status 1 if they are not finite. The "
  "schema of "
  "the files is in osla-assemble(1).";

static const char after[] = "Example:\n"
                            "  mpiexec -n 4 osla assemble --n 5000 --output system.h5 panels*.h5\n";

static int check_word(const char *option, const char *word, const char *first, const char *second,
                      bool *is_second)
{
  *is_second = strcmp(word, second) == 0;
  if (*is_second || strcmp(word, first) == 0) return OSLA_EXIT_OK;
  return command_error(name, "%s: '%s' is neither %s nor %s", option, word, first, second);
}

static int check_options(const assemble_options *o)
{
  if (o->n < 1) return command_error(name, "--n: %lld is not a number of unknowns", o->n);
  if (o->nb < 1 || o->nb > 65536)
    return command_error(name, "--nb: %lld is outside 1 to 65536", o->nb);
  if (!o->output) return command_error(name, "--output FILE is missing");
  if (!(o->interval >= 0.0)) return command_error(name, "--interval: %g is negative", o->interval);
  if (o->keep && !o->checkpoint)
    return command_error(name, "--keep-checkpoint requires --checkpoint");
  if (o->n_files == 0) return command_error(name, "no file of updates is given");
  return OSLA_EXIT_OK;
}

bool assemble_parse(int argc, char **argv, int ranks, assemble_options *o, command_line *line,
                    int *status)
{
  char *type = "double", *uplo = "lower", *grid = NULL;
  bool single = false, upper = false;
  *o = (assemble_options){.nb = OSLA_DEFAULT_BLOCK, .interval = 600.0};
  const struct poptOption table[] = {
    {"n", 'n', POPT_ARG_LONGLONG, &o->n, 0, "unknowns: H is N x N", "N"},
    {"output", 'o', POPT_ARG_STRING, &o->output, 0, "write H and g to FILE (HDF5)", "FILE"},
    {"type", '\0', POPT_ARG_STRING | SHOW, &type, 0, "type of H: double or float", "TYPE"},
    {"uplo", '\0', POPT_ARG_STRING | SHOW, &uplo, 0, "triangle of H: lower or upper", "UPLO"},
    {"full", '\0', POPT_ARG_NONE, &o->full, 0,
     "store all of H in memory and files, not only its lower triangle", NULL},
    {"both-triangles", '\0', POPT_ARG_NONE, &o->both, 0,
     "write both triangles of H to the output, as a symmetric square", NULL},
    {"grid", 'g', POPT_ARG_STRING, &grid, 0, "process grid (default: one row on one node)", "PxQ"},
    {"nb", '\0', POPT_ARG_LONGLONG | SHOW, &o->nb, 0, "block size of H", "N"},
    {"checkpoint", '\0', POPT_ARG_STRING, &o->checkpoint, 0,
     "write checkpoints of the sums to FILE (HDF5), and resume from it", "FILE"},
    {"interval", '\0', POPT_ARG_DOUBLE | SHOW, &o->interval, 0, "time between checkpoints",
     "SECONDS"},
    {"keep-checkpoint", '\0', POPT_ARG_NONE, &o->keep, 0,
     "at the end keep FILE, with all updates in it", NULL},
    {"reproducible", '\0', POPT_ARG_NONE, &o->reproducible.on, 0,
     "compute the same bits of H and g on any number of ranks and any grid", NULL},
    {"bound", '\0', POPT_ARG_DOUBLE, &o->reproducible.bound[BOUND_OF_H], 0,
     "upper bound of |H[i, j]| and of each update, for --reproducible (default: found by a first "
     "pass)",
     "X"},
    {"gradient-bound", '\0', POPT_ARG_DOUBLE, &o->reproducible.bound[BOUND_OF_GRADIENT], 0,
     "upper bound of |g[i]| and of each update, for --reproducible", "X"},
    {"json", 'j', POPT_ARG_STRING, &o->json, 0, "write the report as JSON", "FILE"},
    {"quiet", 'q', POPT_ARG_NONE, &o->quiet, 0, "print no report", NULL},
    POPT_TABLEEND};
  *line = (command_line){.name = name,
                         .synopsis = "--n N --output FILE [OPTION...] FILE...",
                         .about = about,
                         .after = after,
                         .options = table,
                         .takes_arguments = true};
  if (!command_parse(line, argc, argv, status)) return false;
  o->files = line->arguments;
  o->n_files = line->n_arguments;
  *status = check_options(o);
  if (*status == OSLA_EXIT_OK && !o->checkpoint && command_is_given(argc, argv, "--interval"))
    *status = command_error(name, "--interval requires --checkpoint");
  if (*status == OSLA_EXIT_OK) *status = check_word("--type", type, "double", "float", &single);
  if (*status == OSLA_EXIT_OK) *status = check_word("--uplo", uplo, "lower", "upper", &upper);
  if (*status == OSLA_EXIT_OK && grid)
    *status = command_parse_grid(name, "--grid", grid, ranks, &o->nprow, &o->npcol);
  o->dtype = single ? OSLA_FLOAT : OSLA_DOUBLE;
  o->uplo = upper ? OSLA_UPPER : OSLA_LOWER;
  if (*status == OSLA_EXIT_OK)
    *status = command_fail(name, reproducible_check(&o->reproducible, o->dtype));
  if (*status == OSLA_EXIT_OK) return true;
  command_release(line);
  return false;
}
