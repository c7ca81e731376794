"""Files that osla writes can be read by osla, h5py and numpy."""
import os

import numpy as np
import pytest

import osla
from test_hessian import shared_path


@pytest.mark.parametrize("name, dtype", [("a.h5", np.float64), ("a.bin", np.complex64)])
def test_save_and_load(world, tmp_path_factory, name, dtype):
    path = shared_path(world, tmp_path_factory, name)
    x = (np.arange(35).reshape(5, 7) * (1 + 2j if np.dtype(dtype).kind == "c" else 1)).astype(dtype)
    osla.save(osla.Matrix.from_numpy(x, block=2), path)
    b = osla.load(path, block=3)
    assert b.dtype == dtype and b.block == (3, 3) and (b.to_numpy() == x).all()
    if name.endswith(".bin"):
        assert (np.fromfile(path, "<c8", count=35).reshape(7, 5).T == x).all()
    else:
        h5py = pytest.importorskip("h5py")
        with h5py.File(path) as f:
            assert (f["matrix"][:].T == x).all()


def test_several_things(world, tmp_path_factory):
    path = shared_path(world, tmp_path_factory, "model.h5")
    x = np.tril(np.arange(16.0).reshape(4, 4))
    with osla.File(path, "w") as f:
        f.put("group/H", osla.Matrix.from_numpy(x, block=2), stored="lower")
        f.put("depths", np.arange(3.0))
        f.put("ids", np.arange(5))
        f.put("damping", 0.5)
        f.put("n", 4)
        f.put("note", "hello")
    with osla.File(path) as f:
        assert (f.matrix("group/H", block=3).to_numpy() == x).all()
        assert (f.vector("depths") == np.arange(3.0)).all()
        assert (f.vector("ids", np.int64) == np.arange(5)).all()
        assert f.number("damping") == 0.5 and f.integer("n") == 4 and f.text("note") == "hello"
        assert f.has("ids") and not f.has("other")
        with pytest.raises(osla.FileError, match="model.h5"):
            f.vector("other")
    with pytest.raises(osla.StateError, match="destroyed"):
        f.has("ids")


def test_triangles(world, tmp_path_factory):
    """A saved triangle is read as a triangle and as a full matrix, and a saved full matrix also as
    a triangle."""
    path = shared_path(world, tmp_path_factory, "triangle.h5")
    x = np.arange(36.0).reshape(6, 6)
    symmetric = np.tril(x) + np.tril(x, -1).T
    with osla.File(path, "w") as f:
        f.put("half", osla.Matrix.from_numpy(x, block=2, triangle="lower"))
        f.put("full", osla.Matrix.from_numpy(symmetric, block=4))
        f.put("upper", osla.Matrix.from_numpy(symmetric), stored="upper")
        f.put("oblong", osla.Matrix(3, 4))
        f.put("both", osla.Matrix.from_numpy(x, block=2, triangle="lower"), stored="full")
    a = osla.load(path, block=3, name="half")
    assert a.triangle == "lower" and a.block == (3, 3) and (a.to_numpy() == symmetric).all()
    assert osla.load(path, name="full").triangle is None
    both = osla.load(path, name="both")
    assert both.triangle is None and (both.to_numpy() == symmetric).all()
    with osla.File(path) as f:
        full = f.matrix("half", block=5)
        assert full.triangle is None and (full.to_numpy() == np.tril(x)).all()
        assert (full.mirror("lower").to_numpy() == symmetric).all()
        for name in ("half", "full"):
            half = f.matrix(name, block=5, triangle="lower")
            assert half.triangle == "lower" and (half.to_numpy() == symmetric).all()
        with pytest.raises(osla.Error, match="triangle.h5: upper"):
            f.matrix("upper", triangle="lower")
        with pytest.raises(osla.ArgumentError, match="with 3 x 4 elements"):
            f.matrix("oblong", triangle="lower")
    with pytest.raises(osla.UnsupportedError):
        osla.save(a, path + ".bin")
    h5py = pytest.importorskip("h5py")
    with h5py.File(path) as f:
        j, i = np.triu_indices(6)
        assert (f["half"][:] == x[i, j]).all()
        assert (f["both"][:] == symmetric).all()


def test_what_is_not_finished_does_not_appear(world, tmp_path_factory):
    path = shared_path(world, tmp_path_factory, "half.h5")
    f = osla.File(path, "w")
    f.put("n", 4)
    f.close()
    assert not os.path.exists(path)
    with pytest.raises(osla.FileError):
        osla.File(path)
    with pytest.raises(osla.ArgumentError, match="mode = 'a'"):
        osla.File(path, "a")
    with pytest.raises(osla.ArgumentError, match="zero byte"):
        osla.load("a\0b")
