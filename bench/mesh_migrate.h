/* Migration of a mesh (mesh.h) to other ranks, by two implementations. */
#ifndef MESH_MIGRATE_H
#define MESH_MIGRATE_H

#include "bench/mesh.h"

/* Moves the mesh by star forests alone (Zhang et al. 2022, section 6.4, Fig. 11). The caller frees
 * *out. Collective. Errors, on all ranks together: MEM, MPI. */
osla_err mesh_migrate(osla_transport *transport, const mesh_part *from, mesh_part *out);

/* Moves the mesh by MPI_Alltoallv, as a program without a library would do it. Collective. A lack
 * of memory ends the job. Errors: MPI. */
osla_err mesh_migrate_mpi(osla_transport *transport, const mesh_part *from, mesh_part *out);

#endif
