"""Transports and process grids; start and end of MPI."""
from __future__ import annotations

import atexit
import sys
import traceback
from types import TracebackType
from typing import Any, Generator

import numpy as np

from . import _core, _words
from ._calls import Object, Owned, Undivided, claim, collective, handle
from ._errors import ArgumentError, Error, StateError, code_of

_transports: list["Transport"] = []
_world: "Transport | None" = None
_started = False  # true if this package has started MPI
_arranged = False  # true if _finish is registered to run at exit


def _start() -> None:
    """Starts MPI if necessary, and registers the clean-up at exit."""
    global _started, _arranged
    if _core.mpi_state() == 0:
        _core.mpi_start()
        _started = True
    _core.mpi_watch()
    if not _arranged:
        _arranged = True
        atexit.register(_finish)
        _watch_exceptions()


def _watch_exceptions() -> None:
    """Makes an uncaught exception end all ranks, because the others would wait for this one."""
    previous = sys.excepthook

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        previous(kind, value, trace)
        if _core.mpi_state() != 1 or _core.mpi_size() == 1 or hasattr(sys, "ps1"):
            return
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
        alive = [t for t in _transports if not t.destroyed]
        reason = traceback.format_exception_only(kind, value)[-1].strip()
        _core.mpi_abort(alive[0]._handle if alive else None, f"uncaught {reason}")

    sys.excepthook = hook


def _finish() -> None:
    """Defers the destruction of the living objects to the end of the process. When no Python code
    runs that could use their memory, all ranks agree, destroy them, and end MPI if this package
    has started it."""
    if not _core.close():
        return
    for transport in _transports:
        if not transport.destroyed:
            _core.retire(transport._handle)
    if _started:
        _core.end_mpi()


def _comm_of(comm: Any) -> bytes | None:
    """The library's communicator for one of mpi4py, if both use the same MPI."""
    if comm is None:
        return None
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(comm, mpi.Comm):
        raise ArgumentError(f"comm: an mpi4py communicator is needed, not {type(comm).__name__}")
    other = _core.same_mpi(mpi.__file__)
    if other is not None:
        raise ArgumentError(f"comm: {other}: build osla with that MPI, or call without comm")
    if comm == mpi.COMM_NULL or comm.Is_inter():
        raise ArgumentError("comm: an intracommunicator is needed")
    return _core.comm_at(mpi._addressof(comm))


def starts(root: Any, transport: "Transport", count: int) -> np.ndarray:
    """First index of each rank's part, and the total, from the sizes of the parts. Called by all
    ranks together."""
    counts = np.zeros(transport.size)
    counts[transport.rank] = count
    _core.allreduce(root, counts)
    return np.concatenate(([0], np.cumsum(counts.astype(np.int64)))).astype(np.int64)


class Grid(Object):
    """Ranks in `nprow` rows and `npcol` columns, over which matrices are distributed. Collective.

    nprow = npcol = 0 chooses a grid of all ranks. order: "chosen", "rows", "columns" (BLACS's 'R'
    and 'C'), "nodes", "tiles" or "across" (osla_grid.h). The grid lives as long as a matrix on it.
    """

    __slots__ = ("transport", "nprow", "npcol", "prow", "pcol")

    @collective
    def __init__(self, nprow: int = 0, npcol: int = 0, order: str = "chosen",
                 transport: "Transport | None" = None) -> Generator[None, None, None]:
        transport = transport or world()
        root = handle(transport, Transport, "transport")
        shape = _words.whole(nprow, "nprow", 0), _words.whole(npcol, "npcol", 0)
        if max(shape) > 2**31 - 1:
            raise ArgumentError(f"a grid of {shape[0]} x {shape[1]} ranks")
        how = _words.word(order, _words.ORDER, "order")
        yield
        self._make(transport, root, *shape, how)

    def _make(self, transport: "Transport", root: Any, nprow: int, npcol: int, order: int) -> None:
        self._handle = _core.grid_create(root, nprow, npcol, order)
        self._root = root
        self.transport = transport
        self.nprow, self.npcol, self.prow, self.pcol = _core.grid_facts(self._handle)

    def _facts(self) -> str:
        return f"{self.nprow} x {self.npcol}"


