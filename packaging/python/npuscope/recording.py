# SPDX-License-Identifier: Apache-2.0
"""Records what a driver does with a device, and replays it on another one.

    with npuscope.Device() as npu, npuscope.Recorder(npu, "driver.csv") as recorded:
        driver(recorded)
    npuscope.replay("driver.csv", other)       # or a Lockstep of two
"""
from __future__ import annotations

import csv
import pathlib
from typing import Any

import numpy as np

from ._library import WrongInput

_COLUMNS = ["cycle", "access", "address", "value"]


class Recorder:
    """A device that writes a CSV row per access: the cycle in which it ends, `write`, `read`, `write_memory`, `read_memory`,
    `interrupt` or `advance`, address, and the value (registers in hexadecimal, cycles in decimal, memory two digits per byte)."""

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
        self.device.write_memory(address, data)
        self._note("write_memory", address, (data.tobytes() if isinstance(data, np.ndarray) else bytes(data)).hex())

    def read_memory(self, address: int, size: int) -> np.ndarray:
        data = self.device.read_memory(address, size)
        self._note("read_memory", address, bytes(data).hex())
        return data

    def advance(self, cycles: int) -> None:
        self.device.advance(cycles)
        self._note("advance", None, str(cycles))

    def run_until_interrupt(self, most: int = 1_000_000_000) -> int:
        passed = self.device.run_until_interrupt(most)
        self._note("interrupt", None, str(passed))
        return passed


def replay(path: "str | pathlib.Path", device: Any) -> list[str]:
    """Replays a recording in order: interrupts are awaited, however long they take. Values read are compared with the recorded
    ones: returns a message for each that differs, with the row. Raises WrongInput if the file is not a recording."""
    different = []
    with open(path, newline="") as file:
        rows = csv.reader(file)
        if next(rows, None) != _COLUMNS:
            raise WrongInput(f"{path} is no recording")
        for number, (_, access, where, value) in enumerate(rows, 2):
            address = int(where, 16) if where else 0
            if access == "write":
                device.write(address, int(value, 16))
            elif access == "write_memory":
                device.write_memory(address, bytes.fromhex(value))
            elif access == "advance":
                device.advance(int(value))
            elif access == "interrupt":
                device.run_until_interrupt()
            elif access == "read":
                now = f"{device.read(address):#x}"
                if now != value:
                    different.append(f"{path}:{number}: register {where} has {now}, not {value}")
            elif access == "read_memory":
                then, data = bytes.fromhex(value), bytes(device.read_memory(address, len(value) // 2))
                if then != data:
                    at = next(i for i, (a, b) in enumerate(zip(then, data)) if a != b)
                    different.append(f"{path}:{number}: memory at {address + at:#x} has {data[at]:#04x}, not {then[at]:#04x}")
            else:
                raise WrongInput(f"{path}:{number}: no such access: {access}")
    return different
