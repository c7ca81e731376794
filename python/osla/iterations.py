"""Fixed-point iterations, synchronous and asynchronous (osla_iterate.h)."""
from __future__ import annotations

from typing import Any, Generator, NamedTuple, Sequence

import numpy as np

from . import _core, _words
from ._calls import Owned, collective, handle
from ._errors import ArgumentError
from .matrix import Matrix
from .sparse import CSR
from .transport import Transport, world


class Iterated(NamedTuple):
    """Result of an iteration. end: "converged"; "stagnated" (the residual consists of rounding
    errors, and is larger than requested), "sweeps" (the limit was reached), "diverged",
    "stalled" (a rank made no step for `patience` seconds). residual: |b - A x| of the returned
    x; if it diverged or stalled, an outdated estimate. rounding: bound of the rounding errors in
    residual; error: bound of max |x - solution| / v, 0 if none is known; alpha: with
    bound_steps, below 1 if it is proved that every mode converges. sweeps: of this rank; least,
    most: over all ranks. corrections: number of corrections of the coarse level that this rank
    added."""

    x: np.ndarray
    end: str
    residual: float
    start: float
    norm: float
    rounding: float
    error: float
    sweeps: int
    least: int
    most: int
    alpha: float
    seconds: float
    corrections: int


def _share(a: CSR | Matrix) -> tuple[Any, int, int, int]:
    """The handle, first and last row of this rank, and the length of b and x on this rank."""
    if isinstance(a, CSR):
        own = handle(a, CSR, "a")
        return own, 0, a.rows, a.rows
    own, transport = handle(a, Matrix, "a"), a.grid.transport
    first, last = (_core.even_start(a.shape[0], transport.size, transport.rank + i) for i in (0, 1))
    return own, first, last, a.shape[0]


def _most(value: int | None, name: str) -> int:
    """A number of at least 1; None: the largest, which means all rows of a rank or all ranks."""
    return 2**63 - 1 if value is None else _words.whole(value, name, 1)


@collective
def iterate(a: CSR | Matrix, b: np.ndarray, x: np.ndarray | None = None, *, mode: str = "async",
            block: int | None = 1, factor: str = "cholesky", inner_tolerance: float = 0.0,
            group: int | None = 1, coarse: Any = None, uplo: str = "whole", bound_steps: int = 0,
            **options: Any) -> Generator[str, None, Iterated]:
    """Solves A x = b by sweeps x := x + B^-1 (b - A x), where B has the diagonal blocks of A.
    Collective.

    mode: "async": no rank waits, each sweep uses the newest values that have arrived; "racy": also
    values mixed from several sweeps; "sync": in lock-step. In every mode the returned x has the
    reported residual. a: a CSR: b, x: [rows] float64 of this rank; or a Matrix of float64: b, x:
    [n], the same on all ranks; uplo: "lower" or "upper" if it is symmetric and one triangle is
    stored. x: the initial guess, which is not changed; None: zero. block: number of rows of a block
    of B; 1: the diagonal; None: one block per rank, or per group of ranks. factor: solver of the
    blocks: "cholesky" for positive definite blocks, "lu" for any; with block=None also "cg", to the
    relative inner_tolerance (0.0: 0.01), or "sparse" (sparse Cholesky by CHOLMOD). Both need a CSR
    with positive definite blocks. group: number of consecutive ranks that share a block, for "cg";
    None: all ranks. coarse: None: no coarse level; True: a coarse level with one unknown for each
    rank, for symmetric positive definite matrices; a mapping: its options damping and sweeps. With
    a coarse level the asynchronous modes need damped sweeps, as with omega=0.5. bound_steps: first
    makes this many sweeps to find a proof that the iteration converges. options: tolerance, norm,
    omega, sweeps, period, lead, in_flight, check, patience, proven.
    """
    if not isinstance(a, (CSR, Matrix)):
        raise ArgumentError(f"a: a CSR or a Matrix is needed, not {type(a).__name__}")
    own, first, last, length = _share(a)
    triangle = _words.word(uplo, _words.STORED_TRIANGLE, "uplo")
    steps = _words.whole(bound_steps, "bound_steps", 0)
    blocks = _words.options("blocks", {"block": _most(block, "block"),
                                      "factor": _words.word(factor, _words.BLOCK_FACTOR, "factor"),
                                      "inner_tolerance": _words.real(inner_tolerance, "inner_tolerance"),
                                      "group": _most(group, "group")})
    level, of_level = _words.coarse(coarse)
    packed = _words.options("iterate", {**options, "mode": _words.word(mode, _words.MODE, "mode")})
    _core.check_line(b, "b", _core.DOUBLE, length, False)
    if x is not None:
        _core.check_line(x, "x", _core.DOUBLE, length, False)
    yield _words.same(f"of a {type(a).__name__}", of_level, bound_steps=steps)
    mine = np.zeros(last - first) if x is None else np.array(x[first:last])
    end, *rest = _core.iterate(own, triangle, b[first:last], mine, blocks, packed, level, steps)
    if isinstance(a, Matrix):
        whole = np.zeros(length)
        whole[first:last] = mine
        _core.allreduce(a._root, whole)
        mine = whole
    return Iterated(mine, _words.ITERATE_END[end], *rest)


