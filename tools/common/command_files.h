/* Checks of the files of a command: different files, writable outputs, enough room (layer 4). Each
 * command has one table:
 *
 *   const command_file files[] = {{"the updates", path, OSLA_FILE_READ, 0},
 *                                 {"--output", o->output, OSLA_FILE_REPLACED, 0}, ...};
 *
 * Both checks are local; rank 0 makes them, and the caller shares the result with osla_agree.
 */
#ifndef OSLA_COMMAND_FILES_H
#define OSLA_COMMAND_FILES_H

#include "osla_unstable.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum command_use {
  OSLA_FILE_READ,
  OSLA_FILE_REPLACED,   /* file written atomically by new_file.h */
  OSLA_FILE_CHECKPOINT, /* file written repeatedly by new_file.h, and removed in the end */
  OSLA_FILE_REPORT,     /* directory of an HTML report, see report_directory.h */
  OSLA_FILE_TRACE,      /* file written by new_file.h; pipes and devices are written directly */
  OSLA_FILE_APPENDED
} command_use;

typedef struct command_file {
  const char *option; /* option that names the file; for an argument its meaning, "the updates" */
  const char *path;   /* NULL: not given */
  command_use use;
  uint64_t bytes; /* lower bound of the size; 0: unknown or small */
} command_file;

/* Rejects an output that is the same file as another entry of the table, or as standard output or
 * standard error. Files are compared by their identity, so that links and other spellings are
 * found; two files that do not exist are the same if they have the same name in the same
 * directory. Pipes and devices may be named twice. Then checks that every output except an
 * appended one can be written. Errors: ARG "--json: NAME is also the file of --output NAME", IO,
 * MEM. */
osla_err command_check_files(const command_file *files, int n);

/* Checks that `bytes` of all outputs fit on their file systems together, and that each is within
 * the limit of `ulimit -f`. Old files give no room, because they stay until the new ones are
 * complete. An existing checkpoint needs room for its replacement, but never at the same time as
 * another output. Errors: IO. */
osla_err command_check_room(const command_file *files, int n);

/* Makes one of the two checks on rank 0, and returns its result on all ranks. Collective. */
osla_err command_check_files_on_root(osla_transport *t, const command_file *files, int n,
                                     bool room);

#endif
