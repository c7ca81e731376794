"""The accumulator: H[ix, ix] += G^T G from all ranks in any order, and the resulting matrix in
place."""
from __future__ import annotations

from typing import Any, Generator

import numpy as np

from . import _core, _words
from ._calls import Owned, collective, handle
from ._device_arrays import is_on_device, registered_columns
from ._errors import ArgumentError, UnsupportedError
from .matrix import Matrix
from .transport import Grid, world

_update = _core.hessian_update
_WORDS = {"uplo": _words.STORED_TRIANGLE, "combine": _words.COMBINE,
          "isolation": _words.ISOLATION, "shipping": _words.SHIPPING}


def _is_single(dtype: Any, name: str) -> bool:
    which = _words.dtype(dtype, name)
    if which not in (_words.DTYPE[np.dtype(np.float32)], _words.DTYPE[np.dtype(np.float64)]):
        raise UnsupportedError(f"{name} = {np.dtype(dtype)}: float32 or float64 is needed")
    return which == _words.DTYPE[np.dtype(np.float32)]


def _options(block: Any, dtype: Any, update_dtype: Any, given: dict[str, Any]) -> bytes:
    fields = {name: _words.word(value, _WORDS[name], name) if name in _WORDS else value
              for name, value in given.items()}
    if block is not None:
        fields["nb"] = _words.whole(block, "block", 1)
    fields["single"] = _is_single(dtype, "dtype")
    if update_dtype is not None:
        fields["single_updates"] = _is_single(update_dtype, "update_dtype")
        if fields["single"] and not fields["single_updates"]:
            raise UnsupportedError("updates of float64 into an accumulator of float32")
    fields["from_zero"] = given.get("initial", 1) == 0
    return _words.options("Hessian", fields)


def _matrix_for(on: Any, given: dict[str, Any]) -> Matrix:
    """The matrix `on`, which has properties that must not be given as well."""
    handle(on, Matrix, "on")
    for name, value in given.items():
        if value is not None:
            raise ArgumentError(f"{name} = {value!r} and on: an accumulator on a matrix has the {name} "
                                f"of the matrix, so leave out {name}")
    return on