def _triple(value: Any, name: str, least: int) -> dict[str, int]:
    if not isinstance(value, (tuple, list)) or len(value) != 3:
        raise ArgumentError(f"{name} = {value!r}: three whole numbers are needed")
    return {f"{name}[{i}]": _words.whole(value[i], f"{name}[{i}]", least) for i in range(3)}


class Diffusion(Owned):
    """Laplace's equation in the unit cube with 7-point differences as a fixed-point problem, to
    test iterations (osla_diffusion.h, with its source). Collective.

    points: of the whole grid, along x, y, z. ranks: along x, y, z; their product is at most the
    number of ranks, and further ranks have no points; None: the shape with the smallest halos.
    start: "source" (a boundary that is heated from below) or "mode" (an eigenvector; boundary
    0). radius: of the source, 0: 0.25. offset: is added to boundary and start of "source"; None:
    1.

    first, count: of this rank's points; ranks: along x, y, z; spectral_radius: of the iteration.
    A state is a column-major (Fortran order) array of count + 2 in each dimension (of size 0 on
    a rank without points): this rank's points within one layer of halos and boundaries.
    """

    __slots__ = ("transport", "first", "count", "ranks", "spectral_radius")

    @collective
    def __init__(self, points: Sequence[int], ranks: Sequence[int] | None = None, *,
                 start: str = "source", radius: float = 0.0, offset: float | None = None,
                 transport: Transport | None = None) -> Generator[None, None, None]:
        transport = transport or world()
        own = handle(transport, Transport, "transport")
        fields = {**_triple(points, "points", 1), "radius": _words.real(radius, "radius"),
                  "start": _words.word(start, _words.DIFFUSION_START, "start")}
        if ranks is not None:
            fields |= _triple(ranks, "ranks", 1)
        if offset is not None:
            fields |= {"offset": _words.real(offset, "offset"), "no_offset": offset == 0}
        packed = _words.options("Diffusion", fields)
        yield
        self._handle = _core.diffusion_create(own, packed)
        self._root, self.transport = own, transport
        self.first, self.count, self.ranks, self.spectral_radius = _core.diffusion_facts(self._handle)

    def _facts(self) -> str:
        return f"of {' x '.join(map(str, self.count))} points here, from {self.first}"

    @property
    def _shape(self) -> tuple[int, int, int]:
        return tuple(n + 2 for n in self.count) if min(self.count) > 0 else (0, 0, 0)

    def initial(self) -> np.ndarray:
        """The initial state with its boundary values. Local."""
        x = np.zeros(int(np.prod(self._shape)))
        _core.diffusion_fill(self._alive(), x)
        return x.reshape(self._shape, order="F")

    @collective
    def iterate(self, x: np.ndarray | None = None, *, mode: str = "async", coarse: Any = None,
                bound_steps: int = 0, **options: Any) -> Generator[str, None, Iterated]:
        """Sweeps x := M x + c from the state x, which is not changed; None: `initial`. Collective.
        mode, coarse, bound_steps, options: as in `iterate`; Iterated.x is a state."""
        own, shape = self._alive(), self._shape
        steps = _words.whole(bound_steps, "bound_steps", 0)
        packed = _words.options("iterate", {**options, "mode": _words.word(mode, _words.MODE, "mode")})
        if x is None:
            x = self.initial()
        if not isinstance(x, np.ndarray) or x.dtype != np.float64 or x.shape != shape:
            raise ArgumentError(f"x: an array of float64 and shape {shape} is needed")
        level, of_level = _words.coarse(coarse)
        yield _words.same(of_level, bound_steps=steps)
        state = x.reshape(-1, order="F").copy()
        end, *rest = _core.diffusion_iterate(own, state, packed, level, steps)
        return Iterated(state.reshape(shape, order="F"), _words.ITERATE_END[end], *rest)
