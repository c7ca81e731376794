/* Control of how often MPI polls the network in one call (layer 0, internal to the MPI backend).
 *
 * When MPICH, or an MPI derived from it, tests many requests in one call, it polls the network
 * once, and again at each eighth request: 161 requests take 5.8 us instead of 1.2 us
 * (results/asynchronous). A control variable of MPI's tool interface (MPI-3.1, section 14.3)
 * sets that distance. It belongs to the program, so it is changed only around one call. Meanwhile
 * calls of other threads may poll less, too. */
#ifndef OSLA_POLL_CONTROL_H
#define OSLA_POLL_CONTROL_H

typedef struct poll_control poll_control;

/* Opens the control. Returns NULL if MPI has no such variable, or without memory; all other
 * functions accept NULL. */
poll_control *osli_poll_control_open(int thread_level);
void osli_poll_control_close(poll_control **control);

/* Makes MPI poll once in each call, and restores the earlier value. */
void osli_poll_control_single(const poll_control *control);
void osli_poll_control_restore(const poll_control *control);

#endif
