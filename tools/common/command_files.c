/* Compares the files of a command with each other, and checks outputs and free space before the
 * work. */
#include "config.h"

#include "src/base/new_file.h"
#include "src/base/write_at.h"
#include "tools/common/command_files.h"
#include "tools/common/report_directory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The identity of a path: that of an existing file, or a file name and its directory if the file
 * does not exist. */
typedef struct file_identity {
  bool known;
  dev_t device;
  ino_t number;   /* inode number of the file, or of the directory if the file does not exist */
  char *new_name; /* name of the file in its directory; NULL: the file exists */
} file_identity;

static file_identity identity_of_status(const struct stat *status)
{
  return (file_identity){
    .known = S_ISREG(status->st_mode), .device = status->st_dev, .number = status->st_ino};
}

/* Finds the identity of a path. The identity is unknown if the path is not a regular file, or if
 * the path cannot be reached; other checks report a path that cannot be reached. */
static osla_err find_identity(const char *path, file_identity *p)
{
  char target[PATH_MAX], directory[PATH_MAX];
  struct stat status;
  *p = (file_identity){.known = false};
  if (stat(path, &status) == 0) {
    *p = identity_of_status(&status);
    return OSLA_OK;
  }
  if (osli_new_file_target(path, target) != OSLA_OK ||
      osli_new_file_directory(target, directory) != OSLA_OK || stat(directory, &status) != 0)
    return OSLA_OK;
  const char *slash = strrchr(target, '/');
  *p = (file_identity){.known = true,
                       .device = status.st_dev,
                       .number = status.st_ino,
                       .new_name = strdup(slash ? slash + 1 : target)};
  OSLA_CHECK(p->new_name, OSLA_ERR_MEM, "no memory for name of a file");
  return OSLA_OK;
}

static bool is_same_file(const file_identity *a, const file_identity *b)
{
  if (!a->known || !b->known || a->device != b->device || a->number != b->number) return false;
  return (!a->new_name && !b->new_name) ||
         (a->new_name && b->new_name && strcmp(a->new_name, b->new_name) == 0);
}

/* Compares output `i` with the preceding outputs, with all inputs, and with the standard
 * streams. */
static osla_err compare(const command_file *files, const file_identity *places, int n, int i)
{
  static const char *const streams[] = {"standard output", "standard error"};
  const command_file *f = &files[i];
  for (int j = 0; j < n; j++) {
    if (j == i || (j > i && files[j].use != OSLA_FILE_READ)) continue;
    OSLA_CHECK(!is_same_file(&places[i], &places[j]), OSLA_ERR_ARG,
               "%s: %.160s is also the file of %s %.160s", f->option, f->path, files[j].option,
               files[j].path);
  }
  for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
    struct stat status;
    if (fstat(fd, &status) != 0) continue;
    const file_identity stream = identity_of_status(&status);
    OSLA_CHECK(!is_same_file(&places[i], &stream), OSLA_ERR_ARG,
               "%s: %.200s is also the file of %s", f->option, f->path,
               streams[fd - STDOUT_FILENO]);
  }
  return OSLA_OK;
}

static osla_err check_output(const command_file *f)
{
  if (!f->path || f->use == OSLA_FILE_READ || f->use == OSLA_FILE_APPENDED) return OSLA_OK;
  if (f->use == OSLA_FILE_REPORT) return report_directory_check(f->path);
  return osli_new_file_check(f->path, f->use == OSLA_FILE_TRACE ? OSLA_NEW_FILE_ANY : 0);
}

osla_err command_check_files(const command_file *files, int n)
{
  file_identity *places = calloc((size_t)n + 1, sizeof *places);
  osla_err err =
    places ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for table of %d files", n);
  for (int i = 0; i < n && err == OSLA_OK; i++)
    if (files[i].path) err = find_identity(files[i].path, &places[i]);
  for (int i = 0; i < n && err == OSLA_OK; i++)
    if (files[i].path && files[i].use != OSLA_FILE_READ) err = compare(files, places, n, i);
  for (int i = 0; i < n && err == OSLA_OK; i++)
    err = check_output(&files[i]);
  for (int i = 0; i < n && places; i++)
    free(places[i].new_name);
  free(places);
  return err;
}

/* Finds the directory of an output and the device of its file system. Returns false if the output
 * needs no room. */
static bool find_system(const command_file *f, char directory[PATH_MAX], dev_t *device)
{
  char target[PATH_MAX];
  struct stat status;
  if (!f->path || f->bytes == 0 || osli_new_file_target(f->path, target) != OSLA_OK ||
      osli_new_file_directory(target, directory) != OSLA_OK || stat(directory, &status) != 0)
    return false;
  *device = status.st_dev;
  return true;
}

/* Returns true if the file is a checkpoint and already exists. */
static bool is_existing_checkpoint(const command_file *f)
{
  return f->use == OSLA_FILE_CHECKPOINT && f->path && access(f->path, F_OK) == 0;
}

osla_err command_check_room(const command_file *files, int n)
{
  for (int i = 0; i < n; i++) {
    char directory[PATH_MAX], other[PATH_MAX];
    struct statvfs space;
    dev_t device, other_device;
    uint64_t bytes = 0, room;
    if (!find_system(&files[i], directory, &device)) continue;
    OSLA_CALL(osli_check_length(files[i].path, files[i].bytes));
    for (int j = 0; j < n; j++) {
      if (j != i && (is_existing_checkpoint(&files[i]) || is_existing_checkpoint(&files[j])))
        continue;
      if (find_system(&files[j], other, &other_device) && other_device == device &&
          __builtin_add_overflow(bytes, files[j].bytes, &bytes))
        bytes = UINT64_MAX;
    }
    /* no check if the file system does not report its size */
    if (statvfs(directory, &space) != 0 || space.f_blocks == 0) continue;
    uint64_t blocks = geteuid() == 0 ? space.f_bfree : space.f_bavail;
    if (__builtin_mul_overflow(blocks, (uint64_t)space.f_frsize, &room)) continue;
    OSLA_CHECK(bytes <= room, OSLA_ERR_IO,
               "%s: %.160s: the file system has not enough room: %" PRIu64
               " bytes are needed, and %" PRIu64 " are free",
               files[i].option, files[i].path, bytes, room);
  }
  return OSLA_OK;
}

osla_err command_check_files_on_root(osla_transport *t, const command_file *files, int n, bool room)
{
  osla_err err = OSLA_OK;
  if (osla_transport_rank(t) == 0)
    err = room ? command_check_room(files, n) : command_check_files(files, n);
  return osla_agree(t, err);
}
