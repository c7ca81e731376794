/* A mesh (mesh.h) that moves to other ranks, in two ways. (floor 4) */
#ifndef MESH_MIGRATE_H
#define MESH_MIGRATE_H

#include "bench/mesh.h"

/* To where its cells belong at last, by star forests alone (Zhang et al. 2022, section 6.4, Fig.
 * 11); *out is the caller's. Collective. Errors, on all ranks together: MEM, MPI. */
osla_err mesh_migrate(osla_transport *transport, const mesh_part *from, mesh_part *out);

/* The same as a program without a library would do it, by MPI_Alltoallv. Collective. A lack of
 * memory ends the job. Errors: MPI. */
osla_err mesh_migrate_mpi(osla_transport *transport, const mesh_part *from, mesh_part *out);

#endif
