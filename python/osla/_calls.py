"""Collective calls, before which all ranks agree.

A collective call is written as a generator. Before its `yield` it checks its arguments, which may
be wrong on one rank only. Then all ranks agree (`osla_meet`): a failure on one rank is raised on
all; ranks that make different calls get an error; and objects that Python has deallocated on all
ranks are destroyed. The code after the `yield` runs on all ranks together. A yielded text is
compared as part of the call: it contains the arguments that must be the same on all ranks.

The ranks agree on the transport that the arguments belong to. If one rank's arguments belong to no
transport, to two, or to a destroyed one, the call fails on that rank, which then searches for the
transport on which the other ranks wait (`osla_meet_find`).
"""
from __future__ import annotations

import _signal
import functools
import inspect
import signal
import sys
import threading
from types import FrameType
from typing import Any, Callable, Generator, ParamSpec, TypeVar

from . import _core
from ._errors import ArgumentError, StateError, code_of

P = ParamSpec("P")
R = TypeVar("R")


class Object:
    """An object with a handle in the library. `_root` is the handle of its transport."""

    __slots__ = ("_handle", "_root", "__weakref__")
    __array_ufunc__ = None  # keeps numpy from treating the object as a number
    _handle: Any
    _root: Any

    def _facts(self) -> str:
        """Short description for repr."""
        return ""

    def __repr__(self) -> str:
        name = f"<osla.{type(self).__name__}"
        try:
            return f"{name} {self._facts()}".rstrip() + (", destroyed>" if self.destroyed else ">")
        except AttributeError:  # the object's __init__ raised an exception
            return name + ", not made>"

    @property
    def destroyed(self) -> bool:
        """True after the object was destroyed. Local."""
        return not _core.alive(self._handle)

    def _alive(self) -> Any:
        if not _core.alive(self._handle):
            raise StateError(f"this {type(self).__name__} was destroyed")
        return self._handle


class Owned(Object):
    """An object whose destruction is collective."""

    __slots__ = ()
    _has_views = False  # true if arrays use the object's memory

    def _users(self, n: int) -> str:
        """Text of the error of `destroy` if n arrays use the object's memory."""
        return (f"{n} {'array sees' if n == 1 else 'arrays see'} the memory of this "
                f"{type(self).__name__}: drop them first (del)")

    def destroy(self) -> None:
        """Destroys the object now, instead of at a later collective call. Collective. A second call
        has no effect, nor has a call at the end of the program (`__del__`), where all living
        objects are destroyed.

        StateError, on all ranks: an array uses its memory, or another thread is in a call with it.
        """
        if not _core.ends():
            _destroy(self)


def _roots(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    found = []
    for value in (*args, *kwargs.values()):
        root = getattr(value, "_root", None)
        if root is not None and not any(root is other for other in found):
            found.append(root)
    return found


def _default_root() -> Any:
    from .transport import world
    return world()._root


def _living_roots() -> list[Any]:
    from .transport import _transports
    return [t._handle for t in _transports if not t.destroyed]


def _position_of_default(function: Any) -> tuple[str, int] | None:
    """Name and position of the argument whose default None means the transport of all ranks."""
    for position, name in enumerate(inspect.signature(function).parameters):
        if name in ("grid", "transport"):
            return name, position
    return None


def _fail(root: Any, candidates: list[Any], name: str, failure: BaseException) -> None:
    """Reports a failure to the other ranks, on the only transport that is possible, or on the one
    where they wait."""
    try:
        if root is None:
            root = _core.find(candidates)
        if root is not None:
            _core.meet(root, name, code_of(failure), f"{name}: {failure}")
    except Exception:
        pass


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
            signal.SIGUSR2, signal.SIGALRM, signal.SIGXCPU)
_depth = 0  # nesting depth of collective calls in the main thread, which handles all signals
_waiting: list[tuple[Any, int]] = []  # handlers and signals that arrived during collective calls


class _Handler:
    """A program's signal handler, which may raise an exception, as Python's own handler of SIGINT
    does. The other ranks already take part in a collective call, so the call is finished first and
    the handler runs at its end. If it raised earlier, this rank's next collective call would meet
    the others inside the old one."""

    __slots__ = ("handler",)

    def __init__(self, handler: Any) -> None:
        self.handler = handler

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if _depth > 0:
            _waiting.append((self.handler, number))
        else:
            self.handler(number, frame)


