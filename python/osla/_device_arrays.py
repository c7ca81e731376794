"""Arrays of the program in device memory: of CuPy, torch, numba, or any other object that has
`__cuda_array_interface__`, version 2 or 3."""
from __future__ import annotations

import math
from typing import Any, Iterable

import numpy as np

from . import _core
from ._errors import ArgumentError
from .device import Device


def is_on_device(value: Any) -> bool:
    """True if a value is an array in device memory."""
    return not isinstance(value, np.ndarray) and hasattr(value, "__cuda_array_interface__")


class DeviceArray:
    """Description of an array in device memory, from its `__cuda_array_interface__`. The attributes
    shape, dtype, strides, ndim and size are those of a numpy array."""

    __slots__ = ("array", "name", "shape", "dtype", "strides", "address", "is_read_only", "stream")

    def __init__(self, array: Any, name: str) -> None:
        facts = array.__cuda_array_interface__
        self.array, self.name = array, name
        self.shape = tuple(int(n) for n in facts["shape"])
        has_fields = facts["typestr"][1] == "V" and "descr" in facts
        self.dtype = np.dtype(facts["descr"] if has_fields else facts["typestr"])
        self.address, self.is_read_only = int(facts["data"][0]), bool(facts["data"][1])
        given = facts.get("strides")
        self.strides = _strides(self.shape, self.dtype.itemsize) if given is None else tuple(given)
        self.stream = facts.get("stream")
        if facts.get("mask") is not None:
            raise ArgumentError(f"{name}: an array with masked elements")
        if self.stream == 0:
            raise ArgumentError(f"{name}: its stream = 0 is ambiguous: 1 is CUDA's legacy default "
                                "stream, 2 the per-thread default stream")

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """True if the elements follow one another in C order."""
        dense = _strides(self.shape, self.dtype.itemsize)
        return self.size == 0 or all(n == 1 or s == d for n, s, d in zip(self.shape, self.strides, dense))

    def columns(self, dtype: np.dtype[Any], row: bool) -> tuple[int, int, int]:
        """Rows, columns and leading dimension (in elements) of the array as a column-major matrix
        of this dtype. A one-dimensional array is a row if `row` is true, else a column.
        ArgumentError if the array does not fit."""
        if self.dtype != dtype:
            raise ArgumentError(f"{self.name}: elements of {self.dtype} where {dtype} is needed")
        if self.ndim not in (1, 2):
            raise ArgumentError(f"{self.name}: {self.ndim} dimensions where 1 or 2 are needed")
        item = dtype.itemsize
        if self.address % item:
            raise ArgumentError(f"{self.name}: its memory is not aligned to {item} bytes")
        if self.ndim == 2:
            (rows, cols), (down, across) = self.shape, self.strides
        elif row:
            (rows, cols), (down, across) = (1, *self.shape), (item, *self.strides)
        else:
            (rows, cols), (down, across) = (*self.shape, 1), (*self.strides, item * self.shape[0])
        least = max(rows, 1)
        if self.size == 0:
            return rows, cols, least
        if (rows > 1 and down != item) or (cols > 1 and (across % item or across < item * least)):
            raise ArgumentError(f"{self.name}: not by columns (Fortran order) in memory; "
                                "cupy.asfortranarray makes such an array")
        return rows, cols, across // item if cols > 1 else least

    def register(self, devices: Iterable[Device], elements: int) -> Any:
        """Registers the memory of the array with the first of the devices on which it lies. Later
        work of this device begins after the work of the array's stream. Returns a capsule, whose
        deallocation ends the registration; None if the array is empty. Local.

        elements: number of elements from the first to the last one, including gaps."""
        if self.size == 0:
            return None
        reason = "no Device of this transport is open: osla.Device() opens one"
        for device in devices:
            try:
                capsule = _core.device_register(device._alive(), self.array, self.address,
                                                elements * self.dtype.itemsize)
            except ArgumentError as refusal:
                reason = str(refusal)
                continue
            if self.stream is not None and self.stream != device.stream:
                _core.device_follow(device._handle, self.stream)
            return capsule
        raise ArgumentError(f"{self.name}: the array lies on a device, and {reason}")


def _strides(shape: tuple[int, ...], item: int) -> tuple[int, ...]:
    """Strides in bytes of a contiguous array in C order, with elements of `item` bytes."""
    return tuple(item * math.prod(shape[i + 1:]) for i in range(len(shape)))


def registered_columns(value: Any, name: str, device: Device, dtype: np.dtype[Any],
                       row: bool) -> Any:
    """Registers an array in device memory with the device, and returns the tuple by which _core
    receives it: (capsule or None, rows, columns, leading dimension). Other values are returned
    unchanged. dtype, row: as in DeviceArray.columns."""
    if not is_on_device(value):
        return value
    array = DeviceArray(value, name)
    rows, cols, ld = array.columns(dtype, row)
    return array.register((device,), (cols - 1) * ld + rows), rows, cols, ld
