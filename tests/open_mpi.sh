# Settings of Open MPI's mpiexec for tests on one machine; sourced by quickstart and the tests,
# after MPI_FAMILY is known. Open MPI 4: OMPI_*, 5: PRTE_* (mpirun(1); "Open MPI FAQ: Running MPI
# jobs"). They allow more ranks than cores, and root, as in containers; they suppress its messages
# at an abort, which would hide OSLA's, and keep its session folder out of the job's files.
if [ "${MPI_FAMILY:-}" = openmpi ]; then
  export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  export OMPI_MCA_orte_execute_quiet=1 OMPI_MCA_orte_tmpdir_base=/tmp
  if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
fi
