/* Facts about ranks, hosts, MPI, BLAS and memory. See info.h. */
#include "config.h"

#include "osla_blas.h"
#include "tools/info/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *info_hdf5(void)
{
#if defined HAVE_PARALLEL_HDF5
  return "yes, parallel";
#elif defined HAVE_HDF5
  return "yes, serial";
#else
  return "no";
#endif
}

bool info_has_scalapack(void)
{
#ifdef HAVE_SCALAPACK
  return true;
#else
  return false;
#endif
}

/* Finds a program along PATH, as the shell does. Sets `found` to its path, or to "" if there is
 * none. */
static void find_program(const char *program, char *found, size_t size)
{
  const char *path = getenv("PATH");
  for (const char *end; path && *path; path = *end ? end + 1 : end) {
    end = path + strcspn(path, ":");
    int length = snprintf(found, size, "%.*s/%s", (int)(end - path), path, program);
    if (length > 0 && (size_t)length < size && access(found, X_OK) == 0) return;
  }
  found[0] = '\0';
}

static const char *thread_level_name(void)
{
  int level = MPI_THREAD_SINGLE;
  (void)MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE     ? "multiple"
         : level == MPI_THREAD_SERIALIZED ? "serialized"
         : level == MPI_THREAD_FUNNELED   ? "funneled"
                                          : "single";
}

/* Copies the word that follows `key` in `text`; "" if `text` does not contain `key`. */
static void copy_word_after(const char *text, const char *key, char *word, size_t size)
{
  const char *start = strstr(text, key);
  word[0] = '\0';
  if (!start) return;
  start += strlen(key);
  start += strspn(start, " \t");
  (void)snprintf(word, size, "%.*s", (int)strcspn(start, " \t\r\n,"), start);
}

static void look_at_mpi(info_mpi *mpi)
{
  static const struct {
    const char *mark, *family, *version_key;
  } known[] = {{"Open MPI", "Open MPI", "Open MPI v"},
               {"Intel(R) MPI", "Intel MPI", "Library"},
               {"MVAPICH", "MVAPICH", "Version"},
               {"MPICH", "MPICH", "MPICH Version:"}};
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  (void)MPI_Get_library_version(text, &length);
  (void)MPI_Get_version(&mpi->standard[0], &mpi->standard[1]);
  mpi->thread_level = thread_level_name();
  (void)snprintf(mpi->library, sizeof mpi->library, "%.*s", (int)strcspn(text, "\r\n"), text);
  (void)strcpy(mpi->family, "unknown");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (!strstr(text, known[i].mark)) continue;
    (void)strcpy(mpi->family, known[i].family);
    copy_word_after(text, known[i].version_key, mpi->version, sizeof mpi->version);
    break;
  }
  (void)sscanf(mpi->version, "%d.%d.%d", &mpi->number[0], &mpi->number[1], &mpi->number[2]);
  copy_word_after(text, "Device:", mpi->device, sizeof mpi->device);
}

/* Chooses a pair of ranks on one node, and a pair across nodes. */
static void choose_pairs(info_system *s)
{
  for (int way = 0; way < INFO_WAYS; way++) {
    s->origin[way] = s->partner[way] = -1;
    for (int a = 0; a < s->size && s->origin[way] < 0; a++)
      for (int b = a + 1; b < s->size && s->origin[way] < 0; b++)
        if ((s->ranks[a].node == s->ranks[b].node) == (way == INFO_ON_NODE)) {
          s->origin[way] = a;
          s->partner[way] = b;
        }
  }
}

static int count_hosts(const info_system *s)
{
  int n = 0;
  for (int rank = 0; rank < s->size; rank++)
    if (s->ranks[rank].host_first == rank) n++;
  return n;
}

osla_err info_system_examine(osla_transport *t, info_system *s)
{
  memset(s, 0, sizeof *s);
  s->rank = osla_transport_rank(t);
  s->size = osla_transport_size(t);
  s->n_nodes = osla_transport_n_nodes(t);
  OSLA_CALL(command_cpu_examine(osla_transport_comm(t), &s->cpu));
  look_at_mpi(&s->mpi);
  s->blas = osla_blas_describe();
  s->transport = osla_transport_name(t);
  find_program("gnuplot", s->gnuplot, sizeof s->gnuplot);

  info_rank me;
  memset(&me, 0, sizeof me);
  me.node = osla_transport_node(t);
  me.host_first = s->cpu.host.first;
  me.cores = s->cpu.host.cores;
  (void)memcpy(me.host, s->cpu.host.name, sizeof me.host);
  osla_memory_available(&me.shared_bytes, &me.available_bytes);
  int over = s->cpu.threads > s->cpu.host.share;
  s->ranks = malloc((size_t)s->size * sizeof *s->ranks);
  OSLA_CALL(osla_agree(
    t,
    s->ranks ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for table of %d ranks", s->size)));
  OSLA_MPI(
    MPI_Allgather(&me, sizeof me, MPI_BYTE, s->ranks, sizeof me, MPI_BYTE, osla_transport_comm(t)));
  OSLA_CALL(osla_allreduce(t, &over, 1, MPI_INT, MPI_MAX));
  s->oversubscribed = over;
  s->n_hosts = count_hosts(s);
  choose_pairs(s);
  return OSLA_OK;
}

void info_system_free(info_system *s)
{
  free(s->ranks);
  s->ranks = NULL;
}
