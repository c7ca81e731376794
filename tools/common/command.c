/* Options, errors and exit statuses of the sub-commands. See command.h. */
#include "tools/common/command.h"
#include "src/base/new_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int command_rank(void)
{
  int started = 0, ended = 0, rank = 0;
  (void)MPI_Initialized(&started);
  (void)MPI_Finalized(&ended);
  if (started && !ended) {
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }
  static const char *const names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                      "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    if (value) return atoi(value);
  }
  return 0;
}

/* Returns the text between "osla" and the name of the command in messages. */
static const char *separator_of(const char *name)
{
  return name && name[0] != '-' ? " " : "";
}

static void write_line(const char *name, const char *text)
{
  char out[1200];
  (void)snprintf(out, sizeof out, "osla%s%s: %s\n", separator_of(name), name ? name : "", text);
  ssize_t written = write(STDERR_FILENO, out, strlen(out));
  (void)written; /* a failure of stderr cannot be reported */
}

static void write_error(const char *name, const char *text)
{
  if (command_rank() == 0) write_line(name, text);
}

int command_error(const char *name, const char *format, ...)
{
  char text[1024];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  write_error(name, text);
  return OSLA_EXIT_USAGE;
}

/* Ends all ranks after an MPI error. If only this rank has failed, the other ranks would wait for
 * this rank for ever. If all ranks have failed, the delay lets rank 0 write its line first. */
static void abort_all_ranks(const char *name)
{
  const struct timespec moment = {.tv_nsec = 200000000};
  int size = 1;
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (command_rank() != 0) (void)nanosleep(&moment, NULL);
  write_line(name, osla_error_text());
  if (size > 1) (void)MPI_Abort(MPI_COMM_WORLD, OSLA_EXIT_FAILED);
}

int command_fail(const char *name, osla_err err)
{
  if (err == OSLA_OK) return OSLA_EXIT_OK;
  if (err == OSLA_ERR_MPI)
    abort_all_ranks(name);
  else
    write_error(name, osla_error_text());
  return err == OSLA_ERR_MPI || err == OSLA_ERR_STATE ? OSLA_EXIT_FAILED : OSLA_EXIT_USAGE;
}

int command_agree(int status)
{
  int worst = status;
  if (MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS)
    return OSLA_EXIT_FAILED;
  return worst;
}

/* Calls `visit` for each string option of the table, and of the tables that it includes. */
static void each_string(const struct poptOption *option, command_line *line,
                        void (*visit)(command_line *line, char **value))
{
  for (; option->longName || option->shortName || option->arg; option++) {
    unsigned type = option->argInfo & POPT_ARG_MASK;
    if (type == POPT_ARG_INCLUDE_TABLE)
      each_string(option->arg, line, visit);
    else if (type == POPT_ARG_STRING && option->arg)
      visit(line, option->arg);
  }
}

static void count_string(command_line *line, char **value)
{
  (void)value;
  line->n_owned++;
}

/* popt replaces the default of a string option by an allocated copy of the user's value. `owned`
 * has an entry for each string option. Before parsing, the entry is the default. Afterwards it is
 * the copy, or NULL if the user gave no value. */
static void save_default(command_line *line, char **value)
{
  line->owned[line->n_owned++] = *value;
}

static void save_copy(command_line *line, char **value)
{
  char **place = &line->owned[line->n_owned++];
  *place = *value == *place ? NULL : *value;
}

bool command_own_memory(command_line *line, char *text)
{
  char **grown = text ? realloc(line->owned, (size_t)(line->n_owned + 1) * sizeof *grown) : NULL;
  if (!grown) {
    free(text);
    return false;
  }
  line->owned = grown;
  line->owned[line->n_owned++] = text;
  return true;
}

/* Takes ownership of the arrays and strings that popt allocates for options of type POPT_ARG_ARGV.
 */
static void own_lists(const struct poptOption *option, command_line *line)
{
  for (; option->longName || option->shortName || option->arg; option++) {
    unsigned type = option->argInfo & POPT_ARG_MASK;
    if (type == POPT_ARG_INCLUDE_TABLE) own_lists(option->arg, line);
    if (type != POPT_ARG_ARGV || !*(char ***)option->arg) continue;
    char **list = *(char ***)option->arg;
    for (int i = 0; list[i]; i++)
      (void)command_own_memory(line, list[i]);
    (void)command_own_memory(line, (char *)list);
  }
}

