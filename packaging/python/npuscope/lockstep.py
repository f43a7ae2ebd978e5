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
import pathlib
import re
import zlib
from typing import Any, Iterator

import numpy as np

from ._library import Error, Limit, WrongInput, registers

_TYPES = {0: np.dtype(np.int8), 1: np.dtype(np.int16), 2: np.dtype(np.float16)}
_UNITS = ("SDP", "CDP", "PDP", "BDMA", "RBK")  # source: NVDLA_GLB.S_INTR_STATUS, two bits each from bit 0
_STATUS = "NVDLA_GLB.S_INTR_STATUS_0"
_MASK = "NVDLA_GLB.S_INTR_MASK_0"
_REGISTERS = 0xFFFF0000  # word address of the first register in a `.txn`. source: NVDLA traces, as read_program has it
_PATIENCE = 100_000  # reads of the status, each of which takes the device some cycles
_ATTEMPTS = 50_000  # reads of a register if their number is not given, as on the command line


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
    """A device made of two. `npu`: preset with their register map; `atom`: bytes of a feature atom, by default that of `first`, if
    it is npuscope's; `names`: of the two in messages."""

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

    def read_memory(self, address: int, size: int) -> np.ndarray:
        """Returns the first device's bytes. Raises Difference if the second's differ."""
        first, second = (self._bytes(device, address, size) for device in self.devices)
        if not np.array_equal(first, second):
            at = int(np.flatnonzero(first != second)[0])
            raise self._difference(f"memory at {address + at:#x}", (int(first[at]), int(second[at])),
                                   int((first != second).sum()), size, address=address + at)
        return first

    def run_until_interrupt(self, most: int = 1_000_000_000) -> int:
        """Runs the first device; the second follows when the status is read."""
        return self.devices[0].run_until_interrupt(most)

    def run_until_idle(self, most: int = 1_000_000_000) -> int:
        """Runs the first device; the second follows when the status is read."""
        return self.devices[0].run_until_idle(most)

    def advance(self, cycles: int) -> None:
        for device in self.devices:
            device.advance(cycles)

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
        """Surfaces that are complete: for the BDMA those of the group, otherwise one, or none if it goes to the PDP on the fly."""
        if unit == "BDMA":
            ended = list(self._launched[group])
            self._launched[group].clear()
            return ended
        own = self._values.get((f"NVDLA_{unit}", group), {})
        if unit == "RBK":
            return [_reshaped(own, operation, self._atom)]
        if unit == "SDP" and own.get("D_FEATURE_MODE_CFG", 0) & 2:
            return []
        sizes = self._values.get(("NVDLA_CDP_RDMA", group), {}) if unit == "CDP" else own
        stem = "D_DATA_CUBE_OUT_" if unit == "PDP" else "D_DATA_CUBE_"
        channels, height, width = (sizes.get(stem + part, 0) + 1 for part in ("CHANNEL", "HEIGHT", "WIDTH"))
        form = own.get("D_DATA_FORMAT", 1 if unit == "CDP" else 0)
        kind = _TYPES[(form >> 2 if unit == "SDP" else form) & 3]
        lanes = self._atom // kind.itemsize
        base = own.get("D_DST_BASE_ADDR_LOW", 0) | own.get("D_DST_BASE_ADDR_HIGH", 0) << 32
        return [Surface(unit.lower(), operation, base, kind, lanes,
                        _atoms(channels, lanes, own.get("D_DST_SURFACE_STRIDE", 0), kind.itemsize),
                        _steps(height, own.get("D_DST_LINE_STRIDE", 0)), _steps(width, self._atom))]

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


# --- Programs ---

def _statements(path: pathlib.Path) -> Iterator[tuple[str, list[str]]]:
    for number, text in enumerate(path.read_text().splitlines(), 1):
        text = re.split(r"//|#", text)[0].strip()
        if text:
            call = re.fullmatch(r"(\w+)\s*\((.*)\)\s*;", text)
            if call is None:
                raise WrongInput(f"{path}:{number}: not a statement: {text}")
            yield call[1], [word.strip().strip('"') for word in call[2].split(",")]


