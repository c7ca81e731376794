/* Lists the objects that a program has not destroyed when it calls MPI_Finalize (floor 0,
 * internal).
 *
 * A window that is open then is a fault of the program. MPICH over UCX ends in an abort with pages
 * of output, long after the cause. So where a window of this library is open, one line names each
 * call that made an object that still lives, and the call that destroys it; over UCX the job ends
 * there, elsewhere MPI_Finalize goes on.
 *
 * The check is the delete callback of an attribute on MPI_COMM_WORLD. MPICH calls it inside
 * MPI_Finalize, after the callbacks on MPI_COMM_SELF, in which programs and our adaptors destroy
 * their objects. An MPI that never deletes the attribute prints no line.
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

/* Until the end of this block, objects that this thread adds count as parts of one object, which
 * `maker` makes and `destroyer` destroys. An enclosing OSLA_MAKES wins. Put it before the first
 * goto that leaves the block. */
#define OSLA_MAKES(maker, destroyer)                                                               \
  __attribute__((cleanup(osli_alive_restore), unused)) osla_maker osla_maker_before =              \
    osli_alive_makes(maker, destroyer)
osla_maker osli_alive_makes(const char *maker, const char *destroyer);
void osli_alive_restore(osla_maker *before);

typedef struct osla_alive {
  osla_maker by;
  struct osla_transport *t;        /* if the object is a transport */
  struct osla_alive *next, **link; /* what points to this entry; NULL: not in the list */
} osla_alive;

/* Adds an object to the list, or removes it. The object contains the entry. */
void osli_alive_add(osla_alive *a);
void osli_alive_remove(osla_alive *a); /* also one that was never added */

/* Counts the windows of MPI that are open. Rank 0 of a transport that has opened one writes the
 * line. */
void osli_alive_window_opened(bool is_lowest);
void osli_alive_window_closed(void);

#endif
