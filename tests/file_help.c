#include "tests/file_help.h"

#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[128];

void scratch_create(void)
{
  const char *base = getenv("TMPDIR");
  if (osla_test_rank() == 0) {
    snprintf(directory, sizeof directory, "%.90s/osla-file-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(directory)) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, MPI_COMM_WORLD);
}

void scratch_remove(int expected_files)
{
  MPI_Barrier(MPI_COMM_WORLD);
  if (osla_test_rank() > 0) return;
  int files = 0;
  DIR *dir = opendir(directory);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    if (entry->d_name[0] == '.') continue;
    files++;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    if (files > expected_files) fprintf(stderr, "file %d: %s\n", files, entry->d_name);
    (void)unlink(path);
  }
  if (dir) closedir(dir);
  OSLA_ASSERT_MSG(files == expected_files, "%d files, expected %d", files, expected_files);
  CU_ASSERT(rmdir(directory) == 0);
}

const char *scratch_path(const char *name)
{
  static char paths[8][256];
  static int next = 0;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%.100s", directory, name);
  return path;
}

void scratch_write(const char *path, const void *bytes, size_t size)
{
  MPI_Barrier(MPI_COMM_WORLD);
  if (osla_test_rank() == 0) {
    FILE *stream = fopen(path, "wb");
    bool done = stream && fwrite(bytes, 1, size, stream) == size;
    if (stream) done = fclose(stream) == 0 && done;
    CU_ASSERT(done);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void scratch_pipe(const char *path)
{
  if (osla_test_rank() == 0 && mkfifo(path, 0600) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Barrier(MPI_COMM_WORLD);
}

unsigned char *scratch_read(const char *path, size_t *size)
{
  FILE *stream = fopen(path, "rb");
  *size = 0;
  if (!stream) return NULL;
  fseek(stream, 0, SEEK_END);
  size_t length = (size_t)ftell(stream);
  rewind(stream);
  unsigned char *bytes = malloc(length + 1);
  if (bytes) *size = fread(bytes, 1, length, stream);
  fclose(stream);
  return bytes;
}
