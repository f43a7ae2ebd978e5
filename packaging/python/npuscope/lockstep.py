# SPDX-License-Identifier: Apache-2.0
"""Two devices under one driver: npuscope and RTL behind an adapter, or npuscope in two configurations.

    with npuscope.Device("nv_small", ["memory=dram_50"]) as model:
        pair = npuscope.Lockstep(model, rtl)
        npuscope.play("traces/conv", pair)        # or your own driver, with the pair as its device
        pair.finish()

What an operation of SDP, PDP, CDP, BDMA or RUBIK has left in memory is compared when its interrupt is read or cleared, before the
driver continues; the first value that differs is raised as Difference, with unit, operation, surface and coordinates. Each BDMA
command is an operation. The other device is any object with write, read, write_memory, read_memory and run_until_interrupt as in
Device.
"""
from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ._library import Error, Limit, array_to_read, registers
from .recording import fill_memory

_TYPES = {0: np.dtype(np.int8), 1: np.dtype(np.int16), 2: np.dtype(np.float16)}
_UNITS = ("SDP", "CDP", "PDP", "BDMA", "RBK")  # source: NVDLA_GLB.S_INTR_STATUS, two bits each from bit 0
_STATUS = "NVDLA_GLB.S_INTR_STATUS_0"
_PATIENCE = 100_000  # reads of the status, each of which takes the device some cycles


class Difference(Error):
    """The first value in which two devices differ: `unit`, `operation` (number of earlier ones of the unit), `address`, `channel`,
    `row`, `column`, the `values` of both, and `count` of `elements` that differ."""

    unit: str = ""
    operation = address = channel = row = column = count = elements = 0
    values: tuple[Any, Any] = (0, 0)


@dataclasses.dataclass
class Surface:
    """Where an operation writes: the offset of an element from the base is the sum of those of its channel, row and column.
    `places`: names of the three; `lanes`: channels that are written side by side."""

    unit: str
    operation: int
    base: int
    type: np.dtype
    lanes: int
    channels: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    places: tuple[str, str, str] = ("channel", "row", "column")

    @property
    def size(self) -> int:
        """Bytes from the base to the end of the last element."""
        return int(self.channels.max() + self.rows.max() + self.columns.max()) + self.type.itemsize

    def values(self, memory: np.ndarray) -> np.ndarray:
        """[channels][rows][columns] from the bytes that start at the base."""
        item = self.type.itemsize
        first = self.channels[:, None, None] + self.rows[None, :, None] + self.columns[None, None, :]
        taken = np.ascontiguousarray(memory)[first[..., None] + np.arange(item)]
        return np.ascontiguousarray(taken).view(self.type)[..., 0]

    def address(self, channel: int, row: int, column: int) -> int:
        return self.base + int(self.channels[channel] + self.rows[row] + self.columns[column])


def _steps(count: int, stride: int) -> np.ndarray:
    return np.arange(count, dtype=np.int64) * stride


def _atoms(channels: int, lanes: int, stride: int, item: int) -> np.ndarray:
    """Offsets of the channels of a feature cube."""
    channel = np.arange(channels, dtype=np.int64)
    return channel // lanes * stride + channel % lanes * item


def _moved(command: dict[str, int], operation: int, atom: int) -> Surface:
    """What a command of the BDMA writes. source: NVDLA_BDMA.rdl"""
    base = command.get("CFG_DST_ADDR_LOW", 0) | command.get("CFG_DST_ADDR_HIGH", 0) << 32
    return Surface("bdma", operation, base, np.dtype(np.uint8), 1,
                   _steps(command.get("CFG_SURF_REPEAT", 0) + 1, command.get("CFG_DST_SURF", 0)),
                   _steps(command.get("CFG_LINE_REPEAT", 0) + 1, command.get("CFG_DST_LINE", 0)),
                   _steps((command.get("CFG_LINE", 0) + 1) * atom, 1), ("block", "line", "byte"))


