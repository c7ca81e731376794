"""Wrong arguments on some ranks, with several transports: all ranks raise an exception, and go on."""
import numpy as np
import pytest

import osla
from test_hessian import shared_path


@pytest.fixture
def other(world):
    made = osla.Transport()
    yield made
    made.destroy()


def on(transport, n=4):
    return osla.Matrix(n, n, block=2, grid=transport.grid).fill("spd", 1)


def everybody(world):
    return [set(range(world.size)), {world.size - 1}, {0}, set(range(0, world.size, 2))]


def test_nothing_names_the_transport(world, other):
    """Some ranks pass no object at all; the others' objects belong to either transport."""
    for round in range(3):
        for transport in (other, world):
            a = on(transport)
            for wrong in everybody(world):
                bad = world.rank in wrong
                with pytest.raises(osla.ArgumentError, match="a Matrix is needed, not NoneType"):
                    osla.potrf(None if bad else a)
                with pytest.raises(osla.ArgumentError, match="a: a Matrix is needed, not str"):
                    osla.gemm(*(("a", None, 3) if bad else (a, a, a)))
                with pytest.raises(osla.ArgumentError, match="is needed"):
                    osla.Hessian(on=None if bad else a)
                with pytest.raises(osla.ArgumentError, match="on: a Matrix is needed, not str"):
                    osla.Hessian(on="a" if bad else a)
            assert a.norm("max") > 0
            del a


def test_two_transports_on_some_ranks(world, other):
    for wrong in everybody(world):
        a, b, strange = on(other), on(other), on(world)
        with pytest.raises(osla.ArgumentError, match="different transports"):
            a.copy_to(strange if world.rank in wrong else b)
        with pytest.raises(osla.ArgumentError, match="different transports"):
            osla.gemm(strange if world.rank in wrong else a, a, b)
        assert b.norm("max") == a.norm("max") == strange.norm("max")
        del a, b, strange


def test_grids_and_transports_that_are_none(world, other):
    last = world.rank == world.size - 1
    with pytest.raises(osla.ArgumentError, match="grid: a Grid is needed, not str"):
        osla.Matrix(4, 4, grid="grid" if last else other.grid)
    with pytest.raises(osla.ArgumentError, match="grid: a Grid is needed, not Transport"):
        osla.Hessian(4, grid=other if last else other.grid)
    with pytest.raises(osla.ArgumentError, match="transport: a Transport is needed, not Grid"):
        osla.Grid(transport=other.grid if last else other)
    with pytest.raises(osla.ArgumentError, match="transport: a Transport is needed, not int"):
        osla.Forest(1, np.zeros(1, np.int64), transport=7 if last else other)
    with pytest.raises(osla.ArgumentError, match="transport: a Transport is needed, not int"):
        osla.File("no.h5", "r", transport=7 if last else other)
    assert osla.Matrix(3, 3, grid=other.grid).fill("identity").norm("one") == 1.0


def test_what_was_destroyed_with_its_transport(world, other):
    gone = osla.Transport()
    dead = osla.Matrix(4, 4, grid=gone.grid)
    dead.destroy()
    gone.destroy()
    a = on(other)
    for wrong in everybody(world):
        with pytest.raises(osla.StateError, match="Matrix was destroyed"):
            osla.potrf(dead if world.rank in wrong else a)
        with pytest.raises(osla.StateError, match="destroyed"):
            osla.Matrix(2, 2, grid=(gone if world.rank in wrong else other).grid)
    with pytest.raises(osla.StateError, match="Transport was destroyed"):
        gone.barrier()
    a.destroy()
    b = on(other)
    for wrong in everybody(world):
        with pytest.raises(osla.StateError, match="Matrix was destroyed"):
            osla.potrf(a if world.rank in wrong else b)


def test_wrong_arrays_on_some_ranks(world, other):
    """Wrong dtype, order or size, each on one rank only, with a transport of its own."""
    a = on(other, 6)
    factor = osla.potrf(a)
    last = world.rank == world.size - 1
    right = np.ones((6, 2), order="F")
    for b, text in ((np.ones((5, 2), order="F"), "5 x 2 where 6 x"), (np.ones((6, 2)), "Fortran order"),
                    (np.ones((6, 2), np.float32, order="F"), "'f'"), ("b", "an array"),
                    (np.ones((6, 2, 1), order="F"), "3 dimensions")):
        with pytest.raises(osla.ArgumentError, match=text):
            osla.potrs(factor, b if last else right)
    with pytest.raises(osla.ArgumentError, match="what potrf returned"):
        osla.potrs(None if last else factor, right)
    with pytest.raises(osla.ArgumentError, match="root = 99"):
        a.to_numpy(root=99 if last else 0)
    for value, text in ((np.ones(3, np.float32), "'f'"), (np.ones(6)[::2], "follow one another"),
                        (np.ones((3, 1)), "2 dimensions"), (None, "an array")):
        with pytest.raises(osla.ArgumentError, match=text):
            other.allreduce(value if last else np.ones(3))
    assert a.norm("max") > 0


