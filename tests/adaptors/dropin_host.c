/* Loads a program that was built as a plug-in with RTLD_LOCAL, as an interpreter does, and runs
 * it. Arguments: path of the plug-in, then the arguments for the program. This host links neither
 * MPI nor ScaLAPACK. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
  int (*run)(int argc, char **argv);
  void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void *at = plugin ? dlsym(plugin, "plugin_main") : NULL;
  memcpy(&run, &at, sizeof at);
  if (at) return run(argc - 1, argv + 1);
  (void)fprintf(stderr, "dropin_host: %s\n", argc > 1 ? dlerror() : "no plug-in");
  return 1;
}
