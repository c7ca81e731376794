/* What a program has made and not destroyed when it calls MPI_Finalize (floor 0, internal).
 *
 * A window that is open then is a fault of the program. MPICH over UCX ends in an abort with pages
 * of output, long after the cause. So where a window of this library is open, one line names each
 * call that made an object that still lives, and the call that destroys it; over UCX the job ends
 * there, elsewhere MPI_Finalize goes on.
 *
 * It hangs as an attribute on MPI_COMM_WORLD, whose deletion MPICH makes a part of MPI_Finalize
 * behind that of the attributes on MPI_COMM_SELF, with which programs and the adaptors of this
 * library destroy their objects. Where an MPI never deletes it, there is no line.
 *
 * Local, thread-safe. */
#ifndef OSLA_ALIVE_H
#define OSLA_ALIVE_H

#include <stdbool.h>

/* The calls that made an object and will destroy it: literals. */
typedef struct osla_maker {
  const char *maker, *destroyer; /* NULL: the transport keeps what is made, and destroys it */
  bool is_set;
} osla_maker;

/* From here to the end of the block this thread makes an object by that call, of which all that is
 * made meanwhile is a part; if it is not a part of another one already. It must stand before the
 * first goto to the block's end. */
#define OSLA_MAKES(maker, destroyer)                                                               \
  __attribute__((cleanup(osla_alive_restore), unused)) osla_maker osla_maker_before =              \
    osla_alive_makes(maker, destroyer)
osla_maker osla_alive_makes(const char *maker, const char *destroyer);
void osla_alive_restore(osla_maker *before);

typedef struct osla_alive {
  osla_maker by;
  struct osla_transport *t;        /* if the object is a transport */
  struct osla_alive *next, **link; /* what points to this entry; NULL: not in the list */
} osla_alive;

/* An object begins its life by the call that OSLA_MAKES has named, and ends it. It holds the entry.
 */
void osla_alive_add(osla_alive *a);
void osla_alive_remove(osla_alive *a); /* also one that was never added */

/* A window of MPI was opened, or is closed. The ranks that are the lowest of a window write the
 * line. */
void osla_alive_window_opened(bool is_lowest);
void osla_alive_window_closed(void);

#endif
