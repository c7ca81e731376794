/* Copies an array's contents into a matrix, and back, or wraps the array's memory.
 *
 * Each rank moves its own patches between GA's memory and the matrix, by the transport's puts and
 * gets: GA_Sync is the only GA call that communicates. (NGA_Get of a panel is an active message
 * even on one node, and with ARMCI_RMA_ATOMICITY a Get_accumulate.) If the matrix is distributed
 * like the array, these are local copies.
 *
 * Wrapping needs no copy. If only the owner of a part accesses it, as with C of a product, the
 * matrix uses the array's memory directly. If other ranks access the part, too, an MPI window on
 * the memory is needed, and accesses are slower.
 */
#include "ga_adapt/ga_internal.h"

#include <ctype.h>
#include <ga.h>
#include <stdlib.h>

struct osla_ga_matrix {
  ga_array array;
  osla_grid *grid;
  osla_matrix *matrix;
  bool in_place;
};

enum { NB_LEAST = 32, NB_MOST = 256, NB_CHOSEN = 128 };

osla_err osli_ga_trans(char letter, const char *name, osla_trans *trans)
{
  switch (tolower((unsigned char)letter)) {
    case 'n': *trans = OSLA_NOTRANS; return OSLA_OK;
    case 't': *trans = OSLA_TRANS; return OSLA_OK;
    case 'c': *trans = OSLA_CONJTRANS; return OSLA_OK;
    default: break;
  }
  return osla_error_set(OSLA_ERR_ARG, "%s = '%c' is none of n, t, c", name, letter);
}

osla_err osli_ga_uplo(char letter, osla_uplo *uplo)
{
  char small = (char)tolower((unsigned char)letter);
  OSLA_CHECK(small == 'l' || small == 'u', OSLA_ERR_ARG, "uplo = '%c' is none of l, u", letter);
  *uplo = small == 'l' ? OSLA_LOWER : OSLA_UPPER;
  return OSLA_OK;
}

/* Chooses the grid and the block sizes. */
static osla_err choose_blocks(osla_ga_matrix *x, osla_transport *t, ga_making how, int64_t *mb,
                              int64_t *nb)
{
  const ga_array *a = &x->array;
  osla_layout l = a->layout;
  bool own_square = l.mb == l.nb && l.mb >= NB_LEAST && l.mb <= NB_MOST;
  if (how.like) {
    osla_layout like = osla_matrix_layout(how.like);
    *mb = like.nb;
    *nb = (a->n + like.npcol - 1) / like.npcol;
    return osla_grid_shift(osla_matrix_grid(how.like), 0, 0, &x->grid);
  }
  *mb = *nb = NB_CHOSEN;
  if (l.nprow > 0 && (how.blocks == OSLA_GA_AS_DISTRIBUTED || own_square)) {
    *mb = l.mb;
    *nb = l.nb;
    return osla_grid_create_at(t, l.nprow, l.npcol, a->prow, a->pcol, &x->grid);
  }
  return osla_grid_create(t, 0, 0, &x->grid);
}

/* Each rank puts its patches of the array into the matrix. Collective. */
static osla_err load(osla_ga_matrix *x, osla_transport *t)
{
  const ga_array *a = &x->array;
  osla_err err = OSLA_OK;
  for (int64_t k = 0; k < a->n_patches && err == OSLA_OK; k++) {
    const ga_patch *p = &a->patches[k];
    err = osla_matrix_put_block(x->matrix, p->i, p->j, p->rows, p->cols, p->at, p->ld);
  }
  return osla_agree(t, err); /* osla_agree is also a barrier */
}

/* Makes the blocks square if this does not change the layout: on one process row all rows are on
 * each process, whatever the height of a block. */
static void make_square(osla_layout *l)
{
  if (l->mb == l->nb && l->mb < l->m) return;
  if (l->nprow == 1 && l->npcol == 1)
    l->mb = l->nb = NB_CHOSEN;
  else if (l->nprow == 1)
    l->mb = l->nb;
  else if (l->npcol == 1)
    l->nb = l->mb;
}

/* Says which property of the array prevents the use of its memory as a matrix. */
static const char *obstacle(const ga_array *a)
{
  return a->layout.nprow == 0
           ? "its parts or blocks are not distributed over a process grid"
           : "its parts do not lie in memory as those of a block-cyclic matrix (parts of unequal "
             "size, or ghost cells)";
}

/* Makes the matrix on the array's own memory, if the memory has a matrix's layout on all ranks.
 * Collective. */
