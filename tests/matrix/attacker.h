/* A simulated user who may write the same directory. When a file appears whose name contains a
 * given text, a thread renames it to "taken" and puts a symbolic link to a victim in its place.
 * inotify(7) wakes the thread within microseconds. Local. */
#ifndef OSLA_ATTACKER_H
#define OSLA_ATTACKER_H

typedef struct attacker attacker;

/* `part`: text that the name must contain; `victim`: target of the link. NULL if there is no memory
 * or no inotify.
 */
attacker *attacker_start(const char *directory, const char *part, const char *victim);
/* Ends the thread, removes the renamed files and the links. Returns the number of attacks. */
int attacker_stop(attacker *a);

#endif
