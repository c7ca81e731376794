/* Tests of new_file.h in directories that another user may write, or with files of other users:
 * links, owners, access rights, and temporary names that another user gives to another file. One
 * rank; most cases need root. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "tests/base/new_file_help.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Owner and group of a new file that replaces an old one, and files of another user that may not be
 * replaced. */
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

  put(in("locked"), "old",
      0444); /* the folder is writable by all and has the sticky bit, like /tmp */
  put(in("foreign"), "old", 0666);
  CU_ASSERT(chmod(folder, 01777) == 0 && symlink("file", in("link")) == 0);
  CU_ASSERT(chown(in("locked"), OTHER, OTHER) == 0 && lchown(in("link"), 4321, 4321) == 0);
  CU_ASSERT(chown(in("file"), OTHER, 0) == 0 && chmod(in("file"), 0664) == 0);
  for (int i = 0; i < 3; i++) {
    const mode_t shared[] = {01777, 0777, 02770};
    CU_ASSERT(chmod(folder, shared[i]) == 0);
    refuse(in("link"), "link of another user in a directory that others may change");
    osli_new_file_remove(in("link"));
    CU_ASSERT(holds(in("file"), "new"));
  }
  /* the directory now belongs to the owner of the link */
  CU_ASSERT(chown(folder, 4321, 4321) == 0);
  refuse(in("link"), "link of another user in a directory that others may change");
  CU_ASSERT(chown(folder, 0, 0) == 0 && chmod(folder, 0755) == 0);
  OSLA_ASSERT_OK(osli_new_file_check(
    in("link"), 0)); /* accepted, because root owns the folder and no other user may write it */
  CU_ASSERT(chmod(folder, 01777) == 0);
  CU_ASSERT(setegid(OTHER) == 0 && seteuid(OTHER) == 0);
  refuse(in("locked"), "exists and may not be replaced: Permission denied");
  refuse(in("foreign"), "exists and may not be replaced: Operation not permitted");
  OSLA_ASSERT_OK(
    write_text(in("file"), "again", 0)); /* the process may not set group 0, so the new file gives
                                            its group only the rights of all users */
  CU_ASSERT(seteuid(0) == 0 && setegid(0) == 0);
  status = status_of(in("file"));
  CU_ASSERT(status.st_uid == OTHER && status.st_gid == OTHER && (status.st_mode & 0777) == 0644);
  drop_folder(4);
}

/* If a file of another user is replaced in a directory that all users may write, the new file gets
 * neither the owner nor the group of the old one, and at most the rights of a newly created file.
 * Nor may other users read a new file while it is written to replace a private one. */
static void test_rights(void)
{
  static const struct {
    const char *name;
    mode_t foreign, result;
  } cases[] = {{"open", 0666, 0644}, {"shut", 0600, 0600}, {"group", 0660, 0600}};
  osla_new_file *f;
  make_folder();
  const mode_t mask = umask(022);
  for (int k = 0; geteuid() == 0 && k < 6; k++) {
    const char *path = in(cases[k / 2].name);
    CU_ASSERT(chmod(folder, 0777) == 0);
    put(path, "old", cases[k / 2].foreign);
    CU_ASSERT(chown(path, 4321, 4321) == 0);
    OSLA_ASSERT_OK(write_text(path, "new", k % 2 ? OSLA_NEW_FILE_NAMED : 0));
    const struct stat status = status_of(path);
    OSLA_ASSERT_MSG((status.st_mode & 0777) == cases[k / 2].result, "%o", status.st_mode);
    CU_ASSERT(status.st_uid == 0 && status.st_gid == getegid() && unlink(path) == 0);
  }
  if (geteuid() == 0) {
    put(in("private"), "old", 0600);
    put(in("foreign"), "foreign", 0666);
    CU_ASSERT(chown(in("foreign"), 4321, 4321) == 0);
    OSLA_ASSERT_OK(osli_new_file_begin(in("private"), 0, &f));
    CU_ASSERT(rename(in("foreign"), in("private")) == 0);
    OSLA_ASSERT_OK(osli_new_file_sync(f));
    OSLA_ASSERT_OK(osli_new_file_place(&f));
    const struct stat status = status_of(in("private"));
    CU_ASSERT((status.st_mode & 0777) == 0600 && status.st_uid == 0);
  }
  umask(mask);
  drop_folder(geteuid() == 0 ? 1 : 0);
}

