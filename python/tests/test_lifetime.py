"""Lifetime of objects: deallocation in different orders, views, destruction, calls that differ
between ranks."""
import gc
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import osla
from osla import _core
from test_hessian import shared_path


def children(world):
    world.collect()
    gc.collect()
    world.collect()
    return _core.children(world._handle)


def test_drops_in_different_orders(world):
    before = children(world)
    made = [osla.Matrix(5 + i, 3, block=2) for i in range(7)]
    order = list(range(7))
    if world.rank % 2:
        order.reverse()
    for i in order:
        made[i] = None
        osla.Matrix(2, 2).fill("identity")  # a collective call while each rank has deallocated other objects
    assert children(world) == before


def test_dropped_on_some_ranks_stays(world):
    before = children(world)
    a = osla.Matrix(6, 6, block=2).fill("identity")
    kept = a if world.rank == 0 else None
    del a
    world.collect()
    assert _core.children(world._handle) == before + 1
    if kept is not None:
        assert kept[0, 0] == 1.0  # the array can still be used on this rank
    del kept
    assert children(world) == before


def test_cycles(world):
    before = children(world)

    class Holder:
        pass

    holder = Holder()
    holder.me, holder.matrix = holder, osla.Matrix(4, 4)
    if world.rank == 0:
        del holder
        gc.collect()
        world.collect()
    else:
        world.collect()
        del holder
    assert children(world) == before


def test_dropped_by_a_thread(world):
    before = children(world)
    box = [osla.Matrix(4, 4)]
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    assert children(world) == before


def test_what_it_is_made_from_stays(world):
    grid = osla.Grid(1, world.size)
    a = osla.Matrix(4, 4, grid=grid).fill("identity")
    del grid
    gc.collect()
    assert a.norm("fro") == 2.0
    with osla.Hessian(4) as H:
        pass
    matrix = H.matrix
    del H
    world.collect()
    assert matrix.norm("max") == 0.0


def test_a_view_keeps_the_memory(world):
    before = children(world)
    a = osla.Matrix(8, 8, block=2).fill("identity")
    view = a.local
    del a
    world.collect()
    assert _core.children(world._handle) == before + 1
    assert np.isfinite(view).all() and view.sum() >= 0
    del view
    assert children(world) == before


def test_destroy_with_views_raises(world):
    a = osla.Matrix(8, 8, block=2)
    first = world.size - 1
    view = a.local if world.rank == first else None
    part = None if view is None else view[:1]
    del view
    with pytest.raises(osla.StateError, match="1 array sees the memory of this Matrix"):
        a.destroy()
    assert not a.destroyed
    del part
    a.destroy()
    assert a.destroyed
    a.destroy()


def test_nothing_gets_at_what_is_being_destroyed(world, monkeypatch):
    """While the ranks agree, the interpreter's other threads run; this test makes the calls that
    they could make."""
    a, meet, uses = osla.Matrix(8, 8, block=2), _core.meet, 0

    def use_and_meet(*args):
        nonlocal uses
        for use in (lambda: a.local, lambda: a[0, 0]):
            with pytest.raises(osla.StateError, match="this Matrix is being destroyed"):
                use()
            uses += 1
        with pytest.raises(osla.StateError, match="another thread destroys this Matrix"):
            _core.claim(a._handle)
        meet(*args)

    view = a.local if world.rank == world.size - 1 else None
    with pytest.raises(osla.StateError, match="1 array sees"):
        a.destroy()
    del view
    assert a.local.size >= 0  # one rank refuses the destruction, so the matrix is usable on all
    with monkeypatch.context() as patch:
        patch.setattr(_core, "meet", use_and_meet)
        a.destroy()
    assert uses == 2 and a.destroyed


class Destroyer:
    """An argument whose conversion, to a number or (Python 3.12) to an array, destroys a handle."""

    def __init__(self, victim, value):
        self.victim, self.value = victim, value

    def __index__(self):
        _core.destroy(self.victim._handle)
        return self.value

    def __float__(self):
        return float(self.__index__())

    def __buffer__(self, flags):
        _core.destroy(self.victim._handle)
        return memoryview(self.value)


