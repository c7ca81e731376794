/* Check that all ranks have the same command line. See command.h. A launcher can start several
 * programs or several command lines ("mpiexec -n 1 osla ... : -n 1 osla ..."). Ranks with different
 * command lines would wait for each other in different calls. */
#include "src/base/hash.h"
#include "tools/common/command.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 120 };

/* A word of a command line, in `text` with the preceding option; the hash is 0 after the last word.
 */
typedef struct word {
  uint64_t hash;
  char text[SHOWN];
} word;

/* Hashes a text including its final zero, which separates words. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
  return hash_extend(hash, text, strlen(text) + 1);
}

static word get_word(int argc, char **argv, int i)
{
  word w;
  memset(&w, 0, sizeof w);
  (void)strcpy(w.text, "(nothing)");
  if (i >= argc) return w;
  bool is_value = i > 1 && argv[i - 1][0] == '-' && argv[i][0] != '-';
  w.hash = hash_text(HASH_OF_NO_BYTES, argv[i]);
  (void)snprintf(w.text, sizeof w.text, "%.40s%s%.70s", is_value ? argv[i - 1] : "",
                 is_value ? " " : "", argv[i]);
  return w;
}

/* Reports the first word in which the command line of rank `other` differs from that of rank 0. */
static int report_difference(const char *name, int argc, char **argv, int other)
{
  word here, there;
  int differs = 0;
  for (int i = 0; !differs; i++) {
    here = there = get_word(argc, argv, i);
    (void)MPI_Bcast(&here, sizeof here, MPI_BYTE, 0, MPI_COMM_WORLD);
    differs = here.hash != there.hash;
    (void)MPI_Bcast(&differs, 1, MPI_INT, other, MPI_COMM_WORLD);
  }
  (void)MPI_Bcast(&there, sizeof there, MPI_BYTE, other, MPI_COMM_WORLD);
  return command_error(name,
                       "'%s' on rank 0, but '%s' on rank %d: all ranks need the same "
                       "command line",
                       here.text, there.text, other);
}

int command_same_line(const char *name, int argc, char **argv)
{
  uint64_t mine = HASH_OF_NO_BYTES, first;
  for (int i = 0; i < argc; i++)
    mine = hash_text(mine, argv[i]);
  first = mine;
  (void)MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  int rank = mine == first ? INT_MAX : command_rank();
  (void)MPI_Allreduce(MPI_IN_PLACE, &rank, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return rank == INT_MAX ? OSLA_EXIT_OK : report_difference(name, argc, argv, rank);
}
