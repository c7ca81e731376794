/* Products with parts of the algorithm switched off, for measurements (layer 3).
 *
 * The switches correspond to the rows of Table I of Krishnan, Lewis, Vishnu, "Scaling Linear
 * Algebra Kernels using Remote Memory Access". They change the time of a product; results differ by
 * rounding at most.
 *
 * Threads: any thread may call osla_gemm_ablate; the switches hold for calls of the same thread.
 * Part: may change in any release (osla_unstable.h).
 */
#ifndef OSLA_GEMM_ABLATION_H
#define OSLA_GEMM_ABLATION_H

#include <stdbool.h>

#include "osla_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parts of the algorithm to switch off; all false is the normal algorithm. */
typedef struct osla_gemm_ablation {
  bool blocking; /* true: a rank gets an operand only when it needs it (normal: one load ahead) */
  /* true: operands of node neighbours are copied before use (normal: read in place) */
  bool copy;
  /* true: node neighbours are treated like ranks of other nodes: their operands are copied, and
   * in-place operands are not multiplied first */
  bool unaware;
  /* true: all ranks ask the owners in the same order (normal: each rank begins with another owner,
   * so that no owner is asked by all ranks at once) */
  bool unordered;
  /* true: each rank begins with its own block of A, so that the ranks of a process column ask one
   * owner of B (normal: the order is shifted along the diagonal of the grid); implies `alone` */
  bool unshifted;
  bool narrow; /* true: each local product uses one block of k (normal: blocks are merged) */
  /* true: each rank gets all its operands itself (normal: one rank of a node gets what several
   * ranks of the node need, if a rank needs at least 4 MiB) */
  bool alone;
} osla_gemm_ablation;

/* Sets the switches of osla_gemm, osla_syrk, osla_herk, osla_gemm_predict and the products of
 * osla_products.h for later calls of this thread; NULL sets all switches to false. Local. Ranks may
 * set different switches. */
OSLA_API void osla_gemm_ablate(const osla_gemm_ablation *switches);

#ifdef __cplusplus
}
#endif
#endif
