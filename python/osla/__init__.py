"""OSLA: one-sided linear algebra on the ranks of an MPI job.

    import numpy as np, osla
    with osla.Hessian(n) as H:                 # on all ranks; committed at the end of the block
        H.update(ix, G)                        # each rank its data: H[ix, ix] += G^T G
        H.update_gradient(ix, g)
    x = osla.potrf(H.matrix).solve(H.gradient)

Collective calls are made by all ranks, in the same order and, except for data, with the same
arguments. If one rank's argument is wrong, all ranks raise an exception. Objects that Python has
deallocated on all ranks are destroyed at the next collective call. An uncaught exception ends all
ranks.

    world, Transport, Grid                 the ranks, and their arrangement
    Matrix, Part                           distributed matrices; from_numpy, to_numpy, local, wrap
    Device                                 a GPU, for matrices in its memory
    Hessian                                accumulates updates from all ranks, also on a Matrix
    gemm syrk symm hemm herk trmm trsm     products, as in BLAS; gemv symv hemv with a column
    getrf potrf -> LU, Cholesky            factors: solve, inverse, rcond, logdet; refine, residual
    gesv_mixed posv_mixed                  solves in mixed precision
    CSR, cg, lsqr, read_vector             sparse matrices and solvers
    iterate, Diffusion                     asynchronous fixed-point iterations
    Forest, Transfer                       irregular communication
    save, load, File                       HDF5 and raw files
    Error                                  base class of the exceptions: ArgumentError, StateError,
                                           ...

help(osla.Hessian.update), for example, describes a method; doc/python.md is a guide.
"""
from . import _core
from ._errors import (ArgumentError, Error, FileError, MemoryError, MPIError, RangeError,
                      SingularError, StateError, UnsupportedError)
from .device import Device
from .file import File, load, save
from .forest import Forest, Transfer
from .hessian import Hessian
from .iterations import Diffusion, Iterated, iterate
from .kernels import (LU, Cholesky, Mixed, Refined, gemm, gesv_mixed, getrf, getri, getrs, posv_mixed,
                      potrf, potri, potrs, refine, residual, syrk, trsm)
from .matrix import Matrix, Part
from .products import gemv, hemm, hemv, herk, symm, symv, trmm
from .sparse import CSR, Solved, cg, lsqr, read_vector
from .transport import Grid, Transport, world

__version__: str = _core.VERSION

__all__ = ["ArgumentError", "CSR", "Cholesky", "Device", "Diffusion", "Error", "File", "FileError", "Forest",
           "Grid", "Hessian", "Iterated", "LU", "MPIError", "Matrix", "MemoryError", "Mixed",
           "Part", "RangeError", "Refined", "SingularError", "Solved", "StateError", "Transfer",
           "Transport", "UnsupportedError", "cg", "gemm", "gemv", "gesv_mixed", "getrf", "getri",
           "getrs", "hemm", "hemv", "herk", "iterate", "load", "lsqr", "posv_mixed", "potrf",
           "potri", "potrs", "read_vector", "refine", "residual", "save", "symm", "symv", "syrk",
           "trmm", "trsm", "world", "__version__"]