/* If another user has given the temporary name to another file, OSLA neither renames nor removes
 * that file. */
static void test_replaced(void)
{
  static const char *const ends[] = {"dropped", "placed"};
  osla_new_file *f;
  make_folder();
  put(in("private"), "private", 0600);
  for (int end = 0; end < 2; end++)
    for (int kind = 0; kind < 3; kind++) { /* kind: 0 the temporary file is removed, 1 it is
                                              replaced by a link, 2 by another file */
      put(in("file"), "old", 0600);
      OSLA_ASSERT_OK(osli_new_file_begin(in("file"), OSLA_NEW_FILE_NAMED, &f));
      char name[PATH_MAX];
      snprintf(name, sizeof name, "%s", osli_new_file_name(f));
      CU_ASSERT(rename(name, in("taken")) == 0);
      if (kind == 1) CU_ASSERT(symlink("private", name) == 0);
      if (kind == 2) put(name, "foreign", 0600);
      OSLA_ASSERT_OK(osli_new_file_sync(f));
      if (end == 0) {
        osli_new_file_drop(&f);
      } else {
        OSLA_ASSERT_ERR(osli_new_file_place(&f), OSLA_ERR_IO);
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
  char one[PATH_MAX], two[PATH_MAX];
  atomic_bool began, ends;
  pthread_t thread;
} exchange;

static void *exchange_names(void *arg)
{
  exchange *x = arg;
  while (!atomic_load(&x->ends)) {
    (void)renameat2(AT_FDCWD, x->one, AT_FDCWD, x->two, RENAME_EXCHANGE);
    atomic_store(&x->began, true);
  }
  return NULL;
}

/* A thread that exchanges two file names continuously, as a user who may write the directory can.
 */
static void start_exchange(exchange *x, const char *one, const char *two)
{
  snprintf(x->one, sizeof x->one, "%s", one);
  snprintf(x->two, sizeof x->two, "%s", two);
  atomic_init(&x->began, false);
  atomic_init(&x->ends, false);
  CU_ASSERT_FATAL(pthread_create(&x->thread, NULL, exchange_names, x) == 0);
  while (!atomic_load(&x->began))
    (void)sched_yield();
}

static void stop_exchange(exchange *x)
{
  atomic_store(&x->ends, true);
  pthread_join(x->thread, NULL);
}

/* Before the temporary file is renamed to its final name, another user exchanges it for an older
 * file of the same owner. If the older file gets the final name, the call must fail. */
static void test_older(void)
{
  exchange x;
  osla_new_file *f;
  const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
  int hits = 0;
  make_folder();
  for (int i = 0; i < 1000 && hits < 3; i++) {
    put(in("older"), "older", 0600);
    CU_ASSERT(utimensat(AT_FDCWD, in("older"), old, 0) == 0);
    OSLA_ASSERT_OK(osli_new_file_begin(in("file"), OSLA_NEW_FILE_NAMED, &f));
    CU_ASSERT(write(osli_new_file_fd(f), "new", 3) == 3);
    OSLA_ASSERT_OK(osli_new_file_sync(f));
    start_exchange(&x, osli_new_file_name(f), in("older"));
    const osla_err err = osli_new_file_place(&f);
    stop_exchange(&x);
    if (holds(in("file"), "older")) {
      hits++;
      OSLA_ASSERT_ERR(err, OSLA_ERR_IO);
      OSLA_ASSERT_TEXT("file: not written, because somebody else replaced the file");
    } else {
      CU_ASSERT(err != OSLA_OK || holds(in("file"), "new"));
    }
    (void)unlink(x.one);
    (void)unlink(x.two);
    (void)unlink(in("file"));
  }
  printf("the older file took the place %d times\n", hits);
  drop_folder(0);
}

/* While a pipe is opened, another user replaces it by a link to a private file, which must not be
 * opened. */
static void test_pipe_replaced(void)
{
  exchange x;
  struct stat status;
  osla_new_file *f;
  int opened = 0;
  make_folder();
  put(in("private"), "old", 0600);
  CU_ASSERT(mkfifo(in("pipe"), 0600) == 0 && symlink("private", in("link")) == 0);
  const int reader = open(in("pipe"), O_RDWR);
  start_exchange(&x, in("pipe"), in("link"));
  for (int i = 0; i < 3000; i++) {
    if (osli_new_file_begin(x.one, OSLA_NEW_FILE_ANY, &f) != OSLA_OK) continue;
    CU_ASSERT(fstat(osli_new_file_fd(f), &status) == 0);
    if (S_ISFIFO(status.st_mode)) opened++;
    if (status.st_ino == status_of(in("private")).st_ino) OSLA_ASSERT_MSG(false, "try %d", i);
    osli_new_file_drop(&f);
  }
  stop_exchange(&x);
  OSLA_ASSERT_MSG(opened > 100, "the pipe was opened %d times", opened);
  close(reader);
  drop_folder(3);
}

/* Writes through a link of another user to a pipe, and to an open pipe whose name was removed. */
static void test_pipe_links(void)
{
  osla_new_file *f;
  char open_pipe[64];
  make_folder();
  CU_ASSERT(mkfifo(in("pipe"), 0600) == 0 && symlink("pipe", in("link")) == 0);
  const int reader = open(in("pipe"), O_RDWR);
  OSLA_ASSERT_OK(osli_new_file_check(in("link"), OSLA_NEW_FILE_ANY));
  OSLA_ASSERT_OK(osli_new_file_begin(in("link"), OSLA_NEW_FILE_ANY, &f));
  osli_new_file_drop(&f);
  if (geteuid() == 0) {
    CU_ASSERT(chmod(folder, 0777) == 0 && lchown(in("link"), 4321, 4321) == 0);
    OSLA_ASSERT_ERR(osli_new_file_begin(in("link"), OSLA_NEW_FILE_ANY, &f), OSLA_ERR_IO);
    OSLA_ASSERT_TEXT("link of another user");
    OSLA_ASSERT_ERR(osli_new_file_check(in("link"), OSLA_NEW_FILE_ANY), OSLA_ERR_IO);
  }
  CU_ASSERT(unlink(in("pipe")) == 0);
  snprintf(open_pipe, sizeof open_pipe, "/proc/self/fd/%d", reader);
  OSLA_ASSERT_OK(osli_new_file_check(open_pipe, OSLA_NEW_FILE_ANY));
  OSLA_ASSERT_OK(osli_new_file_begin(open_pipe, OSLA_NEW_FILE_ANY, &f));
  CU_ASSERT(write(osli_new_file_fd(f), "x", 1) == 1);
  OSLA_ASSERT_OK(osli_new_file_place(&f));
  close(reader);
  drop_folder(1);
}

/* While OSLA follows a link of the calling user, another user exchanges it for a link of his own.
 */
static void test_link_replaced(void)
{
  exchange x;
  char target[PATH_MAX];
  int followed = 0, refused = 0;
  make_folder();
  if (geteuid() == 0) {
    CU_ASSERT(symlink("mine", in("link")) == 0 && symlink("private", in("foreign")) == 0);
    CU_ASSERT(lchown(in("foreign"), 4321, 4321) == 0 && chmod(folder, 0777) == 0);
    start_exchange(&x, in("link"), in("foreign"));
    for (int i = 0; i < 5000 || (i < 200000 && (followed < 100 || refused < 100)); i++) {
      if (osli_new_file_target(x.one, target) != OSLA_OK) {
        refused++;
        continue;
      }
      followed++;
      if (strcmp(strrchr(target, '/'), "/mine") != 0) OSLA_ASSERT_MSG(false, "try %d", i);
    }
    stop_exchange(&x);
    OSLA_ASSERT_MSG(followed >= 100 && refused >= 100, "followed %d times, refused %d times",
                    followed, refused);
  }
  drop_folder(geteuid() == 0 ? 2 : 0);
}

static const osla_test_case cases[] = {{"owner", test_owner},
                                       {"rights", test_rights},
                                       {"replaced", test_replaced},
                                       {"older", test_older},
                                       {"pipe_replaced", test_pipe_replaced},
                                       {"pipe_links", test_pipe_links},
                                       {"link_replaced", test_link_replaced},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_new_file_others, cases);
