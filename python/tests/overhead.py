"""Measures the overhead of H.update with numpy arrays over the same call in C, alternating, in one
process, on one rank.

usage: overhead.py OVERHEAD.so [N]

OVERHEAD.so is overhead.c as a shared library, linked with the libosla of the package. Updates have
400 indices and a G of one row, or of none, so that C has almost nothing to do and the difference is
not lost in the noise. Exit status 1 if the overhead exceeds 3 us. With N, an accumulator of that
order, updates of 16 rows, and the times of gemm and LU at order N, in Python and in C.
"""
import ctypes
import sys
import time

import numpy as np

import osla

COUNT, ORDER = 400, int(sys.argv[2]) if len(sys.argv) > 2 else 2000


def measure(library, k, calls, repeats):
    """Seconds of a call in C and in Python: the best of alternating loops."""
    H = osla.Hessian(ORDER)
    ix = np.sort(np.random.default_rng(1).choice(ORDER, COUNT, replace=False))
    G = np.asfortranarray(np.ones((k, COUNT)))
    in_c, in_python = [], []
    for _ in range(repeats):
        in_c.append(library.overhead_of(ctypes.c_int64(COUNT), ctypes.c_void_p(ix.ctypes.data),
                                        ctypes.c_int64(k), ctypes.c_void_p(G.ctypes.data),
                                        ctypes.c_int64(calls)))
        since = time.perf_counter()
        for _ in range(calls):
            H.update(ix, G)
        in_python.append((time.perf_counter() - since) / calls)
    assert min(in_c) > 0, "the calls in C failed"
    return min(in_c), min(in_python)


def timed(kernel, *matrices):
    since = time.perf_counter()
    kernel(*matrices)
    return time.perf_counter() - since


def compare(library, n):
    """Times of gemm and LU in C and in Python, alternating, three times each."""
    calls = {"gemm": (lambda: library.overhead_gemm(ctypes.c_int64(n)), osla.gemm, 3),
             "getrf": (lambda: library.overhead_getrf(ctypes.c_int64(n)), osla.getrf, 1)}
    for name, (in_c, in_python, operands) in calls.items():
        times = [(in_c(), timed(in_python, *(osla.Matrix(n, n).fill("uniform", 1)
                                             for _ in range(operands)))) for _ in range(3)]
        c, python = np.min(times, axis=0)
        assert c > 0, "the calls in C failed"
        print(f"{name}, order {n}: C {c:.3f} s, Python {python:.3f} s, ratio {python / c:.3f}")


assert osla.world().size == 1, "one rank"
library = ctypes.CDLL(sys.argv[1])
for call in (library.overhead_of, library.overhead_gemm, library.overhead_getrf):
    call.restype = ctypes.c_double
assert library.overhead_ready(ctypes.c_int64(ORDER)) == 0
above = {}
for k, calls, repeats in ((0, 2000, 30), (1, 40, 30), (16, 40, 30))[:3 if len(sys.argv) > 2 else 2]:
    c, python = measure(library, k, calls, repeats)
    above[k] = python - c
    print(f"H.update, {COUNT} indices, {k} rows: C {c * 1e6:.2f} us, Python {python * 1e6:.2f} us, "
          f"above C {above[k] * 1e6:.2f} us, ratio {python / c:.3f}")
if len(sys.argv) > 2:
    compare(library, int(sys.argv[2]))
library.overhead_end()
sys.exit(1 if above[0] > 3e-6 else 0)
