/* Checks of the files of a command: all files are different, outputs are writable, there is room
 * for them (layer 4). Each command has one table:
 *
 *   const command_file files[] = {{"the updates", path, OSLA_FILE_READ, 0},
 *                                 {"--output", o->output, OSLA_FILE_REPLACED, 0}, ...};
 *
 * Both checks are local; rank 0 makes them, and the caller shares the result with osla_agree. */
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
  /* option that names the file; for a file that is an argument its meaning, "the updates" */
  const char *option;
  const char *path; /* name of the file; NULL: the user gave no file */
  command_use use;
  uint64_t bytes; /* lower bound of the size in bytes; 0: unknown or small */
} command_file;

/* Rejects an output that is the same file as another entry of the table, or as standard output or
 * standard error. Files are compared by their identity, so that links and different spellings of a
 * name are recognised; two files that do not exist are the same if they have the same name in the
 * same directory. Pipes and devices may be named twice. Then it checks that every output can be
 * written, except files of the kind OSLA_FILE_APPENDED. Errors: ARG "--json: NAME is also the file
 * of --output NAME", IO, MEM. */
osla_err command_check_files(const command_file *files, int n);

/* Checks that all outputs together, of `bytes` bytes each, fit on their file systems, and that each
 * output is within the limit of `ulimit -f`. Existing files give no room, because they stay until
 * the new files are complete. An existing checkpoint needs room for its replacement, but never at
 * the same time as another output. Errors: IO. */
osla_err command_check_room(const command_file *files, int n);

/* Makes one of the two checks on rank 0: command_check_room if `room` is true, otherwise
 * command_check_files. Returns the result on all ranks. Collective. */
osla_err command_check_files_on_root(osla_transport *t, const command_file *files, int n,
                                     bool room);

#endif
