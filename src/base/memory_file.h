/* Memory that other processes can map (floor 0, private). */
#ifndef OSLA_MEMORY_FILE_H
#define OSLA_MEMORY_FILE_H

/* A file without a name in any directory (memfd_create(2)), empty, closed by exec; `name` shows in
 * /proc alone. Linux 6.3 and later may insist on memory that cannot be executed (vm.memfd_noexec =
 * 2); earlier ones do not know the flag. -1 and errno: none. Local. */
int osli_memory_file(const char *name);

#endif
