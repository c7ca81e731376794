"""Devices, in whose memory matrices can lie."""
from __future__ import annotations

import os
from typing import Any, Generator

from . import _core, _words
from ._calls import Owned, collective, handle
from ._errors import ArgumentError
from .transport import Transport, world


class Device(Owned):
    """A GPU of this rank, for matrices in its memory: osla.Matrix(..., device=it). Collective.

    kind: "cuda", "fake" (a test bench in host memory), or None: the value of OSLA_DEVICE. ordinal:
    number of the device, from 0, which may differ between ranks; None: the rank's index on its
    node. stream: the CUDA stream, as an integer, on which OSLA queues its work; 1 is the legacy
    default stream, 2 the per-thread one; None: a stream of the device's own.

    Most programs need no Device: device="cuda" opens one for the transport and keeps it open. A
    Device is closed after the matrices on it, by `destroy` or when all ranks have dropped it.
    """

    __slots__ = ("transport", "kind", "stream")

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
        return self

    def _facts(self) -> str:
        return self.kind


def device_word(device: "Device | str | None") -> str:
    """The argument `device` as a text that must be equal on all ranks; empty for None. Local."""
    if device is None or isinstance(device, str):
        return "" if device is None else _words.same(device)
    handle(device, Device, "device")
    return _words.same(device.kind)


def device_on(transport: Transport, device: "Device | str | None") -> "Device | None":
    """The device of an argument `device`; None for host memory. A kind of device is opened at its
    first use, and then stays open until the transport is destroyed. Called by all ranks together.
    """
    if device is None or device == "host" or isinstance(device, Device):
        return None if isinstance(device, str) else device
    found = transport._devices.get(device)
    if found is None or found.destroyed:
        found = Device.__new__(Device)._open(transport, device, -1, 0)
        transport._devices[device] = found
    return found
