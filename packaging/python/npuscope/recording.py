# SPDX-License-Identifier: Apache-2.0
"""Records what a driver does with a device, and replays it on another one.

    with npuscope.Device() as npu, npuscope.Recorder(npu, "driver.csv") as recorded:
        driver(recorded)
    npuscope.replay("driver.csv", other)       # or a Lockstep of two
"""
from __future__ import annotations

import csv
import pathlib
from typing import Any, Callable

import numpy as np

from ._library import Limit, Stopped, WrongInput, plain_array

_COLUMNS = ["cycle", "access", "address", "value"]
_PIECE = 1 << 16  # bytes of a write that fills memory


class Recorder:
    """A device that writes a CSV row per access: the cycle in which it ends, `write`, `read`, `write_memory`, `read_memory`,
    `fill_memory`, `interrupt`, `idle`, `advance` or `reset`, address, and the value (registers in hexadecimal, cycles in
    decimal, memory two digits per byte, a fill its size and byte)."""

    def __init__(self, device: Any, path: "str | pathlib.Path") -> None:
        self.device = device
        self._file = open(path, "w", newline="")
        self._rows = csv.writer(self._file)
        self._rows.writerow(_COLUMNS)

    def close(self) -> None:
        """Closes the file; the device stays open."""
        self._file.close()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name == "device":  # it is not set yet
            raise AttributeError(name)
        return getattr(self.device, name)

    def _note(self, access: str, address: "int | None", value: str) -> None:
        cycle = getattr(self.device, "cycle", "")
        self._rows.writerow([cycle, access, "" if address is None else f"{address:#x}", value])

    def write(self, address: int, value: int) -> None:
        self.device.write(address, value)
        self._note("write", address, f"{value:#x}")

    def read(self, address: int) -> int:
        value = self.device.read(address)
        self._note("read", address, f"{value:#x}")
        return value

    def write_memory(self, address: int, data: "np.ndarray | bytes") -> None:
        array = plain_array("data", data)
        self.device.write_memory(address, array)
        self._note("write_memory", address, array.tobytes().hex())

    def fill_memory(self, address: int, size: int, value: int = 0) -> None:
        fill_memory(self.device, address, size, value)
        self._note("fill_memory", address, f"{size} {value:#04x}")

    def read_memory(self, address: int, size: "int | None" = None, out: "np.ndarray | None" = None) -> np.ndarray:
        data = self.device.read_memory(address, size) if out is None else self.device.read_memory(address, size, out)
        self._note("read_memory", address, data.tobytes().hex() if isinstance(data, np.ndarray) else bytes(data).hex())
        return data

    def advance(self, cycles: int) -> None:
        self.device.advance(cycles)
        self._note("advance", None, str(cycles))

    def reset(self) -> None:
        self.device.reset()
        self._note("reset", None, "")

    def run_until_interrupt(self, most: int = 1_000_000_000) -> int:
        return self._run("interrupt", self.device.run_until_interrupt, most)

    def run_until_idle(self, most: int = 1_000_000_000) -> int:
        return self._run("idle", self.device.run_until_idle, most)

    def _run(self, access: str, run: Any, most: int) -> int:
        before = getattr(self.device, "cycle", 0)
        try:
            passed = run(most)
        except Limit:
            self._note("advance", None, str(most))
            raise
        except Stopped:  # after the last event
            self._note("idle", None, str(getattr(self.device, "cycle", 0) - before))
            raise
        self._note(access, None, str(passed))
        return passed


def fill_memory(device: Any, address: int, size: int, value: int) -> None:
    """Sets bytes, also of a device that can only write them."""
    if hasattr(device, "fill_memory"):
        device.fill_memory(address, size, value)
        return
    for at in range(0, size, _PIECE):
        device.write_memory(address + at, bytes([value]) * min(_PIECE, size - at))


def _whole(text: str, base: int) -> int:
    try:
        if text.isalnum():  # int() also takes signs, spaces and underscores
            return int(text, base)
    except ValueError:
        pass
    raise ValueError(f"'{text}' is no number")


class _Replayed:
    """What a recording does to a device, row by row; `different` are the messages."""

    def __init__(self, path: Any, device: Any) -> None:
        self.path, self.device, self.different = path, device, []

    def step(self, number: int, access: str, where: str, value: str) -> Callable[[], None]:
        """What a row does. ValueError if it is damaged."""
        device = self.device
        if access in ("interrupt", "idle"):
            return device.run_until_interrupt if access == "interrupt" else device.run_until_idle
        if access == "reset":
            return device.reset
        if access == "advance":
            cycles = _whole(value, 10)
            return lambda: device.advance(cycles)
        address = _whole(where, 16)
        if access == "write":
            word = _whole(value, 16)
            return lambda: device.write(address, word)
        if access == "read":
            then = _whole(value, 16)
            return lambda: self._compare_register(number, address, then)
        if access == "fill_memory":
            size, _, byte = value.partition(" ")
            count, filled = _whole(size, 10), _whole(byte, 16)
            return lambda: fill_memory(device, address, count, filled)
        if access not in ("write_memory", "read_memory"):
            raise ValueError(f"no such access: {access}")
        data = bytes.fromhex(value)
        if access == "write_memory":
            return lambda: device.write_memory(address, data)
        return lambda: self._compare_memory(number, address, data)

    def _compare_register(self, number: int, address: int, then: int) -> None:
        now = self.device.read(address)
        if now != then:
            self._differs(number, f"register {address:#x} has {now:#x}, not {then:#x}")

    def _compare_memory(self, number: int, address: int, then: bytes) -> None:
        data = bytes(self.device.read_memory(address, len(then)))
        if then != data:
            at = next(i for i, (a, b) in enumerate(zip(then, data)) if a != b)
            self._differs(number, f"memory at {address + at:#x} has {data[at]:#04x}, not {then[at]:#04x}")

    def _differs(self, number: int, text: str) -> None:
        self.different.append(f"{self.path}:{number}: {text}")


def replay(path: "str | pathlib.Path", device: Any) -> list[str]:
    """Replays a recording in order: interrupts are awaited, however long they take. Values read are compared with the recorded
    ones: returns a message for each that differs, with the row. Raises WrongInput if the file is not a recording."""
    replayed = _Replayed(path, device)
    try:
        opened = open(path, newline="", errors="replace")
    except OSError as error:
        raise WrongInput(f"cannot read {path}: {error.strerror}") from None
    with opened as file:
        if file.readline().rstrip().split(",") != _COLUMNS:
            raise WrongInput(f"{path} is no recording")
        for number, line in enumerate(file, 2):
            row = line.rstrip("\r\n").split(",")  # no value needs quotes, and `csv` limits their size
            if len(row) != len(_COLUMNS):
                raise WrongInput(f"{path}:{number}: {len(row)} columns, not {', '.join(_COLUMNS)}")
            try:
                step = replayed.step(number, *row[1:])
            except ValueError as error:
                raise WrongInput(f"{path}:{number}: {error}") from None
            step()
    return replayed.different
