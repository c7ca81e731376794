/* Saves and restores the process state that a suite may change and the next suite must not see:
 * environment, working directory, umask. Local. Not thread-safe. */
#ifndef PROCESS_STATE_H
#define PROCESS_STATE_H

/* Saves the present state. Call it once, at the start of main. */
void process_state_note(void);

/* Restores the state that process_state_note saved. */
void process_state_restore(void);

#endif
