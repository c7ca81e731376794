#include "tests/osla_test_help.h"

#include "osla_index.h"
#include "osla_random.h"
#include "tests/complex_help.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *osla_test_allocate(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  if (!memory) {
    fprintf(stderr, "test: no memory for %zu x %zu bytes\n", count, size);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

static void sleep_for(double seconds)
{
  const time_t whole = (time_t)seconds;
  const struct timespec time = {whole, (long)(1e9 * (seconds - (double)whole))};
  (void)nanosleep(&time, NULL);
}

/* On a busy machine the process may stop only after the first SIGCONT. So the child sends further
 * ones until the process, which has continued, ends the child. */
void osla_test_stop_process(double seconds)
{
  const pid_t me = getpid(), child = fork();
  if (child == 0) {
    sleep_for(seconds);
    while (kill(me, SIGCONT) == 0)
      sleep_for(0.1);
    _exit(0);
  }
  CU_ASSERT(child > 0);
  if (child <= 0) return;
  (void)raise(SIGSTOP);
  (void)kill(child, SIGKILL);
  (void)waitpid(child, NULL, 0);
}

osla_err osla_test_try_transport(MPI_Comm comm, const char *name, osla_transport **out)
{
  const osla_transport_options options = {.transport = name};
  return osla_transport_create(comm, &options, out);
}

osla_transport *osla_test_transport(void)
{
  return osla_test_transport_on(NULL);
}

