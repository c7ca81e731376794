"""Conversion of words to the library's enumerators, and checks of arguments that are not arrays."""
from __future__ import annotations

import operator
from typing import Any, Mapping

import numpy as np

from . import _core
from ._errors import ArgumentError, RangeError

UPLO = {"lower": _core.LOWER, "upper": _core.UPPER}
STORED_TRIANGLE = {**UPLO, "whole": _core.GENERAL}
TRANS = {"n": _core.NOTRANS, "t": _core.TRANS, "c": _core.CONJTRANS}
SIDE = {"left": _core.LEFT, "right": _core.RIGHT}
DIAG = {"nonunit": _core.NONUNIT, "unit": _core.UNIT}
ORDER = {"chosen": -1, "rows": _core.GRID_ROWS, "columns": _core.GRID_COLUMNS,
         "nodes": _core.GRID_NODES, "tiles": _core.GRID_TILES, "across": _core.GRID_ACROSS}
FILL = {"zero": _core.FILL_ZERO, "identity": _core.FILL_IDENTITY, "uniform": _core.FILL_UNIFORM,
        "dominant": _core.FILL_DOMINANT, "spd": _core.FILL_SPD, "integer": _core.FILL_INTEGER}
NORM = {"max": _core.NORM_MAX, "one": _core.NORM_ONE, "inf": _core.NORM_INF, "fro": _core.NORM_FRO}
PIVOTING = {"partial": _core.PIVOT_PARTIAL, "tournament": _core.PIVOT_TOURNAMENT,
            "none": _core.PIVOT_NONE}
COMBINE = {"sum": _core.COMBINE_SUM, "min": _core.COMBINE_MIN, "max": _core.COMBINE_MAX}
ISOLATION = {"update": _core.ISOLATE_UPDATE, "element": _core.ISOLATE_ELEMENT}
SHIPPING = {"less": _core.SHIP_LESS, "values": _core.SHIP_VALUES, "factors": _core.SHIP_FACTORS}
STORED = {"whole": _core.STORED_WHOLE, "lower": _core.STORED_LOWER, "upper": _core.STORED_UPPER,
          "full": _core.STORED_FULL}
FORMAT = {"by name": _core.FORMAT_BY_NAME, "hdf5": _core.FORMAT_HDF5, "raw": _core.FORMAT_RAW}
MIXED = {_core.MIXED_SINGLE: "single", _core.MIXED_FACTOR: "factor",
         _core.MIXED_STALLED: "stalled", _core.MIXED_SINGULAR: "singular"}
UNIT_COMBINE = {"replace": _core.REPLACE, "sum": _core.SUM, "prod": _core.PROD, "min": _core.MIN,
                "max": _core.MAX, "logical and": _core.LOGICAL_AND, "logical or": _core.LOGICAL_OR,
                "logical xor": _core.LOGICAL_XOR, "bits and": _core.BITS_AND,
                "bits or": _core.BITS_OR, "bits xor": _core.BITS_XOR, "minloc": _core.MINLOC,
                "maxloc": _core.MAXLOC, "sum arrival": _core.SUM_ARRIVAL,
                "sum exact": _core.SUM_EXACT}
KRYLOV_END = {_core.KRYLOV_CONVERGED: "converged", _core.KRYLOV_ITERATIONS: "iterations",
              _core.KRYLOV_INDEFINITE: "indefinite", _core.KRYLOV_NOT_FINITE: "not finite"}
MODE = {"async": _core.ITERATE_ASYNC, "racy": _core.ITERATE_RACY, "sync": _core.ITERATE_SYNC}
ITERATE_END = {_core.ITERATE_CONVERGED: "converged", _core.ITERATE_STAGNATED: "stagnated",
               _core.ITERATE_SWEEPS: "sweeps", _core.ITERATE_DIVERGED: "diverged",
               _core.ITERATE_STALLED: "stalled"}
DIFFUSION_START = {"source": _core.DIFFUSION_SOURCE, "mode": _core.DIFFUSION_MODE}
BLOCK_FACTOR = {"cholesky": _core.SPLITTING_CHOLESKY, "lu": _core.SPLITTING_LU,
                "cg": _core.SPLITTING_CG, "sparse": _core.SPLITTING_SPARSE}
DTYPE = {np.dtype(np.float32): _core.FLOAT, np.dtype(np.float64): _core.DOUBLE,
         np.dtype(np.complex64): _core.COMPLEX_FLOAT, np.dtype(np.complex128): _core.COMPLEX_DOUBLE}
NUMPY = {number: dtype for dtype, number in DTYPE.items()}


def word(value: str, table: Mapping[str, int], name: str) -> int:
    """The enumerator of a word."""
    if isinstance(value, str) and value in table:
        return table[value]
    raise ArgumentError(f"{name} = {value!r}: one of {', '.join(map(repr, table))} is needed")


def dtype(value: Any, name: str = "dtype") -> int:
    """The enumerator of an element type."""
    try:
        return DTYPE[np.dtype(value)]
    except (KeyError, TypeError):
        raise ArgumentError(f"{name} = {value!r}: float32, float64, complex64 or complex128 is "
                            "needed") from None


def whole(value: Any, name: str, least: int | None = None) -> int:
    """An integer that fits the library's integers."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} = {value!r}: a whole number is needed") from None
    if not -2**63 <= number < 2**63:
        raise RangeError(f"{name} = {number} needs more than 64 bits")
    if least is not None and number < least:
        raise ArgumentError(f"{name} = {number} is below {least}")
    return number


def unsigned(value: Any, name: str) -> int:
    """An unsigned integer of 64 bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} = {value!r}: a whole number is needed") from None
    if not 0 <= number < 2**64:
        raise RangeError(f"{name} = {number} is not in 0 .. 2^64 - 1")
    return number


