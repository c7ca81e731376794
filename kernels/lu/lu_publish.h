/* Panels on their way along process rows, and what they look like (internal). */
#ifndef OSLA_LU_PUBLISH_H
#define OSLA_LU_PUBLISH_H

#include "kernels/lu/lu_state.h"

/* Where the ranks of a panel note what they publish about it. Local. */
lu_panel osli_lu_my_panel(const lu *f, const lu_step *s);
/* Makes f->panels. Collective. Errors: MEM, MPI. */
osla_err osli_lu_panels_create(lu *f);
/* My part of a factored panel is complete; if panels are gathered, all of it. Local. */
osla_err osli_lu_publish(lu *f, const lu_step *s);
/* Waits for a panel, may be called again for the same one. Local. */
lu_panel osli_lu_receive(lu *f, const lu_step *s);
/* Would that not wait? Where process columns span nodes. */
bool osli_lu_panel_has_arrived(lu *f, const lu_step *s);

#endif
