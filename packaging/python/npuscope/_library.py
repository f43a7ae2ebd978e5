# SPDX-License-Identifier: Apache-2.0
"""Bindings to libnpuscope.so, and calls of the program next to it."""
from __future__ import annotations

import ctypes
import json
import operator
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
    "play": [_text, _text, _data],
}
for _name, _types in _SIGNATURES.items():
    getattr(_library, "npuscope_" + _name).argtypes = _types
    getattr(_library, "npuscope_" + _name).restype = ctypes.c_int
_library.npuscope_error.restype = _text
_library.npuscope_version.restype = _text
_library.npuscope_free.argtypes = [ctypes.c_void_p]
_library.npuscope_free.restype = None


def call(name: str, *arguments: Any) -> None:
    status = getattr(_library, "npuscope_" + name)(*arguments)
    if status != 0:
        error = _ERRORS.get(status, Error)(_library.npuscope_error().decode(errors="replace"))
        error.status = status
        raise error


def _number(what: str, value: Any, bits: int) -> int:
    """A whole number of so many bits: ctypes would cut off the rest without a word."""
    try:
        number = operator.index(value)
    except TypeError:
        raise WrongInput(f"{what} is {value!r}, not a whole number") from None
    if not 0 <= number < 1 << bits:
        raise WrongInput(f"{what} is {number if number < 0 else hex(number)}, not 0 to {(1 << bits) - 1:#x}")
    return number


def _refuse_type(what: str, dtype: np.dtype) -> None:
    """Refuses what is not numbers, little-endian as the NPU has them."""
    if dtype.kind not in "biuf":
        raise WrongInput(f"{what} is an array of {dtype}: give one of numbers, such as numpy.int8")
    if dtype.newbyteorder("<") != dtype:
        raise WrongInput(f"{what} is big-endian ({dtype.str}): convert it by astype({dtype.newbyteorder('<').str!r})")


def plain_array(what: str, data: Any) -> np.ndarray:
    """A contiguous array with the bytes of an array of numbers, or of bytes, bytearray and other buffers."""
    if not isinstance(data, np.ndarray):
        try:
            data = np.asarray(memoryview(data))
        except TypeError:
            remedy = "text.encode()" if isinstance(data, str) else "bytes(..) or numpy.array(.., numpy.uint8)"
            raise WrongInput(f"{what} is a {type(data).__name__}, whose bytes are not defined: give {remedy}") from None
    _refuse_type(what, data.dtype)
    return np.ascontiguousarray(data)


def encoded(what: str, text: Any) -> bytes:
    """A text, or a path, as the library takes it: up to the first 0, so that none may be in it."""
    try:
        data = text.encode() if isinstance(text, str) else os.fsencode(text)
    except (TypeError, UnicodeEncodeError):
        raise WrongInput(f"{what} is {text!r}, which is no text") from None
    if b"\0" in data:
        raise WrongInput(f"{what} is {text!r}: no character of it may be 0")
    return data


def array_to_read(size: "int | None", out: "np.ndarray | None") -> np.ndarray:
    """Where bytes of memory go: a new array of `size` bytes, or `out`, which must be contiguous."""
    if (size is None) == (out is None):
        raise WrongInput("give either a size or an array")
    if out is not None and not isinstance(out, np.ndarray):
        raise WrongInput(f"out is a {type(out).__name__}, not a numpy array")
    array = np.empty(_number("the size", size, 63), np.uint8) if out is None else out
    _refuse_type("out", array.dtype)
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise WrongInput("the array is not contiguous, or cannot be written")
    return array


def preset(npu: Any) -> str:
    """The name or file of a preset as text."""
    if isinstance(npu, (str, os.PathLike)):
        return os.fsdecode(npu)
    raise WrongInput(f"npu is {npu!r}: give a preset by name or file, such as 'nv_small'")


def _texts(changes: Any) -> list[str]:
    if isinstance(changes, (str, bytes)):
        raise WrongInput(f"changes is the text {changes!r}: give a list, [{changes!r}]")
    if not isinstance(changes, Iterable):
        raise WrongInput(f"changes is {changes!r}: give a list of texts KEY=VALUE")
    texts = list(changes)
    for change in texts:
        if not isinstance(change, str):
            raise WrongInput(f"a change is {change!r}: give texts KEY=VALUE")
    return texts


def version() -> str:
    """Version of the library."""
    return _library.npuscope_version().decode()


