/* A user who may write the same directory: as soon as a file appears there whose name holds a
 * given text, a thread renames it to "taken" and puts a symbolic link to a victim there.
 * inotify(7) wakes the thread, so that it comes within microseconds. Local. */
#ifndef OSLA_ATTACKER_H
#define OSLA_ATTACKER_H

typedef struct attacker attacker;

/* `part` is what the name must hold; `victim` is where the link leads. NULL: no memory, no inotify.
 */
attacker *attacker_start(const char *directory, const char *part, const char *victim);
/* Ends the thread, removes what was taken and the links to the victim. Returns how often the
 * attacker replaced a name. */
int attacker_stop(attacker *a);

#endif
