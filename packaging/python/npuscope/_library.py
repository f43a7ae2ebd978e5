# SPDX-License-Identifier: Apache-2.0
"""Bindings to libnpuscope.so, and calls of the program next to it."""
from __future__ import annotations

import ctypes
import json
import os
import pathlib
import shutil
import subprocess
from typing import Any, Iterable, Sequence

import numpy as np



class Error(Exception):
    """What npuscope refused, with what to change. `status` is that of npuscope.h."""

    status = 0


class WrongInput(Error):
    """An invalid configuration, register, address or argument."""


class Stopped(Error):
    """No event is left, and the awaited one has not happened."""


class Limit(Error):
    """The given cycles passed before it happened."""


_ERRORS = {1: WrongInput, 2: WrongInput, 3: Stopped, 4: Limit}


def _load() -> ctypes.CDLL:
    here = pathlib.Path(__file__).resolve()
    beside = [folder / "libnpuscope.so.1" for folder in here.parents[2:5]]
    named = os.environ.get("NPUSCOPE_LIBRARY")
    for file in [pathlib.Path(named)] if named else beside:
        if named or file.exists():
            return ctypes.CDLL(str(file))
    return ctypes.CDLL("libnpuscope.so.1")


_library = _load()
_u32, _u64, _size = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t
_device, _text, _data = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
_SIGNATURES: dict[str, list[Any]] = {
    "create": [_text, ctypes.POINTER(_text), _size, _data, ctypes.POINTER(_device)],
    "destroy": [_device],
    "reset": [_device],
    "write_register": [_device, _u32, _u32],
    "read_register": [_device, _u32, ctypes.POINTER(_u32)],
    "write_memory": [_device, _u64, _data, _size],
    "read_memory": [_device, _u64, _data, _size],
    "fill_memory": [_device, _u64, ctypes.c_uint8, _size],
    "advance": [_device, _u64],
    "run_until_interrupt": [_device, _u64, ctypes.POINTER(_u64)],
    "run_until_idle": [_device, _u64, ctypes.POINTER(_u64)],
    "interrupt": [_device, ctypes.POINTER(ctypes.c_int)],
    "cycle": [_device, ctypes.POINTER(_u64)],
    "result": [_device, ctypes.POINTER(ctypes.c_void_p)],
    "pack": [_text, _text, ctypes.POINTER(_u32), _data, _data, ctypes.POINTER(_size)],
    "unpack": [_text, _text, ctypes.POINTER(_u32), _data, _size, _data],
}
for _name, _types in _SIGNATURES.items():
    getattr(_library, "npuscope_" + _name).argtypes = _types
    getattr(_library, "npuscope_" + _name).restype = ctypes.c_int
_library.npuscope_error.restype = _text
_library.npuscope_version.restype = _text
_library.npuscope_free.argtypes = [ctypes.c_void_p]
_library.npuscope_free.restype = None


def _call(name: str, *arguments: Any) -> None:
    status = getattr(_library, "npuscope_" + name)(*arguments)
    if status != 0:
        error = _ERRORS.get(status, Error)(_library.npuscope_error().decode())
        error.status = status
        raise error


def version() -> str:
    """Version of the library."""
    return _library.npuscope_version().decode()


