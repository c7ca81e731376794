"""Matrices, vectors and numbers in files with checksums. A file appears only when it is complete
(osla_file.h)."""
from __future__ import annotations

from typing import Any, Generator

import numpy as np

from . import _core, _words
from ._calls import Owned, claim, collective, handle
from ._errors import ArgumentError
from .matrix import Matrix, create, is_triangle
from .transport import Grid, Transport, world


@collective
def save(matrix: Matrix, path: Any, *, stored: str = "whole", name: str = "matrix",
         format: str = "by name") -> Generator[str, None, None]:
    """Writes or replaces a file with one matrix. Collective. stored: "whole", "lower" or "upper",
    recorded in the file: the part of the matrix that is meaningful; "full": both triangles of a
    matrix of which only the lower triangle is stored. format: "hdf5", "raw", or "by name" (.h5,
    .hdf5: HDF5). In h5py a full matrix is file[name][:].T; a matrix of which only the lower
    triangle is stored is a vector of all columns, each from the diagonal down, unless it was saved
    with stored="full"."""
    own = handle(matrix, Matrix, "matrix")
    texts = _words.text(path, "path"), _words.text(name, "name")
    how = _words.word(format, _words.FORMAT, "format")
    which = _words.word(stored, _words.STORED, "stored")
    yield _words.same(format, stored)
    _core.matrix_save(own, texts[0], how, which, texts[1])


@collective
def load(path: Any, *, block: Any = 96, name: str = "matrix",
         grid: Grid | None = None) -> Generator[None, None, Matrix]:
    """Reads a matrix of a file written by `save` or File.put, onto any grid. The matrix has
    triangle="lower" if the saved matrix had it. Collective."""
    grid = world().grid if grid is None else grid
    owners, sizes = handle(grid, Grid, "grid"), _words.blocks(block)
    texts = _words.text(path, "path"), _words.text(name, "name")
    yield
    new, _ = _core.matrix_load(owners, texts[0], *sizes, texts[1])
    return Matrix._of(new, grid)


_VECTORS = {np.dtype(np.float64): _core.FILE_DOUBLE, np.dtype(np.int64): _core.FILE_INT64}


def _vector_type(dtype: Any) -> int:
    try:
        return _VECTORS[np.dtype(dtype)]
    except (KeyError, TypeError):
        raise ArgumentError(f"dtype {dtype!r}: a vector has float64 or int64") from None


