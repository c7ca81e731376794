"""Calls ScaLAPACK's pdgesv from Python; ScaLAPACK and MPI are loaded for this call only
(RTLD_LOCAL). Argument: the library. Process 0 prints the largest error of the solution's
elements, in units of 1e-9."""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
integer = ctypes.c_int
library.MPI_Init(None, None)
rank, size = integer(), integer()
library.Cblacs_pinfo(ctypes.byref(rank), ctypes.byref(size))
context = integer()
library.Cblacs_get(-1, 0, ctypes.byref(context))
library.Cblacs_gridinit(ctypes.byref(context), b"R", 1, size.value)

n, nb, me, q = 96, 8, rank.value, size.value
mine = [j for j in range(n) if j // nb % q == me]
a = (ctypes.c_double * (n * max(1, len(mine))))()
for c, j in enumerate(mine):
    for i in range(n):
        a[c * n + i] = n if i == j else (i * 7 + j * 3) % 5 / 5
b = (ctypes.c_double * n)()
if me == 0:  # the solution consists of ones
    for i in range(n):
        b[i] = sum(n if i == j else (i * 7 + j * 3) % 5 / 5 for j in range(n))
pivots = (integer * (n + nb))()


def descriptor(cols, width):
    return (integer * 9)(1, context.value, n, cols, nb, width, 0, 0, n)


one, order, nrhs, info = integer(1), integer(n), integer(1), integer(-1)
of = ctypes.byref
library.pdgesv_(of(order), of(nrhs), a, of(one), of(one), descriptor(n, nb), pivots,
                b, of(one), of(one), descriptor(1, 1), of(info))
if me == 0:
    print("info", info.value, "error", int(max(abs(x - 1) for x in b) * 1e9))
    sys.stdout.flush()
library.Cblacs_gridexit(context)
library.MPI_Finalize()
