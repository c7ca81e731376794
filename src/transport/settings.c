#include "config.h"

#include "osla_build.h"
#include "src/base/parse_real.h"
#include "src/transport/settings.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Environment variables that must be equal on all ranks. The entry NULL stands for the library's
 * build, which is compared first because it defines the meaning of the variables. */
static const char *const names[] = {NULL,
                                    "OSLA_TRANSPORT",
                                    "OSLA_SHARED_MEMORY",
                                    "OSLA_FAKE_NODES",
                                    "OSLA_EXPECT_NODES",
                                    "OSLA_EXPECT_RANKS",
                                    "OSLA_PATIENCE",
                                    "OSLA_WINDOW_INFO",
                                    "OSLA_MESSAGES",
                                    "OSLA_SPARSE_FROM",
                                    "OSLA_OWN_CORES",
                                    "OSLA_VERIFY"};
enum { SETTINGS = sizeof names / sizeof *names, WIDTH = 64 };

typedef struct setting_texts {
  char text[SETTINGS][WIDTH];
} setting_texts;

static setting_texts read_environment(void)
{
  setting_texts all;
  memset(&all, 0, sizeof all);
  for (int i = 0; i < SETTINGS; i++) {
    const char *value = names[i] ? getenv(names[i]) : PACKAGE_VERSION " (" OSLA_BUILD ")";
    if (value) (void)strncpy(all.text[i], value, WIDTH - 1);
  }
  return all;
}

/* Compares the settings of all ranks with those of rank 0. The lowest rank with a different setting
 * reports the variable. */
static osla_err compare_with_rank_0(MPI_Comm comm, const setting_texts *mine)
{
  setting_texts first = *mine;
  int rank, differs = INT_MAX, which = 0;
  OSLA_MPI(MPI_Comm_rank(comm, &rank));
  OSLA_MPI(MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, comm));
  while (which < SETTINGS && strcmp(first.text[which], mine->text[which]) == 0)
    which++;
  if (which < SETTINGS) differs = rank;
  OSLA_MPI(MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_MIN, comm));
  if (differs == INT_MAX) return OSLA_OK;

  setting_texts other = *mine;
  OSLA_MPI(MPI_Bcast(&which, 1, MPI_INT, differs, comm));
  OSLA_MPI(MPI_Bcast(&other, sizeof other, MPI_BYTE, differs, comm));
  const char *here = first.text[which], *there = other.text[which];
  if (!names[which])
    return osla_error_set(OSLA_ERR_STATE,
                          "OSLA %s on rank 0, but %s on rank %d: all ranks need one build", here,
                          there, differs);
  return osla_error_set(OSLA_ERR_ARG,
                        "%s is '%s' on rank 0, but '%s' on rank %d: set it for all ranks (MPICH: "
                        "mpiexec -genv %s VALUE; Open MPI: mpiexec -x %s; Slurm: --export)",
                        names[which], here, there, differs, names[which], names[which]);
}

/* Reads an environment variable that holds a count of at least 1 or, if `all` > 0, the word "all"
 * for the count `all`. Sets *out to 0 if the variable is unset. */
static osla_err read_count(const char *name, int all, int *out)
{
  const char *text = getenv(name);
  char *end;
  *out = 0;
  if (!text || !text[0]) return OSLA_OK;
  *out = all;
  if (all > 0 && strcmp(text, "all") == 0) return OSLA_OK;
  errno = 0;
  long count = strtol(text, &end, 10);
  OSLA_CHECK(*end == '\0' && errno == 0 && count >= 1 && count <= INT_MAX, OSLA_ERR_ARG,
             "%s=%.60s: must be a whole number of at least 1%s", name, text,
             all > 0 ? ", or \"all\"" : "");
  *out = (int)count;
  return OSLA_OK;
}

static osla_err read_time_limit(double *out)
{
  const char *text = getenv("OSLA_PATIENCE");
  char *end;
  *out = 0;
  if (!text || !text[0]) return OSLA_OK;
  double seconds = osli_parse_real(text, &end);
  OSLA_CHECK(end != text && *end == '\0' && isfinite(seconds) && seconds >= 0, OSLA_ERR_ARG,
             "OSLA_PATIENCE=%.60s: must be a number of seconds, or 0 for no limit", text);
  *out = seconds;
  return OSLA_OK;
}

osla_err osli_settings_switch(const char *name, bool default_value, bool *on)
{
  const char *text = getenv(name);
  *on = default_value;
  if (!text || !text[0]) return OSLA_OK;
  *on = strcmp(text, "on") == 0;
  OSLA_CHECK(*on || strcmp(text, "off") == 0, OSLA_ERR_ARG, "%s=%.60s: must be on or off", name,
             text);
  return OSLA_OK;
}

/* Reads OSLA_MESSAGES, which is "auto", "on", "off", or the largest number of data bytes in a
 * message; a number means "on". */
static osla_err read_messages(osla_messages *out, int *bytes)
{
  /* by default a message has room for 16 KiB of data and a 64-byte header of the caller */
  enum { HEAD = 64, DEFAULT_BYTES = 16384 + HEAD, MAX_BYTES = 65536 };
  static const char *const words[] = {"auto", "on", "off"};
  const char *text = getenv("OSLA_MESSAGES");
  char *end;
  *out = OSLA_MESSAGES_AUTO;
  *bytes = DEFAULT_BYTES;
  if (!text || !text[0]) return OSLA_OK;
  for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
    if (strcmp(text, words[i]) == 0) {
      *out = (osla_messages)i;
      return OSLA_OK;
    }
  errno = 0;
  long count = strtol(text, &end, 10);
  OSLA_CHECK(end != text && *end == '\0' && errno == 0 && count >= 0 && count <= MAX_BYTES,
             OSLA_ERR_ARG,
             "OSLA_MESSAGES=%.60s: must be auto, on, off, or a number of bytes from 0 to %d", text,
             MAX_BYTES);
  *out = OSLA_MESSAGES_ON;
  *bytes = (int)count;
  return OSLA_OK;
}

osla_err osli_settings_read(MPI_Comm comm, osla_settings *out)
{
  int size;
  bool window_info;
  setting_texts mine = read_environment();
  OSLA_CALL(compare_with_rank_0(comm, &mine));
  OSLA_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
  OSLA_CALL(read_count("OSLA_FAKE_NODES", size, &out->fake_nodes));
  if (out->fake_nodes > size) out->fake_nodes = size;
  OSLA_CALL(read_count("OSLA_EXPECT_NODES", 0, &out->expect_nodes));
  OSLA_CALL(read_count("OSLA_EXPECT_RANKS", 0, &out->expect_ranks));
  OSLA_CALL(read_count("OSLA_SPARSE_FROM", 0, &out->sparse_from));
  OSLA_CALL(osli_settings_switch("OSLA_WINDOW_INFO", true, &window_info));
  out->no_window_info = !window_info;
  OSLA_CALL(osli_settings_switch("OSLA_OWN_CORES", false, &out->own_cores));
  OSLA_CALL(osli_settings_switch("OSLA_VERIFY", false, &out->verify));
  OSLA_CALL(read_messages(&out->messages, &out->small_bytes));
  return read_time_limit(&out->time_limit);
}
