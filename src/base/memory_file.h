/* Files in memory that other processes can map (layer 0, private). */
#ifndef OSLA_MEMORY_FILE_H
#define OSLA_MEMORY_FILE_H

/* Opens an empty file that has no name in any directory (memfd_create(2)) and is closed by exec;
 * `name` appears only in /proc. The memory is marked as not executable where the kernel knows the
 * flag (Linux 6.3 and later, which may require it: vm.memfd_noexec = 2). Returns -1, with errno
 * set, on failure. Local. */
int osli_memory_file_create(const char *name);

#endif