class File(Owned):
    """An HDF5 file with several objects. All calls are collective.

    mode "w": a new file, which appears at `path` at the end of the block, unless an exception
    leaves the block; "r": for reading.

        with osla.File("model.h5", "w") as f:
            f.put("H", H.matrix, stored="lower")
            f.put("damping", 0.5)
    """

    __slots__ = ("path", "mode", "transport")

    @collective
    def __init__(self, path: Any, mode: str = "r", *,
                 transport: Transport | None = None) -> Generator[str, None, None]:
        transport = transport or world()
        root = handle(transport, Transport, "transport")
        name = _words.text(path, "path")
        create = _words.word(mode, {"r": 0, "w": 1}, "mode")
        yield _words.same(mode)
        self._handle = _core.file_open(root, name, bool(create))
        self._root = root
        self.path, self.mode, self.transport = name, mode, transport

    def _facts(self) -> str:
        return f"{self.path!r}, {self.mode!r}"

    def __enter__(self) -> "File":
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is None and self.mode == "w" and not self.destroyed:
            self.commit()
        elif kind is None:
            self.close()

    @collective
    def commit(self) -> Generator[None, None, None]:
        """Gives a new file its final name and closes it. Collective."""
        own = self._alive()
        claim(self)
        try:
            yield
            _core.file_commit(own)
        finally:
            _core.unclaim(own)

    def close(self) -> None:
        """Closes the file; a new file that was not committed is removed. Collective."""
        self.destroy()

    @collective
    def put(self, name: str, value: Any, *,
            stored: str = "whole") -> Generator[str, None, None]:
        """Adds a matrix, a vector that all ranks have (one dimension, float64 or int64), a number
        or a text. stored: for a matrix, as in osla.save. Collective."""
        if isinstance(value, Matrix):
            yield from _put_matrix(self, name, value, stored)
        elif isinstance(value, np.ndarray):
            yield from _put_vector(self, name, value)
        else:
            yield from _put_value(self, name, value)

    @collective
    def has(self, name: str) -> Generator[None, None, bool]:
        """True if the file has a matrix or vector of this name. Collective."""
        own, text = self._alive(), _words.text(name, "name")
        yield
        return _core.file_has(own, text)

    @collective
    def matrix(self, name: str, *, block: Any = 96, grid: Grid | None = None,
               triangle: str | None = None) -> Generator[str, None, Matrix]:
        """Reads a matrix onto any grid of the file's transport. Collective. triangle: as in
        osla.Matrix; "lower" reads the lower triangle of a full matrix in the file, too. If the file
        holds a triangle and `triangle` is None, elements above the diagonal become 0, and
        Matrix.mirror can set them."""
        own, text = self._alive(), _words.text(name, "name")
        grid = self.transport.grid if grid is None else grid
        handle(grid, Grid, "grid")
        sizes = _words.blocks(block)
        yield "" if triangle is None else _words.same(triangle)
        dtype, m, n, _ = _core.file_look_matrix(own, text)
        half = is_triangle(triangle, None, (m, n, *sizes))
        new = Matrix._of(create(None, grid, dtype, m, n, *sizes, triangle=half), grid)
        _core.file_get_matrix(own, text, new._handle)
        return new

    @collective
    def vector(self, name: str, dtype: Any = np.float64) -> Generator[None, None, np.ndarray]:
        """Reads a vector, whole on all ranks; float64 or int64. Collective."""
        own, text, kind = self._alive(), _words.text(name, "name"), _vector_type(dtype)
        yield
        out = np.empty(_core.file_look_vector(own, text, kind), dtype)
        _core.file_get_vector(own, text, kind, out)
        return out

    @collective
    def number(self, name: str) -> Generator[None, None, float]:
        """Reads a floating-point number. Collective."""
        return (yield from _get_value(self, name, "f"))

    @collective
    def integer(self, name: str) -> Generator[None, None, int]:
        """Reads an integer. Collective."""
        return (yield from _get_value(self, name, "i"))

    @collective
    def text(self, name: str) -> Generator[None, None, str]:
        """Reads a text of at most 4095 bytes. Collective."""
        return (yield from _get_value(self, name, "s"))


def _put_matrix(file: File, name: str, matrix: Matrix, stored: str) -> Generator[str, None, None]:
    own, other, text = file._alive(), matrix._alive(), _words.text(name, "name")
    which = _words.word(stored, _words.STORED, "stored")
    yield " of a matrix"
    _core.file_put_matrix(own, text, other, which)


def _put_vector(file: File, name: str, vector: np.ndarray) -> Generator[str, None, None]:
    own, text, kind = file._alive(), _words.text(name, "name"), _vector_type(vector.dtype)
    _core.check_line(vector, "vector", _core.DOUBLE if kind == _core.FILE_DOUBLE else -1, -1, False)
    yield " of a vector"
    _core.file_put_vector(own, text, kind, vector)


def _put_value(file: File, name: str, value: Any) -> Generator[str, None, None]:
    own, text = file._alive(), _words.text(name, "name")
    if isinstance(value, (int, np.integer)):
        value = _words.whole(value, name)
    elif isinstance(value, (float, np.floating)):
        value = float(value)
    else:
        value = _words.text(value, name)
    yield " of a value"
    _core.file_put_value(own, text, value)


def _get_value(file: File, name: str, kind: str) -> Generator[None, None, Any]:
    own, text = file._alive(), _words.text(name, "name")
    yield
    return _core.file_get_value(own, text, kind)
