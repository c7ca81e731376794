"""Sparse matrices by rows, and the solvers CG and LSQR. Vectors are this rank's parts."""
from __future__ import annotations

from typing import Any, Generator, NamedTuple

import numpy as np

from . import _core, _words
from ._calls import Owned, collective, handle
from ._errors import ArgumentError
from .transport import Transport, starts, world

class CSR(Owned):
    """A sparse matrix by rows: each rank has a block of rows, in the order of ranks. Collective.

    indptr: [rows + 1] int64, from 0; indices: [entries] int64, global columns in any order; data:
    [entries] float64. columns: number of this rank's columns (elements of x in A x); None: as many
    as rows.

    rows, columns, entries: of this rank; ghosts: number of elements of x that this rank needs and
    other ranks own.
    """

    __slots__ = ("transport", "shape", "rows", "columns", "entries", "ghosts", "first_row",
                 "first_column")

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
        (self.rows, self.columns, self.entries, self.ghosts, m, n, self.first_row,
         self.first_column) = _core.csr_facts(new)
        self.shape = (m, n)
        return self

    def _facts(self) -> str:
        return f"{self.shape[0]} x {self.shape[1]}, {self.rows} rows and {self.entries} entries here"

    @staticmethod
    @collective
    def read(path: Any, *, transport: Transport | None = None) -> Generator[None, None, "CSR"]:
        """Reads a matrix from a Matrix Market file, distributed evenly. Collective."""
        transport = transport or world()
        own, name = handle(transport, Transport, "transport"), _words.text(path, "path")
        yield
        return CSR.__new__(CSR)._take(_core.csr_read(own, name, False), transport)

    @staticmethod
    @collective
    def read_metis(path: Any, *, transport: Transport | None = None) -> Generator[None, None, "CSR"]:
        """Reads the adjacency matrix of a METIS graph, distributed evenly: the weights of the
        edges, or 1. Collective."""
        transport = transport or world()
        own, name = handle(transport, Transport, "transport"), _words.text(path, "path")
        yield
        return CSR.__new__(CSR)._take(_core.csr_read(own, name, True), transport)

    def row(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """The entries of this rank's row `row`, from 0 (global row first_row + row): global
        columns, ascending, int64, and values. Local."""
        own, which = self._alive(), _words.whole(row, "row", 0)
        n = _core.csr_row(own, which, None, None)
        columns, values = np.empty(n, np.int64), np.empty(n)
        _core.csr_row(own, which, columns, values)
        return columns, values

    @collective
    def multiply(self, x: np.ndarray, y: np.ndarray | None = None, *, trans: str = "n",
                 beta: float = 0.0) -> Generator[str, None, np.ndarray]:
        """y := op(A) x + beta y on this rank's parts. x: [columns] float64 ("t": [rows]); y: None:
        a new array. Collective."""
        own, how = self._alive(), _words.word(trans, _words.TRANS, "trans")
        plain, scale = how == _core.NOTRANS, _words.real(beta, "beta")
        out = self.rows if plain else self.columns
        if y is None:
            y = np.zeros(out)
        _core.check_line(x, "x", _core.DOUBLE, self.columns if plain else self.rows, False)
        _core.check_line(y, "y", _core.DOUBLE, out, True)
        if np.may_share_memory(x, y):
            raise ArgumentError("y: its memory is also that of x")
        yield f" {trans}"
        _core.csr_multiply(own, how, x, scale, y)
        return y

    def __matmul__(self, x: "np.ndarray | CSR") -> "np.ndarray | CSR":
        """A @ x: as `multiply`. A @ B: a new CSR with the rows distributed like A's, and the
        columns like B's. Collective."""
        return self._product(x) if isinstance(x, CSR) else self.multiply(x)

    @collective
    def _product(self, other: "CSR") -> Generator[None, None, "CSR"]:
        own, right = self._alive(), handle(other, CSR, "other")
        yield
        return CSR.__new__(CSR)._take(_core.csr_new(own, right), self.transport)

    @collective
    def transpose(self) -> Generator[None, None, "CSR"]:
        """A^T, a new CSR with the rows distributed like A's columns. Collective."""
        own = self._alive()
        yield
        return CSR.__new__(CSR)._take(_core.csr_new(own, None), self.transport)

    @collective
    def galerkin(self, p: "CSR") -> Generator[None, None, "CSR"]:
        """P^T (A P), a new CSR: A on the coarse space with the prolongation P. Collective."""
        own, right = self._alive(), handle(p, CSR, "p")
        yield
        return CSR.__new__(CSR)._take(_core.csr_galerkin(own, right), self.transport)

    @collective
    def multiply_numeric(self, other: "CSR", result: "CSR") -> Generator[None, None, None]:
        """Computes the values of result = self @ other again, after `set_values` has changed the
        values of self or other. Collective."""
        own, right = self._alive(), handle(other, CSR, "other")
        made = handle(result, CSR, "result")
        yield
        _core.csr_numeric(own, right, made, 0)

    @collective
    def galerkin_numeric(self, p: "CSR", result: "CSR") -> Generator[None, None, None]:
        """Computes the values of result = self.galerkin(p) again, after `set_values` has changed
        the values of self or p. Collective."""
        own, right, made = self._alive(), handle(p, CSR, "p"), handle(result, CSR, "result")
        yield
        _core.csr_numeric(own, right, made, 1)

    def set_values(self, values: np.ndarray) -> None:
        """Replaces the values of this rank's entries; the pattern stays. values: [entries] float64,
        row by row, each row in ascending columns as from `row`. Local."""
        own = self._alive()
        _core.check_line(values, "values", _core.DOUBLE, self.entries, False)
        _core.csr_set_values(own, values)

    @collective
    def renumber(self, number: np.ndarray,
                 rows: int | None = None) -> Generator[None, None, "CSR"]:
        """The matrix with renumbered rows and columns, a new CSR: element (i, j) becomes (number of
        i, number of j). number: [rows] int64, new numbers of this rank's rows; over all ranks a
        permutation. rows: number of this rank's rows in the new numbering; None: as now.
        Collective."""
        own = self._alive()
        _core.check_line(number, "number", -1, self.rows, False)
        mine = self.rows if rows is None else _words.whole(rows, "rows", 0)
        yield
        start = starts(self._root, self.transport, mine)
        return CSR.__new__(CSR)._take(_core.csr_renumber(own, number, start), self.transport)

    @collective
    def submatrix(self, rows: np.ndarray, columns: np.ndarray) -> Generator[None, None, "CSR"]:
        """The submatrix of the chosen rows and columns in the given order, a new CSR. Each rank
        gets the rows that it names, which may belong to any rank. The columns that it names,
        which no other rank may name, become its columns. rows, columns: int64. Collective."""
        own = self._alive()
        _core.check_line(rows, "rows", -1, -1, False)
        _core.check_line(columns, "columns", -1, -1, False)
        yield
        return CSR.__new__(CSR)._take(_core.csr_submatrix(own, rows, columns), self.transport)

    @collective
    def diagonal(self) -> Generator[None, None, np.ndarray]:
        """The diagonal elements of this rank's rows: a new array. Collective."""
        own = self._alive()
        yield
        out = np.zeros(self.rows)
        _core.csr_numbers(own, "d", out)
        return out

    @collective
    def column_squares(self) -> Generator[None, None, np.ndarray]:
        """The sum of squares of each of this rank's columns, which is the diagonal of A^T A: a new
        array. Collective."""
        own = self._alive()
        yield
        out = np.zeros(self.columns)
        _core.csr_numbers(own, "s", out)
        return out

    @collective
    def column_norms(self) -> Generator[None, None, np.ndarray]:
        """The 2-norm of each of this rank's columns: a new array, computed without overflow or
        underflow. The inverse of positive norms can serve as `scale` of `lsqr`. Collective."""
        own = self._alive()
        yield
        out = np.zeros(self.columns)
        _core.csr_numbers(own, "n", out)
        return out


@collective
def read_vector(path: Any, rows: int, *,
                transport: Transport | None = None) -> Generator[None, None, np.ndarray]:
    """This rank's part of a vector in a Matrix Market file (array, n x 1): a new array. rows:
    length of this rank's part, as `CSR.rows`; the sum over all ranks is n. Collective."""
    transport = transport or world()
    own, name = handle(transport, Transport, "transport"), _words.text(path, "path")
    mine = _words.whole(rows, "rows", 0)
    out = np.zeros(mine)
    yield
    _core.vector_read(own, name, starts(own, transport, mine), out)
    return out


class Solved(NamedTuple):
    """Result of a solver. end: "converged", "iterations" (the limit was reached), "indefinite" or
    "not finite"; left: the quantity that was compared with the tolerance."""

    x: np.ndarray
    end: str
    iterations: int
    left: float
    residual: float
    seconds: float


@collective
def cg(a: CSR, b: np.ndarray, x: np.ndarray | None = None, *, jacobi: int = 0, sweeps: int = 0,
       mode: str = "sync", **options: Any) -> Generator[str, None, Solved]:
    """Solves A x = b, A symmetric and positive definite. Collective. b: [rows] float64; x: the
    initial guess, which is overwritten by the solution; None: zero. jacobi: 0: no
    preconditioner, 1: the diagonal, more: blocks of this many rows. sweeps: if not 0, the
    preconditioner is this many sweeps of block Jacobi, in lock-step, or with mode "async" or
    "racy" asynchronous (see `iterate`). options: tolerance, iterations, flexible (always on with
    asynchronous sweeps). A, b and x may have any normal magnitude; if x overflows, or its norm
    is below 2.2e-308, the end is "not finite"."""
    own, block = handle(a, CSR, "a"), _words.whole(jacobi, "jacobi", 0)
    many, how = _words.whole(sweeps, "sweeps", 0), _words.word(mode, _words.MODE, "mode")
    if many > 0 and how != _core.ITERATE_SYNC:
        options = {"flexible": True, **options}
    if x is None:
        x = np.zeros(a.rows)
    _core.check_line(b, "b", _core.DOUBLE, a.rows, False)
    _core.check_line(x, "x", _core.DOUBLE, a.rows, True)
    packed = _words.options("solver", options)
    yield _words.same(f"with jacobi={min(block, 1)} sweeps={many} {mode}")
    end, *rest = _core.cg(own, block, many, how, b, x, packed)
    return Solved(x, _words.KRYLOV_END[end], *rest)


@collective
def lsqr(a: CSR, b: np.ndarray, *, damping: float = 0.0, scale: np.ndarray | None = None,
         **options: Any) -> Generator[None, None, Solved]:
    """Minimises |b - A x|^2 + damping^2 |x / scale|^2. Collective. b: [rows], scale: [columns],
    float64. options: tolerance, iterations. Magnitudes as in `cg`; a damping above 1e150 |A| may
    end as "not finite"."""
    own, damp = handle(a, CSR, "a"), _words.real(damping, "damping")
    _core.check_line(b, "b", _core.DOUBLE, a.rows, False)
    if scale is not None:
        _core.check_line(scale, "scale", _core.DOUBLE, a.columns, False)
    x, packed = np.zeros(a.columns), _words.options("solver", options)
    yield
    end, *rest = _core.lsqr(own, b, damp, scale, x, packed)
    return Solved(x, _words.KRYLOV_END[end], *rest)
