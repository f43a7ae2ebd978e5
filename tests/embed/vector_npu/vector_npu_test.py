#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command serves the family of this folder: bit-exact values, operations on both sides,
timeline, plan, check and fields. model.onnx is

    x [1,3,5,7] -> Add 0.25 -> Mul 0.5 -> Relu -> Mul 3 -> Transpose -> Add z -> joined
    joined -> Mul 0.1 -> y                            [1,3,7,5], on the host: 0.1 is not fp16

Usage: vector_npu_test.py VECTOR_NPU CONFIGS
"""

import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PLANES, ROWS, COLUMNS = 3, 5, 7
ELEMENTS = PLANES * ROWS * COLUMNS
MAP_BYTES = 2 * ELEMENTS
OPERATIONS = [("vector", "shift", "Add+Mul+Relu"), ("vector", "triple", "Mul"),
              ("host", "turn", "Transpose"), ("vector", "join", "Add"),
              ("host", "tenth_of", "Mul")]


def fp16(number):
    return struct.unpack("<e", struct.pack("<e", number))[0]


def fp32(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def unit(a, b, scale):
    """One element of the unit: fp32 inside, fp16 outside."""
    return fp16(fp32(fp32(fp16(a) + fp16(b)) * scale))


def expected(x, z):
    tripled = [unit(max(unit(a, 0.25, 0.5), 0.0), 0.0, 3.0) for a in x]
    turned = [tripled[(plane * ROWS + row) * COLUMNS + column]
              for plane in range(PLANES) for column in range(COLUMNS) for row in range(ROWS)]
    joined = [unit(a, b, 1.0) for a, b in zip(turned, z)]
    return joined, [fp32(a * fp32(0.1)) for a in joined]


def npy(numbers, shape):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.ljust(117) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(numbers)}f", *numbers))


def numbers_of(path):
    data = path.read_bytes()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    return data[begin:]


class VectorNpu(unittest.TestCase):
    def command(self, command, *arguments, status=0):
        done = subprocess.run(
            [PROGRAM, command, *arguments, "--npu", HERE / "vector.yaml"], check=False,
            capture_output=True, text=True, env={**os.environ, "NPUSCOPE_CONFIGS": CONFIGS,
                                                 "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE": "1"})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status != 2 else done.stderr

    def run_json(self, *arguments):
        return json.loads(self.command("run", HERE / "model.onnx", "--json", "-", *arguments))

    def test_run_computes_values_to_the_bit_and_lists_operations_of_both_sides(self):
        numbers = random.Random(5)
        x = [fp32(numbers.gauss(0, 20)) for _ in range(ELEMENTS)]
        z = [fp32(numbers.gauss(0, 1)) for _ in range(ELEMENTS)]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "in").mkdir()
            (folder / "in/x.npy").write_bytes(npy(x, (1, PLANES, ROWS, COLUMNS)))
            (folder / "in/z.npy").write_bytes(npy(z, (1, PLANES, COLUMNS, ROWS)))
            result = self.run_json("--inputs", folder / "in", "--outputs", folder / "out",
                                   "--timeline", folder / "timeline.json")
            for tensor, wanted in zip(("joined", "y"), expected(x, z)):
                self.assertEqual(numbers_of(folder / f"out/{tensor}.npy"),
                                 struct.pack(f"<{ELEMENTS}f", *wanted), tensor)
            timeline = json.loads((folder / "timeline.json").read_text(encoding="utf-8"))
        self.assertEqual((result["status"], result["npu"], result["findings"]),
                         ("unchecked", "vector_8", []))
        self.assertEqual([(one["unit"], one["name"], one["pattern"])
                          for one in result["operations"]], OPERATIONS)
        self.assertEqual([rule["restriction"] for layer in result["refused"]
                          for rule in layer["rules"]], ["fp16_constant"])
        self.assertEqual(result["config"]["npu"]["engine"]["lanes"], 8)
        threads = {event["args"]["name"] for event in timeline["traceEvents"]
                   if event["name"] == "thread_name"}
        self.assertLessEqual({"vector", "host", "vector.compute", "vector.write"}, threads)

    def test_cycles_are_those_of_start_up_work_and_real_transactions(self):
        result = self.run_json()
        for one in result["operations"]:
            self.assertEqual(sum(one["causes"].values()), one["cycles"])
            if one["unit"] == "vector":
                self.assertEqual((one["causes"]["start_up"], one["causes"]["work"]),
                                 (12, -(-ELEMENTS // 8)))
                self.assertGreater(one["causes"]["memory"], 0)
        self.assertEqual((result["traffic"]["read_bytes"], result["traffic"]["write_bytes"]),
                         (4 * MAP_BYTES, 3 * MAP_BYTES))
        self.assertEqual([(one["read_bytes"], one["write_bytes"]) for one in result["layers"]
                          if not one["host"]],
                         [(MAP_BYTES, MAP_BYTES), (MAP_BYTES, MAP_BYTES), (2 * MAP_BYTES, MAP_BYTES)])
        self.assertEqual([(one["port"], one["read_bytes"], one["beat_bytes"])
                          for one in result["ports"]], [("memory", 4 * MAP_BYTES, 16)])
        self.assertEqual(self.run_json("--values", "off")["cycles"], result["cycles"])
        narrow = self.run_json("--set", "npu.engine.lanes=1", "--set", "memory.read_latency=0")
        self.assertEqual(narrow["operations"][0]["causes"]["work"], ELEMENTS)
        self.assertLess(narrow["operations"][0]["causes"]["memory"],
                        result["operations"][0]["causes"]["memory"])

    def test_plan_says_where_every_node_runs(self):
        text = self.command("plan", HERE / "model.onnx", "--explain")
        self.assertIn("7 nodes, 5 of them in 3 jobs of the vector unit", text)
        rows = {row.split()[1]: row.split()[2:5] for row in text.splitlines()
                if row.split() and row.split()[0].isdigit()}
        self.assertEqual(rows["relu"], ["Relu", "Add+Mul+Relu", "vector"])
        self.assertEqual(rows["turn"], ["Transpose", "-", "host"])
        self.assertEqual(rows["tenth_of"], ["Mul", "(Mul)", "host"])
        self.assertIn("nearest legal value 0.0999755859375", text)

    def test_check_notes_what_the_host_runs_and_finds_maps_without_room(self):
        report = json.loads(self.command("check", HERE / "model.onnx", "--json", "-"))
        self.assertEqual((report["status"], report["operations"]), ("clean", 3))
        self.assertEqual([(one["severity"], one["id"]) for one in report["findings"]],
                         [("note", "fp16_constant")])
        self.assertIn("no room for 'joined'",
                      self.command("check", HERE / "model.onnx", "--set",
                                   f"memory.regions[0].surfaces={5 * MAP_BYTES} B", status=1))

    def test_fields_of_the_family_are_listed_and_refused(self):
        self.assertIn("npu.engine.lanes\n    integer; default 4; 1 to 1024\n",
                      self.command("list", "fields", "npu.engine"))
        self.assertIn("relation: the unit reads and writes whole beats",
                      self.command("list", "fields", "npu.engine.buffer"))
        self.assertIn("did you mean", self.command("run", HERE / "model.onnx", "--set",
                                                   "npu.engine.lane=2", status=2))
        for command in ("run", "plan", "check"):
            for change, nearest in (("lanes=0", "lanes=1"), ("buffer=0", "buffer=4"),
                                    ("buffer=24", "buffer=16")):
                self.assertIn(f"npu.engine.{nearest}",
                              self.command(command, HERE / "model.onnx", "--set",
                                           f"npu.engine.{change}", status=2))


if __name__ == "__main__":
    CONFIGS = sys.argv.pop()
    PROGRAM = sys.argv.pop()
    unittest.main()
