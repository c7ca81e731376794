/* A process that reads files which may kill their reader (floor 4).
 *
 * HDF5 1.10.8 trusts what it finds: a damaged file can make it write outside its memory, crash, or
 * go round in a circle. In a process of its own that is an error like any other. It talks with this
 * one through a socket, and ends with it.
 *
 * All calls are local; not thread-safe.
 */
#ifndef READER_PROCESS_H
#define READER_PROCESS_H

#include <sys/types.h>

#include "osla_error.h"

typedef struct reader_process {
  pid_t process; /* -1: none */
  int socket;    /* -1: closed */
} reader_process;

#define READER_PROCESS_NONE ((reader_process){.process = -1, .socket = -1})

/* What the process does; it ends when this returns. */
typedef void reader_serve(int socket, void *arg);

/* Starts it, as a copy of this process; socket_type: SOCK_STREAM, SOCK_SEQPACKET. Call it before
 * the transport is made: what this process has in memory counts twice as soon as one of them writes
 * to it, and memory that is registered with a network adapter may not be copied (ibv_fork_init(3)).
 * Errors: MEM. */
osla_err reader_process_start(reader_process *p, int socket_type, reader_serve *serve, void *arg);

/* Called by the process: from now on it may use 20 s of CPU time, and one more for each MiB of the
 * file. */
void reader_process_limit_time(const char *path);

/* It has ended, or is about to, while it read the file: waits for that, and says how. Errors: IO,
 * always. */
osla_err reader_process_death(reader_process *p, const char *path);

/* It sent what it never sends: HDF5 has spoilt its memory. Ends it. Errors: IO, always. */
osla_err reader_process_spoilt(reader_process *p, const char *path);

/* Closes the socket, and ends the process. */
void reader_process_stop(reader_process *p);

#endif