osla_transport *osla_test_transport_on(const char *name)
{
  osla_transport *t = NULL;
  if (osla_test_try_transport(MPI_COMM_WORLD, name, &t) != OSLA_OK) {
    fprintf(stderr, "test: no transport: %s\n", osla_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return t;
}

osla_grid *osla_test_square_grid(osla_transport *t)
{
  int size = osla_transport_size(t), p = 1;
  for (int d = 2; d * d <= size; d++)
    if (size % d == 0) p = d;
  osla_grid_order order = osla_transport_n_nodes(t) > 1 ? OSLA_GRID_NODES : OSLA_GRID_ROWS;
  osla_grid *grid = NULL;
  OSLA_ASSERT_OK(osla_grid_create_ordered(t, p, size / p, order, &grid));
  return grid;
}

bool osla_test_on_offered(const osla_transport *t)
{
  const char *name = osla_transport_name(t);
  return strcmp(name, "armci") == 0 || strcmp(name, "shmem") == 0;
}

static osla_grid *reversed(osla_transport *t)
{
  int size = osla_transport_size(t), back = size - 1 - osla_transport_rank(t);
  osla_grid *shape = osla_test_square_grid(t), *grid = NULL;
  if (!shape) return NULL;
  int nprow = osla_grid_nprow(shape), npcol = osla_grid_npcol(shape);
  OSLA_ASSERT_OK(osla_grid_create_at(t, nprow, npcol, back / npcol, back % npcol, &grid));
  osla_grid_destroy(&shape);
  return grid;
}

typedef struct grid_shape {
  int nprow, npcol; /* 0: nearly square; -1: nearly square with the ranks in descending order */
} grid_shape;

static int list_grids(int size, grid_shape list[8])
{
  int n = 0;
  list[n++] = (grid_shape){0, 0};
  if (size > 1) list[n++] = (grid_shape){size, 1};
  if (size > 1) list[n++] = (grid_shape){-1, -1};
  if (size > 1) list[n++] = (grid_shape){1, 1};
  if (size > 3) list[n++] = (grid_shape){1, size};
  if (size > 4) list[n++] = (grid_shape){2, 2};
  if (size > 2) list[n++] = (grid_shape){2, 1};
  return n;
}

int osla_test_n_grids(osla_transport *t)
{
  grid_shape list[8];
  return list_grids(osla_transport_size(t), list);
}

osla_grid *osla_test_grid(osla_transport *t, int which)
{
  grid_shape list[8];
  (void)list_grids(osla_transport_size(t), list);
  if (list[which].nprow < 0) return reversed(t);
  if (list[which].nprow == 0) return osla_test_square_grid(t);
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

void osla_test_store(osla_dtype dtype, void *array, int64_t at, osla_complex value)
{
  switch (dtype) {
    case OSLA_FLOAT: ((float *)array)[at] = (float)creal(value); break;
    case OSLA_DOUBLE: ((double *)array)[at] = creal(value); break;
    case OSLA_COMPLEX_FLOAT: ((float complex *)array)[at] = (float complex)value; break;
    case OSLA_COMPLEX_DOUBLE: ((osla_complex *)array)[at] = value; break;
  }
}

osla_complex osla_test_load(osla_dtype dtype, const void *array, int64_t at)
{
  switch (dtype) {
    case OSLA_FLOAT: return (double)((const float *)array)[at];
    case OSLA_DOUBLE: return ((const double *)array)[at];
    case OSLA_COMPLEX_FLOAT: return (osla_complex)((const float complex *)array)[at];
    case OSLA_COMPLEX_DOUBLE: return ((const osla_complex *)array)[at];
  }
  return 0.0;
}

double osla_test_real(osla_dtype dtype, const void *array, int64_t at)
{
  return creal(osla_test_load(dtype, array, at));
}

static double value_at(int64_t i, int64_t j)
{
  return (double)(256 * i + j + 1);
}

static void write_element(osla_dtype dtype, void *array, int64_t at, double value)
{
  osla_test_store(dtype, array, at, CMPLX(value, -value));
}

static bool differs(osla_dtype dtype, const void *array, int64_t at, double value)
{
  bool real = dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE;
  osla_complex got = osla_test_load(dtype, array, at);
  return creal(got) != value || cimag(got) != (real ? 0.0 : -value);
}

void osla_test_write_block(osla_dtype dtype, void *buffer, int64_t i, int64_t j, int64_t m,
                           int64_t n, int64_t ld)
{
  for (int64_t c = 0; c < n; c++)
    for (int64_t r = 0; r < m; r++)
      write_element(dtype, buffer, r + c * ld, value_at(i + r, j + c));
}

int64_t osla_test_differ_block(osla_dtype dtype, const void *buffer, int64_t i, int64_t j,
                               int64_t m, int64_t n, int64_t ld)
{
  int64_t differ = 0;
  for (int64_t c = 0; c < n; c++)
    for (int64_t r = 0; r < m; r++)
      if (differs(dtype, buffer, r + c * ld, value_at(i + r, j + c))) differ++;
  return differ;
}

/* Calls `visit` for each local element of a matrix, with the value that identifies its position.
 * Returns how many of the calls returned true. */
typedef bool visitor(osla_dtype dtype, void *array, int64_t at, double value);

static int64_t visit_local(const osla_matrix *a, visitor *visit)
{
  osla_layout l = osla_matrix_layout(a);
  osla_grid *grid = osla_matrix_grid(a);
  int64_t lld = osla_matrix_lld(a, osla_transport_rank(osla_grid_transport(grid))), sum = 0;
  for (int64_t c = 0; c < osla_matrix_local_cols(a); c++)
    for (int64_t r = 0; r < osla_matrix_local_rows(a); r++)
      sum += visit(osla_matrix_dtype(a), osla_matrix_local(a), r + c * lld,
                   value_at(osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow),
                            osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol)));
  return sum;
}

static bool visit_write(osla_dtype dtype, void *array, int64_t at, double value)
{
  write_element(dtype, array, at, value);
  return false;
}

static bool visit_differ(osla_dtype dtype, void *array, int64_t at, double value)
{
  return differs(dtype, array, at, value);
}

void osla_test_write_local(osla_matrix *matrix)
{
  (void)visit_local(matrix, visit_write);
}

int64_t osla_test_differ_local(const osla_matrix *matrix)
{
  return visit_local(matrix, visit_differ);
}

osla_matrix *osla_test_make(osla_transport *t, int which, osla_dtype dtype, int64_t m, int64_t n,
                            int64_t mb, int64_t nb)
{
  osla_grid *grid = osla_test_grid(t, which);
  osla_matrix *a = NULL;
  OSLA_ASSERT_OK(osla_matrix_create(grid, dtype, m, n, mb, nb, &a));
  return a;
}

void osla_test_destroy(osla_matrix *a)
{
  osla_grid *grid = osla_matrix_grid(a);
  osla_matrix_destroy(&a);
  osla_grid_destroy(&grid);
}
