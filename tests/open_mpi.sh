# What Open MPI's mpiexec wants to be told on a machine of one's own; read by quickstart and the
# tests, after MPI_FAMILY is known. Open MPI 4: OMPI_*, 5: PRTE_* (mpirun(1); "Open MPI FAQ: Running
# MPI jobs"). More ranks than cores is normal here, and root is normal in containers; its texts at an
# abort would hide ours.
if [ "${MPI_FAMILY:-}" = openmpi ]; then
  export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  export OMPI_MCA_orte_execute_quiet=1
  if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
fi
