"""Accumulators on matrices that exist, and matrices in the memory of numpy arrays."""
import gc
import sys

import numpy as np
import pytest

import osla
from osla import _core
from test_hessian import N, data, shared_path
from test_lifetime import children

KEEP = {"lower": np.tril, "upper": np.triu, "whole": lambda x: x}


def local_part(x, block, grid=None, beside=0):
    """This rank's elements of x, with `beside` rows of other memory after each column."""
    shape = osla.Matrix(*x.shape, block=block, dtype=x.dtype, grid=grid)
    rows, columns = shape.local_rows, shape.local_columns
    memory = np.full((rows.size + beside, columns.size), -77, x.dtype, order="F")
    memory[:rows.size] = x[np.ix_(rows, columns)]
    return memory[:rows.size]


def make(how, x, block, grid=None):
    if how == "created":
        return osla.Matrix.from_numpy(x, block=block, grid=grid)
    local = local_part(x, block, grid, 3 if how == "beside" else 0)
    return osla.Matrix.wrap(local, *x.shape, block=block, grid=grid)


@pytest.mark.parametrize("how, uplo, clear, dtype", [
    ("created", "lower", False, np.float64), ("wrapped", "upper", False, np.float64),
    ("beside", "whole", True, np.float64), ("wrapped", "lower", False, np.float32),
    ("created", "upper", True, np.float32)])
def test_sums(world, rng, how, uplo, clear, dtype):
    full, gradient, updates = data(rng)
    start = rng.integers(-9, 10, (N, N)).astype(dtype)
    for grid in (None, osla.Grid(world.size, 1)):
        A = make(how, start, 8, grid)
        with osla.Hessian(on=A, clear=clear, uplo=uplo) as H:
            for ix, G, g in updates[world.rank::world.size]:
                H.update(ix, G.astype(dtype))
                H.update_gradient(ix, g)
        stored = KEEP[uplo](np.ones((N, N))) == 1
        assert (A.to_numpy() == np.where(stored, full + (0 if clear else 1) * start, start)).all()
        assert (H.gradient == gradient).all()
        assert H.matrix is A and H.grid is A.grid and (H.n, H.dtype) == (N, A.dtype)
        H.reset()
        H.commit()
        assert (A.to_numpy() == np.where(stored, 0, start)).all()


def test_options(world, rng):
    A = osla.Matrix(4, 4, block=3)
    H = osla.Hessian(on=A, clear=True, combine="max", initial=2.0, uplo="whole")
    H.update_block(np.array([1]), np.array([2]), np.full((1, 1), 3.0 + world.rank))
    H.commit()
    assert A[1, 2] == 2 + world.size and A[0, 0] == 2 and A[3, 3] == 2
    H.destroy()
    single = osla.Hessian(on=A, update_dtype=np.float32, uplo="whole")
    single.update(np.arange(2), np.ones(2, np.float32))
    with pytest.raises(osla.ArgumentError, match="where float32 is needed"):
        single.update(np.arange(2), np.ones(2))
    single.commit()
    assert A[0, 0] == 2 + world.size
    none = osla.Hessian(4, on=None, block=2)
    assert none.matrix.block == (2, 2) and none.matrix is not none.matrix


def test_an_array_on_one_rank(world):
    if world.size > 1:
        pytest.skip("one rank")
    x = np.zeros((5, 5), order="F")
    with osla.Hessian(on=osla.Matrix.wrap(x)) as H:
        H.update(np.array([0, 4]), np.array([1.0, 2.0]))
    assert x[0, 0] == 1 and x[4, 0] == 2 and x[4, 4] == 4 and x.sum() == 7


def test_factor_in_the_callers_memory(world):
    """The chain from updates to a solution, in numpy's memory."""
    local = local_part(np.eye(N), 8)
    A = osla.Matrix.wrap(local, N, N, block=8)
    with osla.Hessian(on=A) as H:
        H.update(np.arange(N), np.full((1, N), 2.0))
        H.update_gradient(np.arange(N), np.ones(N))
    right = np.eye(N) + 4 * world.size
    x = osla.potrf(A).solve(H.gradient)
    assert np.allclose(right @ x, world.size)
    lower = np.linalg.cholesky(right)[np.ix_(A.local_rows, A.local_columns)]
    stored = A.local_rows[:, None] >= A.local_columns
    assert np.allclose(local[stored], lower[stored])


