# Environment variables for each mode of tests/list. tests/run and scripts source this file. OSLA
# itself distributes the ranks over fake nodes; MPICH gets the equal setting, so that it transfers
# data between them as between hosts. A run on an unexpected number of nodes fails.

# Open MPI 4.1 in Debian's configuration has no windows for one rank, which ARMCI needs, and hangs
# with 20,000 outstanding notifications over shared memory (btl vader). With osc pt2pt over TCP it
# has neither fault.

in_mode() { # MODE RANKS [NEEDS]: prints the variables; NEEDS: notes of tests/list
  if [ "$MPI_FAMILY" = openmpi ]; then
    case $1,$2,${3:-} in
      fake[24],*|nolocal,*|*,1,*armci*|*,1,*ga*) echo OMPI_MCA_osc=pt2pt,sm OMPI_MCA_btl=self,tcp OSLA_TEST_SERIALIZED=yes ;;
    esac
  fi
  case $1 in
    node) echo OSLA_EXPECT_NODES=1 ;;
    fake2|fake4)
      echo OSLA_EXPECT_NODES="${1#fake}" OSLA_FAKE_NODES="${1#fake}"
      echo MPIR_CVAR_NUM_CLIQUES="${1#fake}" MPIR_CVAR_CLIQUES_BY_BLOCK=1 ;;
    sparse)
      in_mode fake2 "${@:2}"
      echo OSLA_SPARSE_FROM=1 ;;
    cores2)
      in_mode fake2 "${@:2}"
      echo OSLA_OWN_CORES=on ;;
    nolocal) echo OSLA_EXPECT_NODES="$2" OSLA_FAKE_NODES=all MPIR_CVAR_NOLOCAL=1 ;;
    device) echo OSLA_EXPECT_NODES=1 OSLA_TEST_HESSIAN_DEVICE=fake OSLA_TEST_VALUES=device ;;
    device2)
      in_mode fake2 "${@:2}"
      echo OSLA_TEST_HESSIAN_DEVICE=fake OSLA_TEST_VALUES=device ;;
    triangle) echo OSLA_EXPECT_NODES=1 OSLA_TEST_TRIANGLE=yes ;;
    triangle2)
      in_mode fake2 "${@:2}"
      echo OSLA_TEST_TRIANGLE=yes ;;
    mixed) echo OSLA_EXPECT_NODES=1 OSLA_TEST_VALUES=mixed ;;
    early)
      in_mode device "${@:2}"
      echo OSLA_FAKE_DEVICE=early ;;
    mpimem) echo OSLA_EXPECT_NODES=1 OSLA_SHARED_MEMORY=mpi ;;
    armci) echo OSLA_TRANSPORT=armci ;;
    shmem) echo OSLA_EXPECT_NODES=1 OSLA_TRANSPORT=shmem ;;
    shmem2)
      in_mode fake2 "${@:2}"
      echo OSLA_TRANSPORT=shmem ;;
    hosts2shmem) # attached memory has windows, which Open MPI gives over TCP only by osc pt2pt
      echo OSLA_EXPECT_NODES=2 OSLA_TRANSPORT=shmem
      [ "$MPI_FAMILY" != openmpi ] || echo OMPI_MCA_osc=pt2pt,sm OSLA_TEST_SERIALIZED=yes ;;
    hosts[2-4]) echo OSLA_EXPECT_NODES="${1#hosts}" ;;
    sim) # 4 hosts for up to 16 ranks, 16 hosts for more
      if [ "$2" -le 16 ]; then
        echo OSLA_EXPECT_NODES=4 OSLA_MACHINE=ethernet
      else
        echo OSLA_EXPECT_NODES=16 OSLA_MACHINE=infiniband
      fi ;;
  esac
}
