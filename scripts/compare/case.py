# SPDX-License-Identifier: Apache-2.0
"""One invocation of npuscope: its command line, and the files that it finds in its own folder.

Files that the reference data lack, such as mutants of programs, are made here, always the same ones.
"""

import csv
import functools
import hashlib
import inspect
import json
import pathlib
import random
import re
import struct
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODEL_NPUS = "nv_small nv_full kl720 tinpu_f28p55".split()
CYCLE_LIMIT = ("--max-cycles", "5000000")  # a program with a mistake may wait for ever


class Case(NamedTuple):
    group: str
    name: str  # of the program
    npu: str
    arguments: tuple  # after the executable; paths are absolute or within the case's folder
    files: tuple = ()  # (path in the case's folder, source); see write_file
    note: str = ""  # what sets it apart from other cases of the same program
    heavy: bool = False  # takes several seconds

    @property
    def verb(self):
        return self.arguments[0]

    def __str__(self):
        note = f" [{self.note}]" if self.note else ""
        return f"{self.group}: {self.name} {self.verb} {self.npu}{note}"

    def key(self):
        """Names the case and the state of the files it reads, for a cache."""
        files = sorted(self.files)
        linked = ("link", "head", "mutant")
        paths = [a for a in self.arguments if a.startswith("/")]
        paths += [source[1] for _, source in files if source[0] in linked]
        files = [(name, source[0], source[2:] if source[0] in linked else source[1:])
                 for name, source in files]
        made = recipe() if any(source[0] in ("npy", "mutant") for _, source in self.files) else ""
        text = json.dumps([self.arguments, files, [state_of(path) for path in paths], made])
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@functools.lru_cache
def recipe():
    """How files of cases are made: a cached result is of the files that this made."""
    return "".join(map(inspect.getsource, (write_file, int8_array, changed_value, mutant)))


def state_of(path):
    """What tells that a file changed: its bytes in this repository, size and time elsewhere."""
    path = pathlib.Path(path)
    if path.is_relative_to(ROOT):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    inside = sorted(path.iterdir()) if path.is_dir() else [path]
    return [(str(p), p.stat().st_size, p.stat().st_mtime_ns) for p in inside if p.exists()]


def write_file(path, source):
    """Makes one file of a case: a link, a text, bytes of an array, or a changed copy."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kind, *rest = source
    if kind == "link":
        path.symlink_to(rest[0])
    elif kind == "text":
        path.write_text(rest[0])
    elif kind == "head":
        path.write_bytes(pathlib.Path(rest[0]).read_bytes()[: rest[1]])
    elif kind == "npy":
        path.write_bytes(int8_array(rest[0], rest[1]))
    elif kind == "mutant":
        path.write_text(mutant(pathlib.Path(rest[0]).read_text(), rest[1]))


def int8_array(shape, seed):
    """A .npy file of int8 values."""
    header = f"{{'descr': '|i1', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    count = 1
    for extent in shape:
        count *= extent
    values = random.Random(seed).randbytes(count)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values


def changed_value(line, chance):
    """The last number of a register write, changed."""
    match = list(re.finditer(r"\b(0x[0-9a-fA-F]+|\d+)\b", line.split("#")[0]))[-1]
    value = int(match.group(), 0)
    value = chance.choice([value ^ (1 << chance.randrange(8)), value + 1, value + 8, max(0, value - 32), 0,
                           value ^ (1 << chance.randrange(32))])
    return line[: match.start()] + hex(value & 0xFFFFFFFF) + line[match.end() :]


def mutant(text, number):
    """A register program with one statement changed, missing, repeated or moved."""
    chance = random.Random(f"{hashlib.sha256(text.encode()).hexdigest()} {number}")
    lines = text.splitlines()
    writes = [i for i, line in enumerate(lines) if re.match(r"reg_write|write_reg", line)]
    loads = [i for i, line in enumerate(lines) if re.match(r"mem_load|load_mem|mem_init", line)]
    kind = number % 6
    at = chance.choice(loads if kind == 0 and loads else writes)
    if kind in (0, 1):
        del lines[at]
    elif kind == 2:
        other = chance.choice(writes)
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 3 and chance.random() < 0.3:
        lines.insert(at, lines[at])
    else:
        lines[at] = changed_value(lines[at], chance)
    return "\n".join(lines) + "\n"


def folders(parent):
    return sorted(path for path in parent.iterdir() if path.is_dir()) if parent.is_dir() else []


def rows(path):
    return list(csv.DictReader(path.open())) if path.is_file() else []


def setting(latency, interval):
    return ["--set", f"memory.read_latency={latency}", "--set", f"memory.beat_interval={interval}"]


def run(group, program, npu, extra=(), note="", name=None, **more):
    arguments = ("run", str(program), "--npu", npu, *extra, "--json", "-")
    return Case(group, name or program.name, npu, arguments, note=note, **more)


def check(group, program, npu, extra=(), note="", name=None, **more):
    arguments = ("check", str(program), "--npu", npu, *extra, "--json", "-")
    return Case(group, name or program.name, npu, arguments, note=note, **more)


def both(group, program, npu, extra=(), note="", name=None):
    yield run(group, program, npu, extra, note, name)
    yield check(group, program, npu, extra, note, name)


def measured(group, table, folder_of, npu, extra=()):
    """Programs of a table of RTL measurements, at the memory settings they were measured with."""
    seen = set()
    for row in rows(table):
        name = row.get("name") or row.get("test")
        preset = row.get("npu") or npu
        program = folder_of(row, name)
        if not program.is_dir():
            continue
        if (program, preset) not in seen:
            yield check(group, program, preset, extra)
        place = (program, preset, row["lat"], row["beat_interval"])
        if place not in seen:
            note = f"{row['lat']}/{row['beat_interval']}"
            yield run(group, program, preset, [*extra, *setting(*place[2:])], note)
        seen |= {place, (program, preset)}


def saved_plan(group, network, npu, extra=(), note="", name=None, **more):
    arguments = ("plan", str(network), "--npu", npu, "--out", "out", *extra)
    return Case(group, name or network.name, npu, arguments, note=note, **more)
