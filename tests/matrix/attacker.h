/* A simulated user who may write the same directory as the program. When a file appears whose name
 * contains a given text, a thread moves it away and puts a symbolic link to a victim file in its
 * place. inotify(7) wakes the thread within microseconds. Local. */
#ifndef OSLA_ATTACKER_H
#define OSLA_ATTACKER_H

typedef struct attacker attacker;

/* Starts the thread. part: text that the name of an attacked file must contain. victim: target of
 * the links. Returns NULL if there is no memory or no inotify. */
attacker *attacker_start(const char *directory, const char *part, const char *victim);
/* Ends the thread, removes the files that it moved away and its links, and returns the number of
 * attacks. */
int attacker_stop(attacker *a);

#endif