def calls_that_destroy():
    """Pairs (constructor of an object, call with it), for calls of all files of core/."""
    line, block = np.zeros(3), np.zeros((3, 3), order="F")
    ix, empty = np.arange(3), np.zeros(0, np.int64)

    def matrix():
        return osla.Matrix(3, 3).fill("identity")

    def csr():
        t = osla.world()
        return osla.CSR(np.array([0, 1]), np.array([t.rank]), np.ones(1))

    def forest():
        return osla.Forest.allgather(1)

    def part(a, i=0):
        return a._handle, i, 0, 3, 3

    options = {name: _core.options(name, {}) for name in ("gemm", "lu", "solver", "iterate", "blocks")}
    one = np.zeros(1)
    numbers = [
        (matrix, lambda a: _core.matrix_get(a._handle, Destroyer(a, 0), 0, block)),
        (matrix, lambda a: _core.matrix_put(a._handle, 0, Destroyer(a, 0), block)),
        (matrix, lambda a: _core.matrix_norm(part(a, Destroyer(a, 0)), 0)),
        (matrix, lambda a: _core.matrix_copy(0, part(a), part(matrix(), Destroyer(a, 0)))),
        (matrix, lambda a: _core.matrix_add(1.0, a._handle, Destroyer(a, 1), a._handle)),
        (matrix, lambda a: _core.gemm(0, 0, 1.0, part(a), part(a), 0.0, part(a, Destroyer(a, 0)),
                                      options["gemm"])),
        (matrix, lambda a: _core.getrs(0, part(a), ix, part(matrix(), Destroyer(a, 0)))),
        (matrix, lambda a: _core.condition(False, 0, a._handle, None, Destroyer(a, 1))),
        (csr, lambda a: _core.csr_row(a._handle, Destroyer(a, 0), None, None)),
        (csr, lambda a: _core.csr_multiply(a._handle, Destroyer(a, 0), one, 0.0, np.zeros(1))),
        (csr, lambda a: _core.cg(a._handle, Destroyer(a, 0), 0, 0, one, np.zeros(1), options["solver"])),
        (csr, lambda a: _core.iterate(a._handle, Destroyer(a, 0), one, one, options["blocks"],
                                      options["iterate"], None, 0)),
        (forest, lambda f: _core.forest_strided(f._handle, Destroyer(f, 1), 1, 1)),
        (forest, lambda f: _core.forest_check(f._handle, 0, 0, 1, Destroyer(f, 8), 0, one, one, None))]
    arrays = [
        (matrix, lambda a: a.put(0, 0, Destroyer(a, block))),
        (matrix, lambda a: _core.getrs(0, part(a), Destroyer(a, ix), block)),
        (csr, lambda a: _core.csr_row(a._handle, 0, Destroyer(a, ix[:1]), None)),
        (csr, lambda a: _core.cg(a._handle, 0, 0, 0, one, Destroyer(a, one), options["solver"])),
        (csr, lambda a: _core.csr_numbers(a._handle, "d", Destroyer(a, one))),
        (forest, lambda f: _core.forest_degrees(f._handle, Destroyer(f, ix[:1]))),
        (forest, lambda f: _core.forest_embed(f._handle, True, Destroyer(f, empty))),
        (lambda: osla.Hessian(3), lambda h: h.update(ix, Destroyer(h, line))),
        (lambda: osla.Hessian(3), lambda h: h.update_gradient(Destroyer(h, ix), line))]
    return numbers + (arrays if sys.version_info >= (3, 12) else [])


def test_arguments_that_destroy_their_object(world):
    for make, call in calls_that_destroy():
        made = make()
        with pytest.raises(osla.StateError, match="destroyed"):
            call(made)
        assert made.destroyed


def test_arguments_of_what_is_being_destroyed(world):
    """Calls with an object that another thread is destroying, while it waits for the other ranks."""
    a, b = osla.Matrix(3, 3), osla.Matrix(3, 3)

    class Claimer:

        def __index__(self):
            _core.claim(a._handle)
            return 0

    with pytest.raises(osla.StateError, match="this Matrix is being destroyed"):
        _core.matrix_copy(0, (a._handle, 0, 0, 3, 3), (b._handle, Claimer(), 0, 3, 3))
    _core.unclaim(a._handle)
    assert a.norm() == 0


