/* Publication of factored panels along process rows (internal). */
#ifndef OSLA_LU_PUBLISH_H
#define OSLA_LU_PUBLISH_H

#include "kernels/lu/lu_state.h"

/* Addresses of the panel of step `s` in this rank's memory, where the ranks of the panel's process
 * column store pivots and top block. Local. */
lu_panel osli_lu_my_panel(const lu *f, const lu_step *s);
/* Creates f->panels. Collective. Errors: MEM, MPI. */
osla_err osli_lu_panels_create(lu *f);
/* Marks this rank's part of the factored panel as complete, so that progress steps send it. If one
 * rank factors whole panels, that rank also notifies the ranks of its node. Local. */
osla_err osli_lu_publish(lu *f, const lu_step *s);
/* Waits for the panel of step `s` and returns its addresses. May be called several times for one
 * step. Local. */
lu_panel osli_lu_receive(lu *f, const lu_step *s);
/* True if osli_lu_receive would return without waiting. Valid only where process columns span
 * several nodes. */
bool osli_lu_panel_has_arrived(lu *f, const lu_step *s);

#endif
