/* Runs command lines of osla-bench in one process (run_lines.h). */
#include "bench/bench.h"
#include "tests/commands/run_lines.h"

int main(int argc, char **argv)
{
  return run_lines(argc, argv, bench_run_line);
}