def test_refusals(world):
    last = world.rank == world.size - 1
    A, H = osla.Matrix(6, 6, block=2), osla.Hessian(4)
    cases = [((4,), {"on": A}, "n = 4 and on"), ((), {"on": A, "block": 2}, "block = 2 and on"),
             ((), {"on": A, "grid": A.grid}, "grid = .* and on"),
             ((), {"on": A, "dtype": float}, "dtype = .* and on"),
             ((), {}, "or on: a Matrix, is needed"), ((4,), {"clear": True}, "clear without on"),
             ((), {"on": A, "initial": 2.0}, "need options.clear"),
             ((), {"on": osla.Matrix(6, 5, block=2)}, "6 x 5"),
             ((), {"on": osla.Matrix(6, 6, block=(2, 3))}, "2 x 3"),
             ((), {"on": osla.Matrix(6, 6, dtype=complex)}, "float32 or float64"),
             ((), {"on": A.part(0, 0, 2, 2)}, "a Matrix is needed, not Part"),
             ((), {"on": H}, "a Matrix is needed, not Hessian"),
             ((), {"on": np.zeros((2, 2))}, "a Matrix is needed, not ndarray")]
    for arguments, named, text in cases:
        with pytest.raises((osla.ArgumentError, osla.UnsupportedError), match=text):
            osla.Hessian(*arguments, **named)
    with pytest.raises(osla.ArgumentError, match="block = 3 and on"):  # wrong on one rank
        osla.Hessian(on=A, block=3 if last else None)
    if world.size > 1:
        with pytest.raises(osla.StateError, match="clear=True"):
            osla.Hessian(on=A, clear=last)
        with pytest.raises(osla.StateError, match="Hessian on a Matrix"):
            osla.Hessian(6) if last else osla.Hessian(on=A)
    A.destroy()
    with pytest.raises(osla.StateError, match="this Matrix was destroyed"):
        osla.Hessian(on=A)


def test_an_exception_in_the_block(world):
    A = osla.Matrix(4, 4)
    with pytest.raises(KeyError):
        with osla.Hessian(on=A) as H:
            H.update(np.arange(2), np.ones(2))
            raise KeyError("on all ranks")
    with pytest.raises(osla.StateError):  # the accumulator was not committed
        H.matrix
    H.destroy()
    assert A.fill("identity").norm() == 2.0


def test_one_accumulator_at_a_time(world):
    A, other = osla.Matrix(4, 4), osla.Hessian(4)
    H = osla.Hessian(on=A)
    for matrix in (A, other.matrix):
        with pytest.raises(osla.StateError, match="another accumulator"):
            osla.Hessian(on=matrix)
    H.update(np.arange(2), np.ones(2))
    H.commit()
    assert A[1, 0] == world.size
    world.barrier()
    del H
    H = osla.Hessian(on=A)  # the accumulator that was dropped is destroyed first
    H.update(np.arange(2), np.ones(2))
    H.commit()
    assert A[1, 0] == 2 * world.size


# ---- lifetimes ----


def test_the_accumulator_keeps_its_matrix(world):
    before = children(world)
    A = osla.Matrix(4, 4)
    H = osla.Hessian(on=A)
    del A
    gc.collect()
    world.collect()
    assert _core.children(world._handle) == before + 2
    H.update(np.arange(2), np.ones(2))
    H.commit()
    assert H.matrix[1, 1] == world.size
    world.barrier()
    del H
    assert children(world) == before


def test_a_matrix_is_not_destroyed_before_its_accumulator(world):
    A = osla.Matrix(4, 4)
    H = osla.Hessian(on=A)
    for _ in range(2):
        with pytest.raises(osla.StateError, match="destroy the Hessian first"):
            A.destroy()
    kept = H if world.rank == 0 else None
    del H  # rank 0 still has the accumulator
    with pytest.raises(osla.StateError, match="destroy the Hessian first"):
        A.destroy()
    assert not A.destroyed and A.fill("identity").norm() == 2.0
    del kept
    A.destroy()  # destroys the accumulator first, because all ranks have dropped it
    assert A.destroyed
    with osla.Matrix(4, 4) as B:
        osla.Hessian(on=B).destroy()
    assert B.destroyed


def test_views_of_the_matrix_allow_the_end_of_the_accumulator(world):
    A = osla.Matrix(4, 4)
    view, H = A.local, osla.Hessian(on=A)
    H.destroy()
    with pytest.raises(osla.StateError, match="was destroyed"):
        H.matrix
    with pytest.raises(osla.StateError, match="1 array sees the memory"):
        A.destroy()
    del view
    A.destroy()


