/* Tests of new_file.h, which writes files that appear under their name only when they are complete.
 * The cases are refused names, mode and access list of a replaced file, links, long names, limits.
 * One rank. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "tests/base/new_file_help.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static void test_targets(void)
{
  make_folder();
  OSLA_ASSERT_OK(osli_new_file_check(in("new"), 0));
  refuse(in("absent/new"), "No such file");
  refuse(folder, "exists and is not a regular file");
  refuse(in(""), "names a directory");
  refuse("", "the name of the file is empty");
  refuse("/proc/osla", "/proc/osla: directory /proc: ");
  CU_ASSERT(mkfifo(in("pipe"), 0600) == 0);
  refuse(in("pipe"), "pipe: exists and is not a regular file");
  OSLA_ASSERT_OK(osli_new_file_check(
    in("pipe"), OSLA_NEW_FILE_ANY)); /* returns at once, although no process reads the pipe */
  OSLA_ASSERT_ERR(osli_new_file_check("/dev", OSLA_NEW_FILE_ANY), OSLA_ERR_IO);
  drop_folder(1);
}

/* Replaced and new files have the right mode. Other hard links to a replaced file keep the old
 * content. */
static void test_mode(void)
{
  const mode_t modes[] = {0600, 0640, 0666, 0755};
  make_folder();
  mode_t mask = umask(022);
  for (int flags = 0; flags <= OSLA_NEW_FILE_NAMED; flags++) {
    OSLA_ASSERT_OK(write_text(in("new"), "new", flags));
    CU_ASSERT((status_of(in("new")).st_mode & 07777) == 0644);
    CU_ASSERT(unlink(in("new")) == 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
      put(in("file"), "old", modes[i]);
      CU_ASSERT(link(in("file"), in("twin")) == 0);
      OSLA_ASSERT_OK(write_text(in("file"), "new", flags));
      mode_t mode = status_of(in("file")).st_mode & 07777;
      OSLA_ASSERT_MSG(mode == modes[i], "%o, not %o", mode, modes[i]);
      CU_ASSERT(holds(in("file"), "new") && holds(in("twin"), "old"));
      CU_ASSERT(unlink(in("twin")) == 0);
    }
  }
  umask(mask);
  drop_folder(1);
}

/* Other users cannot read a file while it is written, whether it is new or replaces a private one.
 */
static void test_private(void)
{
  osla_new_file *f;
  make_folder();
  const mode_t mask = umask(022);
  for (int k = 0; k < 2; k++) {
    if (k == 1) put(in("file"), "old", 0600);
    OSLA_ASSERT_OK(osli_new_file_begin(in("file"), OSLA_NEW_FILE_NAMED, &f));
    CU_ASSERT((status_of(osli_new_file_name(f)).st_mode & 0777) == 0600);
    osli_new_file_drop(&f);
    osli_new_file_drop(&f); /* the second osli_new_file_drop has no effect */
  }
  umask(mask);
  CU_ASSERT(holds(in("file"), "old"));
  drop_folder(1);
}

/* An access control list by which user 65534 may read a file. Entries are tag, permissions and id
 * (see acl(5)). */
static void test_list(void)
{
  static const struct {
    uint32_t version;
    struct {
      uint16_t tag, permissions;
      uint32_t id;
    } entry[5];
  } list = {2, {{1, 6, -1U}, {2, 4, OTHER}, {4, 0, -1U}, {16, 4, -1U}, {32, 0, -1U}}};
  char kept[sizeof list];
  static const char name[] = "system.posix_acl_access";
  make_folder();
  put(in("file"), "old", 0600);
  CU_ASSERT(true);
  if (setxattr(folder, "system.posix_acl_default", &list, sizeof list, 0) ==
      0) /* default access control list of the folder */
    for (int flags = 0; flags <= OSLA_NEW_FILE_NAMED; flags++) {
      OSLA_ASSERT_OK(write_text(in("new"), "new", flags));
      CU_ASSERT(getxattr(in("new"), name, kept, sizeof kept) == (ssize_t)sizeof list);
      CU_ASSERT(memcmp(kept, &list, sizeof list) == 0 && unlink(in("new")) == 0);
    }
  if (setxattr(in("file"), name, &list, sizeof list, 0) == 0) {
    OSLA_ASSERT_OK(write_text(in("file"), "new", 0));
    CU_ASSERT(getxattr(in("file"), name, kept, sizeof kept) == (ssize_t)sizeof list);
    CU_ASSERT(memcmp(kept, &list, sizeof list) == 0);
  } else {
    printf("no access lists in /tmp: %s\n", strerror(errno));
  }
  drop_folder(1);
}

