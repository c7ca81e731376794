"""Star forests: irregular communication that is described once and used often (osla_forest.h)."""
from __future__ import annotations

from typing import Any, Callable, Generator

import numpy as np

from . import _core, _words
from ._calls import Object, Owned, collective, handle
from ._device_arrays import DeviceArray, is_on_device
from ._errors import ArgumentError, RangeError
from .device import devices_of
from .transport import Transport, starts, world


def _at(value: Any, position: Any) -> np.dtype[Any]:
    return np.dtype([("value", value), ("at", position)])


_UNITS = {np.dtype(dtype): number for dtype, number in (
    (np.int8, _core.UNIT_INT8), (np.int16, _core.UNIT_INT16), (np.int32, _core.UNIT_INT32),
    (np.int64, _core.UNIT_INT64), (np.uint8, _core.UNIT_UINT8), (np.uint16, _core.UNIT_UINT16),
    (np.uint32, _core.UNIT_UINT32), (np.uint64, _core.UNIT_UINT64), (np.float32, _core.UNIT_FLOAT),
    (np.float64, _core.UNIT_DOUBLE), (np.longdouble, _core.UNIT_LONG_DOUBLE),
    (np.complex64, _core.UNIT_COMPLEX_FLOAT), (np.complex128, _core.UNIT_COMPLEX_DOUBLE),
    (_at(np.float32, np.int32), _core.UNIT_FLOAT_AT),
    (_at(np.float64, np.int64), _core.UNIT_DOUBLE_AT),
    (_at(np.int64, np.int64), _core.UNIT_INT64_AT))}
_PLACED = {_core.UNIT_FLOAT_AT, _core.UNIT_DOUBLE_AT, _core.UNIT_INT64_AT}
_WHAT = {"bcast": 0, "reduce": 1, "fetch": 2}  # the numbers in core/transfer.c
_RESULT = {"bcast": "leaves", "reduce": "roots", "fetch": "before"}  # the array that a call returns


def _described(value: Any, name: str) -> Any:
    """Returns the DeviceArray of an array in device memory, and other values unchanged."""
    return DeviceArray(value, name) if is_on_device(value) else value


def _check_array(value: Any, name: str, like: Any, vertices: int, write: bool) -> None:
    shape = (vertices, *like.shape[1:])
    on_device = isinstance(value, DeviceArray)
    if not isinstance(value, (np.ndarray, DeviceArray)) or value.dtype != like.dtype:
        raise ArgumentError(f"{name}: an array of {like.dtype} is needed")
    if value.shape != shape or not (value.is_contiguous if on_device else value.flags.c_contiguous):
        raise ArgumentError(f"{name}: shape {value.shape} where {shape}, contiguous in C order, is "
                            "needed")
    address = value.address if on_device else value.ctypes.data
    part = like.dtype["value"].alignment if _UNITS.get(like.dtype) in _PLACED else 1
    if address % part or not (on_device or value.flags.aligned):
        raise ArgumentError(f"{name}: its memory is not aligned")
    if write and (value.is_read_only if on_device else not value.flags.writeable):
        raise ArgumentError(f"{name}: the array cannot be written to")


class Transfer(Object):
    """A transfer that was begun. It must be ended once: by `end`, by `with`, or by a `test` that
    returns True. Until then it holds its arrays: those that are read must not be changed, those
    that are written must not be accessed. A transfer that Python deallocates is ended at the next
    collective call after all ranks have deallocated it.
    """

    __slots__ = ("result", "_into")

    def _facts(self) -> str:
        return self._into

    def end(self) -> Any:
        """Waits until the transfer is complete on this rank, and returns the written array. Local.
        StateError: it has ended already."""
        _core.transfer_end(self._handle)
        return self.result

    def test(self) -> bool:
        """True if the transfer is complete on this rank; this also ends it. Local; makes progress.
        StateError: it has ended already."""
        return _core.transfer_test(self._handle)

    def __enter__(self) -> "Transfer":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.end()


