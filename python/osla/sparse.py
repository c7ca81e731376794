"""Sparse matrices by rows, and the solvers CG and LSQR. Vectors are this rank's parts."""
from __future__ import annotations

from typing import Any, Generator, NamedTuple

import numpy as np

from . import _core, _words
from ._calls import Owned, collective, handle
from ._errors import ArgumentError
from .transport import Transport, starts, world

class CSR(Owned):
    """A sparse matrix by rows: this rank's rows, after those of the ranks before it. Collective.

    indptr: [rows + 1] int64 from 0; indices: [entries] int64, columns of the whole matrix, in any
    order; data: [entries] float64. columns: this rank's share of the columns (of the vector x in
    A x); None: as many as rows.
    """

    __slots__ = ("transport", "shape", "rows", "columns", "entries", "first_row", "first_column")

    @collective
    def __init__(self, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, *,
                 columns: int | None = None,
                 transport: Transport | None = None) -> Generator[None, None, None]:
        transport = transport or world()
        own = handle(transport, Transport, "transport")
        _core.check_line(indptr, "indptr", -1, -1, False)
        if len(indptr) < 1 or indptr[0] != 0 or indptr[-1] < 0:
            raise ArgumentError("indptr: begins with 0 and has rows + 1 numbers")
        _core.check_line(indices, "indices", -1, int(indptr[-1]), False)
        _core.check_line(data, "data", _core.DOUBLE, int(indptr[-1]), False)
        rows = len(indptr) - 1
        mine = rows if columns is None else _words.whole(columns, "columns", 0)
        yield
        row_start, column_start = (starts(own, transport, n) for n in (rows, mine))
        self._take(_core.csr_create(own, row_start, column_start, indptr, indices, data), transport)

    def _take(self, new: Any, transport: Transport) -> "CSR":
        self._handle, self._root, self.transport = new, transport._root, transport
        (self.rows, self.columns, self.entries, m, n, self.first_row,
         self.first_column) = _core.csr_facts(new)
        self.shape = (m, n)
        return self

    @staticmethod
    @collective
    def read(path: Any, *, transport: Transport | None = None) -> Generator[None, None, "CSR"]:
        """A matrix of a Matrix Market file, distributed evenly. Collective."""
        transport = transport or world()
        own, name = handle(transport, Transport, "transport"), _words.text(path, "path")
        yield
        return CSR.__new__(CSR)._take(_core.csr_read(own, name), transport)

    @collective
    def multiply(self, x: np.ndarray, y: np.ndarray | None = None, *, trans: str = "n",
                 beta: float = 0.0) -> Generator[None, None, np.ndarray]:
        """y := op(A) x + beta y, of this rank's parts. x: [columns] float64 ("t": [rows]); y: None:
        a new one. Collective."""
        own, how = self._alive(), _words.word(trans, _words.TRANS, "trans")
        plain, scale = how == _core.NOTRANS, _words.real(beta, "beta")
        out = self.rows if plain else self.columns
        if y is None:
            y = np.zeros(out)
        _core.check_line(x, "x", _core.DOUBLE, self.columns if plain else self.rows, False)
        _core.check_line(y, "y", _core.DOUBLE, out, True)
        if np.may_share_memory(x, y):
            raise ArgumentError("y: its memory is also that of x")
        yield
        _core.csr_multiply(own, how, x, scale, y)
        return y

    def __matmul__(self, x: "np.ndarray | CSR") -> "np.ndarray | CSR":
        """A @ x: as `multiply`; A @ B: a new CSR, rows distributed as A's, columns as B's. Collective."""
        return self._product(x) if isinstance(x, CSR) else self.multiply(x)

    @collective
    def _product(self, other: "CSR") -> Generator[None, None, "CSR"]:
        own, right = self._alive(), handle(other, CSR, "other")
        yield
        return CSR.__new__(CSR)._take(_core.csr_new(own, right), self.transport)

    @collective
    def transpose(self) -> Generator[None, None, "CSR"]:
        """A^T, a new CSR, rows distributed as A's columns. Collective."""
        own = self._alive()
        yield
        return CSR.__new__(CSR)._take(_core.csr_new(own, None), self.transport)

    @collective
    def diagonal(self) -> Generator[None, None, np.ndarray]:
        """The elements (i, i) of this rank's rows: a new array. Collective."""
        own = self._alive()
        yield
        out = np.zeros(self.rows)
        _core.csr_numbers(own, False, out)
        return out

    @collective
    def column_squares(self) -> Generator[None, None, np.ndarray]:
        """The sum of the squares in each of this rank's columns, the diagonal of A^T A: a new array.
        Collective."""
        own = self._alive()
        yield
        out = np.zeros(self.columns)
        _core.csr_numbers(own, True, out)
        return out


class Solved(NamedTuple):
    """A solver's answer. end: "converged", "iterations" (as many as were allowed), "indefinite" or
    "not finite"; left: what was compared with the tolerance."""

    x: np.ndarray
    end: str
    iterations: int
    left: float
    residual: float
    seconds: float


@collective
def cg(a: CSR, b: np.ndarray, x: np.ndarray | None = None, *, jacobi: int = 0, sweeps: int = 0,
       mode: str = "sync", **options: Any) -> Generator[None, None, Solved]:
    """Solves A x = b, A symmetric and positive definite. Collective. b: [rows] float64; x: the first
    guess, which the solution replaces; None: zero. jacobi: 0: no preconditioner, 1: the diagonal,
    more: blocks of so many rows. sweeps: the preconditioner is so many of block Jacobi, in lock-step,
    or with mode "async" or "racy" without waiting (`iterate`). options: tolerance, iterations,
    flexible (always where sweeps do not wait)."""
    own, block = handle(a, CSR, "a"), _words.whole(jacobi, "jacobi", 0)
    many, how = _words.whole(sweeps, "sweeps", 0), _words.word(mode, _words.MODE, "mode")
    if many > 0 and how != _core.ITERATE_SYNC:
        options = {"flexible": True, **options}
    if x is None:
        x = np.zeros(a.rows)
    _core.check_line(b, "b", _core.DOUBLE, a.rows, False)
    _core.check_line(x, "x", _core.DOUBLE, a.rows, True)
    packed = _core.options("solver", options)
    yield
    end, *rest = _core.cg(own, block, many, how, b, x, packed)
    return Solved(x, _words.KRYLOV_END[end], *rest)


@collective
def lsqr(a: CSR, b: np.ndarray, *, damping: float = 0.0, scale: np.ndarray | None = None,
         **options: Any) -> Generator[None, None, Solved]:
    """Minimises |b - A x|^2 + damping^2 |x / scale|^2. Collective. b: [rows], scale: [columns],
    float64. options: tolerance, iterations."""
    own, damp = handle(a, CSR, "a"), _words.real(damping, "damping")
    _core.check_line(b, "b", _core.DOUBLE, a.rows, False)
    if scale is not None:
        _core.check_line(scale, "scale", _core.DOUBLE, a.columns, False)
    x, packed = np.zeros(a.columns), _core.options("solver", options)
    yield
    end, *rest = _core.lsqr(own, b, damp, scale, x, packed)
    return Solved(x, _words.KRYLOV_END[end], *rest)