# ---- matrices in the memory of numpy arrays ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_wrap(world, dtype):
    x = np.arange(63.0).reshape(7, 9).astype(dtype)
    for grid in (None, osla.Grid(1, 1), osla.Grid(world.size, 1)):
        local = local_part(x, (2, 3), grid, 2)
        A = osla.Matrix.wrap(local, 7, 9, block=(2, 3), grid=grid)
        assert A.dtype == dtype and A.shape == (7, 9) and A.block == (2, 3)
        assert (A.to_numpy() == x).all()
        assert local.size == 0 or np.shares_memory(A.local, local)
        A.scale(2)
        assert (local == 2 * x[np.ix_(A.local_rows, A.local_columns)]).all()
        assert local.base is None or (local.base[local.shape[0]:] == -77).all()


def test_the_matrix_holds_the_array(world):
    before = children(world)
    local = np.array(local_part(np.ones((8, 8)), 2), order="F")
    count = sys.getrefcount(local)
    A = osla.Matrix.wrap(local, 8, 8, block=2)
    assert sys.getrefcount(local) > count
    if local.size > 0:
        with pytest.raises(ValueError, match="resize"):
            local.resize(1, 1)
    A.destroy()
    assert sys.getrefcount(local) == count
    A = osla.Matrix.wrap(local, 8, 8, block=2)
    H = osla.Hessian(on=A)
    del A
    H.update(np.arange(2), np.ones(2))
    H.commit()
    assert sys.getrefcount(local) > count and H.matrix.norm("max") == 1 + world.size
    del H
    assert children(world) == before and sys.getrefcount(local) == count
    A = osla.Matrix.wrap(local, 8, 8, block=2)
    count = sys.getrefcount(local)
    view = A.local
    del A, local
    world.collect()
    assert np.isfinite(view).all()  # the view keeps the matrix, and this the array
    del view
    assert children(world) == before


def test_arrays_that_wrap_refuses(world):
    last = world.rank == world.size - 1
    good = local_part(np.ones((12, 12)), 2)
    rows, columns = good.shape
    readonly = good.copy(order="F")
    readonly.flags.writeable = False
    record = np.zeros((rows, columns), dtype=[("a", "i1"), ("x", "f8")], order="F")["x"]
    cases = [(readonly, "local: the array cannot be written to"), (record, "local: "),
             (np.ones((rows, columns)), "Fortran order"),
             (good.astype(np.int64), "float32, float64"), (good.astype(">f8"), "float32, float64|type"),
             (good.tolist(), "a numpy array of two dimensions"), (good[0], "two dimensions"),
             (np.ones((rows + 1, columns), order="F"), r"local: \d+ x \d+ where \d+ x \d+ is needed")]
    for bad, text in cases:
        with pytest.raises(osla.ArgumentError, match=text) as caught:
            osla.Matrix.wrap(bad if last else good, 12, 12, block=2)
        assert "\n" not in str(caught.value) and (good == 1).all()
    with pytest.raises(osla.ArgumentError, match="m = -1"):
        osla.Matrix.wrap(good, -1 if last else 12, 12, block=2)
    if world.size > 1:
        with pytest.raises(osla.ArgumentError, match="m and n are needed on several ranks"):
            osla.Matrix.wrap(good)
        with pytest.raises((osla.ArgumentError, osla.StateError)):
            osla.Matrix.wrap(good.astype(np.float32) if last else good, 12, 12, block=2)


def test_arrays_of_files(world, tmp_path_factory):
    """A file that is opened for reading is refused on all ranks; one for writing gets the sums."""
    path = shared_path(world, tmp_path_factory, "numbers") + str(world.rank)
    start = local_part(np.ones((12, 12)), 2)
    start.T.tofile(path)
    last = world.rank == world.size - 1
    for mode in ("r", "r+"):
        local = np.memmap(path, np.float64, mode if last else "r+", shape=start.shape, order="F")
        if mode == "r":
            with pytest.raises(osla.ArgumentError, match="local: the array cannot be written to"):
                osla.Matrix.wrap(local, 12, 12, block=2)
            continue
        A = osla.Matrix.wrap(local, 12, 12, block=2)
        with osla.Hessian(on=A, uplo="whole") as H:
            H.update(np.arange(12), np.ones(12))
        H.destroy()
        A.destroy()
        local.flush()
    assert (np.fromfile(path) == 1 + world.size).all()
