#include "osla_test_help.h"

#include "osla_random.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

osla_transport *osla_test_transport(void)
{
  osla_transport *t = NULL;
  if (osla_transport_create(MPI_COMM_WORLD, NULL, &t) != OSLA_OK) {
    fprintf(stderr, "test: no transport: %s\n", osla_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return t;
}

static osla_grid *reversed(osla_transport *t)
{
  int size = osla_transport_size(t), back = size - 1 - osla_transport_rank(t);
  osla_grid *shape = NULL, *grid = NULL;
  if (!OSLA_ASSERT_OK(osla_grid_create(t, 0, 0, &shape))) return NULL;
  int nprow = osla_grid_nprow(shape), npcol = osla_grid_npcol(shape);
  OSLA_ASSERT_OK(osla_grid_create_at(t, nprow, npcol, back / npcol, back % npcol, &grid));
  osla_grid_destroy(&shape);
  return grid;
}

osla_grid *osla_test_grid(osla_transport *t, int which)
{
  int size = osla_transport_size(t), n = 0;
  struct {
    int nprow, npcol; /* -1: reversed */
  } list[8];
  list[n].nprow = 0, list[n++].npcol = 0;
  if (size > 1) {
    list[n].nprow = size, list[n++].npcol = 1;
    list[n].nprow = 1, list[n++].npcol = 1;
    list[n].nprow = -1, list[n++].npcol = -1;
  }
  if (size >= 4 && size % 2 == 0) list[n].nprow = 1, list[n++].npcol = size;
  if (size > 4) list[n].nprow = 2, list[n++].npcol = 2;
  if (size > 2) list[n].nprow = 2, list[n++].npcol = 1;
  if (which >= n) return NULL;
  if (list[which].nprow < 0) return reversed(t);
  osla_grid *grid = NULL;
  OSLA_ASSERT_OK(osla_grid_create(t, list[which].nprow, list[which].npcol, &grid));
  return grid;
}

bool osla_test_text(const char *part, const char *file, int line)
{
  return osla_test_check(strstr(osla_error_text(), part) != NULL, file, line,
                         "\"%s\" is not in the error text \"%s\"", part, osla_error_text());
}

bool osla_test_same_text(const char *file, int line)
{
  char mine[512], first[512];
  (void)snprintf(mine, sizeof mine, "%s", osla_error_text());
  memcpy(first, mine, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  return osla_test_check(strcmp(mine, first) == 0, file, line,
                         "error text \"%.400s\" here, \"%.400s\" on rank 0", mine, first);
}

int64_t osla_test_choose(uint64_t seed, int64_t i, int64_t below)
{
  return (int64_t)(osla_random_bits(seed, (uint64_t)i, 11) % (uint64_t)below);
}

unsigned char osla_test_byte(int64_t stream, size_t offset)
{
  return (unsigned char)(((uint64_t)stream * 151 + offset * 7 + (offset >> 8) * 3) % 251 + 1);
}

void osla_test_write(unsigned char *bytes, int64_t stream, size_t first, size_t count)
{
  for (size_t i = 0; i < count; i++)
    bytes[i] = osla_test_byte(stream, first + i);
}

int64_t osla_test_differ(const unsigned char *bytes, int64_t stream, size_t first, size_t count)
{
  int64_t differ = 0;
  for (size_t i = 0; i < count; i++)
    if (bytes[i] != osla_test_byte(stream, first + i)) differ++;
  return differ;
}