class Hessian(Owned):
    """An accumulator of order n, or on a matrix that exists. Collective.

    n: unknowns. block: rows and columns of a block, None: 96. dtype: float64 (None) or float32, of
    H; update_dtype: of G and U, None: the dtype of H. grid: None: all ranks. on: a Matrix to which
    updates are added instead, which sets n, block, dtype and grid; clear=True: set it to zero (or
    `initial`) first. half=True: only the lower triangle of H is stored. options, as
    in osla_hessian.h: uplo ("lower", "upper", "whole"), combine ("sum", "min", "max"), initial,
    order_independent with bound and gradient_bound, memory_cap, isolation, shipping, node_sums,
    ring_bytes, piece_bytes, checkpoint_holds.

    Updates are local, and may come from any rank and thread:

        with osla.Hessian(n) as H:     # all ranks
            H.update(ix, G)            # each rank its data
        factor = osla.potrf(H.matrix)  # after the commit at the end of the block

    A block that an exception leaves is not committed.
    """

    __slots__ = ("n", "grid", "dtype", "update_dtype", "_on", "_device")
    _has_views = True

    @collective
    def __init__(self, n: int | None = None, *, on: Matrix | None = None, clear: bool = False,
                 block: int | None = None, dtype: Any = None, update_dtype: Any = None,
                 grid: Grid | None = None, half: bool = False,
                 **options: Any) -> Generator[str, None, None]:
        options["triangle"] = 1 if half else 0
        if on is not None:
            matrix = _matrix_for(on, {"n": n, "block": block, "dtype": dtype, "grid": grid})
            n, dtype, grid = matrix.shape[1], matrix.dtype, matrix.grid
            options["clear"] = clear
        elif n is None:
            raise ArgumentError("n: a number of unknowns, or on: a Matrix, is needed")
        elif clear:
            raise ArgumentError("clear without on: a new accumulator begins with zeros")
        grid = world().grid if grid is None else grid
        dtype = np.float64 if dtype is None else dtype
        owners, order = handle(grid, Grid, "grid"), _words.whole(n, "n", 0)
        packed = _options(block, dtype, update_dtype, options)
        yield _words.same(*(() if on is None else ("on a Matrix",)), **options)
        self._handle = (_core.hessian_create(owners, order, packed) if on is None else
                        _core.hessian_create_on(on._handle, packed))
        self._root, self._on = grid._root, on
        self._device = None if on is None else on.device
        self.n, self.grid, self.dtype = order, grid, np.dtype(dtype)
        self.update_dtype = self.dtype if update_dtype is None else np.dtype(update_dtype)

    def _facts(self) -> str:
        return f"of order {self.n}, {self.dtype}"

    def __enter__(self) -> "Hessian":
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is None:
            self.commit()

    # ---- updates: local, thread-safe ----

    def update(self, ix: np.ndarray, G: np.ndarray, copy: bool = False) -> None:
        """H[ix, ix] += G^T G. Local, thread-safe; the arrays may be reused at once.

        ix: [count] int64, 0 .. n - 1, in any order; an index that occurs twice gets both
        contributions. G: [k, count] of update_dtype in column-major order (such as G.T of a C array
        [count, k]), or [count] for one row. copy=True accepts any array-like of numbers and
        converts it: ix from integers only, G from any type whose values update_dtype can represent
        up to rounding.

        If the accumulator adds to a Matrix in device memory, G may also be an array in the memory
        of this device: of CuPy, torch, numba, or any object with `__cuda_array_interface__`. It is
        not converted by copy=True.
        """
        if copy:
            ix, G = self._converted(ix, G, "G")
        if self._device is not None:
            G = registered_columns(G, "G", self._device, self.update_dtype, True)
        _update(self._handle, ix, G)

    def _converted(self, ix: Any, G: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
        on_device = self._device is not None and is_on_device(G)
        return (_words.indices(ix, "ix"),
                G if on_device else _words.numbers(G, name, self.update_dtype))

    def update_block(self, ix: np.ndarray, jx: np.ndarray, U: np.ndarray,
                     copy: bool = False) -> None:
        """H[ix, jx] += U, within the stored triangle. Local, thread-safe. U: [rows, cols], in
        column-major order; in host memory, or like G of `update` in device memory."""
        if copy:
            ix, U = self._converted(ix, U, "U")
            jx = _words.indices(jx, "jx")
        if self._device is not None:
            U = registered_columns(U, "U", self._device, self.update_dtype, False)
        _core.hessian_update_block(self._handle, ix, jx, U)

    def update_gradient(self, ix: np.ndarray, values: np.ndarray, copy: bool = False) -> None:
        """gradient[ix] += values. Local, thread-safe. values: [count] float64."""
        if copy:
            ix, values = _words.indices(ix, "ix"), _words.numbers(values, "values", np.float64)
        _core.hessian_update_gradient(self._handle, ix, values)

    def update_once(self, id: int, ix: np.ndarray, G: np.ndarray | None = None, *,
                    jx: np.ndarray | None = None, U: np.ndarray | None = None,
                    gradient: np.ndarray | None = None) -> bool:
        """Adds all contributions of one datum, unless a datum with this id was added before (also
        in a restored checkpoint). True if it was added. Local, thread-safe."""
        if U is not None and jx is None:
            jx = ix
        if self._device is not None:
            G = registered_columns(G, "G", self._device, self.update_dtype, True)
            U = registered_columns(U, "U", self._device, self.update_dtype, False)
        return not _core.hessian_update_once(self._handle, _words.unsigned(id, "id"), ix, G, jx, U,
                                             gradient)

    def has_id(self, id: int) -> bool:
        """True if this rank knows that a datum with this id was added. Local."""
        return _core.hessian_has_id(self._alive(), _words.unsigned(id, "id"))

    # ---- collective calls ----

    @collective
    def commit(self) -> Generator[None, None, None]:
        """Waits until the updates of all ranks are in H and in the gradient; further updates may
        follow. Collective."""
        own = self._alive()
        yield
        _core.hessian_commit(own)

    @collective
    def reset(self) -> Generator[None, None, None]:
        """H := the initial value of the options, gradient := 0, and forgets all ids. Collective."""
        own = self._alive()
        yield
        _core.hessian_reset(own)

    @collective
    def checkpoint(self, path: Any, job: str = "") -> Generator[None, None, None]:
        """Writes sums and ids to an HDF5 file, from which `restore` continues with any number of
        ranks. job: a text that `restore` must pass, too. Collective."""
        own, texts = self._alive(), (_words.text(path, "path"), _words.text(job, "job"))
        yield
        _core.hessian_checkpoint(own, *texts)

    @collective
    def restore(self, path: Any, job: str = "") -> Generator[None, None, None]:
        """Sets a new accumulator to the state of a checkpoint. Collective."""
        own, texts = self._alive(), (_words.text(path, "path"), _words.text(job, "job"))
        yield
        _core.hessian_restore(own, *texts)

    # ---- results: local, after a commit ----

    @property
    def matrix(self) -> Matrix:
        """H itself, which can be factored in place; it is destroyed with the accumulator, unless it
        is the matrix `on`. Only the stored triangle is meaningful. Local. StateError: updates since
        the last commit."""
        borrowed = _core.hessian_matrix(self._alive())
        return Matrix._of(borrowed, self.grid, self) if self._on is None else self._on

    @property
    def gradient(self) -> np.ndarray:
        """The summed gradient [n], the same on all ranks: a copy. Local. StateError: updates since
        the last commit."""
        return np.array(memoryview(self._alive()))

    @property
    def stats(self) -> dict[str, Any]:
        """Statistics of this rank since the accumulator was created or reset. Local."""
        return _core.hessian_stats(self._alive())
