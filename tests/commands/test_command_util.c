/* Tests of texts for sizes and times, the grid option and the number of cores, which all
 * sub-commands use. */
#include "tests/osla_test.h"
#include "tools/common/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Replaces MPI_Abort, and counts the calls: after an MPI error a command must end all ranks. */
static int aborts;
int MPI_Abort(MPI_Comm comm, int code)
{
  if (comm == MPI_COMM_WORLD && code == OSLA_EXIT_FAILED) aborts++;
  return MPI_SUCCESS;
}

static void check_bytes(uint64_t bytes, const char *expected)
{
  command_text text = format_bytes(bytes);
  OSLA_ASSERT_MSG(strcmp(text.s, expected) == 0, "'%s' is not '%s'", text.s, expected);
}

static void check_seconds(double seconds, const char *expected)
{
  command_text text = format_seconds(seconds);
  OSLA_ASSERT_MSG(strcmp(text.s, expected) == 0, "'%s' is not '%s'", text.s, expected);
}

static void test_bytes(void)
{
  check_bytes(0, "0 bytes");
  check_bytes(1023, "1023 bytes");
  check_bytes(1024, "1.00 KiB");
  check_bytes(1536, "1.50 KiB");
  check_bytes(10 << 20, "10.0 MiB");
  check_bytes((uint64_t)3 << 40, "3.00 TiB");
  check_bytes(UINT64_MAX, "16384.0 PiB");
}

static void test_seconds(void)
{
  check_seconds(0, "0 us");
  check_seconds(1.5e-7, "0.15 us");
  check_seconds(0.012, "12 ms");
  check_seconds(3.14159, "3.14 s");
  check_seconds(59.99, "60 s");
  check_seconds(65, "1 min 05 s");
  check_seconds(7500, "2 h 05 min");
  check_seconds(NAN, "?");
  check_seconds(-1, "?");
}

/* Error lines of this test go to stderr, which is written to the log. */
static void test_grid(void)
{
  int p = 0, q = 0;
  CU_ASSERT(command_parse_grid("test", "--grid", "2x3", 6, &p, &q) == OSLA_EXIT_OK);
  CU_ASSERT(p == 2 && q == 3);
  CU_ASSERT(command_parse_grid("test", "--grid", "1 X 4", 6, &p, &q) == OSLA_EXIT_OK);
  CU_ASSERT(p == 1 && q == 4);
  static const char *const bad[] = {"",      "2",           "2x",          "x3",     "2x3x1",
                                    "2x3 y", "0x2",         "-1x2",        "2 by 3", "3x-1",
                                    "4x2",   "99999x99999", "4294967297x1"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    OSLA_ASSERT_MSG(command_parse_grid("test", "--grid", bad[i], 6, &p, &q) == OSLA_EXIT_USAGE,
                    "'%s' was taken", bad[i]);
  CU_ASSERT(p == 1 && q == 4);
}

static void test_cores(void)
{
  command_cpu cpu;
  OSLA_ASSERT_OK(command_cpu_examine(MPI_COMM_WORLD, &cpu));
  CU_ASSERT(cpu.host.cores >= 1);
  CU_ASSERT(cpu.host.ranks >= 1 && cpu.host.ranks <= osla_test_size());
  CU_ASSERT(cpu.threads >= 1);
  CU_ASSERT(cpu.host.name[0] != '\0');
}

static int level_of(const char *word, const char *other, bool tries)
{
  char name[] = "osla", option[40], second[40];
  (void)snprintf(option, sizeof option, "%s", word);
  (void)snprintf(second, sizeof second, "%s", other);
  char *argv[] = {name, option, second};
  return command_thread_level(3, argv, "--checkpoint", tries);
}

static void test_thread_level(void)
{
  static const char *const several[] = {"--threads", "--threads=2", "-t", "-t4", "-qt"};
  static const char *const one[] = {"--quiet", "-q", "--trace=f", "text", "--progress"};
  (void)unsetenv("OMPI_MCA_osc");
  for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
    int alone = level_of(several[i], "text", false);
    int both = level_of(several[i], "--checkpoint=c.h5", false);
    OSLA_ASSERT_MSG(alone == MPI_THREAD_SERIALIZED, "%s", several[i]);
    OSLA_ASSERT_MSG(both == MPI_THREAD_MULTIPLE, "%s", several[i]);
    CU_ASSERT(level_of("--checkpoint", several[i], false) == MPI_THREAD_MULTIPLE);
  }
  for (size_t i = 0; i < sizeof one / sizeof *one; i++)
    OSLA_ASSERT_MSG(level_of(one[i], "--checkpoint", false) == MPI_THREAD_SERIALIZED, "%s", one[i]);
  CU_ASSERT(level_of("--progress-thread", "text", false) == MPI_THREAD_MULTIPLE);
  CU_ASSERT(level_of("-q", "text", true) == MPI_THREAD_MULTIPLE);
  (void)setenv("OMPI_MCA_osc", "pt2pt,sm", 1);
  CU_ASSERT(level_of("-q", "text", true) == MPI_THREAD_SERIALIZED);
  (void)unsetenv("OMPI_MCA_osc");
}

static void test_agree(void)
{
  int last = osla_test_size() - 1;
  CU_ASSERT(command_agree(OSLA_EXIT_OK) == OSLA_EXIT_OK);
  CU_ASSERT(command_agree(osla_test_rank() == last ? OSLA_EXIT_USAGE : OSLA_EXIT_OK) ==
            OSLA_EXIT_USAGE);
  CU_ASSERT(command_rank() == osla_test_rank());
  CU_ASSERT(command_fail("test", osla_error_set(OSLA_ERR_IO, "no file")) == OSLA_EXIT_USAGE);
  CU_ASSERT(aborts == 0);
  CU_ASSERT(command_fail("test", osla_error_set(OSLA_ERR_MPI, "no MPI")) == OSLA_EXIT_FAILED);
  /* with several ranks the command must abort, because other ranks may wait in MPI */
  CU_ASSERT(aborts == (osla_test_size() > 1));
}

static const osla_test_case cases[] = {
  {"bytes", test_bytes}, {"seconds", test_seconds},           {"grid", test_grid},
  {"cores", test_cores}, {"thread_level", test_thread_level}, {"agree", test_agree},
  {NULL, NULL}};
OSLA_TEST_SUITE(test_command_util, cases);
