/* What tests that share a process may change in it, and what must not reach the next one: the
 * environment, the working directory, the mask of new files. Local; not for threads. */
#ifndef PROCESS_STATE_H
#define PROCESS_STATE_H

/* Notes the state as it is now: once, at the begin of main. */
void process_state_note(void);

/* Makes it what it was. */
void process_state_restore(void);

#endif