def _image(path: pathlib.Path) -> list[tuple[int, bytes]]:
    """Runs of bytes at offsets: packets, or a listing."""
    if path.suffix == ".bin":
        return [(0, path.read_bytes())]
    text = path.read_text()
    packets = re.findall(r"offset:\s*(\w+),\s*size:\s*\w+,\s*payload:([^}]*)", text)
    if packets:
        runs: list[tuple[int, bytearray]] = []
        for offset, payload in packets:
            if not runs or runs[-1][0] + len(runs[-1][1]) != int(offset, 0):
                runs.append((int(offset, 0), bytearray()))
            runs[-1][1].extend(int(byte, 0) for byte in payload.split())
        return [(offset, bytes(data)) for offset, data in runs]
    lines = [line for line in text.splitlines() if line.lstrip()[:1].isdigit()]  # the rest are remarks
    return [(0, bytes(int(byte, 0) for byte in " ".join(lines).split()))]


def _bytes_of(path: pathlib.Path, size: int) -> bytes:
    """The first `size` bytes of a file; 0 where it holds none."""
    data = bytearray(size)
    for offset, part in _image(path):
        data[offset:offset + len(part)] = part
    return bytes(data[:size])


class _Player:
    def __init__(self, device: Any, npu: str) -> None:
        self.device, self.addresses = device, registers(npu)
        self.raised: set[str] = set()
        self.awaited: list[tuple[int, str]] = []  # mask of the interrupt, what it raises
        self.checks: list[tuple[str, int, bytes, int]] = []  # id, address, the bytes, or none and a CRC
        self.failed: list[str] = []
        self.made = 0

    def play(self, program: pathlib.Path) -> None:
        statements = list(_statements(program))
        if not any(words[0] == _MASK for name, words in statements if name == "reg_write"):
            self.device.write(self.addresses[_MASK], 0)
        for name, words in statements:
            work = getattr(self, name, None)
            if work is None:
                raise WrongInput(f"{program}: no such statement: {name}")
            work(*words, program.parent) if name in ("mem_load", "check_file") else work(*words)
        while self.awaited:
            self.serve()
        if self.checks:
            raise WrongInput(f"{program}: nothing raises {self.checks[0][0]}")

    def play_transactions(self, program: pathlib.Path) -> None:
        """A `.txn`: registers at 0xffff0000 + byte address / 4; `wait` first reads the status, so that a clear has taken effect."""
        plusargs = program.parent / "plusargs.txt"
        retries = re.search(r"\+read_reg_poll_retries=(\w+)", plusargs.read_text()) if plusargs.exists() else None
        attempts = int(retries[1], 0) if retries else _ATTEMPTS
        for number, line in enumerate(program.read_text().splitlines(), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            name, numbers = words[0], [int(word, 0) for word in words[1:] if re.fullmatch(r"0x[0-9a-fA-F]+|[0-9]+", word)]
            if name == "write_reg":
                self.device.write(numbers[0] - _REGISTERS << 2, numbers[1])
            elif name == "read_reg":
                order = next((word[:2] for word in words if word[0] in "<>="), "==")
                tries = numbers[3] if len(numbers) > 3 else attempts
                self.read_until(f"{program}:{number}", numbers[0] - _REGISTERS << 2, numbers[1:3], order, tries)
            elif name == "wait":
                self.device.read(self.addresses[_STATUS])
                self.device.run_until_interrupt()
            elif name == "load_mem":
                for offset, data in _image(program.parent / words[3]):
                    self.device.write_memory(numbers[0] + offset, data[:max(numbers[1] - offset, 0)])
            elif name == "dump_mem":
                self.check(words[3], numbers[0], _bytes_of(program.parent / words[3], numbers[1]), 0)
            elif name == "write_mem":
                self.device.write_memory(numbers[0], numbers[1].to_bytes(4, "little"))
            elif name == "read_mem":
                found = int.from_bytes(bytes(self.device.read_memory(numbers[0], 4)), "little")
                self.made += 1
                if (found ^ numbers[2]) & numbers[1]:
                    self.failed.append(f"{program}:{number}: {numbers[0]:#x} has {found:#x}")
            else:
                raise WrongInput(f"{program}:{number}: no such statement: {name}")

    def read_until(self, where: str, address: int, masked: list[int], order: str, tries: int) -> None:
        mask, expected = masked
        self.made += 1
        for _ in range(max(tries, 1)):
            found = self.device.read(address) & mask
            if {"==": found == expected & mask, "<=": found <= expected, ">=": found >= expected}[order]:
                return
        self.failed.append(f"{where}: register {address:#x} has {found:#x}, not {expected:#x}")

    def serve(self) -> None:
        self.device.run_until_interrupt()
        status = self.device.read(self.addresses[_STATUS])
        self.device.write(self.addresses[_STATUS], status)
        for mask, what in list(self.awaited):
            if status & mask:
                self.awaited.remove((mask, what))
                self.sync_notify("", what)

    def mem_init(self, _: str, address: str, size: str, pattern: str) -> None:
        start, count = int(address, 0), int(size, 0)
        fill = {"ALL_ZERO": 0, "ONES": 0xFF, "AFIVE": 0xA5, "FIVEA": 0x5A}
        data = np.arange(start, start + count, dtype=np.uint64).astype(np.uint8) if pattern == "ADDR" else \
            np.full(count, fill[pattern], np.uint8)
        self.device.write_memory(start, data)

    def mem_load(self, _: str, address: str, file: str, folder: pathlib.Path) -> None:
        for offset, data in _image(folder / file):
            self.device.write_memory(int(address, 0) + offset, data)

    def reg_write(self, register: str, value: str) -> None:
        self.device.write(self.addresses[register], int(value, 0))

    def reg_read(self, register: str, _: str) -> None:
        self.device.read(self.addresses[register])

    def reg_read_check(self, register: str, value: str) -> None:
        self.made += 1
        read = self.device.read(self.addresses[register])
        if read != int(value, 0):
            self.failed.append(f"{register} is {read:#x}, not {value}")

    reg_read_expected = reg_read_check

    def poll_reg_equal(self, register: str, value: str, mask: str = "0xffffffff") -> None:
        for _ in range(100_000):
            if self.device.read(self.addresses[register]) & int(mask, 0) == int(value, 0):
                return
        raise Limit(f"{register} does not become {value}")

    def intr_notify(self, *words: str) -> None:
        units = dict(zip(("SDP", "CDP", "PDP", "BDMA", "RUBIK", "CDMA_DAT", "CDMA_WT", "CACC"), (0, 2, 4, 6, 8, 16, 18, 20)))
        unit, _, group = words[0].rpartition("_") if len(words) == 2 else ("", "", "")
        self.awaited.append((1 << units[unit] + int(group) if unit else 0xFFFFFFFF, words[-1]))

    def sync_notify(self, _: str, what: str) -> None:
        self.raised.add(what)
        for check in [check for check in self.checks if check[0] == what]:
            self.checks.remove(check)
            self.check(*check)

    def sync_wait(self, _: str, what: str) -> None:
        while what not in self.raised:
            self.serve()

    def check(self, what: str, address: int, expected: bytes, crc: int) -> None:
        size = len(expected) if expected else crc >> 32
        self.made += 1
        data = bytes(self.device.read_memory(address, size))
        if data != expected if expected else zlib.crc32(data) != crc & 0xFFFFFFFF:
            self.failed.append(f"{what}: {size} bytes at {address:#x}")

    def _expect(self, what: str, address: str, expected: bytes, crc: int) -> None:
        check = (what, int(address, 0), expected, crc)
        self.check(*check) if what in self.raised else self.checks.append(check)

    def check_crc(self, what: str, _: str, address: str, size: str, crc: str) -> None:
        self._expect(what, address, b"", int(size, 0) << 32 | int(crc, 0))

    def check_file(self, what: str, _: str, address: str, size: str, file: str, folder: pathlib.Path) -> None:
        self._expect(what, address, _bytes_of(folder / file, int(size, 0)), 0)

    def check_nothing(self, _: str) -> None:
        pass


def play(program: "str | pathlib.Path", device: Any, npu: str = "nv_small") -> dict[str, Any]:
    """Plays a register program (`.cfg` or `.txn`, or its folder) on a device, or on two in lockstep: returns {"checks": number
    made, "failed": what did not hold}. Interrupts are served when a statement waits for one. Raises WrongInput, Stopped, Limit."""
    path = pathlib.Path(program)
    if path.is_dir():
        found = sorted(path.glob("*.cfg")) or sorted(path.glob("*.txn"))
        if len(found) != 1:
            raise WrongInput(f"{path} holds {len(found)} files .cfg or .txn, not one")
        path = found[0]
    player = _Player(device, npu)
    (player.play_transactions if path.suffix == ".txn" else player.play)(path)
    return {"checks": player.made, "failed": player.failed}
