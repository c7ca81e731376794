/* Reports the objects that a program has not destroyed when it calls MPI_Finalize (layer 0,
 * internal).
 *
 * A window that is open at MPI_Finalize is an error of the program. MPICH over UCX then aborts with
 * pages of output that do not name the cause. Therefore, if a window of this library is open, one
 * line names each call that made a remaining object, and the call that destroys this object. Over
 * UCX the job ends there; with other MPIs MPI_Finalize continues.
 *
 * The check is the delete callback of an attribute on MPI_COMM_WORLD. MPICH calls it inside
 * MPI_Finalize, after the callbacks on MPI_COMM_SELF, in which programs and the adaptors destroy
 * their objects. With an MPI that never deletes the attribute there is no report.
 *
 * All calls are local and thread-safe. */
#ifndef OSLA_LIVE_OBJECTS_H
#define OSLA_LIVE_OBJECTS_H

#include <stdbool.h>

/* Names (string literals) of the calls that made an object and will destroy it. */
typedef struct osla_maker {
  /* names of functions; both are NULL if the transport owns and destroys the object */
  const char *maker, *destroyer;
  bool is_set;
} osla_maker;

/* Objects that this thread adds until the end of the enclosing block count as parts of one object,
 * which `maker` makes and `destroyer` destroys. If a calling function also uses OSLA_MAKES, the
 * names of that function count. OSLA_MAKES must stand before the first goto that leaves the block.
 */
#define OSLA_MAKES(maker, destroyer)                                                               \
  __attribute__((cleanup(osli_maker_end), unused)) osla_maker osla_maker_outer =                   \
    osli_maker_begin(maker, destroyer)
osla_maker osli_maker_begin(const char *maker, const char *destroyer);
void osli_maker_end(osla_maker *before);

typedef struct osla_live_object {
  osla_maker by;
  struct osla_transport *t;      /* the transport, if the object is one; else NULL */
  struct osla_live_object *next, /* next object in the list of objects that were not destroyed */
    **link; /* address of the pointer to this object in that list; NULL if the object is in none */
} osla_live_object;

/* Adds an object to the list of remaining objects, or removes it. The object contains the entry.
 * Removing an entry that was never added does nothing. */
void osli_live_object_add(osla_live_object *a);
void osli_live_object_remove(osla_live_object *a);

/* Counts the open MPI windows of this library. is_lowest: this process is rank 0 of the window,
 * which writes the report.
 */
void osli_window_opened(bool is_lowest);
void osli_window_closed(void);

#endif
