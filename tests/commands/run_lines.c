/* Runs command lines of osla one after the other in one persistent process on each rank, so that
 * MPI starts only once. This serves the many command lines with wrong input, which end soon
 * (run_lines.sh).
 *
 * Rank 0 reads requests from standard input, one in each line. The words of a request are separated
 * by the ASCII character 31 (unit separator). They are: the working folder, the files for standard
 * output and standard error of all ranks, settings NAME=VALUE for the environment, and then the
 * words of the command, such as "invert" and "--mesh". Rank 0 answers each request with a line: the
 * exit status of rank 0, or 3 if another rank has a different exit status. The program ends at an
 * empty line or at the end of standard input.
 *
 * The osla command starts and ends MPI itself. Therefore MPI_Init_thread and MPI_Finalize below
 * replace those of MPI, and leave MPI initialized. */
#include "tests/commands/run_lines.h"
#include "tests/process_state.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 16, MOST_WORDS = 200, OTHER_STATUS = 3 };

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *level)
{
  int started = 0;
  (void)MPI_Initialized(&started);
  return started ? MPI_Query_thread(level) : PMPI_Init_thread(argc, argv, wanted, level);
}

int MPI_Finalize(void)
{
  return MPI_SUCCESS;
}

/* Broadcasts a text from rank 0. Waiting ranks sleep, because they may wait for minutes; MPI_Bcast
 * would keep a core busy. */
static void broadcast(char *text)
{
  MPI_Request request;
  int done = 0;
  MPI_Ibcast(text, MOST, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
  while (!done) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
}

/* Splits a request into words. Returns their number. */
static int split(char *text, char **words)
{
  int n = 0;
  text[strcspn(text, "\n")] = '\0';
  for (char *rest = text; rest && n < MOST_WORDS;)
    words[n++] = strsep(&rest, "\x1f");
  words[n] = NULL;
  return n;
}

/* Redirects the stream to a file. All ranks append to the same file. */
static bool redirect(const char *file, FILE *stream)
{
  (void)fflush(stream);
  const int descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const bool redirected = descriptor >= 0 && dup2(descriptor, fileno(stream)) >= 0;
  if (descriptor >= 0) (void)close(descriptor);
  clearerr(stream);
  return redirected;
}

/* Runs a request: words[0] is the folder, words[1] and words[2] are the output files, settings and
 * the command follow. Returns the exit status of the command. */
static int run_words(line_runner *run, char **words, int n)
{
  int first = 3;
  if (n < 3 || chdir(words[0]) || !redirect(words[1], stdout) || !redirect(words[2], stderr)) {
    perror("run_lines: a request");
    exit(EXIT_FAILURE);
  }
  for (; first < n && strchr(words[first], '=') && words[first][0] != '-'; first++) {
    char *value = strchr(words[first], '=');
    *value = '\0';
    (void)setenv(words[first], value + 1, 1);
  }
  words[first - 1] = "a line"; /* argv[0] of the command line; no command reads it */
  const int status = run(n - first + 1, words + first - 1);
  (void)fflush(NULL);
  process_state_restore();
  return status;
}

int run_lines(int argc, char **argv, line_runner *run)
{
  static char request[MOST];
  static char *words[MOST_WORDS + 1];
  int rank, level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  process_state_note();
  FILE *answers = rank == 0 ? fdopen(dup(STDOUT_FILENO), "w") : NULL;
  for (;;) {
    if (rank == 0 && !fgets(request, sizeof request, stdin)) request[0] = '\0';
    broadcast(request);
    if (request[0] == '\0' || request[0] == '\n') break;
    int status = run_words(run, words, split(request, words)), least, most;
    MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (answers) (void)fprintf(answers, "%d\n", least == most ? status : OTHER_STATUS);
    if (answers) (void)fflush(answers);
  }
  PMPI_Finalize();
  return EXIT_SUCCESS;
}
