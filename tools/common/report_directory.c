/* Checks the folder of a report, and writes the page index.html in it. */
#include "config.h"

#include "src/base/new_file.h"
#include "tools/common/report_directory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char report_directory_mark[] = "<!DOCTYPE html>\n<!-- osla invert: report -->\n";

/* Copies the name of the directory without trailing slashes. */
static osla_err copy_name(const char *directory, char name[PATH_MAX])
{
  size_t length = strlen(directory);
  while (length > 1 && directory[length - 1] == '/')
    length--;
  OSLA_CHECK(length > 0, OSLA_ERR_IO, "--report: the name of the directory is empty");
  OSLA_CHECK(length + sizeof "/index.html" + 16 < PATH_MAX, OSLA_ERR_IO,
             "%.200s: the name is too long", directory);
  (void)memcpy(name, directory, length);
  name[length] = '\0';
  return OSLA_OK;
}

static osla_err check_page(const char *file)
{
  char begin[sizeof report_directory_mark] = "";
  struct stat status;
  if (lstat(file, &status) != 0) return OSLA_OK;
  FILE *in = S_ISREG(status.st_mode) ? fopen(file, "rb") : NULL;
  const size_t wanted = sizeof report_directory_mark - 1;
  const bool ours = in && fread(begin, 1, wanted, in) == wanted &&
                    memcmp(begin, report_directory_mark, wanted) == 0;
  if (in) fclose(in);
  OSLA_CHECK(ours, OSLA_ERR_IO, "%.200s: is not a report of osla invert, and is not replaced",
             file);
  return OSLA_OK;
}

static bool name_exists(const char *name)
{
  struct stat status;
  return lstat(name, &status) == 0;
}

osla_err report_directory_check(const char *directory)
{
  char name[PATH_MAX], file[PATH_MAX + 16];
  struct stat status;
  OSLA_CALL(copy_name(directory, name));
  /* if a file can be created under this name, a directory can be created, too */
  if (!name_exists(name)) return osli_new_file_check(name, 0);
  OSLA_CHECK(stat(name, &status) == 0, OSLA_ERR_IO, "%.200s: %s", name, strerror(errno));
  OSLA_CHECK(S_ISDIR(status.st_mode), OSLA_ERR_IO, "%.200s: is not a directory", name);
  (void)snprintf(file, sizeof file, "%s/index.html", name);
  OSLA_CALL(check_page(file));
  return osli_new_file_check(file, 0);
}

osla_err report_directory_write(const char *directory, const void *page, size_t size)
{
  char name[PATH_MAX], file[PATH_MAX + 16];
  OSLA_CALL(copy_name(directory, name));
  const bool made = mkdir(name, 0777) == 0;
  OSLA_CHECK(made || errno == EEXIST, OSLA_ERR_IO, "%.200s: %s", name, strerror(errno));
  (void)snprintf(file, sizeof file, "%s/index.html", name);
  osla_err err = check_page(file);
  if (err == OSLA_OK) err = osli_new_file_write(file, page, size);
  if (err != OSLA_OK && made) (void)rmdir(name);
  return err;
}

void report_directory_page(const char *directory, char file[PATH_MAX])
{
  char name[PATH_MAX];
  file[0] = '\0';
  if (copy_name(directory, name) == OSLA_OK && name_exists(name))
    (void)snprintf(file, PATH_MAX, "%.*s/index.html", PATH_MAX - 16, name);
}
