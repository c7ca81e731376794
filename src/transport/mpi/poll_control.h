/* How often MPI polls the network in one call (floor 0, internal to the MPI backend).
 *
 * MPICH and its kin test many requests in one call, and poll once, and once more at each eighth
 * request: 161 of them take 5.8 us in place of 1.2 (MPICH 4.0.2, two hosts). A control variable of
 * MPI's tools (MPI-3.1, section 14.3) says at which; it is the caller's, so it is changed around a
 * call alone. Where other threads are in such calls of MPI at the same time they may poll less,
 * too.
 */
#ifndef OSLA_POLLS_MPI_H
#define OSLA_POLLS_MPI_H

typedef struct poll_control poll_control;

/* NULL, which the others take: this MPI has no such variable, or there is no memory. */
poll_control *osli_poll_control_open(int thread_level);
void osli_poll_control_close(poll_control **control);

/* From here on MPI polls once in a call; as it did before. */
void osli_poll_control_single(const poll_control *control);
void osli_poll_control_restore(const poll_control *control);

#endif
