"""Exceptions: one class for each error code of the library, with the library's text.

Each class also derives from the built-in exception that a Python program would catch for it.
"""
from __future__ import annotations

import builtins
from typing import Any

from numpy.linalg import LinAlgError


class Error(Exception):
    """Base class: the library refused or failed. `code` is the library's name for the kind of
    error."""

    code = "error"


class ArgumentError(Error, ValueError):
    """An argument is outside its contract: a size, a dtype, an order in memory, a value."""

    code = "argument"


class MemoryError(Error, builtins.MemoryError):
    """Not enough memory, or not enough shared memory."""

    code = "memory"


class RangeError(Error, OverflowError):
    """A size does not fit the integers of BLAS, LAPACK or MPI."""

    code = "range"


class FileError(Error, OSError):
    """A file cannot be read or written, or its content is malformed."""

    code = "file"


class MPIError(Error, RuntimeError):
    """An MPI call failed."""

    code = "MPI"


class StateError(Error, RuntimeError):
    """The object's state does not allow the call (destroyed, used by arrays, not committed), or
    ranks make different collective calls."""

    code = "state"


class UnsupportedError(Error, NotImplementedError):
    """A valid request that this build or version does not implement."""

    code = "unsupported"


class SingularError(LinAlgError, Error):
    """A factorisation met a zero pivot, or a matrix that is not positive definite. `info` is
    LAPACK's: the column, or the order of the leading minor, counted from 1."""

    code = "singular"

    def __init__(self, text: str, info: int) -> None:
        super().__init__(text)
        self.info = info

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.info)  # for pickling, as between processes


# Exception classes, indexed by the error code osla_err.
by_code = [Error, ArgumentError, MemoryError, RangeError, FileError, MPIError, StateError,
           UnsupportedError]


for _class in (*by_code, SingularError):
    _class.__module__ = "osla"  # tracebacks show the name under which the class is imported


def code_of(failure: BaseException) -> int:
    """The library's error code for an exception of any class."""
    for code in range(1, len(by_code)):
        if isinstance(failure, by_code[code]):
            return code
    if isinstance(failure, builtins.MemoryError):
        return 2
    if isinstance(failure, OverflowError):
        return 3
    return 1