def real(value: Any, name: str) -> float:
    """A real number. Texts and complex numbers are refused: Python would convert the digits of a
    text, and numpy would drop an imaginary part."""
    try:
        if isinstance(value, (str, bytes, bytearray)) or np.iscomplexobj(value):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} = {value!r}: a real number is needed") from None
    except OverflowError:
        raise ArgumentError(f"{name}: the number is too large for float64") from None


def factor(value: Any, name: str, operand: Any) -> complex:
    """A factor for the elements of an operand (a Matrix or a Part). A real matrix needs a real
    factor, since its elements cannot hold an imaginary part."""
    try:
        if isinstance(value, (str, bytes, bytearray)):
            raise TypeError
        number = complex(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} = {value!r}: a number is needed") from None
    except OverflowError:
        raise ArgumentError(f"{name}: the number is too large for float64") from None
    if number.imag != 0 and operand.dtype.kind != "c":
        raise ArgumentError(f"{name} = {value!r}: a real number is needed for elements of "
                            f"{operand.dtype}")
    return number


def options(kind: str, fields: Mapping[str, Any]) -> bytes:
    """The library's options of this kind. Complex values are refused, because the C part would drop
    the imaginary part of numpy's numbers."""
    for name, value in fields.items():
        if np.iscomplexobj(value):
            raise ArgumentError(f"{name} = {value!r}: a real number is needed")
    return _core.options(kind, fields)


def _array(value: Any, name: str) -> np.ndarray:
    if np.ma.is_masked(value):
        raise ArgumentError(f"{name}: an array with masked elements; numpy.ma's filled() or "
                            "compressed() makes one without")
    try:
        return np.atleast_1d(np.asarray(value))
    except (TypeError, ValueError) as reason:
        text = str(reason).partition(". ")[0]
        raise ArgumentError(f"{name}: numpy makes no array of it: {text}") from None


def indices(value: Any, name: str) -> np.ndarray:
    """Indices as a contiguous int64 array, copied if necessary. Only integers are accepted, because
    masks or truncated fractions would be other indices."""
    given = _array(value, name)
    if given.size == 0 and given.dtype.kind in "biufc":
        given = given.astype(np.int64)  # numpy makes float64 of an empty list
    if given.dtype.kind not in "iu" or not np.can_cast(given.dtype, np.int64, "safe"):
        hint = "; numpy.flatnonzero makes indices of a mask" if given.dtype == bool else ""
        raise ArgumentError(f"{name}: elements of {given.dtype} where int64 is needed{hint}")
    return given.astype(np.int64, order="C", copy=False)


def numbers(value: Any, name: str, dtype: Any, copy: bool = False) -> np.ndarray:
    """Numbers as a column-major array of a dtype, copied if necessary or if `copy` is set. The
    conversion may only round values (numpy's "same_kind")."""
    given, wanted = _array(value, name), np.dtype(dtype)
    if given.dtype == object and np.ndim(value) == 0:  # a Fraction, a Decimal, a large int
        given = np.array([real(value, name)])
    if given.dtype.kind not in "biufc" or not np.can_cast(given.dtype, wanted, "same_kind"):
        raise ArgumentError(f"{name}: elements of {given.dtype} where {wanted} is needed")
    with np.errstate(over="ignore"):
        made = given.astype(wanted, order="F", copy=copy)
    if not np.can_cast(given.dtype, wanted, "safe") and (np.isfinite(made) != np.isfinite(given)).any():
        raise ArgumentError(f"{name}: elements of {given.dtype} that are too large for {wanted}")
    return made


def text(value: Any, name: str) -> str:
    """A text or a path, without zero bytes."""
    try:
        import os
        value = os.fspath(value)
    except TypeError:
        raise ArgumentError(f"{name} = {value!r}: a text is needed") from None
    if isinstance(value, bytes):
        value = value.decode()
    if "\0" in value:
        raise ArgumentError(f"{name} = {value!r} holds a zero byte")
    return value


def same(*words: Any, **named: Any) -> str:
    """Text of the arguments that must be the same on all ranks, appended to the name of a call."""
    return "".join(f" {word}" for word in (*words, *(f"{k}={named[k]}" for k in sorted(named))))


def coarse(value: Any) -> tuple[bytes | None, str]:
    """The library's options of a coarse level, and their text for `same`. value: None or False (no
    coarse level), True (the default options), or a mapping of options to values."""
    if value is None or value is False:
        return None, "coarse=None"
    fields = {} if value is True else value
    if not isinstance(fields, Mapping):
        raise ArgumentError(f"coarse = {value!r}: None, True, or a mapping of damping and sweeps is "
                            "needed")
    text_of = ",".join(f"{name}:{fields[name]}" for name in sorted(fields))
    return options("coarse level", dict(fields)), f"coarse={text_of or True}"


def blocks(block: Any) -> tuple[int, int]:
    """Rows and columns of a block, from one number or two."""
    if isinstance(block, (tuple, list)):
        if len(block) != 2:
            raise ArgumentError(f"block = {block!r}: one number or two are needed")
        return whole(block[0], "block[0]", 1), whole(block[1], "block[1]", 1)
    size = whole(block, "block", 1)
    return size, size
