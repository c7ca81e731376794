/* Runs lines of osla-bench in one process (run_lines.h). */
#include "bench.h"
#include "run_lines.h"

int main(int argc, char **argv)
{
  return run_lines(argc, argv, osla_bench_run);
}