class Device:
    """An NPU with its memory. `npu`: a preset by name or file; `changes`: strings KEY=VALUE."""

    def __init__(self, npu: str = "nv_small", changes: Sequence[str] = ()) -> None:
        texts = (_text * max(len(changes), 1))(*[change.encode() for change in changes])
        self._device = _device()
        _call("create", npu.encode(), texts, len(changes), None, ctypes.byref(self._device))

    def close(self) -> None:
        """Destroys the device; a second call does nothing."""
        device, self._device = self._device, _device()
        if device:
            _call("destroy", device)

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_device", None):
            self.close()

    def reset(self) -> None:
        """Back to the state after creation."""
        _call("reset", self._device)

    def write(self, address: int, value: int) -> None:
        """Writes a register, at its address from the start of the NPU's registers."""
        _call("write_register", self._device, address, value)

    def read(self, address: int) -> int:
        """Reads a register; time advances until its response."""
        value = _u32()
        _call("read_register", self._device, address, ctypes.byref(value))
        return value.value

    def write_memory(self, address: int, data: "np.ndarray | bytes") -> None:
        """Writes the bytes of an array in C order; no time passes."""
        array = np.ascontiguousarray(np.frombuffer(data, np.uint8) if isinstance(data, (bytes, bytearray)) else data)
        _call("write_memory", self._device, address, array.ctypes.data, array.nbytes)

    def fill_memory(self, address: int, size: int, value: int = 0) -> None:
        """Sets `size` bytes to `value`; no time passes."""
        if not 0 <= value <= 255:
            raise WrongInput(f"{value} is not a byte")
        _call("fill_memory", self._device, address, value, size)

    def read_memory(self, address: int, size: "int | None" = None, out: "np.ndarray | None" = None) -> np.ndarray:
        """Reads `size` bytes, or into `out`, which must be contiguous."""
        if (size is None) == (out is None):
            raise WrongInput("give either a size or an array")
        array = np.empty(size, np.uint8) if out is None else out
        if not array.flags.c_contiguous or not array.flags.writeable:
            raise WrongInput("the array is not contiguous, or cannot be written")
        _call("read_memory", self._device, address, array.ctypes.data, array.nbytes)
        return array

    def advance(self, cycles: int) -> None:
        """Lets all of these cycles pass."""
        _call("advance", self._device, cycles)

    def run_until_interrupt(self, most: int = 1_000_000_000) -> int:
        """Runs until the interrupt line is high; returns the cycles that passed. Raises Stopped, Limit."""
        passed = _u64()
        _call("run_until_interrupt", self._device, most, ctypes.byref(passed))
        return passed.value

    def run_until_idle(self, most: int = 1_000_000_000) -> int:
        """Runs until no event is left. Raises Limit."""
        passed = _u64()
        _call("run_until_idle", self._device, most, ctypes.byref(passed))
        return passed.value

    @property
    def interrupt(self) -> bool:
        line = ctypes.c_int()
        _call("interrupt", self._device, ctypes.byref(line))
        return bool(line.value)

    @property
    def cycle(self) -> int:
        cycle = _u64()
        _call("cycle", self._device, ctypes.byref(cycle))
        return cycle.value

    def result(self) -> dict[str, Any]:
        """What was counted so far, as in `npuscope run --json`."""
        text = ctypes.c_void_p()
        _call("result", self._device, ctypes.byref(text))
        try:
            return json.loads(ctypes.string_at(text))
        finally:
            _library.npuscope_free(text)


def _shape(shape: Sequence[int]) -> Any:
    if not 1 <= len(shape) <= 4:
        raise WrongInput(f"a shape has 1 to 4 sizes (n, c, h, w), not {len(shape)}")
    return (_u32 * 4)(*([1] * (4 - len(shape)) + list(shape)))


def pack(array: np.ndarray, layout: str) -> np.ndarray:
    """The bytes of an array n, c, h, w as they lie in memory in a layout (`npuscope list layouts`)."""
    array = np.ascontiguousarray(array)
    size, shape = _size(), _shape(array.shape)
    names = (layout.encode(), array.dtype.name.encode(), shape)
    _call("pack", *names, None, None, ctypes.byref(size))
    packed = np.zeros(size.value, np.uint8)
    _call("pack", *names, array.ctypes.data, packed.ctypes.data, ctypes.byref(size))
    return packed


def unpack(memory: np.ndarray, shape: Sequence[int], dtype: Any, layout: str) -> np.ndarray:
    """The inverse of pack: the array of a shape and type from its bytes in memory."""
    memory, array = np.ascontiguousarray(memory), np.zeros(tuple(shape), dtype)
    _call("unpack", layout.encode(), array.dtype.name.encode(), _shape(array.shape), memory.ctypes.data, memory.nbytes,
          array.ctypes.data)
    return array


def _program() -> str:
    beside = [folder / "bin" / "npuscope" for folder in pathlib.Path(__file__).resolve().parents[2:6]]
    found = os.environ.get("NPUSCOPE_PROGRAM") or next((str(file) for file in beside if file.exists()), None)
    found = found or shutil.which("npuscope")
    if found is None:
        raise WrongInput("the program npuscope is not installed: set NPUSCOPE_PROGRAM to it")
    return found


def registers(npu: str = "nv_small") -> dict[str, int]:
    """Addresses by name: `NVDLA_PDP.D_OP_ENABLE_0`."""
    text = subprocess.run([_program(), "list", "registers", "--npu", npu], check=True, capture_output=True, text=True).stdout
    lines = [line.split() for line in text.splitlines() if line.startswith("0x")]
    return {name: int(address, 16) for address, name, *_ in lines}


def run(program: str, npu: str = "nv_small", changes: Iterable[str] = (), **options: str) -> dict[str, Any]:
    """Runs a program or a network on the command line, returns the result as a dict: `run("resnet50", values="off")`. `_` in
    an option stands for `-`. Rows of `run(..)["layers"]` can be passed to pandas.DataFrame as they are."""
    words = [_program(), "run", program, "--npu", npu, "--json", "-"]
    for change in changes:
        words += ["--set", change]
    for name, value in options.items():
        words += ["--" + name.replace("_", "-"), str(value)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        error = _ERRORS.get(done.returncode, Error)(done.stderr.strip())
        error.status = done.returncode
        raise error
    return json.loads(done.stdout)
