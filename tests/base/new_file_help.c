#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "tests/base/new_file_help.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char folder[64];

const char *in(const char *name)
{
  static char path[4][PATH_MAX];
  static int next;
  next = (next + 1) % 4;
  snprintf(path[next], sizeof path[0], "%s/%s", folder, name);
  return path[next];
}

void make_folder(void)
{
  strcpy(folder, "/tmp/osla-new-XXXXXX");
  CU_ASSERT(mkdtemp(folder) != NULL);
}

/* Removes the test's folder, and asserts that it held `expected` files. */
void drop_folder(int expected)
{
  int n = 0;
  DIR *handle = opendir(folder);
  for (struct dirent *e; handle && (e = readdir(handle));) {
    if (e->d_name[0] == '.') continue;
    CU_ASSERT(unlink(in(e->d_name)) == 0);
    n++;
  }
  if (handle) closedir(handle);
  OSLA_ASSERT_MSG(n == expected, "%d files, not %d", n, expected);
  CU_ASSERT(rmdir(folder) == 0);
}

bool holds(const char *path, const char *text)
{
  char content[64] = "";
  FILE *file = fopen(path, "r");
  if (!file) return false;
  size_t n = fread(content, 1, sizeof content - 1, file);
  fclose(file);
  return n == strlen(text) && strcmp(content, text) == 0;
}

void put(const char *path, const char *text, mode_t mode)
{
  FILE *file = fopen(path, "w");
  CU_ASSERT(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, mode) == 0);
}

struct stat status_of(const char *path)
{
  struct stat status = {.st_ino = 0};
  CU_ASSERT(lstat(path, &status) == 0);
  return status;
}

/* Writes a file. flags: OSLA_NEW_FILE_NAMED if the file has a name from the beginning, 0 if it gets
 * its name at the end. */
osla_err write_text(const char *path, const char *text, int flags)
{
  osla_new_file *f;
  if (flags == 0) return osli_new_file_write(path, text, strlen(text));
  OSLA_CALL(osli_new_file_begin(path, flags, &f));
  const bool written = write(osli_new_file_fd(f), text, strlen(text)) == (ssize_t)strlen(text);
  CU_ASSERT(written && access(osli_new_file_name(f), F_OK) == 0);
  osla_err err = osli_new_file_sync(f);
  if (err == OSLA_OK) return osli_new_file_place(&f);
  osli_new_file_drop(&f);
  return err;
}

/* Asserts that three functions refuse this path with this error text: the two ways of writing a
 * file (named from the beginning, or only at the end), and osli_new_file_check. */
void refuse(const char *path, const char *text)
{
  for (int flags = 0; flags <= OSLA_NEW_FILE_NAMED; flags++) {
    OSLA_ASSERT_ERR(write_text(path, "x", flags), OSLA_ERR_IO);
    OSLA_ASSERT_TEXT(text);
    OSLA_ASSERT_ERR(osli_new_file_check(path, flags), OSLA_ERR_IO);
    OSLA_ASSERT_TEXT(text);
  }
}
