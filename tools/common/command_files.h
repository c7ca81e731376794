/* The files of a command: no two of them are one, outputs can be written, and there is room
 * (floor 4). One table for each command:
 *
 *   const command_file files[] = {{"the updates", path, OSLA_FILE_READ, 0},
 *                                      {"--output", o->output, OSLA_FILE_REPLACED, 0}, ...};
 *
 * Both checks are local: rank 0's word counts, and the caller tells the others.
 */
#ifndef OSLA_COMMAND_FILES_H
#define OSLA_COMMAND_FILES_H

#include <stdint.h>

#include "osla_error.h"

typedef enum command_use {
  OSLA_FILE_READ,
  OSLA_FILE_REPLACED,   /* written by new_file.h */
  OSLA_FILE_CHECKPOINT, /* the same, more than once, and removed in the end */
  OSLA_FILE_REPORT,     /* a directory for report_place.h */
  OSLA_FILE_TRACE,      /* the same, but pipes and devices are written as they stand */
  OSLA_FILE_APPENDED
} command_use;

typedef struct command_file {
  const char *option; /* that names it; of an argument what it is: "the updates" */
  const char *path;   /* NULL: not given */
  command_use use;
  uint64_t bytes; /* it will have at least so many; 0: not known, or small */
} command_file;

/* Refuses an output that is another file of the table, or the one that standard output or standard
 * error go to, whatever they are called: links and other spellings too. Two that do not exist are
 * the same if they have one name in one directory. Pipes and devices may be named twice. Then tries
 * every output (but an appended one). Errors: ARG "--json: NAME is the file of --output NAME too",
 * IO, MEM. */
osla_err command_check_files(const command_file *files, int n);

/* Is there room for `bytes` of the files that will be replaced, all together where they are on one
 * file system, and are they within the limit of `ulimit -f`? Old files give no room: they stay
 * until the new ones are complete. A checkpoint that is there already needs its room again, but
 * only while nothing else is written. Errors: IO. */
osla_err command_check_room(const command_file *files, int n);

#endif
