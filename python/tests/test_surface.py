"""Expectations of a user of any Python package: a version, public names, documentation for each,
help texts of limited length."""
import inspect
import pickle
import pydoc
import re

import numpy as np
import pytest

import osla
from test_hessian import shared_path


def public():
    """(name, object) of each public function, class, method and property."""
    for name in osla.__all__:
        thing = getattr(osla, name)
        if inspect.isclass(thing) or inspect.isroutine(thing):
            yield name, thing
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for member, value in inspect.getmembers(thing):
                if not member.startswith("_") and (inspect.isroutine(value) or isinstance(value, property)) \
                        and not hasattr(tuple, member):
                    yield f"{name}.{member}", value


def test_names(world):
    assert re.fullmatch(r"\d+\.\d+\.\d+", osla.__version__)
    assert sorted(set(osla.__all__)) == sorted(osla.__all__)
    space = {}
    exec("from osla import *", space)
    assert space.keys() >= set(osla.__all__)


def test_help(world):
    assert sum(1 for _ in public()) > 100
    for name, thing in public():
        text = pydoc.plain(pydoc.render_doc(thing))
        own = inspect.getdoc(thing)
        assert own and not own.startswith("Alias for field"), name
        if not inspect.isclass(thing):
            assert len(text.splitlines()) <= 24, name
        assert len(own.splitlines()) <= 24 and max(map(len, own.splitlines())) <= 140, name
        assert "Generator" not in text, name
    assert "-> 'float'" in pydoc.plain(pydoc.render_doc(osla.Matrix.norm))
    missing = [name for name in osla.__all__ if name[0] != "_" and name not in osla.__doc__
               and not name.endswith("Error")]
    assert set(missing) <= {"Iterated", "Mixed", "Refined", "Solved", "potri", "potrs", "getri", "getrs"}
    assert len(osla.__doc__.splitlines()) <= 40


def test_words_for_each_object(world, tmp_path_factory):
    H, a = osla.Hessian(4), osla.Matrix(4, 3).fill("identity")
    square = osla.Matrix(4, 4).fill("identity")
    f, path = osla.Forest.allgather(1), shared_path(world, tmp_path_factory, "words.h5")
    file = osla.File(path, "w")
    matrix = osla.CSR(np.array([0, 1]), np.array([world.rank]), np.ones(1))
    transfer = f.bcast_begin(np.ones(1), np.zeros(world.size))
    said = {a: "Matrix 4 x 3 float64, on", a.part(0, 0, 2, 2): "Part 2 x 2 at (0, 0) of <osla.Matrix",
            H: "Hessian of order 4, float64>", f: "Forest with 1 roots and", matrix: "CSR ",
            transfer: "Transfer into", osla.getrf(square.copy()): "LU in <osla.Matrix",
            osla.potrf(square): "Cholesky, lower, in", world: "Transport rank ", world.grid: "Grid ",
            file: "File '/", osla.Diffusion((3, 3, 3)): "Diffusion of ", osla.Matrix.__new__(osla.Matrix): "Matrix, not made>"}
    for thing, text in said.items():
        assert repr(thing).startswith(f"<osla.{text}"), repr(thing)
    transfer.end()
    file.close()
    a.destroy()
    H.destroy()
    assert repr(a) == "<osla.Matrix 4 x 3 float64, destroyed>"
    assert repr(H) == "<osla.Hessian of order 4, float64, destroyed>"
    assert (square.ndim, square.size) == (2, 16)
    with pytest.raises(TypeError, match="to_numpy"):
        np.asarray(square)
    one, several = np.array(square, dtype=object), np.array([square, None], dtype=object)
    assert one.shape == () and one[()] is square and several[0] is square and several[1] is None


def test_exceptions(world):
    for name in osla.__all__:
        kind = getattr(osla, name)
        if inspect.isclass(kind) and issubclass(kind, Exception):
            made = kind("a text", 3) if kind is osla.SingularError else kind("a text")
            again = pickle.loads(pickle.dumps(made))
            assert type(again) is kind and str(again) == "a text" and kind.__module__ == "osla"
            assert getattr(again, "info", 3) == 3
