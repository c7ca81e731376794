/* Tests traces that cannot be written, and files that a trace must not overwrite. */
#include "osla_trace.h"
#include "tests/file_help.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static osla_transport *traced(void)
{
  osla_transport *t = osla_test_transport();
  OSLA_ASSERT_OK(osla_trace_start(t));
  OSLA_ASSERT_OK(osla_barrier(t));
  return t;
}

static void test_unwritable(void)
{
  osla_transport *t = traced();
  struct stat null;
  scratch_create();
  const char *absent = scratch_path("none/trace.json");
  OSLA_ASSERT_ERR(osla_trace_write(t, absent), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("No such file or directory");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_trace_write(t, "/dev"), OSLA_ERR_IO); /* a directory */
  OSLA_ASSERT_TEXT("/dev: exists and is not a regular file");
  OSLA_ASSERT_ERR(osla_trace_write(t, ""), OSLA_ERR_IO);
  /* opening this file succeeds, but every write fails */
  OSLA_ASSERT_ERR(osla_trace_write(t, "/dev/full"), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("No space left on device");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_OK(osla_trace_write(t, "/dev/null"));
  /* the device was not replaced by a file */
  CU_ASSERT(stat("/dev/null", &null) == 0 && S_ISCHR(null.st_mode));
  osla_transport_destroy(&t);
  scratch_remove(0);
}

/* Tests a temporary name that someone has guessed and made a link to another file. */
static void test_beside_link(void)
{
  osla_transport *t = traced();
  char guess[300];
  struct stat status;
  scratch_create();
  const char *path = scratch_path("trace.json"), *victim = scratch_path("victim");
  (void)snprintf(guess, sizeof guess, "%.200s.%ld.part", path, (long)getpid());
  scratch_write(victim, "precious", 8);
  if (osla_test_rank() == 0) CU_ASSERT(symlink(victim, guess) == 0);
  OSLA_ASSERT_OK(osla_trace_write(t, path));
  CU_ASSERT(stat(victim, &status) == 0 && status.st_size == 8);
  CU_ASSERT(lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 8);
  osla_transport_destroy(&t);
  scratch_remove(3);
}

/* Tests that a pipe without a reader gives an error instead of SIGPIPE. */
static void test_closed_pipe(void)
{
  osla_transport *t = traced();
  int ends[2];
  char path[32];
  CU_ASSERT(pipe(ends) == 0);
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
  CU_ASSERT(close(ends[0]) == 0);
  OSLA_ASSERT_ERR(osla_trace_write(t, path), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("Broken pipe");
  CU_ASSERT(close(ends[1]) == 0);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"unwritable", test_unwritable},
                                       {"beside_link", test_beside_link},
                                       {"closed_pipe", test_closed_pipe},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_trace_unwritable, cases);
