# The environment that places ranks on nodes; read by tests/run and by scripts.
# OSLA deals the ranks to fake nodes itself; MPICH is told, too, so that transfers take the way that
# they take between hosts. A run on another number of nodes than was meant fails.

# Open MPI 4.1 as Debian sets it up has no windows for one rank, which ARMCI wants, and over shared
# memory (btl vader) 20,000 notifies that are under way together stop for ever: osc pt2pt over TCP.

in_mode() { # MODE RANKS [NEEDS]
  if [ "$MPI_FAMILY" = openmpi ]; then
    case $1,$2,${3:-} in
      fake2,*|nolocal,*|*,1,*armci*|*,1,*ga*) echo OMPI_MCA_osc=pt2pt,sm OMPI_MCA_btl=self,tcp OSLA_TEST_SERIALIZED=yes ;;
    esac
  fi
  case $1 in
    node) echo OSLA_EXPECT_NODES=1 ;;
    fake2)
      echo OSLA_EXPECT_NODES=2 OSLA_FAKE_NODES=2
      echo MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_CLIQUES_BY_BLOCK=1 ;;
    sparse)
      in_mode fake2 "${@:2}"
      echo OSLA_SPARSE_FROM=1 ;;
    cores2)
      in_mode fake2 "${@:2}"
      echo OSLA_OWN_CORES=on ;;
    nolocal) echo OSLA_EXPECT_NODES="$2" OSLA_FAKE_NODES=all MPIR_CVAR_NOLOCAL=1 ;;
    mpimem) echo OSLA_EXPECT_NODES=1 OSLA_SHARED_MEMORY=mpi ;;
    armci) echo OSLA_TRANSPORT=armci ;;
    hosts[2-4]) echo OSLA_EXPECT_NODES="${1#hosts}" ;;
    sim) # 4 hosts, or 16 where they are more than 16
      if [ "$2" -le 16 ]; then
        echo OSLA_EXPECT_NODES=4 OSLA_MACHINE=ethernet
      else
        echo OSLA_EXPECT_NODES=16 OSLA_MACHINE=infiniband
      fi ;;
  esac
}
