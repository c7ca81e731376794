/* How a panel reaches its consumers (floor 3).
 *
 * The ranks of a process row or column that want a panel lie on some nodes. One rank of each node,
 * its station, gets a copy, and the others there read it. Flat: who publishes sends to every
 * station. Ring: each station passes the panel on to the next one, in pieces, so that the line of
 * the first node carries it once. Tree: binomial, the latency grows with the logarithm.
 *
 * Sources: Petitet, Whaley, Dongarra, Cleary, "HPL" (increasing ring of panels); Cornebize,
 * Legrand, Heinrich, "Fast and Faithful Performance Prediction of MPI Applications: the HPL Case
 * Study" (CLUSTER 2019), section 2.
 *
 * Threads: any thread may call these, at any time.
 * Part: stable (osla.h).
 */
#ifndef OSLA_FORWARD_H
#define OSLA_FORWARD_H

typedef enum osla_forward {
  OSLA_FORWARD_CHOSEN, /* by panel, number of nodes and length of the product (route.h) */
  OSLA_FORWARD_FLAT,
  OSLA_FORWARD_RING,
  OSLA_FORWARD_TREE
} osla_forward;

#endif
