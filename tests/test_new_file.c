/* Files that appear all at once: what may be written, what a file passes on to the one that takes
 * its place, links, long names, limits. One rank; the parts that need other users need root. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "osla_test.h"
#include "osla_test_help.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "new_file.h"

enum { OTHER = 65534 };

static char folder[64];

static const char *in(const char *name)
{
  static char path[4][PATH_MAX];
  static int next;
  next = (next + 1) % 4;
  snprintf(path[next], sizeof path[0], "%s/%s", folder, name);
  return path[next];
}

static void make_folder(void)
{
  strcpy(folder, "/tmp/osla-new-XXXXXX");
  CU_ASSERT(mkdtemp(folder) != NULL);
}

/* Removes the folder; it must hold this number of files. */
static void drop_folder(int expected)
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

static bool holds(const char *path, const char *text)
{
  char content[64] = "";
  FILE *file = fopen(path, "r");
  if (!file) return false;
  size_t n = fread(content, 1, sizeof content - 1, file);
  fclose(file);
  return n == strlen(text) && strcmp(content, text) == 0;
}

static void put(const char *path, const char *text, mode_t mode)
{
  FILE *file = fopen(path, "w");
  CU_ASSERT(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, mode) == 0);
}

static struct stat status_of(const char *path)
{
  struct stat status = {.st_ino = 0};
  CU_ASSERT(lstat(path, &status) == 0);
  return status;
}

/* With a name from the beginning, as files of several ranks have it, or without. */
static osla_err write_text(const char *path, const char *text, int flags)
{
  osla_new_file *f;
  if (flags == 0) return osla_new_file_write(path, text, strlen(text));
  OSLA_CALL(osla_new_file_begin(path, flags, &f));
  const bool written = write(osla_new_file_fd(f), text, strlen(text)) == (ssize_t)strlen(text);
  CU_ASSERT(written && access(osla_new_file_name(f), F_OK) == 0);
  osla_err err = osla_new_file_sync(f);
  if (err == OSLA_OK) return osla_new_file_place(&f);
  osla_new_file_drop(&f);
  return err;
}

/* Both ways of writing, and the check, refuse the path with this text. */
static void refuse(const char *path, const char *text)
{
  for (int flags = 0; flags <= OSLA_NEW_FILE_NAMED; flags++) {
    OSLA_ASSERT_ERR(write_text(path, "x", flags), OSLA_ERR_IO);
    OSLA_ASSERT_TEXT(text);
    OSLA_ASSERT_ERR(osla_new_file_check(path, flags), OSLA_ERR_IO);
    OSLA_ASSERT_TEXT(text);
  }
}

static void test_targets(void)
{
  make_folder();
  OSLA_ASSERT_OK(osla_new_file_check(in("new"), 0));
  refuse(in("absent/new"), "No such file");
  refuse(folder, "exists and is not a regular file");
  refuse(in(""), "names a directory");
  refuse("", "the name of the file is empty");
  refuse("/proc/osla", "/proc/osla: directory /proc: ");
  CU_ASSERT(mkfifo(in("pipe"), 0600) == 0);
  refuse(in("pipe"), "pipe: exists and is not a regular file");
  OSLA_ASSERT_OK(osla_new_file_check(in("pipe"), OSLA_NEW_FILE_ANY)); /* and does not wait */
  OSLA_ASSERT_ERR(osla_new_file_check("/dev", OSLA_NEW_FILE_ANY), OSLA_ERR_IO);
  drop_folder(1);
}

/* Mode, and new files' mode; other hard links keep the old content. */
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

/* While it is written, nobody else can read what takes the place of a private file. */
static void test_private(void)
{
  osla_new_file *f;
  make_folder();
  put(in("file"), "old", 0600);
  OSLA_ASSERT_OK(osla_new_file_begin(in("file"), OSLA_NEW_FILE_NAMED, &f));
  CU_ASSERT((status_of(osla_new_file_name(f)).st_mode & 0777) == 0600);
  osla_new_file_drop(&f);
  osla_new_file_drop(&f); /* nothing */
  CU_ASSERT(holds(in("file"), "old"));
  drop_folder(1);
}

