/* osla-bench. */
#include "bench/bench.h"
#include "tools/common/command.h"

int main(int argc, char **argv)
{
  return osla_command_leave(osla_bench_run(argc, argv));
}