void command_release(command_line *line)
{
  for (int i = 0; i < line->n_owned; i++)
    free(line->owned[i]);
  free(line->owned);
  line->owned = NULL;
  line->n_owned = 0;
  for (int i = 0; i < line->n_arguments; i++)
    free(line->arguments[i]);
  free(line->arguments);
  line->arguments = NULL;
  line->n_arguments = 0;
}

/* Rejects "--option=" and empty arguments, which popt would read as 0. They arise from shell
 * variables that are not set. */
static bool find_empty(const char *name, int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    size_t length = strlen(argv[i]);
    const char *option = length > 0 ? argv[i] : argv[i - 1];
    bool equals = length > 2 && strncmp(argv[i], "--", 2) == 0 && argv[i][length - 1] == '=';
    if (length > 0 && !(equals && strchr(argv[i], '=') == argv[i] + length - 1)) continue;
    (void)command_error(name, "%.*s: needs a value", (int)(strlen(option) - equals), option);
    return true;
  }
  return false;
}

bool command_is_given(int argc, char **argv, const char *option)
{
  const size_t length = strlen(option);
  for (int i = 1; i < argc; i++)
    if (strncmp(argv[i], option, length) == 0 && (!argv[i][length] || argv[i][length] == '='))
      return true;
  return false;
}

/* Returns the value that argv[i] gives to the option, in argv[i] itself or in argv[i + 1]; NULL:
 * argv[i] gives no value. */
static const char *value_of(const struct poptOption *option, int argc, char **argv, int i)
{
  const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
  const size_t length = option->longName ? strlen(option->longName) : 0;
  if (length > 0 && strncmp(word, "--", 2) == 0 && strncmp(word + 2, option->longName, length) == 0)
    return word[2 + length] == '=' ? word + 3 + length : word[2 + length] ? NULL : next;
  if (!option->shortName || word[0] != '-' || word[1] != option->shortName) return NULL;
  return word[2] ? word + 2 + (word[2] == '=') : next;
}

/* Rejects whole numbers with a leading zero, which popt reads as octal (010 as 8). */
static bool find_octal(const struct poptOption *option, const char *name, int argc, char **argv)
{
  for (; option->longName || option->shortName || option->arg; option++) {
    const unsigned type = option->argInfo & POPT_ARG_MASK;
    if (type == POPT_ARG_INCLUDE_TABLE && find_octal(option->arg, name, argc, argv)) return true;
    if (type != POPT_ARG_INT && type != POPT_ARG_LONG && type != POPT_ARG_LONGLONG) continue;
    for (int i = 1; i < argc; i++) {
      const char *value = value_of(option, argc, argv, i), *digits = value;
      if (value && (*value == '-' || *value == '+')) digits++;
      if (!value || digits[0] != '0' || digits[1] < '0' || digits[1] > '9') continue;
      (void)command_error(name, "--%s: '%s' begins with 0: remove the zero",
                          option->longName ? option->longName : argv[i], value);
      return true;
    }
  }
  return false;
}

/* Reports an error of popt. For "--option VALUE" with a bad value popt returns only the value, so
 * that the name of the option is searched in argv. */
static void report_bad(const char *name, const char *bad, int rc, int argc, char **argv)
{
  if (rc == POPT_ERROR_BADOPT) {
    (void)command_error(name, "%s: unknown option (see osla%s%s --help)", bad, separator_of(name),
                        name);
    return;
  }
  const char *what = rc == POPT_ERROR_NOARG       ? "needs a value"
                     : rc == POPT_ERROR_BADNUMBER ? "is not a number"
                     : rc == POPT_ERROR_OVERFLOW  ? "is out of range"
                                                  : poptStrerror(rc);
  const char *equals = strchr(bad, '=');
  if (rc == POPT_ERROR_NOARG) {
    (void)command_error(name, "%s: %s", bad, what);
  } else if (strncmp(bad, "--", 2) == 0 && equals) {
    (void)command_error(name, "%.*s: '%s' %s", (int)(equals - bad), bad, equals + 1, what);
  } else {
    const char *option = NULL, *value = NULL;
    for (int i = 1; i < argc - 1; i++) {
      if (argv[i][0] != '-' || strchr(argv[i], '=')) continue;
      if (strcmp(argv[i + 1], bad) == 0) {
        option = argv[i];
        value = argv[i + 1];
        break;
      }
    }
    if (option)
      (void)command_error(name, "%s: '%s' %s", option, value, what);
    else
      (void)command_error(name, "%s: %s", bad, what);
  }
}