/* An access list: user 65534 may read. The entries are tag, permissions, id; see acl(5). */
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
  if (setxattr(in("file"), name, &list, sizeof list, 0) == 0) {
    OSLA_ASSERT_OK(write_text(in("file"), "new", 0));
    CU_ASSERT(getxattr(in("file"), name, kept, sizeof kept) == (ssize_t)sizeof list);
    CU_ASSERT(memcmp(kept, &list, sizeof list) == 0);
  } else {
    printf("no access lists in /tmp: %s\n", strerror(errno));
  }
  drop_folder(1);
}

/* Owner and group; what another user may not replace. */
static void test_owner(void)
{
  make_folder();
  CU_ASSERT(true);
  if (geteuid() != 0) {
    printf("not root: other users' files are not tested\n");
    drop_folder(0);
    return;
  }
  put(in("file"), "old", 0640);
  CU_ASSERT(chown(in("file"), OTHER, 1234) == 0);
  OSLA_ASSERT_OK(write_text(in("file"), "new", 0));
  struct stat status = status_of(in("file"));
  CU_ASSERT(status.st_uid == OTHER && status.st_gid == 1234 && (status.st_mode & 0777) == 0640);

  put(in("locked"), "old", 0444); /* a folder of all, with the sticky bit, as /tmp */
  put(in("foreign"), "old", 0666);
  CU_ASSERT(chmod(folder, 01777) == 0 && symlink("file", in("link")) == 0);
  CU_ASSERT(chown(in("locked"), OTHER, OTHER) == 0 && lchown(in("link"), 4321, 4321) == 0);
  CU_ASSERT(chown(in("file"), OTHER, 0) == 0 && chmod(in("file"), 0664) == 0);
  for (int i = 0; i < 3; i++) {
    const mode_t shared[] = {01777, 0777, 02770};
    CU_ASSERT(chmod(folder, shared[i]) == 0);
    refuse(in("link"), "link of another user in a directory that others may change");
    osla_new_file_remove(in("link"));
    CU_ASSERT(holds(in("file"), "new"));
  }
  CU_ASSERT(chmod(folder, 0755) == 0);
  OSLA_ASSERT_OK(osla_new_file_check(in("link"), 0)); /* root's folder, where only root writes */
  CU_ASSERT(chmod(folder, 01777) == 0);
  CU_ASSERT(setegid(OTHER) == 0 && seteuid(OTHER) == 0);
  refuse(in("locked"), "exists and may not be replaced: Permission denied");
  refuse(in("foreign"), "exists and may not be replaced: Operation not permitted");
  OSLA_ASSERT_OK(write_text(in("file"), "again", 0)); /* group 0 cannot be kept: no more than all */
  CU_ASSERT(seteuid(0) == 0 && setegid(0) == 0);
  status = status_of(in("file"));
  CU_ASSERT(status.st_uid == OTHER && status.st_gid == OTHER && (status.st_mode & 0777) == 0644);
  drop_folder(4);
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
    OSLA_ASSERT_OK(write_text(in("a"), "made", flags)); /* what the link names is not there yet */
    CU_ASSERT(S_ISLNK(status_of(in("a")).st_mode) && S_ISREG(status_of(far).st_mode));
    CU_ASSERT(chmod(far, 0600) == 0);
    OSLA_ASSERT_OK(write_text(in("a"), "replaced", flags));
    CU_ASSERT(S_ISLNK(status_of(in("b")).st_mode) && holds(far, "replaced"));
    CU_ASSERT((status_of(far).st_mode & 0777) == 0600);
    osla_new_file_remove(in("a"));
    CU_ASSERT(access(far, F_OK) != 0 && S_ISLNK(status_of(in("a")).st_mode));
  }
  CU_ASSERT(rmdir(other) == 0);
  refuse(in("a"), ": No such file or directory"); /* of the directory */
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

/* The temporary name went to something else: that is neither placed nor removed. */
static void test_replaced(void)
{
  static const char *const ends[] = {"dropped", "placed"};
  osla_new_file *f;
  make_folder();
  put(in("private"), "private", 0600);
  for (int end = 0; end < 2; end++)
    for (int kind = 0; kind < 3; kind++) { /* nothing, a link, another file */
      put(in("file"), "old", 0600);
      OSLA_ASSERT_OK(osla_new_file_begin(in("file"), OSLA_NEW_FILE_NAMED, &f));
      char name[PATH_MAX];
      snprintf(name, sizeof name, "%s", osla_new_file_name(f));
      CU_ASSERT(rename(name, in("taken")) == 0);
      if (kind == 1) CU_ASSERT(symlink("private", name) == 0);
      if (kind == 2) put(name, "foreign", 0600);
      OSLA_ASSERT_OK(osla_new_file_sync(f));
      if (end == 0) {
        osla_new_file_drop(&f);
      } else {
        OSLA_ASSERT_ERR(osla_new_file_place(&f), OSLA_ERR_IO);
        OSLA_ASSERT_TEXT("file: not written, because somebody else replaced the file");
      }
      OSLA_ASSERT_MSG(holds(in("file"), "old") && holds(in("private"), "private") &&
                        (kind == 0 || unlink(name) == 0),
                      "%s, kind %d", ends[end], kind);
      CU_ASSERT(unlink(in("taken")) == 0);
    }
  drop_folder(2);
}