def _watch_signals() -> None:
    for number in _SIGNALS:
        handler = _signal.getsignal(number)
        if callable(handler) and type(handler) is not _Handler:
            _signal.signal(number, _Handler(handler))


class Undivided:
    """`with Undivided():` around a collective call, or several that belong together, defers signals
    and the end of the program until the block ends."""

    __slots__ = ("_is_main",)

    def __enter__(self) -> None:
        global _depth
        self._is_main = threading.get_ident() == threading.main_thread().ident
        if self._is_main:
            _watch_signals()
            _depth += 1
        try:
            _core.enter()
        except BaseException:
            self._leave()
            raise

    def __exit__(self, *unused: Any) -> None:
        _core.leave()
        self._leave()

    def _leave(self) -> None:
        global _depth
        if self._is_main:
            _depth -= 1
            while _depth == 0 and _waiting:
                handler, number = _waiting.pop(0)
                handler(number, sys._getframe())


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature for callers: the return type is what the generator returns."""
    own = inspect.signature(function)
    found = str(own.return_annotation).removeprefix("Generator[").removesuffix("]")
    return own.replace(return_annotation=found.split(", ", 2)[2].strip("\"'"))


def collective(function: Callable[P, Generator[str | None, None, R]]) -> Callable[P, R]:
    """Turns a generator into a collective call, as the head of this module describes."""
    name = function.__qualname__.removesuffix(".__init__").lstrip("_")
    default = _position_of_default(function)

    def is_on_world(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        if default is None or names_no_grid(args, kwargs):
            return False
        word, position = default
        return (args[position] if position < len(args) else kwargs.get(word)) is None

    def names_no_grid(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """True if the argument `on` should name the transport (of an accumulator on a matrix), also
        if its value is wrong on this rank."""
        has_n = len(args) > 1 or kwargs.get("n") is not None
        return "on" in kwargs and not (kwargs["on"] is None and has_n)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with Undivided():
            return meet(*args, **kwargs)

    def meet(*args: P.args, **kwargs: P.kwargs) -> R:
        roots = _roots(args, kwargs)
        root = candidates = None
        if len(roots) == 1 and _core.alive(roots[0]):
            root = roots[0]
        elif not roots and is_on_world(args, kwargs):
            root = _default_root()
        else:
            candidates = [r for r in roots if _core.alive(r)] or _living_roots()
        failure: BaseException | None = None
        try:
            if len(roots) > 1:
                raise ArgumentError(f"{name}: objects of different transports")
            steps = function(*args, **kwargs)
            same = next(steps) or ""
            if root is None:
                raise ArgumentError(f"{name}: no argument names a transport")
        except Exception as reason:
            failure = reason
        if failure is not None:
            _fail(root, candidates or [], name, failure)
            try:
                raise failure
            finally:
                failure = None  # the traceback in it holds this frame and would keep the arguments alive
        try:
            _core.meet(root, name + same, 0, "")
        except BaseException:
            steps.close()
            raise
        try:
            next(steps)
        except StopIteration as end:
            return end.value
        raise AssertionError(f"{name} goes on after its end")

    call.__signature__ = _signature(function)  # type: ignore[attr-defined]
    call.__annotations__ = {**function.__annotations__,
                            "return": call.__signature__.return_annotation}  # type: ignore
    return call


def claim(thing: Owned) -> None:
    """Reserves the object for its destruction, until `_core.unclaim`. StateError: it is in use."""
    pins = _core.claim(thing._handle)
    if pins > 0 and thing._has_views:
        raise StateError(thing._users(pins))
    if pins > 0:
        raise StateError(f"another thread is in a call with this {type(thing).__name__}")


@collective
def _destroy(thing: Owned) -> Generator[None, None, None]:
    claim(thing)
    try:
        yield
        _core.destroy(thing._handle)
    finally:
        _core.unclaim(thing._handle)


def handle(value: Any, kind: type, name: str) -> Any:
    """The handle of a living object of the class."""
    if not isinstance(value, kind):
        raise ArgumentError(f"{name}: a {kind.__name__} is needed, not {type(value).__name__}")
    return value._alive()