def test_transports_with_wrong_options(world):
    last = world.rank == world.size - 1
    for option, text in (({"threads_per_rank": "x"}, "threads_per_rank = 'x'"),
                         ({"threads_per_rank": 0}, "threads_per_rank = 0"), ({"name": 3}, "name = 3"),
                         ({"name": "none"}, "unknown transport|transport 'none'"),
                         ({"comm": 5}, "communicator is needed")):
        with pytest.raises((osla.ArgumentError, osla.UnsupportedError), match=text):
            osla.Transport(**(option if last else {}))
    made = osla.Transport()
    made.destroy()


def test_misspelt_arguments_on_one_rank(world, other, tmp_path_factory):
    """Python refuses misspelt keywords on that rank, and the package refuses the call on the
    others."""
    if world.size == 1:
        pytest.skip("one rank")
    last = world.rank == world.size - 1
    wrong, line = ({"trnas": "t"} if last else {}), np.ones(4)
    factor, cholesky, b = osla.getrf(on(other)), osla.potrf(on(other)), on(other)
    with osla.File(shared_path(world, tmp_path_factory, "misspelt.h5"), "w", transport=other) as file:
        for call, name in ((lambda: osla.getrs(factor, line, **wrong), "getrs"),
                           (lambda: osla.potrs(cholesky, line, **wrong), "potrs"),
                           (lambda: factor.solve(line, **wrong), "LU.solve"),
                           (lambda: cholesky.solve(line, **wrong), "Cholesky.solve"),
                           (lambda: file.put("x", 1, **wrong), "File.put")):
            with pytest.raises(TypeError if last else osla.ArgumentError,
                               match="trnas" if last else f"^{name}: .*trnas"):
                call()
        with pytest.raises(osla.StateError, match="File.put of a vector where rank 0 calls File.put of a value"):
            file.put("x", line if last else 1)


def test_what_differs_on_one_rank(world, other):
    """Enumerators and numbers that would make ranks take different paths and wait for one another."""
    if world.size == 1:
        return
    last = world.rank == world.size - 1
    a, b, c = on(other, 6), on(other, 6), on(other, 6)
    n = 6 * (world.rank + 1)
    rows = osla.CSR(np.arange(7), np.arange(n - 6, n), np.full(6, 2.0), transport=other)
    right, cube = np.ones(6), osla.Diffusion((4, 4, 4), transport=other)
    for call, text in (
        (lambda: osla.gemm(a, b, c, transa="t" if last else "n"), "gemm t n .* where rank 0 calls gemm n n"),
        (lambda: osla.trsm(a, b, alpha=0 if last else 1), "trsm left lower n nonunit"),
        (lambda: osla.getrf(a, pivoting="none" if last else "partial"), "getrf none where"),
        (lambda: osla.potrf(a, "upper" if last else "lower"), "potrf upper where"),
        (lambda: osla.Matrix(4, 4, triangle="lower" if last else None), "Matrix lower triangle where"),
        (lambda: a.norm("one" if last else "max"), "norm one where"),
        (lambda: osla.cg(rows, right, jacobi=0 if last else 1), "jacobi=0 sweeps=0 sync where"),
        (lambda: osla.cg(rows, right, sweeps=0 if last else 3), "sweeps=0 sync where .* sweeps=3"),
        (lambda: osla.cg(rows, right, tolerance=0.1 if last else 0.2), "osla_cg: tolerance"),
        (lambda: osla.iterate(rows, right, bound_steps=0 if last else 5), "bound_steps=0 where"),
        (lambda: cube.iterate(bound_steps=0 if last else 5), "bound_steps=0 where"),
        (lambda: osla.gesv_mixed(a, b, c, target=0.5 if last else 1.0), "osla_gesv_mixed: target"),
        (lambda: osla.Matrix.from_numpy(None if last else right.reshape(2, 3), root=0 if last else None,
                                        shape=(2, 3), dtype=float, grid=other.grid), "from rank 0 where"),
    ):
        with pytest.raises((osla.StateError, osla.ArgumentError), match=text):
            call()
    assert osla.cg(rows, right).x[0] == 0.5
