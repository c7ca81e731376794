/* A child process that reads files on which the reader may crash (layer 4).
 *
 * HDF5 1.10.8 trusts the contents of a file: a damaged file can make it write outside its memory,
 * crash, or loop for ever. In a child process all these are ordinary errors. The child communicates
 * through a socket, and ends with its parent.
 *
 * All calls are local; not thread-safe. */
#ifndef READER_PROCESS_H
#define READER_PROCESS_H

#include <sys/types.h>

#include "osla_error.h"

typedef struct reader_process {
  pid_t process; /* -1: none */
  int socket;    /* -1: closed */
} reader_process;

#define READER_PROCESS_NONE ((reader_process){.process = -1, .socket = -1})

/* Main function of the child process, which ends when the function returns. */
typedef void reader_serve(int socket, void *arg);

/* Forks the child process; socket_type is SOCK_STREAM or SOCK_SEQPACKET. Must precede the creation
 * of the transport: after a fork, memory is copied when parent or child writes to it, and memory
 * that is registered with a network adapter must not be copied (ibv_fork_init(3)). Errors: MEM. */
osla_err reader_process_start(reader_process *p, int socket_type, reader_serve *serve, void *arg);

/* The child calls this: limits its further CPU time to 20 s plus 1 s for each MiB of the file. */
void reader_process_limit_time(const char *path);

/* The parent calls this if the child has ended, or is about to end, while it reads a file: waits
 * for the end of the child, and returns an error with the reason. Errors: IO, always. */
osla_err reader_process_death(reader_process *p, const char *path);

/* The parent calls this if the child has sent an impossible answer, because HDF5 has damaged the
 * memory of the child: ends the child. Errors: IO, always. */
osla_err reader_process_spoilt(reader_process *p, const char *path);

/* Closes the socket and ends the child process. */
void reader_process_stop(reader_process *p);

#endif
