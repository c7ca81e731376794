/* osla-bench. */
#include "bench.h"
#include "command.h"

int main(int argc, char **argv)
{
  return osla_command_leave(osla_bench_run(argc, argv));
}
