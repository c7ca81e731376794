"""OSLA: one-sided linear algebra on the ranks of an MPI job.

    import numpy as np, osla

    with osla.Hessian(n) as H:                 # all ranks; committed at the end of the block
        H.update(ix, G)                        # each its share: H[ix, ix] += G^T G
        H.update_gradient(ix, g)
    x = osla.potrf(H.matrix).solve(H.gradient)

Collective calls are made by all ranks, in the same order and with the same arguments but for data;
where one rank's argument is wrong, all of them raise. What Python drops is destroyed at the next
collective call, once all ranks have dropped it. An exception that nobody catches ends all ranks.
"""
from ._errors import (ArgumentError, Error, FileError, MemoryError, MPIError, RangeError,
                      SingularError, StateError, UnsupportedError)
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

__all__ = ["ArgumentError", "CSR", "Cholesky", "Diffusion", "Error", "File", "FileError", "Forest",
           "Grid", "Hessian", "Iterated", "LU", "MPIError", "Matrix", "MemoryError", "Mixed",
           "Part", "RangeError", "Refined", "SingularError", "Solved", "StateError", "Transfer",
           "Transport", "UnsupportedError", "cg", "gemm", "gemv", "gesv_mixed", "getrf", "getri",
           "getrs", "hemm", "hemv", "herk", "iterate", "load", "lsqr", "posv_mixed", "potrf",
           "potri", "potrs", "read_vector", "refine", "residual", "save", "symm", "symv", "syrk",
           "trmm", "trsm", "world"]
