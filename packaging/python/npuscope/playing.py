# SPDX-License-Identifier: Apache-2.0
"""Plays register programs on any device. The library reads the program and makes its checks, as `npuscope run` does."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Callable

import numpy as np

from ._library import call, encoded, preset
from .recording import fill_memory

_user, _u32, _u64, _size, _data = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p


class _Driven(ctypes.Structure):
    """npuscope_driven of npuscope.h."""

    _fields_ = [(name, ctypes.CFUNCTYPE(*types)) for name, types in {
        "write_register": (ctypes.c_int, _user, _u32, _u32),
        "read_register": (ctypes.c_int, _user, _u32, ctypes.POINTER(_u32)),
        "write_memory": (ctypes.c_int, _user, _u64, _data, _size),
        "fill_memory": (ctypes.c_int, _user, _u64, ctypes.c_uint8, _size),
        "read_memory": (ctypes.c_int, _user, _u64, _data, _size),
        "await_interrupt": (ctypes.c_int, _user),
        "check": (None, _user, ctypes.c_int, ctypes.c_char_p)}.items()] + [("user", _user)]


class _Player:
    """The callbacks: each returns 0, or 1 with what was raised in `error`."""

    def __init__(self, device: Any) -> None:
        self.device, self.made, self.failed = device, 0, []
        self.error: "BaseException | None" = None

    def guarded(self, work: Callable[..., None]) -> Callable[..., int]:
        def callback(_: Any, *arguments: Any) -> int:
            try:
                work(*arguments)
            except BaseException as error:  # raised by play(): it cannot pass through the library
                self.error = error
                return 1
            return 0
        return callback

    def driven(self) -> _Driven:
        done = {name: getattr(self, name) for name, _ in _Driven._fields_ if name not in ("check", "user")}
        types = dict(_Driven._fields_)
        return _Driven(check=types["check"](self.check), **{name: types[name](self.guarded(work)) for name, work in done.items()})

    def write_register(self, address: int, value: int) -> None:
        self.device.write(address, value)

    def read_register(self, address: int, value: Any) -> None:
        value[0] = self.device.read(address)

    def write_memory(self, address: int, data: int, size: int) -> None:
        self.device.write_memory(address, ctypes.string_at(data, size))

    def fill_memory(self, address: int, value: int, size: int) -> None:
        fill_memory(self.device, address, size, value)

    def read_memory(self, address: int, data: int, size: int) -> None:
        read = np.frombuffer(bytes(self.device.read_memory(address, size)), np.uint8)
        if read.size != size:
            raise ValueError(f"the device returned {read.size} of {size} bytes at {address:#x}")
        ctypes.memmove(data, read.ctypes.data, size)

    def await_interrupt(self) -> None:
        self.device.run_until_interrupt()

    def check(self, _: Any, holds: int, text: bytes) -> None:
        self.made += 1
        if not holds:
            self.failed.append(text.decode(errors="replace"))


def play(program: "str | os.PathLike[str]", device: Any, npu: "str | os.PathLike[str]" = "nv_small") -> dict[str, Any]:
    """Plays a register program (`.cfg` or `.txn`, or its folder) on a device, or on two in lockstep: returns {"checks": number
    made, "failed": what did not hold}. Interrupts are served when a statement waits for one. `npu`: preset with the registers
    that the program names. Raises WrongInput if the program is invalid, with its place, Stopped if it waits for what nothing
    can raise, and what the device raises."""
    player = _Player(device)
    driven = player.driven()
    try:
        call("play", encoded("program", program), encoded("npu", preset(npu)), ctypes.byref(driven))
    except Exception:
        if player.error is not None:
            raise player.error from None
        raise
    return {"checks": player.made, "failed": player.failed}