static void test_links(void)
{
  make_folder();
  char other[80];
  snprintf(other, sizeof other, "%s.other", folder);
  CU_ASSERT(mkdir(other, 0755) == 0);
  char far[100];
  snprintf(far, sizeof far, "%s/far", other);
  CU_ASSERT(symlink("b", in("a")) == 0 && symlink(far, in("b")) == 0);
  for (int flags = 0; flags <= OSLA_NEW_FILE_NAMED; flags++) {
    OSLA_ASSERT_OK(write_text(in("a"), "made", flags)); /* the link's target does not exist yet */
    CU_ASSERT(S_ISLNK(status_of(in("a")).st_mode) && S_ISREG(status_of(far).st_mode));
    CU_ASSERT(chmod(far, 0600) == 0);
    OSLA_ASSERT_OK(write_text(in("a"), "replaced", flags));
    CU_ASSERT(S_ISLNK(status_of(in("b")).st_mode) && holds(far, "replaced"));
    CU_ASSERT((status_of(far).st_mode & 0777) == 0600);
    osli_new_file_remove(in("a"));
    CU_ASSERT(access(far, F_OK) != 0 && S_ISLNK(status_of(in("a")).st_mode));
  }
  CU_ASSERT(rmdir(other) == 0);
  refuse(in("a"), ": No such file or directory"); /* the directory of the file does not exist */
  CU_ASSERT(symlink("circle", in("circle")) == 0);
  refuse(in("circle"), "Too many levels of symbolic links");
  int fd = open(in("lost"), O_CREAT | O_RDWR, 0600);
  CU_ASSERT(fd >= 0 && unlink(in("lost")) == 0);
  char magic[40];
  snprintf(magic, sizeof magic, "/proc/self/fd/%d", fd);
  refuse(magic, "a link that leads to no name");
  CU_ASSERT(close(fd) == 0);
  drop_folder(3);
}

/* A file may have any name that the file system allows, although the temporary name is longer. */
static void test_long_names(void)
{
  char name[300];
  make_folder();
  memset(name, 'n', sizeof name);
  for (int length = 200; length <= 255; length += 5)
    for (int again = 0; again < 2; again++)
      for (int flags = 0; flags <= OSLA_NEW_FILE_NAMED; flags++) {
        name[length] = '\0';
        OSLA_ASSERT_OK(osli_new_file_check(in(name), flags));
        OSLA_ASSERT_OK(write_text(in(name), "x", flags));
        name[length] = 'n';
      }
  name[256] = '\0';
  refuse(in(name), "File name too long");
  drop_folder(12);
}

/* A limit on file sizes is reported as an error, like a full disk. No signal is raised, and the
 * program's signal handlers and mask are unchanged. */
static void test_limit(void)
{
  static const char bytes[10000];
  struct rlimit before, limit;
  struct sigaction action;
  sigset_t pending, mask;
  make_folder();
  put(in("file"), "old", 0600);
  getrlimit(RLIMIT_FSIZE, &before);
  limit = before;
  limit.rlim_cur = 3000;
  setrlimit(RLIMIT_FSIZE, &limit);
  OSLA_ASSERT_ERR(osli_new_file_write(in("file"), bytes, sizeof bytes), OSLA_ERR_IO);
  setrlimit(RLIMIT_FSIZE, &before);
  OSLA_ASSERT_TEXT("File too large");
  CU_ASSERT(sigaction(SIGXFSZ, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
  CU_ASSERT(sigpending(&pending) == 0 && !sigismember(&pending, SIGXFSZ));
  CU_ASSERT(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && !sigismember(&mask, SIGXFSZ));
  CU_ASSERT(holds(in("file"), "old"));
  drop_folder(1);
}

static const osla_test_case cases[] = {{"targets", test_targets}, {"mode", test_mode},
                                       {"private", test_private}, {"list", test_list},
                                       {"links", test_links},     {"long_names", test_long_names},
                                       {"limit", test_limit},     {NULL, NULL}};
OSLA_TEST_SUITE(test_new_file, cases);