class Transport(Owned):
    """The ranks of a communicator, and their data transfers. Collective on it.

    comm: an mpi4py communicator (of the same MPI library), or None: all ranks. MPI is started if it
    is not running, and then ended at exit. progress_thread: a thread serves other nodes' transfers
    while this rank computes. threads_per_rank: number of computing threads of each rank. name:
    "mpi", or None for the setting of OSLA_TRANSPORT.

    rank, size: this rank and the number of ranks; node, n_nodes: shared-memory domains; grid: of
    all ranks. A transport lives until `destroy` or the end of the program. An error on one rank is
    raised on all ranks; if a rank's comm is no communicator, this works only if the other ranks use
    all ranks or None.
    """

    __slots__ = ("rank", "size", "node", "n_nodes", "node_size", "name", "memory_share", "grid",
                 "_devices")

    def __init__(self, comm: Any = None, *, progress_thread: bool = False,
                 threads_per_rank: int = 1, name: str | None = None) -> None:
        given, threads, failure = None, 1, None
        try:
            given = _comm_of(comm)
            threads = _words.whole(threads_per_rank, "threads_per_rank", 1)
            if name is not None:
                name = _words.text(name, "name")
        except Exception as reason:
            failure = reason
        with Undivided():
            self._create(given, threads, bool(progress_thread), name, failure)

    def _create(self, given: bytes | None, threads: int, progress_thread: bool, name: str | None,
                failure: Exception | None) -> None:
        _start()
        _core.agree(given, 0 if failure is None else code_of(failure),
                    "" if failure is None else f"Transport: {failure}")
        self._handle = _core.transport_create(given, progress_thread, threads, name)
        self._root = self._handle
        (self.rank, self.size, self.node, self.n_nodes, self.node_size, self.name,
         self.memory_share) = _core.transport_facts(self._handle)
        self._devices: dict[str, Any] = {}  # [kind] device that device="KIND" opened
        self.grid = Grid.__new__(Grid)
        self.grid._make(self, self._root, 0, 0, _words.ORDER["chosen"])
        _transports.append(self)

    @collective
    def barrier(self) -> Generator[None, None, None]:
        """Waits until all ranks have arrived; values stored before it are visible to all ranks
        after it. Collective."""
        root = self._alive()
        yield
        _core.barrier(root)

    @collective
    def allreduce(self, array: np.ndarray) -> Generator[None, None, None]:
        """array := the sum over all ranks; one-dimensional, float64, of the same length on all
        ranks. Collective."""
        root = self._alive()
        _core.check_line(array, "array", _core.DOUBLE, -1, True)
        yield
        _core.allreduce(root, array)

    def progress(self) -> None:
        """One step of serving transfers of other nodes. Local, cheap."""
        _core.progress(self._alive())

    @collective
    def collect(self) -> Generator[None, None, None]:
        """Destroys the objects that Python has deallocated on all ranks, as any collective call
        does. Collective."""
        self._alive()
        yield

    def destroy(self) -> None:
        """Destroys the transport. Collective. StateError, on all ranks, while objects of it exist."""
        global _world
        if self.destroyed or _core.ends():
            return
        with Undivided():
            self._devices.clear()
            self.collect()  # destroys deallocated matrices, which keep their devices open
            self.collect()  # closes the devices, which no matrix keeps open any more
            _destroy_transport(self)
            if self in _transports:
                _transports.remove(self)
            if _world is self:
                _world = None

    def _facts(self) -> str:
        return f"rank {self.rank} of {self.size}, {self.name}"


@collective
def _destroy_transport(transport: Transport) -> Generator[None, None, None]:
    root = transport._alive()
    left = _core.children(root) - 1  # the transport's own grid does not count
    if left > 0:
        raise StateError(f"{left} object{'s' if left > 1 else ''} of this transport live")
    claim(transport)
    try:
        yield
        _core.destroy(transport.grid._handle)
        _core.destroy(root)
    finally:
        _core.unclaim(root)


def world() -> Transport:
    """The transport of all ranks, which the first, collective, call creates."""
    global _world
    if _world is None or _world.destroyed:
        with Undivided():
            _world = Transport()
    return _world


__all__ = ["Error", "Grid", "Transport", "world"]
