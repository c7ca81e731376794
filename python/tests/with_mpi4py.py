"""A communicator of mpi4py: accepted if both packages use the same MPI, else refused with an
explanation. Prints which. Argument: the package to import first, mpi4py or osla."""
import os
import sys
import tempfile

# MPICH may have started these processes while mpi4py uses Open MPI. Open MPI then treats each
# process as a job of its own, which creates the folder ompi.HOST.USER in TMPDIR. Open MPI 4.1.4
# fails if two processes create this folder at the same time, so each process gets its own TMPDIR.
if "OMPI_COMM_WORLD_RANK" not in os.environ:
    os.environ["TMPDIR"] = tempfile.mkdtemp(dir=os.getcwd())

if sys.argv[1] == "osla":
    import osla
from mpi4py import MPI

try:
    import osla
except ImportError as reason:
    assert "was built for" in str(reason), reason
    sys.stdout.write(f"refused: {reason}\n")  # one write, so that lines of different ranks do not mix
    sys.exit(0)

try:
    w = osla.Transport(MPI.COMM_WORLD)
except osla.ArgumentError as reason:
    assert "mpi4py is on " in str(reason) and "this build of osla on " in str(reason), reason
    sys.stdout.write(f"refused: {reason}\n")  # one write, so that lines of different ranks do not mix
else:
    assert (w.rank, w.size) == (MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size)
    half = MPI.COMM_WORLD.Split(w.rank % 2, w.rank)
    part = osla.Transport(half)
    half.Free()  # the transport has a duplicate
    assert part.size == (w.size + 1 - w.rank % 2) // 2
    a = osla.Matrix(4, 4, grid=part.grid).fill("identity")
    assert a.norm("fro") == 2.0
    for bad in (MPI.COMM_NULL, MPI.GROUP_NULL, 3):
        try:
            osla.Transport(bad)
        except osla.ArgumentError:
            continue
        raise AssertionError(bad)
    sys.stdout.write("taken\n")
