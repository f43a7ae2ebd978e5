#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/measure_tree on a small tree, and that it measures this one."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/measure_tree"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("measure_tree", str(SCRIPT))
measure = importlib.util.module_from_spec(importlib.util.spec_from_loader("measure_tree", loader))
loader.exec_module(measure)

FILES = {
    "sim/model/reader.h": "struct Graph {};\nGraph read_model();\n",
    "sim/model/reader.cpp": '#include "sim/model/reader.h"\nGraph read_model() { return {}; }\n',
    "sim/compile/planner.cpp": '#include "sim/model/reader.h"\nstruct Plan {};\nPlan plan(Graph);\n'
                               "Plan plan_it() { return plan(read_model()); }  // not a rubik\n",
    "sim/run/session.cpp": "void run() { plan_it(); }\n",
    "models/rubik/rubik.h": "struct Rubik {};\n",
    "models/npu/npu.h": '#include "models/rubik/rubik.h"\n',
}
ROAD = [("read_model", "sim/model/reader", ["Graph"]), ("plan_it", "sim/compile/planner", ["Plan"])]


class MeasureTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in FILES.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)

    def tree(self):
        return measure.Tree(self.root)

    def stale(self, road, aside=()):
        return list(measure.stale_steps(self.tree(), road, aside))

    def test_lines_are_counted(self):
        self.assertEqual(sum(self.tree().lines.values()), 11)

    def test_comments_do_not_name_a_unit(self):
        self.assertEqual(self.tree().naming(["rubik"], "models/rubik"), ["models/npu/npu.h"])

    def test_a_road_that_holds_is_not_stale(self):
        self.assertEqual(self.stale(ROAD), [])

    def test_a_missing_file_function_or_type_is_told(self):
        self.assertEqual(self.stale([*ROAD, ("f", "sim/model/gone", [])]), ["sim/model/gone: no such file"])
        self.assertIn("sim/compile/planner: does not name plan_that",
                      self.stale([ROAD[0], ("plan_that", "sim/compile/planner", [])]))
        self.assertIn("sim/compile/planner: there is no type Program",
                      self.stale([ROAD[0], ("plan_it", "sim/compile/planner", ["Program"])]))

    def test_a_file_that_the_road_does_not_reach_is_told(self):
        (self.root / "sim/run/session.cpp").write_text("void run() {}\n")
        self.assertEqual(self.stale(ROAD), ["sim/compile/planner: no other file of the road calls plan_it"])

    def test_a_header_on_the_way_is_a_step_or_aside(self):
        line = "sim/model/reader: files of the road include it; it is neither a step nor aside"
        self.assertEqual(self.stale(ROAD[1:]), [line])
        self.assertEqual(self.stale(ROAD[1:], [r"model/reader$"]), [])

    def test_examples_that_are_gone_are_told(self):
        stale = measure.stale_examples(self.tree(), ("models/bdma", "bdma", "no file"), {"Softmax": ["softmax"]})
        self.assertEqual(len(list(stale)), 2)

    def test_this_repository_is_measured(self):
        done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False)
        for name in "lines of models and sim", "files from ONNX convolution to registers", "the operator":
            self.assertIn(name, done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
