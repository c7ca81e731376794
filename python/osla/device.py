"""Devices (GPUs), whose memory can hold matrices."""
from __future__ import annotations

import os
import weakref
from typing import Any, Generator

from . import _core, _words
from ._calls import Owned, collective, handle
from ._errors import ArgumentError
from .transport import Transport, world


_opened: list["weakref.ref[Device]"] = []  # Devices in the order in which they were opened


class Device(Owned):
    """A GPU of this rank. osla.Matrix(..., device=...) creates a matrix in its memory. Collective.

    kind: "cuda", or "fake" for a simulated device in host memory. If it is None, the environment
    variable OSLA_DEVICE gives the kind.
    ordinal: number of the device, from 0, which may differ between ranks. If it is None, the rank's
    index on its node selects the device.
    stream: the CUDA stream on which OSLA queues its work, as an integer: 1 is the legacy default
    stream, 2 the per-thread default stream. If it is None, the device creates a stream.

    Most programs need no Device, because device="cuda" opens one for the transport and keeps it
    open. `destroy` closes a Device, and raises StateError while matrices on it exist, or while a
    transfer or an update uses an array on it. A Device that all ranks have deleted is closed after
    the matrices on it.
    """

    __slots__ = ("transport", "kind", "stream")
    _has_views = True

    @collective
    def __init__(self, kind: str | None = None, *, ordinal: int | None = None,
                 stream: int | None = None,
                 transport: Transport | None = None) -> Generator[str, None, None]:
        transport = transport or world()
        handle(transport, Transport, "transport")
        kind = None if kind is None else _words.text(kind, "kind")
        number = -1 if ordinal is None else _words.whole(ordinal, "ordinal", 0)
        if number > 2**31 - 1:
            raise ArgumentError(f"ordinal = {number}: there is no such device")
        queue = 0 if stream is None else _words.unsigned(stream, "stream")
        if stream is not None and queue == 0:
            raise ArgumentError("stream = 0 is ambiguous: 1 is CUDA's legacy default stream, 2 the "
                                "per-thread default stream")
        yield _words.same(kind)
        self._open(transport, kind, number, queue)

    def _open(self, transport: Transport, kind: str | None, ordinal: int, stream: int) -> "Device":
        self._handle = _core.device_open(transport._handle, kind, ordinal, stream)
        self._root = transport._root
        self.transport = transport
        self.kind = os.environ["OSLA_DEVICE"] if kind is None else kind
        self.stream = stream or None
        _opened[:] = [device for device in _opened if device() is not None]
        _opened.append(weakref.ref(self))
        return self

    def _facts(self) -> str:
        return self.kind

    def _users(self, n: int) -> str:
        users = "transfer or array uses" if n == 1 else "transfers or arrays use"
        return f"{n} {users} memory of this Device: end the transfers and drop the arrays (del)"


def devices_of(transport: Transport) -> list[Device]:
    """The open devices of a transport, in the order in which they were opened. Local."""
    found = [device() for device in _opened]
    return [d for d in found if d is not None and d.transport is transport and not d.destroyed]


def device_word(device: "Device | str | None") -> str:
    """Text for an argument `device`, which must be equal on all ranks: "" for None. Local."""
    if device is None:
        return ""
    if isinstance(device, str):
        return _words.same(device)
    handle(device, Device, "device")
    return _words.same(device.kind)


def device_on(transport: Transport, device: "Device | str | None") -> "Device | None":
    """The Device of an argument `device`, or None for host memory. If the argument is a kind, such
    as "cuda", the first call opens a device of this kind, which stays open until the transport is
    destroyed. Called by all ranks together.
    """
    if device is None or device == "host":
        return None
    if isinstance(device, Device):
        return device
    found = transport._devices.get(device)
    if found is None or found.destroyed:
        found = Device.__new__(Device)._open(transport, device, -1, 0)
        transport._devices[device] = found
    return found
