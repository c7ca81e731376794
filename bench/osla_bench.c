/* Main program of osla-bench. */
#include "bench/bench.h"
#include "tools/common/command.h"

int main(int argc, char **argv)
{
  return command_exit(bench_run_line(argc, argv));
}
