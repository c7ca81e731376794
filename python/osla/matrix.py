"""Distributed matrices."""
from __future__ import annotations

from typing import Any, Generator

import numpy as np

from . import _core, _words
from ._calls import Object, Owned, collective, handle
from ._errors import ArgumentError, UnsupportedError
from .device import Device, device_on, device_word
from .transport import Grid, world


def part_of(value: Any, name: str) -> tuple[Any, int, int, int, int]:
    """A matrix, or a part of one, as the tuple that _core converts to the library's part."""
    if isinstance(value, Part):
        where = (value.i, value.j, *value.shape)
        return (handle(value.matrix, Matrix, name), *(_words.whole(x, "part") for x in where))
    return (handle(value, Matrix, name), 0, 0, *value.shape)


def _grid_for(grid: Grid | None, device: Any) -> Grid:
    """The grid of an argument `grid`. None stands for all ranks of the device's transport, or of the
    default transport if there is no device."""
    if grid is None:
        grid = device.transport.grid if isinstance(device, Device) else world().grid
    return grid


def is_triangle(triangle: str | None, device: Any, sizes: tuple[int, ...]) -> bool:
    """Checks the argument `triangle` of a matrix of sizes (m, n, mb, nb) on a device. True if only
    the lower triangle is to be stored."""
    if triangle is None:
        return False
    if triangle != "lower":
        raise ArgumentError(f"triangle = {triangle!r}: None or 'lower' is needed, because a symmetric "
                            "matrix stores all elements or its lower triangle")
    m, n, mb, nb = sizes
    if m != n or mb != nb:
        raise ArgumentError(f"triangle='lower' with {m} x {n} elements in blocks of {mb} x {nb}: a "
                            "square matrix in square blocks is needed")
    if device is not None:
        raise UnsupportedError("triangle='lower' with a device: a matrix that stores a triangle lies "
                               "in host memory, so leave out one of the two")
    return True


def triangle_word(half: bool) -> str:
    """Text for the agreement of the ranks on the argument `triangle`; "" for a full matrix."""
    return " lower triangle" if half else ""


def create(device: Device | None, grid: Grid, dtype: int, *sizes: int,
            triangle: bool = False) -> Any:
    """Handle of a new matrix in the memory of `device`, or in host memory if `device` is None."""
    if triangle:
        return _core.matrix_create_triangle(grid._handle, dtype, sizes[1], sizes[3])
    if device is None:
        return _core.matrix_create(grid._handle, dtype, *sizes)
    return _core.matrix_create_on(device._handle, grid._handle, dtype, *sizes)