def test_a_commit_of_a_file_in_use(world, tmp_path_factory):
    """The file is in use on one rank only: all ranks refuse the commit, and none waits in it."""
    file = osla.File(shared_path(world, tmp_path_factory, "in use.h5"), "w")
    last = world.rank == world.size - 1
    if last:
        _core.claim(file._handle)
    with pytest.raises(osla.StateError, match="another thread destroys this File"):
        file.commit()
    if last:
        _core.unclaim(file._handle)
    file.commit()
    assert file.destroyed


def test_nothing_gets_at_a_transport_that_ends(world, monkeypatch):
    other, meet, uses = osla.Transport(), _core.meet, 0

    def use_and_meet(*args):
        nonlocal uses
        if args[1] == "destroy_transport":
            with pytest.raises(osla.StateError, match="this Transport is being destroyed"):
                other.progress()
            uses += 1
        meet(*args)

    with monkeypatch.context() as patch:
        patch.setattr(_core, "meet", use_and_meet)
        other.destroy()
    assert uses == 1 and other.destroyed


def test_views_of_the_accumulators_matrix(world):
    with osla.Hessian(8, block=4) as H:
        pass
    view = H.matrix.local
    with pytest.raises(osla.StateError, match="array sees"):
        H.destroy()
    del view
    matrix = H.matrix
    H.destroy()
    assert matrix.destroyed
    with pytest.raises(osla.StateError, match="destroyed"):
        matrix.norm()


def test_calls_on_what_was_destroyed(world):
    a, b = osla.Matrix(4, 4), osla.Matrix(4, 4)
    H = osla.Hessian(4)
    a.destroy()
    H.destroy()
    ix = np.arange(2)
    local = [lambda: a.local, lambda: a.get(0, 0, 1, 1), lambda: a.put(0, 0, np.ones((1, 1))),
             lambda: H.update(ix, np.ones(2)), lambda: H.update_gradient(ix, np.ones(2)),
             lambda: H.gradient, lambda: H.matrix, lambda: H.stats]
    together = [lambda: a.norm(), lambda: osla.gemm(a, b, b), lambda: osla.potrf(a),
                lambda: H.commit(), lambda: a.copy(), lambda: a.copy_to(b)]
    for call in local + together:
        with pytest.raises(osla.StateError, match="was destroyed"):
            call()
    assert repr(a).startswith("<osla.Matrix 4 x 4 float64, destroyed")


def test_an_argument_that_is_wrong_on_one_rank(world):
    last = world.rank == world.size - 1
    a = osla.Matrix(4, 4).fill("spd", 1)
    with pytest.raises(osla.ArgumentError, match="uplo = 'low'"):
        osla.potrf(a, "low" if last else "lower")
    with pytest.raises(osla.ArgumentError, match="m = 'x'"):
        osla.Matrix("x" if last else 4, 4)
    with pytest.raises(osla.RangeError, match="64 bits"):
        osla.Matrix(2**70 if last else 4, 4)
    with pytest.raises(osla.ArgumentError, match="b: elements of type 'f'"):
        osla.potrf(a.copy()).solve(np.ones(4, np.float32 if last else np.float64), overwrite=True)
    with pytest.raises(osla.ArgumentError, match="there is no option"):
        osla.gemm(a, a.copy(), a.copy(), **({"wide": True} if last else {}))
    assert a.norm("max") > 0  # after the error all ranks can make collective calls


def test_arguments_that_differ(world):
    if world.size == 1:
        pytest.skip("one rank")
    with pytest.raises(osla.ArgumentError, match="on rank 0, but"):
        osla.Matrix(4 + world.rank, 4)


def test_calls_that_differ(world):
    if world.size == 1:
        pytest.skip("one rank")
    a = osla.Matrix(4, 4)
    last = world.rank == world.size - 1
    with pytest.raises(osla.StateError, match=r"rank \d calls Matrix.norm fro where rank 0 calls "
                                              r"Matrix.copy"):
        a.norm() if last else a.copy()
    assert a.norm() == 0.0