def _reshaped(own: dict[str, int], operation: int, atom: int) -> Surface:
    """What RUBIK writes: a feature cube, interleaved or not, or planes in lines of whole atoms. source: NVDLA_RBK.rdl"""
    settings = own.get("D_MISC_CFG", 1 << 8)
    mode, kind = settings & 3, _TYPES[settings >> 8 & 3]
    sizes, stride = own.get("D_DATAIN_SIZE_0", 0), own.get("D_DECONV_STRIDE", 0)
    width, height = (sizes & 0x1FFF) + 1, (sizes >> 16 & 0x1FFF) + 1
    base = own.get("D_DAOUT_ADDR_LOW", 0) | own.get("D_DAOUT_ADDR_HIGH", 0) << 32
    line, item = own.get("D_DAOUT_LINE_STRIDE", 0), kind.itemsize
    channels = own.get("D_DATAIN_SIZE_1", 0) + 1
    if mode == 1:  # split
        whole = -(-width * item // atom) * atom // item
        return Surface("rubik", operation, base, kind, 1, _steps(channels, own.get("D_DAOUT_PLANAR_STRIDE", 0)),
                       _steps(height, line), _steps(whole, item))
    rows = _steps(height, line)
    if mode == 0:  # contract
        across, down = (stride & 0x1F) + 1, (stride >> 16 & 0x1F) + 1
        channels, width = own.get("D_DATAOUT_SIZE_1", 0) + 1, width * across
        rows = (_steps(height, own.get("D_CONTRACT_STRIDE_1", 0))[:, None] + _steps(down, line)).reshape(-1)
    return Surface("rubik", operation, base, kind, atom // item,
                   _atoms(channels, atom // item, own.get("D_DAOUT_SURF_STRIDE", 0), item), rows, _steps(width, atom))


class Lockstep:
    """A device made of two; `interrupt`, `cycle` and `result()` are those of the first. `npu`: preset with their register map;
    `atom`: bytes of a feature atom, by default that of `first`, if it is npuscope's; `names`: of the two in messages."""

    def __init__(self, first: Any, second: Any, npu: str = "nv_small", atom: "int | None" = None,
                 names: tuple[str, str] = ("npuscope", "the other")) -> None:
        self.devices, self.names, self.npu = (first, second), names, npu
        self._addresses = registers(npu)
        self._registers = {address: name for name, address in self._addresses.items()}
        if atom is None:
            atom = int(str(first.result()["config"]["npu"]["datapath"]["memory_atom"]).split()[0])
        self._atom = atom
        self._forget()
        self.compared: list[Surface] = []
        #: Registers that returned different values: (name, value of the first, of the second). Time counters may differ.
        self.different_reads: list[tuple[str, int, int]] = []

    def _forget(self) -> None:
        self._values: dict[tuple[str, int], dict[str, int]] = {}
        self._group: dict[str, int] = {}
        self._running: dict[int, tuple[str, int, int]] = {}  # by bit of the interrupt: unit, group, operation
        self._queued: list[Surface] = []  # of BDMA commands not yet launched
        self._launched: tuple[list[Surface], list[Surface]] = ([], [])  # by group
        self._seen = [0, 0]  # interrupt bits that a device has raised and that are not cleared yet
        self._count = {unit: 0 for unit in _UNITS}

    # --- what a driver does ---

    def write(self, address: int, value: int) -> None:
        name = self._registers.get(address, "")
        if name == _STATUS:
            if any(value >> bit & 1 for bit in self._running):  # cleared without having been read
                self._await(self.devices[0].read(address) & value)
            self._seen = [seen & ~value for seen in self._seen]
        elif "." in name:
            self._note(*name.removesuffix("_0").split(".", 1), value)
        for device in self.devices:
            device.write(address, value)

    def read(self, address: int, patience: int = 100) -> int:
        """Returns the first device's value. The second is read until it has the same, at most `patience` times."""
        name = self._registers.get(address, hex(address))
        value = self.devices[0].read(address)
        if name == _STATUS:
            self._await(value)
            return value
        for _ in range(patience):
            other = self.devices[1].read(address)
            if other == value:
                return value
        self.different_reads.append((name, value, other))
        return value

    def write_memory(self, address: int, data: "np.ndarray | bytes") -> None:
        for device in self.devices:
            device.write_memory(address, data)

    def fill_memory(self, address: int, size: int, value: int = 0) -> None:
        for device in self.devices:
            fill_memory(device, address, size, value)

    def read_memory(self, address: int, size: "int | None" = None, out: "np.ndarray | None" = None) -> np.ndarray:
        """Returns the first device's bytes, in `out` if it is given. Raises Difference if the second's differ."""
        array = array_to_read(size, out)
        size = array.nbytes
        first, second = (self._bytes(device, address, size) for device in self.devices)
        if not np.array_equal(first, second):
            at = int(np.flatnonzero(first != second)[0])
            raise self._difference(f"memory at {address + at:#x}", (int(first[at]), int(second[at])),
                                   int((first != second).sum()), size, address=address + at)
        array.reshape(-1).view(np.uint8)[:] = first
        return array

    def run_until_interrupt(self, most: int = 1_000_000_000) -> int:
        """Runs the first device; the second follows when the status is read."""
        return self.devices[0].run_until_interrupt(most)

    def run_until_idle(self, most: int = 1_000_000_000) -> int:
        """Runs the first device; the second follows when the status is read."""
        return self.devices[0].run_until_idle(most)

    def advance(self, cycles: int) -> None:
        for device in self.devices:
            device.advance(cycles)

    @property
    def interrupt(self) -> bool:
        return self.devices[0].interrupt

    @property
    def cycle(self) -> int:
        return self.devices[0].cycle

    def result(self) -> dict[str, Any]:
        return self.devices[0].result()

    def reset(self) -> None:
        """Resets both; operations that run are forgotten."""
        for device in self.devices:
            device.reset()
        self._forget()

    def finish(self) -> None:
        """Waits for operations whose interrupt was not read, and compares the two traffics by client. Raises Difference."""
        while self._running:
            self.run_until_interrupt()
            self.write(self._addresses[_STATUS], self.read(self._addresses[_STATUS]))
        if all(hasattr(device, "result") for device in self.devices):
            first, second = (device.result()["traffic"]["by_client"] for device in self.devices)
            for client in first:
                for key in ("read_bytes", "write_bytes"):
                    values = first[client][key], second.get(client, {}).get(key, 0)
                    if values[0] != values[1]:
                        raise self._difference(f"traffic of {client}, {key.replace('_', ' ')}", values, 1, 1)

    # --- comparing ---

    def _note(self, block: str, register: str, value: int) -> None:
        if register == "S_POINTER":
            self._group[block] = value & 1
        group = self._group.get(block, 0)
        self._values.setdefault((block, group), {})[register] = value
        unit = block.removeprefix("NVDLA_")
        if register == "D_OP_ENABLE" and value & 1 and unit in _UNITS:
            self._running[2 * _UNITS.index(unit) + group] = (unit, group, self._count[unit])
            self._count[unit] += 1
        elif unit == "BDMA" and value & 1:
            self._note_command(register)

    def _note_command(self, register: str) -> None:
        """The BDMA samples its registers at CFG_OP, and executes the queued commands when a group is launched."""
        if register == "CFG_OP":
            self._queued.append(_moved(self._values["NVDLA_BDMA", 0], self._count["BDMA"], self._atom))
            self._count["BDMA"] += 1
        elif register.startswith("CFG_LAUNCH") and self._queued:
            group = int(register[-1])
            self._launched[group].extend(self._queued)
            self._queued.clear()
            self._running[2 * _UNITS.index("BDMA") + group] = ("BDMA", group, 0)

    def _await(self, status: int) -> None:
        """Waits until the second device has raised these bits, too; then compares what they end."""
        self._seen[0] |= status
        self._seen[1] |= self.devices[1].read(self._addresses[_STATUS])
        reads = 0
        while self._seen[0] & ~self._seen[1]:
            try:
                self.devices[1].run_until_interrupt()  # returns at once if another bit is still to be cleared
            except Error as error:
                raise type(error)(f"{self.names[0]} has raised {status:#x}, {self.names[1]}: {error}") from error
            self._seen[1] |= self.devices[1].read(self._addresses[_STATUS])
            reads += 1
            if reads == _PATIENCE:
                raise Limit(f"{self.names[1]} raises interrupts {self._seen[1]:#x}, {self.names[0]} "
                            f"{self._seen[0]:#x}, in {reads:,} reads of the status")
        for bit in range(2 * len(_UNITS)):
            if status >> bit & 1 and bit in self._running:
                for surface in self._surfaces(*self._running.pop(bit)):
                    self._compare(surface)

    def _surfaces(self, unit: str, group: int, operation: int) -> list[Surface]:
        """Surfaces that are complete: for the BDMA those of the group; for the SDP one for each batch, or none if its results go
        to the PDP on the fly; otherwise one."""
        if unit == "BDMA":
            ended = list(self._launched[group])
            self._launched[group].clear()
            return ended
        own = self._values.get((f"NVDLA_{unit}", group), {})
        if unit == "RBK":
            return [_reshaped(own, operation, self._atom)]
        mode = own.get("D_FEATURE_MODE_CFG", 0) if unit == "SDP" else 0
        if mode & 2:
            return []
        sizes = self._values.get(("NVDLA_CDP_RDMA", group), {}) if unit == "CDP" else own
        stem = "D_DATA_CUBE_OUT_" if unit == "PDP" else "D_DATA_CUBE_"
        channels, height, width = (sizes.get(stem + part, 0) + 1 for part in ("CHANNEL", "HEIGHT", "WIDTH"))
        form = own.get("D_DATA_FORMAT", 1 if unit == "CDP" else 0)
        kind = _TYPES[(form >> 2 if unit == "SDP" else form) & 3]
        lanes = self._atom // kind.itemsize
        base = own.get("D_DST_BASE_ADDR_LOW", 0) | own.get("D_DST_BASE_ADDR_HIGH", 0) << 32
        batches = (mode >> 8 & 0x1F) + 1  # source: NVDLA_SDP.rdl, D_FEATURE_MODE_CFG.BATCH_NUMBER
        return [Surface(unit.lower(), operation, base + batch * own.get("D_DST_BATCH_STRIDE", 0), kind, lanes,
                        _atoms(channels, lanes, own.get("D_DST_SURFACE_STRIDE", 0), kind.itemsize),
                        _steps(height, own.get("D_DST_LINE_STRIDE", 0)), _steps(width, self._atom))
                for batch in range(batches)]

    @staticmethod
    def _bytes(device: Any, address: int, size: int) -> np.ndarray:
        return np.frombuffer(bytes(device.read_memory(address, size)), np.uint8)

    def _compare(self, surface: Surface) -> None:
        first, second = (surface.values(self._bytes(device, surface.base, surface.size)) for device in self.devices)
        self.compared.append(surface)
        unequal = first.view(f"u{first.itemsize}") != second.view(f"u{first.itemsize}")
        if unequal.any():
            # in the order in which a unit writes: group of channels, row, column, channel
            places = np.argwhere(unequal)
            channel, row, column = min(places.tolist(), key=lambda p: (p[0] // surface.lanes, p[1], p[2], p[0]))
            address = surface.address(channel, row, column)
            raise self._difference(
                f"{surface.unit} {surface.operation}, surface at {surface.base:#x}: {surface.places[0]} {channel}, "
                f"{surface.places[1]} {row}, {surface.places[2]} {column} (at {address:#x})",
                (first[channel, row, column].item(), second[channel, row, column].item()),
                int(unequal.sum()), unequal.size, unit=surface.unit, operation=surface.operation, address=address,
                channel=channel, row=row, column=column)

    def _difference(self, where: str, values: tuple[Any, Any], count: int, elements: int, **fields: Any) -> Difference:
        rest = f"; {count} of {elements} differ" if elements > 1 else ""
        difference = Difference(f"{where}: {self.names[0]} has {values[0]}, {self.names[1]} {values[1]}{rest}")
        for name, value in {**fields, "values": values, "count": count, "elements": elements}.items():
            setattr(difference, name, value)
        return difference
