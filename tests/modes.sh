# The environment that places ranks on nodes; read by tests/run and by scripts.
# OSLA deals the ranks to fake nodes itself; MPICH is told, too, so that transfers take the way that
# they take between hosts. A run on another number of nodes than was meant fails.

in_mode() { # MODE RANKS
  case $1 in
    node) echo OSLA_EXPECT_NODES=1 ;;
    fake2)
      echo OSLA_EXPECT_NODES=2 OSLA_FAKE_NODES=2
      echo MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_CLIQUES_BY_BLOCK=1 ;;
    nolocal) echo OSLA_EXPECT_NODES="$2" OSLA_FAKE_NODES=all MPIR_CVAR_NOLOCAL=1 ;;
    mpimem) echo OSLA_EXPECT_NODES=1 OSLA_SHARED_MEMORY=mpi ;;
    armci) echo OSLA_TRANSPORT=armci ;;
    hosts[2-4]) echo OSLA_EXPECT_NODES="${1#hosts}" ;;
  esac
}