def test_errors_are_pythons_own_too(world):
    with pytest.raises(ValueError):
        osla.Matrix(-1, 4)
    with pytest.raises(MemoryError):
        osla.Matrix(2**28, 2**28)
    with pytest.raises(OSError):
        osla.load("there is no such file.h5")
    with pytest.raises(osla.Error) as caught:
        osla.Matrix(2, 2, dtype="int32")
    assert caught.value.code == "argument" and "int32" in str(caught.value)


def test_transports(world):
    other = osla.Transport()
    a, b = osla.Matrix(3, 3), osla.Matrix(3, 3, grid=other.grid)
    with pytest.raises(osla.ArgumentError, match="different transports"):
        a.copy_to(b)
    with pytest.raises(osla.StateError, match="1 object of this transport live"):
        other.destroy()
    del b
    other.destroy()
    assert other.destroyed and not world.destroyed
    with pytest.raises(osla.StateError):
        osla.Grid(transport=other)
    with pytest.raises(osla.ArgumentError, match="mpi4py communicator"):
        osla.Transport(comm="world")


def test_the_world_ends_and_begins_again(world):
    gc.collect()
    assert children(world) == 1, "objects of other tests live"
    world.destroy()
    if world.size > 1:
        raised = interrupt_on_last_rank(world, osla.world, signal.SIGINT)
        assert raised is (KeyboardInterrupt if world.rank == world.size - 1 else None)
    again = osla.world()
    assert again is not world and osla.Matrix(2, 2).fill("identity").norm("one") == 1.0


def signal_in_call(number):
    while osla._calls._depth == 0:
        time.sleep(0.001)
    os.kill(os.getpid(), number)


def interrupt_on_last_rank(world, call, number):
    """The exception that the call raises on the last rank, which waits in it for the others when
    the signal arrives."""
    try:
        if world.rank == world.size - 1:
            threading.Thread(target=signal_in_call, args=(number,)).start()
        else:
            time.sleep(0.1)
        call()
        time.sleep(0.1)
    except BaseException as raised:
        return type(raised)


def exit_by(number, frame):
    raise SystemExit(number)


@pytest.mark.parametrize("number, raised", [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)])
def test_signals_wait_for_the_end_of_a_call(world, number, raised):
    """The interrupted rank finishes its part of the call first, because the others are in it."""
    if world.size == 1:
        pytest.skip("one rank")
    a = osla.Matrix(4, 4).fill("identity")
    expected = raised if world.rank == world.size - 1 else None
    before = signal.getsignal(number)
    if number != signal.SIGINT:
        signal.signal(number, exit_by)
    try:
        for call in (world.barrier, a.norm, lambda: a.copy(), osla.Transport):
            assert interrupt_on_last_rank(world, call, number) is expected
            assert a.norm() == 2.0
    finally:
        signal.signal(number, before)
    osla.transport._transports[-1].destroy()


def test_a_handler_that_calls_the_one_before(world):
    """The earlier handler is the package's, which wraps Python's own."""
    earlier, seen = signal.getsignal(signal.SIGINT), []
    signal.signal(signal.SIGINT, lambda number, frame: (seen.append(number), earlier(number, frame)))
    try:
        world.barrier()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
            time.sleep(1)
    finally:
        signal.signal(signal.SIGINT, earlier)
    assert seen == [signal.SIGINT]


def test_reference_counts(world):
    a = osla.Matrix(64, 8, block=4)
    H = osla.Hessian(16, block=4)
    ix, G, g = np.arange(4), np.ones(4), np.ones(4)
    before = [sys.getrefcount(x) for x in (ix, G, g, a._handle, H._handle)]
    for _ in range(50):
        H.update(ix, G)
        H.update_gradient(ix, g)
        with pytest.raises(osla.ArgumentError):
            H.update(ix, np.ones(3))
        with pytest.raises(osla.ArgumentError):
            H.update_block(ix, ix, G)
        a.local.sum()
        a.get(0, 0, 2, 2)
    assert [sys.getrefcount(x) for x in (ix, G, g, a._handle, H._handle)] == before