typedef struct exchange {
  char pipe[100], link[100];
  atomic_bool ends;
} exchange;

static void *exchange_names(void *arg)
{
  exchange *x = arg;
  while (!atomic_load(&x->ends))
    (void)renameat2(AT_FDCWD, x->pipe, AT_FDCWD, x->link, RENAME_EXCHANGE);
  return NULL;
}

/* While a pipe is opened, another user puts a link to a private file in its place: the file must
 * not be opened instead. */
static void test_pipe_replaced(void)
{
  exchange x = {.pipe = ""};
  pthread_t thread;
  struct stat status;
  osla_new_file *f;
  int opened = 0;
  make_folder();
  snprintf(x.pipe, sizeof x.pipe, "%s/pipe", folder);
  snprintf(x.link, sizeof x.link, "%s/link", folder);
  put(in("private"), "old", 0600);
  CU_ASSERT(mkfifo(x.pipe, 0600) == 0 && symlink("private", x.link) == 0);
  const int reader = open(x.pipe, O_RDWR);
  CU_ASSERT_FATAL(pthread_create(&thread, NULL, exchange_names, &x) == 0);
  for (int i = 0; i < 3000; i++) {
    if (osla_new_file_begin(x.pipe, OSLA_NEW_FILE_ANY, &f) != OSLA_OK) continue;
    CU_ASSERT(fstat(osla_new_file_fd(f), &status) == 0);
    if (S_ISFIFO(status.st_mode)) opened++;
    if (status.st_ino == status_of(in("private")).st_ino) OSLA_ASSERT_MSG(false, "try %d", i);
    osla_new_file_drop(&f);
  }
  atomic_store(&x.ends, true);
  pthread_join(thread, NULL);
  OSLA_ASSERT_MSG(opened > 100, "the pipe was opened %d times", opened);
  close(reader);
  drop_folder(3);
}

/* Whatever name the file system takes is taken, also beside a temporary one. */
static void test_long_names(void)
{
  char name[300];
  make_folder();
  memset(name, 'n', sizeof name);
  for (int length = 200; length <= 255; length += 5)
    for (int again = 0; again < 2; again++)
      for (int flags = 0; flags <= OSLA_NEW_FILE_NAMED; flags++) {
        name[length] = '\0';
        OSLA_ASSERT_OK(osla_new_file_check(in(name), flags));
        OSLA_ASSERT_OK(write_text(in(name), "x", flags));
        name[length] = 'n';
      }
  name[256] = '\0';
  refuse(in(name), "File name too long");
  drop_folder(12);
}

/* A limit on the size of files is an error like a full disk, and no signal comes; the program's own
 * ways with signals are untouched. */
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
  OSLA_ASSERT_ERR(osla_new_file_write(in("file"), bytes, sizeof bytes), OSLA_ERR_IO);
  setrlimit(RLIMIT_FSIZE, &before);
  OSLA_ASSERT_TEXT("File too large");
  CU_ASSERT(sigaction(SIGXFSZ, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
  CU_ASSERT(sigpending(&pending) == 0 && !sigismember(&pending, SIGXFSZ));
  CU_ASSERT(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && !sigismember(&mask, SIGXFSZ));
  CU_ASSERT(holds(in("file"), "old"));
  drop_folder(1);
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {{"targets", test_targets},
                                         {"mode", test_mode},
                                         {"private", test_private},
                                         {"list", test_list},
                                         {"owner", test_owner},
                                         {"links", test_links},
                                         {"replaced", test_replaced},
                                         {"pipe_replaced", test_pipe_replaced},
                                         {"long_names", test_long_names},
                                         {"limit", test_limit},
                                         {NULL, NULL}};
  return osla_test_main(argc, argv, cases);
}