static osla_err wrap(osla_ga_matrix *x, osla_transport *t, ga_making how)
{
  const ga_array *a = &x->array;
  osla_layout l = a->layout;
  void *local;
  int64_t lld, fits = osli_ga_array_local(a, &local, &lld);
  OSLA_CALL(osla_allreduce(t, &fits, 1, MPI_INT64_T, MPI_MIN));
  x->in_place = fits;
  if (!fits) return OSLA_OK;
  OSLA_CALL(osla_agree(t, osla_grid_create_at(t, l.nprow, l.npcol, a->prow, a->pcol, &x->grid)));
  if (!how.own) make_square(&l);
  if (!how.own)
    return osla_matrix_wrap(x->grid, a->dtype, a->m, a->n, l.mb, l.nb, local, lld, &x->matrix);
  return osla_agree(
    t, osla_matrix_wrap_own(x->grid, a->dtype, a->m, a->n, l.mb, l.nb, local, lld, &x->matrix));
}

static osla_err make_matrix(osla_ga_matrix *x, osla_transport *t, ga_making how)
{
  const ga_array *a = &x->array;
  int64_t mb = 0, nb = 0;
  if (how.own || how.blocks == OSLA_GA_IN_PLACE) OSLA_CALL(wrap(x, t, how));
  if (x->in_place) return OSLA_OK;
  OSLA_CHECK(how.blocks != OSLA_GA_IN_PLACE, OSLA_ERR_UNSUPPORTED,
             "array \"%s\" cannot be used in place: %s; create it with "
             "GA_Set_block_cyclic_proc_grid and square blocks",
             GA_Inquire_name(a->handle), obstacle(a));
  OSLA_CALL(osla_agree(t, choose_blocks(x, t, how, &mb, &nb)));
  OSLA_CALL(osla_matrix_create(x->grid, a->dtype, a->m, a->n, mb, nb, &x->matrix));
  return how.overwritten ? OSLA_OK : load(x, t);
}

osla_err osli_ga_matrix_open(ga_array *array, ga_making how, osla_ga_matrix **out)
{
  osla_transport *t;
  *out = NULL;
  OSLA_CALL(osli_ga_session_transport(&t));
  osla_ga_matrix *x = calloc(1, sizeof *x);
  osla_err err = osla_agree(t, x ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "matrix object"));
  if (err != OSLA_OK) {
    free(x);
    return err;
  }
  GA_Sync(); /* completes the puts of other ranks into this rank's memory */
  err = osli_ga_array_open(t, array);
  x->array = *array;
  *array = (ga_array){0};
  if (err == OSLA_OK) err = make_matrix(x, t, how);
  if (err != OSLA_OK) osla_ga_matrix_destroy(&x);
  *out = x;
  return err;
}

osla_err osla_ga_matrix_create(int g_a, osla_ga_blocks blocks, osla_ga_matrix **out)
{
  ga_array a;
  *out = NULL;
  OSLA_CALL(osli_ga_array_check(g_a, "g_a", &a));
  OSLA_CHECK(blocks == OSLA_GA_AS_DISTRIBUTED || blocks == OSLA_GA_SQUARE ||
               blocks == OSLA_GA_IN_PLACE,
             OSLA_ERR_ARG, "blocks = %d is not a value of osla_ga_blocks", (int)blocks);
  return osli_ga_matrix_open(&a, (ga_making){.blocks = blocks}, out);
}

osla_matrix *osla_ga_matrix_get(osla_ga_matrix *x)
{
  return x->matrix;
}

osla_err osla_ga_matrix_store(osla_ga_matrix *x)
{
  OSLA_CHECK(x, OSLA_ERR_ARG, "matrix is NULL");
  ga_array *a = &x->array;
  osla_transport *t = osla_grid_transport(x->grid);
  osla_err err = osla_barrier(t);
  int64_t copies = x->in_place ? 0 : a->n_patches;
  for (int64_t k = 0; k < copies && err == OSLA_OK; k++) {
    const ga_patch *p = &a->patches[k];
    err = osla_matrix_get_block(x->matrix, p->i, p->j, p->rows, p->cols, p->at, p->ld);
  }
  GA_Sync(); /* makes the new contents of the array visible to later GA calls */
  return osla_agree(t, err);
}

void osla_ga_matrix_destroy(osla_ga_matrix **handle)
{
  osla_ga_matrix *x = handle ? *handle : NULL;
  if (!x) return;
  osla_matrix_destroy(&x->matrix);
  osla_grid_destroy(&x->grid);
  osli_ga_array_close(&x->array);
  free(x);
  *handle = NULL;
}