static void print_help(const command_line *line, poptContext context)
{
  char head[2048]; /* popt prints this text after "Usage: osla NAME" */
  if (command_rank() != 0) return;
  (void)snprintf(head, sizeof head, "%s\n%s", line->synopsis ? line->synopsis : "[OPTION...]",
                 line->about ? line->about : "");
  poptSetOtherOptionHelp(context, head);
  poptPrintHelp(context, stdout, 0);
  if (line->after) (void)printf("\n%s", line->after);
  (void)fflush(stdout);
}

/* Copies the arguments that popt has not parsed as options. Returns false if memory is missing. */
static bool copy_arguments(command_line *line, poptContext context, int argc)
{
  line->arguments = calloc((size_t)argc + 1, sizeof *line->arguments);
  if (!line->arguments) return false;
  for (const char *word; (word = poptGetArg(context));) {
    char *copy = strdup(word);
    if (!copy) return false;
    line->arguments[line->n_arguments++] = copy;
  }
  return true;
}

/* Parses the command line with popt. Returns true if the command shall run; otherwise *status is
 * the exit status. */
static bool run_popt(command_line *line, int argc, char **argv, int *status)
{
  int help = 0;
  char *transport = NULL;
  const struct poptOption every_table[] = {
    {"transport", '\0', POPT_ARG_STRING, &transport, 0,
     "Transport: mpi, armci or shmem (default: OSLA_TRANSPORT, else mpi)", "NAME"},
    {"help", 'h', POPT_ARG_NONE, &help, 0, "Show this help", NULL},
    POPT_TABLEEND};
  char title[64];
  (void)snprintf(title, sizeof title, "osla%s%s", separator_of(line->name), line->name);
  const struct poptOption all[] = {
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)line->options, 0, "Options:", NULL},
    {NULL, '\0', POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)every_table, 0,
     "Common options:", NULL},
    POPT_TABLEEND};
  *status = OSLA_EXIT_USAGE;
  if (find_empty(line->name, argc, argv)) return false;
  if (find_octal(line->options, line->name, argc, argv)) return false;
  const char **args = calloc((size_t)argc + 1, sizeof *args);
  if (!args) {
    (void)command_error(line->name, "out of memory");
    return false;
  }
  memcpy(args, argv, (size_t)argc * sizeof *args);
  args[0] = title;

  bool go_on = false;
  poptContext context = poptGetContext("osla", argc, args, all, 0);
  int rc;
  do {
    rc = poptGetNextOpt(context);
  } while (rc >= 0);
  bool copied = !line->takes_arguments || copy_arguments(line, context, argc);
  const char *extra = poptGetArg(context);
  if (help) {
    print_help(line, context);
    *status = OSLA_EXIT_OK;
  } else if (rc < -1) {
    report_bad(line->name, poptBadOption(context, POPT_BADOPTION_NOALIAS), rc, argc, argv);
  } else if (extra) {
    (void)command_error(line->name, "'%s' is not an option (see osla%s%s --help)", extra,
                        separator_of(line->name), line->name);
  } else if (!copied) {
    (void)command_error(line->name, "out of memory");
  } else {
    *status = OSLA_EXIT_OK;
    go_on = true;
  }
  if (go_on && transport) (void)setenv("OSLA_TRANSPORT", transport, 1);
  free(transport);
  (void)poptFreeContext(context);
  free(args);
  return go_on;
}

bool command_parse(command_line *line, int argc, char **argv, int *status)
{
  line->n_owned = line->n_arguments = 0;
  line->arguments = NULL;
  each_string(line->options, line, count_string);
  line->owned = calloc((size_t)line->n_owned + 1, sizeof *line->owned);
  line->n_owned = 0;
  if (!line->owned) {
    *status = command_error(line->name, "out of memory");
    return false;
  }
  each_string(line->options, line, save_default);
  bool go_on = run_popt(line, argc, argv, status);
  line->n_owned = 0;
  each_string(line->options, line, save_copy);
  own_lists(line->options, line);
  line->options = NULL; /* the table of options is often a local variable of the caller */
  if (!go_on) command_release(line);
  return go_on;
}

osla_err command_json(const char *file, json_t *root)
{
  const char *machine = osla_simulated_machine();
  if (machine && root) (void)json_object_set_new(root, "simulated", json_string(machine));
  char *document = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
  OSLA_CHECK(document, OSLA_ERR_MEM, "no memory for the JSON report");
  size_t length = strlen(document);
  document[length] = '\n'; /* the newline replaces the final zero */
  osla_err err = osli_new_file_write(file, document, length + 1);
  free(document);
  return err;
}

int command_write_json(const char *name, const char *file, json_t *root)
{
  int status = OSLA_EXIT_OK;
  if (command_rank() == 0) status = command_fail(name, command_json(file, root));
  return command_agree(status);
}