class Matrix(Owned):
    """A matrix of m x n zeros, distributed over a grid in blocks, as in ScaLAPACK. Collective.

    m, n: numbers of rows and columns.
    block: numbers of rows and columns of a block, or one number for both.
    dtype: float32, float64, complex64 or complex128.
    grid: process grid of the matrix. None stands for a grid of all ranks.
    device: where the elements are. None stands for host memory, "cuda" or an osla.Device for the
    memory of a GPU (doc/devices.md).
    triangle: "lower" for a symmetric (Hermitian) matrix of which only the lower triangle is stored,
    in about half the memory. `get` and `to_numpy` return both triangles, `put` ignores elements
    above the diagonal, and `local` is refused. None: all elements are stored.
    All arguments must be equal on all ranks.

    The calls of a matrix are collective unless stated otherwise. As a context manager it is
    destroyed at the end of the block. numpy cannot convert it to an array (use `to_numpy`), so
    numpy.array_equal(A, A) is False.
    """

    __slots__ = ("shape", "dtype", "block", "grid", "device", "triangle", "_owner")
    shape: tuple[int, int]
    dtype: np.dtype
    block: tuple[int, int]
    grid: Grid
    device: Device | None  # None if the matrix is in host memory
    triangle: str | None  # "lower" if only the lower triangle is stored

    @collective
    def __init__(self, m: int, n: int, *, block: Any = 96, dtype: Any = np.float64,
                 grid: Grid | None = None, device: Device | str | None = None,
                 triangle: str | None = None) -> Generator[str, None, None]:
        grid = _grid_for(grid, device)
        handle(grid, Grid, "grid")
        kind = _words.dtype(dtype)
        sizes = _words.whole(m, "m", 0), _words.whole(n, "n", 0), *_words.blocks(block)
        half = is_triangle(triangle, device, sizes)
        yield device_word(device) + triangle_word(half)
        on = device_on(grid.transport, device)
        self._take(create(on, grid, kind, *sizes, triangle=half), grid, None, on)

    def _take(self, new: Any, grid: Grid, owner: Object | None,
              device: Device | None = None) -> "Matrix":
        self._handle = new
        self._root = grid._root
        kind, m, n, mb, nb = _core.matrix_facts(new)[:5]
        self.shape, self.block, self.dtype = (m, n), (mb, nb), _words.NUMPY[kind]
        self.grid, self.device = grid, device
        self.triangle = "lower" if _core.matrix_is_triangle(new) else None
        self._owner = owner
        return self

    @staticmethod
    def _of(new: Any, grid: Grid, owner: Object | None = None,
            device: Device | None = None) -> "Matrix":
        return Matrix.__new__(Matrix)._take(new, grid, owner, device)

    def _facts(self) -> str:
        where = "" if self.destroyed else f", on {self.grid.nprow} x {self.grid.npcol} ranks"
        if where and self.device:
            where += f", device {self.device.kind}"
        what = ", lower triangle" if self.triangle else ""
        return f"{self.shape[0]} x {self.shape[1]} {self.dtype}{what}{where}"

    ndim = 2
    _has_views = True

    @property
    def size(self) -> int:
        """The number of elements on all ranks. Local."""
        return self.shape[0] * self.shape[1]

    def __array__(self, dtype: Any = None, *unused: Any, **also: Any) -> np.ndarray:
        """Raises TypeError, because an array of all elements needs a collective call: `to_numpy`.
        With dtype=object the result is an array with this object as its only element. numpy's
        array_equal and array_equiv catch the error and return False, even for a matrix and
        itself. Local."""
        if dtype is not None and np.dtype(dtype) == object:
            one = np.empty(1, object)
            one[0] = self
            return one.reshape(())
        raise TypeError("a Matrix is distributed: to_numpy() makes an array of it on all ranks "
                        "together, and local is this rank's part")

    def __enter__(self) -> "Matrix":
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is None:
            self.destroy()

    # ---- elements ----

    @property
    def local(self) -> np.ndarray:
        """This rank's elements, without a copy: (local rows, local columns), column-major with
        ScaLAPACK's leading dimension. Local. The array keeps the memory alive: while it exists,
        `destroy` raises StateError. Other ranks see stored values after a barrier or any collective
        call. UnsupportedError if the matrix is in device memory, or has triangle="lower"."""
        return np.asarray(memoryview(self._alive()))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """This rank's elements in the memory of a CUDA device, for cupy.asarray or torch.as_tensor.
        Shape and order are those of `local`. Arrays that use the elements do not keep them alive:
        `destroy` frees them without an error. Local. AttributeError, if the matrix is not on a CUDA
        device."""
        if self.device is None or self.device.kind != "cuda":
            raise AttributeError("__cuda_array_interface__: this Matrix does not lie on a CUDA device")
        return self._device_array()

    def _device_array(self) -> dict[str, Any]:
        """Description of the local elements by version 3 of the CUDA array interface. If the program
        gave the device a stream, "stream" is this stream. Otherwise "stream" is None, because
        OSLA's calls return when their results are complete."""
        rows, columns, lld = _core.matrix_facts(self._alive())[5:]
        bytes_each = self.dtype.itemsize
        address = _core.matrix_address(self._handle) if rows * columns > 0 else 0
        return {"shape": (rows, columns), "typestr": self.dtype.str, "data": (address, False),
                "strides": (bytes_each, bytes_each * lld), "version": 3,
                "stream": self.device.stream if self.device else None}

    def _indices(self, rows: bool) -> np.ndarray:
        count = _core.matrix_facts(self._alive())[5 if rows else 6]
        indices = np.empty(count, np.int64)
        _core.matrix_indices(self._handle, rows, indices)
        return indices

    @property
    def local_rows(self) -> np.ndarray:
        """Global indices of this rank's rows: int64, ascending. Local."""
        return self._indices(True)

    @property
    def local_columns(self) -> np.ndarray:
        """Global indices of this rank's columns: int64, ascending. Local."""
        return self._indices(False)

    @property
    def lld(self) -> int:
        """Leading dimension of this rank's local array, in elements. 0 for a matrix with
        triangle="lower", where each block column has its own leading dimension. Local."""
        return _core.matrix_facts(self._alive())[7]

    def get(self, i: int, j: int, m: int, n: int) -> np.ndarray:
        """The m x n elements that begin at (i, j), whichever ranks own them: a new column-major
        array. Local: other ranks need not take part."""
        size = _words.whole(m, "m", 0), _words.whole(n, "n", 0)
        at = _words.whole(i, "i", 0), _words.whole(j, "j", 0)
        self._inside(*at, *size)
        out = np.empty(size, self.dtype, order="F")
        _core.matrix_get(self._alive(), *at, out)
        return out

    def put(self, i: int, j: int, block: np.ndarray, *, copy: bool = False) -> None:
        """Stores a block whose first element becomes (i, j), whichever ranks own the elements.
        Local. block: of the matrix's dtype, one column or two dimensions in column-major
        (Fortran) order; with copy=True an array-like of numbers is converted first, if the dtype
        can represent their values up to rounding."""
        if copy:
            block = _words.numbers(block, "block", self.dtype)
        _core.matrix_put(self._alive(), _words.whole(i, "i", 0), _words.whole(j, "j", 0), block)

    def _inside(self, i: int, j: int, m: int, n: int) -> None:
        if i + m > self.shape[0] or j + n > self.shape[1]:
            raise ArgumentError(f"rows {i} .. {i + m - 1}, columns {j} .. {j + n - 1} of a matrix "
                                f"of {self.shape[0]} x {self.shape[1]}")

    def _ranges(self, key: Any) -> tuple[list[tuple[int, int]], tuple[int, ...]]:
        """First index and count of the rows and of the columns, and the shape that numpy would
        give."""
        keys = key if isinstance(key, tuple) else (key, slice(None))
        if len(keys) != 2:
            raise IndexError(f"a matrix needs 2 indices, not {len(keys)}")
        ranges, shape = [], []
        for k, n in zip(keys, self.shape):
            if isinstance(k, slice):
                first, last, step = k.indices(n)
                if step != 1:
                    raise IndexError(f"slice step {step}: only 1 is supported")
                ranges.append((first, max(0, last - first)))
                shape.append(ranges[-1][1])
            elif isinstance(k, bool):
                raise IndexError("a bool cannot index a matrix")  # numpy would treat it as a mask
            else:
                i = _words.whole(k, "index")
                if not -n <= i < n:
                    raise IndexError(f"index {i} is not in {-n} .. {n - 1}")
                ranges.append((i % n, 1))
        return ranges, tuple(shape)

    def __getitem__(self, key: Any) -> Any:
        """A[i0:i1, j0:j1] or A[i, j]: as `get`. Local."""
        ((i, m), (j, n)), shape = self._ranges(key)
        found = self.get(i, j, m, n)
        return found.reshape(shape, order="F") if shape else found[0, 0]

    def __setitem__(self, key: Any, value: Any) -> None:
        """A[i0:i1, j0:j1] = x: as `put` with copy=True; x is broadcast. Local."""
        ((i, m), (j, n)), shape = self._ranges(key)
        block = np.empty((m, n), self.dtype, order="F")
        block.reshape(shape or (1,), order="F")[...] = _words.numbers(value, "value", self.dtype)
        self.put(i, j, block)

    @staticmethod
    @collective
    def from_numpy(array: np.ndarray | None, *, root: int | None = None, block: Any = 96,
                   shape: tuple[int, int] | None = None, dtype: Any = None,
                   grid: Grid | None = None, device: Device | str | None = None,
                   triangle: str | None = None) -> Generator[str, None, "Matrix"]:
        """A matrix with the elements of an array, in any memory order. Collective.

        root: rank that passes the array; the other ranks pass None, and all ranks pass shape and
        dtype. If root is None, all ranks pass equal arrays, and each rank writes a part of the
        elements.
        device: as in Matrix. The elements are copied to the device by way of a matrix in host
        memory.
        triangle: as in Matrix; the elements of the array above the diagonal are not read.
        """
        grid = _grid_for(grid, device)
        handle(grid, Grid, "grid")
        mine = root is None or _words.whole(root, "root", 0) == grid.transport.rank
        if root is not None and not (root < grid.transport.size):
            raise ArgumentError(f"root = {root} is not in 0 .. {grid.transport.size - 1}")
        if mine and not (isinstance(array, np.ndarray) and array.ndim == 2):
            raise ArgumentError("array: a numpy array of two dimensions is needed")
        if root is not None and (shape is None or dtype is None):
            raise ArgumentError("root: then shape and dtype are needed on all ranks")
        size = tuple(array.shape if shape is None else shape)
        kind = _words.dtype(array.dtype if dtype is None else dtype)
        if mine and (array.shape != size or _words.dtype(array.dtype) != kind):
            raise ArgumentError(f"array: {array.shape} of {array.dtype} where {size} of "
                                f"{_words.NUMPY[kind]} was said")
        sizes = *(_words.whole(x, "shape", 0) for x in size), *_words.blocks(block)
        half = is_triangle(triangle, device, sizes)
        yield ("" if root is None else f" from rank {root}") + device_word(device) + triangle_word(half)
        on = device_on(grid.transport, device)
        there = None if on is None else Matrix._of(create(on, grid, kind, *sizes), grid, None, on)
        made = Matrix._of(create(None, grid, kind, *sizes, triangle=half), grid)
        if root is None and not half:
            made.local[...] = array[np.ix_(made.local_rows, made.local_columns)]
        elif mine:
            nb, writers = made.block[1], grid.transport.size if root is None else 1
            first = grid.transport.rank * nb if root is None else 0
            for j in range(first, size[1], writers * nb):  # j: first column of a block column
                i = j if half else 0
                made.put(i, j, np.asfortranarray(array[i:, j:j + nb]))
        _core.barrier(grid._root)
        if there is None:
            return made
        _core.matrix_copy(_core.NOTRANS, part_of(made, "made"), part_of(there, "there"))
        _core.destroy(made._handle)
        return there

    @staticmethod
    @collective
    def wrap(local: np.ndarray, m: int | None = None, n: int | None = None, *, block: Any = 96,
             grid: Grid | None = None) -> Generator[None, None, "Matrix"]:
        """A matrix in the memory of the caller's arrays, without a copy. Collective.

        local: this rank's part, [local rows, local columns] in ScaLAPACK's layout, column-major and
        writable; the elements of a column are contiguous, and columns may be apart. Its dtype is
        the matrix's. m, n: rows and columns of the matrix; on one rank those of `local`.

        The matrix holds the array until the matrix is destroyed: numpy can neither free nor resize
        it before. Other ranks see stored values after a barrier or any collective call. It is an
        error if an array is read-only or of another shape on any rank; the arrays are unchanged.
        """
        grid = world().grid if grid is None else grid
        owners = handle(grid, Grid, "grid")
        if not isinstance(local, np.ndarray) or local.ndim != 2:
            raise ArgumentError("local: a numpy array of two dimensions is needed")
        if grid.transport.size > 1 and (m is None or n is None):
            raise ArgumentError("m and n are needed on several ranks: the sizes of the whole matrix")
        size = (local.shape[0] if m is None else m), (local.shape[1] if n is None else n)
        kind = _words.dtype(local.dtype, "local.dtype")
        sizes = *(_words.whole(x, "mn"[i], 0) for i, x in enumerate(size)), *_words.blocks(block)
        _core.check_columns(local, "local", kind, *_core.matrix_local_shape(owners, *sizes), True)
        yield
        return Matrix._of(_core.matrix_wrap(owners, kind, *sizes, local), grid)

    @collective
    def to_numpy(self, root: int | None = None) -> Generator[None, None, np.ndarray | None]:
        """The whole matrix as a column-major array: on all ranks, or only on rank `root`, with None
        on the others. Collective."""
        own = self._alive()
        if root is not None and not 0 <= _words.whole(root, "root") < self.grid.transport.size:
            raise ArgumentError(f"root = {root} is not in 0 .. {self.grid.transport.size - 1}")
        out = None
        if root is None or root == self.grid.transport.rank:
            out = np.empty(self.shape, self.dtype, order="F")
        yield
        _core.barrier(self._root)
        if out is not None:
            _core.matrix_get(own, 0, 0, out)
        _core.barrier(self._root)
        return out

    # ---- calls on the whole matrix ----

    def part(self, i: int, j: int, m: int, n: int) -> Part:
        """The m x n part that begins at (i, j), from 0. Local."""
        return Part(self, i, j, m, n)

    @collective
    def fill(self, kind: str, seed: int = 0) -> Generator[str, None, "Matrix | Part"]:
        """Fills with "zero", "identity", "uniform" in [-1/2, 1/2), "dominant", "spd" (symmetric
        positive definite) or "integer" (-8 .. 8), independently of grid and block size. A part gets
        the contents of a matrix of its size. Collective."""
        own, number = part_of(self, "self"), _words.word(kind, _words.FILL, "kind")
        seed = _words.unsigned(seed, "seed")
        yield _words.same(kind, seed)
        _core.matrix_fill(own, number, seed)
        return self

    @collective
    def norm(self, which: str = "fro") -> Generator[str, None, float]:
        """The norm "max" |a_ij|, "one", "inf" or "fro"; the same on all ranks. Collective."""
        own, number = part_of(self, "self"), _words.word(which, _words.NORM, "which")
        yield _words.same(which)
        return _core.matrix_norm(own, number)

    @collective
    def scale(self, alpha: complex) -> Generator[str, None, "Matrix | Part"]:
        """Multiplies all elements by alpha, a real number for real types; 0 gives zeros, also for
        NaN. Collective."""
        own, factor = part_of(self, "self"), _words.factor(alpha, "alpha", self)
        yield _words.same(factor)
        _core.matrix_scale(factor, own)
        _core.barrier(self._root)
        return self

    @collective
    def copy_to(self, dest: "Matrix | Part", trans: str = "n") -> Generator[str, None, None]:
        """dest := this matrix, its transpose ("t") or conjugate transpose ("c"); dest is a matrix
        or a part of the same dtype, in any blocks and on any grid; it may be a disjoint part of
        the same matrix. Collective."""
        own, other = part_of(self, "self"), part_of(dest, "dest")
        how = _words.word(trans, _words.TRANS, "trans")
        yield _words.same(trans)
        _core.matrix_copy(how, own, other)

    def _like(self, m: int, n: int, mb: int, nb: int, on: Device | None,
              triangle: bool = False) -> "Matrix":
        kind = _words.dtype(self.dtype)
        return Matrix._of(create(on, self.grid, kind, m, n, mb, nb, triangle=triangle), self.grid, None, on)

    @collective
    def copy(self, *, device: Device | str | None = None) -> Generator[str, None, "Matrix"]:
        """A new matrix with the same elements, blocks and grid. Collective. device: where the
        new matrix is: None for the same memory as this matrix, "host" for host memory, "cuda" or an
        osla.Device for the memory of a GPU."""
        own = part_of(self, "self")
        yield device_word(device)
        on = self.device if device is None else device_on(self.grid.transport, device)
        half = self.triangle is not None and on is None
        new = self._like(*self.shape, *self.block, on, half)
        _core.matrix_copy(_core.NOTRANS, own, part_of(new, "new"))
        return new

    @collective
    def add(self, alpha: float, source: "Matrix", beta: float = 1.0) -> Generator[str, None, None]:
        """This matrix := alpha source + beta this matrix; both have the same sizes, blocks and
        owners. Collective."""
        own, other = self._alive(), handle(source, Matrix, "source")
        factors = _words.real(alpha, "alpha"), _words.real(beta, "beta")
        yield _words.same(*factors)
        _core.matrix_add(factors[0], other, factors[1], own)

    @collective
    def mirror(self, uplo: str) -> Generator[str, None, "Matrix"]:
        """Copies the triangle "lower" or "upper" over the other triangle. Collective."""
        own, which = self._alive(), _words.word(uplo, _words.UPLO, "uplo")
        yield _words.same(uplo)
        _core.matrix_mirror(own, which)
        return self

    def __matmul__(self, other: "Matrix") -> "Matrix":
        """A @ B: a new matrix, on A's grid, in blocks of A's rows and B's columns. Collective."""
        if not isinstance(other, Matrix):
            return NotImplemented
        from .kernels import _product
        return _product(self, other)


class Part:
    """The m x n sub-matrix of `matrix` that begins at (i, j), from 0: A.part(i, j, m, n). Accepted
    by products, factorisations, solves with factors and trsm, and has methods of its own;
    elements outside of it are unchanged."""

    __slots__ = ("matrix", "i", "j", "shape")
    matrix: Matrix
    i: int
    j: int
    shape: tuple[int, int]

    def __init__(self, matrix: Matrix, i: int, j: int, m: int, n: int) -> None:
        self.matrix, self.i, self.j, self.shape = matrix, i, j, (m, n)  # the library calls check these values

    def __repr__(self) -> str:
        return f"<osla.Part {self.shape[0]} x {self.shape[1]} at ({self.i}, {self.j}) of {self.matrix!r}>"

    @property
    def _root(self) -> Any:
        return getattr(self.matrix, "_root", None)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the matrix."""
        return self.matrix.dtype

    fill, norm, scale, copy_to = Matrix.fill, Matrix.norm, Matrix.scale, Matrix.copy_to
