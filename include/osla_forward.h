/* How a panel reaches the ranks that need it (layer 3).
 *
 * The ranks of a process row or column that need a panel are on several nodes. One rank of each
 * node, its station, receives a copy, and the other ranks of the node read that copy. Flat: the
 * rank that publishes the panel sends it to every station. Ring: each station forwards the panel to
 * the next one, in pieces, so that the first node's link carries it only once. Tree: stations form
 * a binomial tree, so the latency grows with the logarithm of the number of nodes.
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
  OSLA_FORWARD_CHOSEN, /* chosen by the size of the panel and the number of nodes */
  OSLA_FORWARD_FLAT,
  OSLA_FORWARD_RING,
  OSLA_FORWARD_TREE
} osla_forward;

#endif