class Device:
    """An NPU with its memory. `npu`: a preset by name or file; `changes`: strings KEY=VALUE. Numbers that do not fit, and data
    that is not plain numbers, raise WrongInput."""

    def __init__(self, npu: "str | os.PathLike[str]" = "nv_small", changes: Sequence[str] = ()) -> None:
        name = encoded("npu", preset(npu))
        each = [encoded("a change", change) for change in _texts(changes)]
        texts = (_text * max(len(each), 1))(*each)
        self._device = _device()
        call("create", name, texts, len(each), None, ctypes.byref(self._device))

    def close(self) -> None:
        """Destroys the device; a second call does nothing."""
        device, self._device = self._device, _device()
        if device:
            call("destroy", device)

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_device", None):
            self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a device can be neither copied nor pickled: create another one")

    def reset(self) -> None:
        """Back to the state after creation."""
        call("reset", self._device)

    def write(self, address: int, value: int) -> None:
        """Writes a register, at its address from the start of the NPU's registers."""
        call("write_register", self._device, _number("the address", address, 32), _number("the value", value, 32))

    def read(self, address: int) -> int:
        """Reads a register; time advances until its response."""
        value = _u32()
        call("read_register", self._device, _number("the address", address, 32), ctypes.byref(value))
        return value.value

    def write_memory(self, address: int, data: "np.ndarray | bytes") -> None:
        """Writes the bytes of an array in C order; no time passes."""
        array = plain_array("data", data)
        call("write_memory", self._device, _number("the address", address, 64), array.ctypes.data, array.nbytes)

    def fill_memory(self, address: int, size: int, value: int = 0) -> None:
        """Sets `size` bytes to `value`; no time passes."""
        call("fill_memory", self._device, _number("the address", address, 64), _number("the byte", value, 8),
              _number("the size", size, 64))

    def read_memory(self, address: int, size: "int | None" = None, out: "np.ndarray | None" = None) -> np.ndarray:
        """Reads `size` bytes, or into `out`, which must be contiguous."""
        array = array_to_read(size, out)
        call("read_memory", self._device, _number("the address", address, 64), array.ctypes.data, array.nbytes)
        return array

    def advance(self, cycles: int) -> None:
        """Lets all of these cycles pass."""
        call("advance", self._device, _number("cycles", cycles, 64))

    def run_until_interrupt(self, most: int = 1_000_000_000) -> int:
        """Runs until the interrupt line is high; returns the cycles that passed. Raises Stopped, Limit."""
        passed = _u64()
        call("run_until_interrupt", self._device, _number("most", most, 64), ctypes.byref(passed))
        return passed.value

    def run_until_idle(self, most: int = 1_000_000_000) -> int:
        """Runs until no event is left. Raises Limit."""
        passed = _u64()
        call("run_until_idle", self._device, _number("most", most, 64), ctypes.byref(passed))
        return passed.value

    @property
    def interrupt(self) -> bool:
        line = ctypes.c_int()
        call("interrupt", self._device, ctypes.byref(line))
        return bool(line.value)

    @property
    def cycle(self) -> int:
        cycle = _u64()
        call("cycle", self._device, ctypes.byref(cycle))
        return cycle.value

    def result(self) -> dict[str, Any]:
        """What was counted so far, as in `npuscope run --json`."""
        text = ctypes.c_void_p()
        call("result", self._device, ctypes.byref(text))
        try:
            return json.loads(ctypes.string_at(text))
        finally:
            _library.npuscope_free(text)


def _shape(shape: Sequence[int]) -> Any:
    if not 1 <= len(shape) <= 4:
        raise WrongInput(f"a shape has 1 to 4 sizes (n, c, h, w), not {len(shape)}")
    return (_u32 * 4)(*([1] * (4 - len(shape)) + [_number("a size of the shape", size, 32) for size in shape]))


def pack(array: np.ndarray, layout: str) -> np.ndarray:
    """The bytes of an array n, c, h, w as they lie in memory in a layout (`npuscope list layouts`)."""
    array = np.asarray(array)
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    size, shape = _size(), _shape(array.shape)
    names = (encoded("the layout", layout), array.dtype.name.encode(), shape)
    call("pack", *names, None, None, ctypes.byref(size))
    packed = np.zeros(size.value, np.uint8)
    call("pack", *names, array.ctypes.data, packed.ctypes.data, ctypes.byref(size))
    return packed


def unpack(memory: "np.ndarray | bytes", shape: Sequence[int], dtype: Any, layout: str) -> np.ndarray:
    """The inverse of pack: the array of a shape and type from its bytes in memory."""
    wanted, sizes = np.dtype(dtype), _shape(shape)
    memory, array = plain_array("memory", memory), np.zeros(tuple(shape), wanted.newbyteorder("<"))
    call("unpack", encoded("the layout", layout), array.dtype.name.encode(), sizes, memory.ctypes.data, memory.nbytes, array.ctypes.data)
    return array.astype(wanted, copy=False)


def _program() -> str:
    beside = [folder / "bin" / "npuscope" for folder in pathlib.Path(__file__).resolve().parents[2:6]]
    found = os.environ.get("NPUSCOPE_PROGRAM") or next((str(file) for file in beside if file.exists()), None)
    found = found or shutil.which("npuscope")
    if found is None:
        raise WrongInput("the program npuscope is not installed: set NPUSCOPE_PROGRAM to it")
    return found


def _output(words: Sequence[Any], accepted: Sequence[int] = (0,)) -> str:
    """What the program prints. Raises what it refused."""
    arguments = [encoded("an argument", word) for word in words]
    done = subprocess.run([_program(), *arguments], capture_output=True, text=True)
    if done.returncode not in accepted or not done.stdout:
        error = _ERRORS.get(done.returncode, Error)(done.stderr.strip())
        error.status = done.returncode
        raise error
    return done.stdout


def registers(npu: "str | os.PathLike[str]" = "nv_small") -> dict[str, int]:
    """Addresses by name: `NVDLA_PDP.D_OP_ENABLE_0`."""
    text = _output(["list", "registers", "--npu", preset(npu)])
    lines = [line.split() for line in text.splitlines() if line.startswith("0x")]
    return {name: int(address, 16) for address, name, *_ in lines}


def run(program: "str | os.PathLike[str]", npu: "str | os.PathLike[str]" = "nv_small", changes: Iterable[str] = (),
        **options: Any) -> dict[str, Any]:
    """Runs a program or a network on the command line, returns the result as a dict: `run("resnet50", values="off")`. `_` in
    an option stands for `-`. Rows of `run(..)["layers"]` can be passed to pandas.DataFrame as they are."""
    words: list[Any] = ["run", program, "--npu", preset(npu), "--json", "-"]
    for change in _texts(changes):
        words += ["--set", change]
    for name, value in options.items():
        words += ["--" + name.replace("_", "-"), str(value)]
    return json.loads(_output(words, (0, 1)))