class Forest(Owned):
    """A star forest: leaves, each with a root on any rank. Collective.

    n_roots: number of this rank's roots. root: [edges] int64, the root of each of this rank's
    leaves: with `rank`, [edges] int64, an index on that rank; without it a global number, counted
    through all ranks. leaf: [edges] int64, distinct indices of the leaves; None: 0 .. edges - 1.

    n_roots, n_edges: of this rank; leaf_space: this rank's largest leaf index + 1.

    Values are contiguous arrays [n_roots, ...] and [leaf_space, ...] of one dtype: integers, floats
    and complex numbers, records (value, at) for "minloc" and "maxloc" (fields of float32 and int32,
    float64 and int64, or int64 twice), and any other type without objects for "replace" only. Roots
    and leaves may be parts of one array, like a mesh's own points and its ghosts, if no element is
    both. Transfers are begun by all ranks in the same order, and end in any order; up to eight may
    be under way.

    Each array may also be in the memory of a Device that is open on the transport: an array of
    CuPy, torch or numba, or any object with `__cuda_array_interface__`. A transfer begins after the
    work of the stream that the object names. When it has ended, the array is complete.
    """

    __slots__ = ("transport", "n_roots", "n_edges", "leaf_space", "_apart")
    _apart: "Forest | None"  # the forest of split(), made by the first gather or scatter

    @collective
    def __init__(self, n_roots: int, root: np.ndarray, leaf: np.ndarray | None = None, *,
                 rank: np.ndarray | None = None,
                 transport: Transport | None = None) -> Generator[str, None, None]:
        transport = transport or world()
        own = handle(transport, Transport, "transport")
        mine = _words.whole(n_roots, "n_roots", 0)
        _core.check_line(root, "root", -1, -1, False)
        for value, name in ((leaf, "leaf"), (rank, "rank")):
            if value is not None:
                _core.check_line(value, name, -1, len(root), False)
        yield "" if rank is None else " by ranks"
        if rank is None:
            new = _core.forest_create_global(own, starts(own, transport, mine), leaf, root)
        else:
            new = _core.forest_create(own, mine, leaf, rank, root)
        self._take(new, transport)

    def _take(self, new: Any, transport: Transport) -> "Forest":
        self._handle, self._root, self.transport = new, transport._root, transport
        self.n_roots, self.n_edges, self.leaf_space = _core.forest_facts(new)
        self._apart = None
        return self

    def destroy(self) -> None:
        """Destroys the forest now, as `Owned.destroy` describes. Collective."""
        apart = getattr(self, "_apart", None)
        if apart is not None:
            self._apart = None  # stays None if the forest itself cannot be destroyed now
            apart.destroy()
        super().destroy()

    @staticmethod
    @collective
    def allgather(n_roots: int, *,
                  transport: Transport | None = None) -> Generator[None, None, "Forest"]:
        """Leaf i of every rank has the i-th root of all ranks; n_roots may differ between ranks.
        Collective."""
        transport = transport or world()
        own, n = handle(transport, Transport, "transport"), _words.whole(n_roots, "n_roots", 0)
        yield
        return Forest.__new__(Forest)._take(_core.forest_shape(own, "allgather", n, 0), transport)

    @staticmethod
    @collective
    def gather(n_roots: int, rank: int = 0, *,
               transport: Transport | None = None) -> Generator[str, None, "Forest"]:
        """Makes the forest of allgather with the leaves of rank `rank` only. Collective."""
        transport = transport or world()
        own, n = handle(transport, Transport, "transport"), _words.whole(n_roots, "n_roots", 0)
        if _words.whole(rank, "rank", 0) >= transport.size:
            raise ArgumentError(f"rank = {rank} is not in 0 .. {transport.size - 1}")
        yield f" on rank {rank}"
        return Forest.__new__(Forest)._take(_core.forest_shape(own, "gather", n, rank), transport)

    @staticmethod
    @collective
    def alltoall(n: int, *, transport: Transport | None = None) -> Generator[str, None, "Forest"]:
        """Leaf p * n + i of rank q has root q * n + i of rank p. Collective."""
        transport = transport or world()
        own, count = handle(transport, Transport, "transport"), _words.whole(n, "n", 0)
        yield f" of {count}"
        return Forest.__new__(Forest)._take(_core.forest_shape(own, "alltoall", count, 0), transport)

    def _facts(self) -> str:
        return f"with {self.n_roots} roots and {self.n_edges} edges here"

    # ---- queries: local ----

    @property
    def root_ranks(self) -> list[int]:
        """The ranks that own the roots of this rank's leaves, ascending. Local."""
        return _core.forest_ranks(self._alive(), False)

    @property
    def leaf_ranks(self) -> list[int]:
        """The ranks that own leaves of this rank's roots, ascending. Local."""
        return _core.forest_ranks(self._alive(), True)

    def degrees(self) -> np.ndarray:
        """The number of leaves of each of this rank's roots: [n_roots] int64. Local."""
        out = np.empty(self.n_roots, np.int64)
        _core.forest_degrees(self._alive(), out)
        return out

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """This rank's edges, ordered by the roots' ranks: leaf, rank of its root, index of the root
        there, each [n_edges] int64. Local."""
        leaf, rank, root = (np.empty(self.n_edges, np.int64) for _ in range(3))
        _core.forest_edges(self._alive(), leaf, rank, root)
        return leaf, rank, root

    def view(self, edges: bool = False) -> str:
        """A description of this rank's part of the forest in lines: for each connected rank, the
        number of edges and the indices; edges: also a line for each edge. Local."""
        return _core.forest_view(self._alive(), bool(edges))

    # ---- new forests made from this one, which they do not need afterwards ----

    def _next(self, new: Any) -> "Forest":
        return Forest.__new__(Forest)._take(new, self.transport)

    @collective
    def inverse(self) -> Generator[None, None, "Forest"]:
        """Roots become leaves, and leaves become roots. ArgumentError: a root has more than one
        leaf. Collective."""
        own = self._alive()
        yield
        return self._next(_core.forest_of_one(own, "inverse"))

    @collective
    def split(self) -> Generator[None, None, "Forest"]:
        """Each leaf gets a root of its own: those of root 0 first, in the order of the leaves'
        ranks and lists. A reduction with "replace" then gathers the values of all leaves.
        Collective."""
        own = self._alive()
        yield
        return self._next(_core.forest_of_one(own, "split"))

    @collective
    def compose(self, other: "Forest") -> Generator[None, None, "Forest"]:
        """A forest with the roots of this one and the leaves of `other`, connected if a leaf of
        this one and a root of `other` have the same index on the same rank. Collective."""
        own, last = self._alive(), handle(other, Forest, "other")
        yield
        return self._next(_core.forest_compose(own, last, False))

    @collective
    def compose_inverse(self, other: "Forest") -> Generator[None, None, "Forest"]:
        """A forest with the roots of this one, and the roots of `other` as leaves, connected if
        both have a leaf with the same index on the same rank. ArgumentError: a root of `other`
        has more than one leaf. Collective."""
        own, last = self._alive(), handle(other, Forest, "other")
        yield
        return self._next(_core.forest_compose(own, last, True))

    @collective
    def embed_roots(self, chosen: np.ndarray) -> Generator[None, None, "Forest"]:
        """The forest with only the edges of these roots of this rank: [any] int64. Collective."""
        own = self._alive()
        _core.check_line(chosen, "chosen", -1, -1, False)
        yield
        return self._next(_core.forest_embed(own, False, chosen))

    @collective
    def embed_leaves(self, chosen: np.ndarray) -> Generator[None, None, "Forest"]:
        """The forest with only the edges of these leaves of this rank: [any] int64. Collective."""
        own = self._alive()
        _core.check_line(chosen, "chosen", -1, -1, False)
        yield
        return self._next(_core.forest_embed(own, True, chosen))

    @collective
    def strided(self, count: int, root_stride: int | None = None,
                leaf_stride: int | None = None) -> Generator[str, None, "Forest"]:
        """Each edge becomes `count` edges: between root i * root_stride + c and leaf j *
        leaf_stride + c, c < count. A stride None means count. leaf_stride may differ between
        ranks. Collective."""
        own, n = self._alive(), _words.whole(count, "count", 1)
        root, leaf = (n if value is None else _words.whole(value, name, n)
                      for value, name in ((root_stride, "root_stride"), (leaf_stride, "leaf_stride")))
        yield f" of {n} by {root}"
        return self._next(_core.forest_strided(own, n, root, leaf))

    @collective
    def sections(self, root_start: np.ndarray,
                 leaf_start: np.ndarray) -> Generator[None, None, "Forest"]:
        """The forest of the values of vertices that each have any number of values: root j has
        values root_start[j] .. root_start[j + 1] - 1, leaf i has leaf_start[i] .. leaf_start[i + 1]
        - 1. root_start: [n_roots + 1], leaf_start: [leaf_space + 1] int64, from 0, ascending.
        ArgumentError, on all ranks: a leaf has another number of values than its root. Collective.
        """
        own = self._alive()
        _core.check_line(root_start, "root_start", -1, self.n_roots + 1, False)
        _core.check_line(leaf_start, "leaf_start", -1, self.leaf_space + 1, False)
        yield
        return self._next(_core.forest_sections(own, root_start, leaf_start))

    @collective
    def concatenate(self, *others: "Forest",
                    same_roots: bool = False) -> Generator[str, None, "Forest"]:
        """The union of this forest and others: on each rank, the leaves of each forest follow those
        of the previous one (leaf_space of them), and so do the roots; same_roots: all use the
        roots of this one. Collective."""
        handles = [self._alive(), *(handle(f, Forest, "others") for f in others)]
        if same_roots and any(f.n_roots != self.n_roots for f in others):
            raise ArgumentError(f"same_roots: all forests need {self.n_roots} roots, like the first")
        yield f" of {len(handles)}" + (" with the same roots" if same_roots else "")
        return self._next(_core.forest_concatenate(handles, bool(same_roots)))

    # ---- transfers ----

    def _prepare(self, what: str, read: str, arrays: dict[str, Any],
                 combine: str) -> tuple[str, tuple[Any, ...], str]:
        """Checks a transfer. Returns a text that must be equal on all ranks, the arguments of the
        call of _core, and a text with shape and dtype of the array that the transfer returns.
        `read`: name of the array that is only read, and that determines shape and dtype."""
        own, how = self._alive(), _words.word(combine, _words.UNIT_COMBINE, "combine")
        arrays = {name: _described(value, name) for name, value in arrays.items()}
        like = arrays[read]
        if not isinstance(like, (np.ndarray, DeviceArray)) or like.ndim < 1 or like.dtype.hasobject:
            raise ArgumentError(f"{read}: an array of numbers or records is needed")
        unit = _UNITS.get(like.dtype, _core.UNIT_BYTES)
        bytes_each = like.dtype.itemsize * int(np.prod(like.shape[1:], dtype=object))
        count = bytes_each if unit == _core.UNIT_BYTES else bytes_each // like.dtype.itemsize
        if count < 1:
            raise ArgumentError(f"{read}: shape {like.shape} gives 0 numbers per vertex")
        if count >= 2**31:
            raise RangeError(f"{read}: {count} numbers in a vertex")
        for name, value in arrays.items():
            vertices = self.n_roots if name == "roots" else self.leaf_space
            _check_array(value, name, like, vertices, name != read)
        given = [self._memory(arrays[name]) if name in arrays else None
                 for name in ("roots", "leaves", "before")]
        arguments = (own, _WHAT[what], unit, count, bytes_each, how, *given)
        _core.forest_check(*arguments)
        result = arrays[_RESULT[what]]
        return (f" of {count} {_name(like.dtype)}, {combine}", arguments,
                f"into {result.shape} {result.dtype}")

    def _memory(self, array: Any) -> Any:
        """Returns the bytes of an array in host memory. Registers an array in device memory, and
        returns the capsule, which the transfer holds until it ends. Its deallocation ends the
        registration."""
        if isinstance(array, DeviceArray):
            capsule = array.register(devices_of(self.transport), array.size)
            return np.empty(0, np.uint8) if capsule is None else capsule
        return np.reshape(array, -1).view(np.uint8)

    def _begun(self, arguments: tuple[Any, ...], result: Any, into: str) -> Transfer:
        transfer = Transfer.__new__(Transfer)
        transfer._handle = _core.forest_begin(*arguments)
        transfer._root, transfer.result, transfer._into = self._root, result, into
        return transfer

    @collective
    def bcast(self, roots: np.ndarray, leaves: np.ndarray,
              combine: str = "replace") -> Generator[str, None, np.ndarray]:
        """leaves[i] := leaves[i] (combine) the value of its root. Returns `leaves`. combine:
        "replace", "sum", "prod", "min", "max"; for integers "logical and", "or", "xor", "bits and",
        "or", "xor"; for records "minloc", "maxloc"; "sum exact" (the same bits in any order).
        Collective.
        """
        same, arguments, _ = self._prepare("bcast", "roots", {"roots": roots, "leaves": leaves},
                                           combine)
        yield same
        _core.forest_move(*arguments)
        return leaves

    @collective
    def bcast_begin(self, roots: np.ndarray, leaves: np.ndarray,
                    combine: str = "replace") -> Generator[str, None, Transfer]:
        """Begins a `bcast`. Collective."""
        same, arguments, into = self._prepare("bcast", "roots", {"roots": roots, "leaves": leaves},
                                              combine)
        yield same
        return self._begun(arguments, leaves, into)

    @collective
    def reduce(self, leaves: np.ndarray, roots: np.ndarray,
               combine: str = "sum") -> Generator[str, None, np.ndarray]:
        """roots[j] := roots[j] (combine) the values of all its leaves, in the order of the leaves'
        ranks and lists, so that the result has the same bits in every run; "sum arrival": in the
        order of arrival. Returns `roots`. combine: as in `bcast`. Collective."""
        same, arguments, _ = self._prepare("reduce", "leaves", {"roots": roots, "leaves": leaves},
                                           combine)
        yield same
        _core.forest_move(*arguments)
        return roots

    @collective
    def reduce_begin(self, leaves: np.ndarray, roots: np.ndarray,
                     combine: str = "sum") -> Generator[str, None, Transfer]:
        """Begins a `reduce`. Collective."""
        same, arguments, into = self._prepare("reduce", "leaves", {"roots": roots, "leaves": leaves},
                                              combine)
        yield same
        return self._begun(arguments, roots, into)

    @collective
    def fetch(self, roots: np.ndarray, leaves: np.ndarray, before: np.ndarray | None = None,
              combine: str = "sum") -> Generator[str, None, np.ndarray]:
        """A `reduce` that also sets before[i] := the value that its root had before leaf i was
        combined with it (fetch and op). Returns `before`; None: a new numpy array. combine: as in
        `bcast`, without exact sums; "sum arrival" for integers of 4 and 8 bytes, in any order.
        Collective."""
        before, same, arguments, _ = self._fetch(roots, leaves, before, combine)
        yield same
        _core.forest_move(*arguments)
        return before

    @collective
    def fetch_begin(self, roots: np.ndarray, leaves: np.ndarray, before: np.ndarray | None = None,
                    combine: str = "sum") -> Generator[str, None, Transfer]:
        """Begins a `fetch`. Collective."""
        before, same, arguments, into = self._fetch(roots, leaves, before, combine)
        yield same
        return self._begun(arguments, before, into)

    def _own_roots(self) -> "Forest":
        """The forest of split(), which is made once. Collective."""
        if self._apart is None:
            self._apart = self.split()
        return self._apart

    @collective
    def gather_leaves(self, leaves: np.ndarray,
                      gathered: np.ndarray | None = None) -> Generator[None, None, np.ndarray]:
        """gathered := the values of the leaves of all this rank's roots, [degrees().sum(), ...]:
        those of root 0 first, in the order of the leaves' ranks and lists. Returns `gathered`;
        None: a new numpy array. The first gather or scatter makes the forest of `split`, which
        belongs to this one; the rows of `gathered` are its roots, as errors name them. Collective.
        """
        count = self.degrees().sum()
        if gathered is None and isinstance(leaves, np.ndarray):
            gathered = np.zeros((count, *leaves.shape[1:]), leaves.dtype)
        elif gathered is None and is_on_device(leaves):
            shown = DeviceArray(leaves, "leaves")
            gathered = np.zeros((count, *shown.shape[1:]), shown.dtype)
        yield
        return self._own_roots().reduce(leaves, gathered, "replace")  # type: ignore[arg-type]

    @collective
    def scatter_leaves(self, gathered: np.ndarray,
                       leaves: np.ndarray) -> Generator[None, None, np.ndarray]:
        """leaves := the values in `gathered`, in the order of `gather_leaves`. Returns `leaves`.
        Collective."""
        yield
        return self._own_roots().bcast(gathered, leaves)

    @collective
    def reduce_with(self, leaves: np.ndarray, roots: np.ndarray,
                    function: Callable[[np.ndarray, np.ndarray], Any],
                    ) -> Generator[None, None, np.ndarray]:
        """roots[j] := function of roots[j] and the value of each of its leaves, one after the other,
        in the order of the leaves' ranks and lists. Returns `roots`. Collective; host memory.

        function(x, y) returns the new values of some roots. x has the shape [n, ...] and holds the
        current values of n roots; y holds the value of one leaf of each of these roots. Call number
        k, from 0, combines leaf k of all roots of this rank that have more than k leaves. The
        function may differ between ranks, and must make no collective call. An exception in the
        function is raised on the rank where it occurred; some roots of this rank are then combined
        with the values of only some of their leaves. Memory: that of `gather_leaves`.
        """
        degrees = self.degrees()
        if not callable(function):
            raise ArgumentError(f"function: a function is needed, not {type(function).__name__}")
        for value, name in ((leaves, "leaves"), (roots, "roots")):
            if not isinstance(value, np.ndarray) or value.ndim < 1:
                raise ArgumentError(f"{name}: a numpy array is needed")
        _check_array(roots, "roots", leaves, self.n_roots, True)
        gathered = np.zeros((degrees.sum(), *leaves.shape[1:]), leaves.dtype)
        yield
        self.gather_leaves(leaves, gathered)
        first = np.cumsum(degrees) - degrees  # index in `gathered` of the first leaf of each root
        for number in range(degrees.max(initial=0)):
            some = np.flatnonzero(degrees > number)
            roots[some] = function(roots[some], gathered[first[some] + number])
        return roots

    def _fetch(self, roots: Any, leaves: Any, before: Any,
               combine: str) -> tuple[np.ndarray, str, tuple[Any, ...], str]:
        if before is None and isinstance(leaves, np.ndarray):
            before = np.zeros_like(leaves, order="C")
        elif before is None and is_on_device(leaves):
            shown = DeviceArray(leaves, "leaves")
            before = np.zeros(shown.shape, shown.dtype)
        arrays = {"roots": roots, "leaves": leaves, "before": before}
        return (before, *self._prepare("fetch", "leaves", arrays, combine))


def _name(dtype: np.dtype[Any]) -> str:
    if dtype in _UNITS:
        return dtype.name if dtype.names is None else f"{dtype['value']} at"
    return "bytes"
