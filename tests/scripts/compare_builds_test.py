#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/compare_builds with small programs in place of npuscope."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/compare_builds"
RESULT = {
    "status": "pass", "cycles": 100, "wall_seconds": 0.5, "checks": [{"kind": "crc32", "actual": "0x1"}],
    "operations": [{"unit": "conv", "bound_by": "mac", "causes": {"mac": 90, "memory": 10}}],
    "findings": [{"severity": "note", "kind": "late_write", "message": "old words"}],
}


def changed(**values):
    return {**RESULT, **values}


class CompareBuilds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        trace = self.folder / "data/nvdla/nv_small_traces/small"
        trace.mkdir(parents=True)
        (trace / "small.cfg").write_text("reg_write(NVDLA_SDP.D_OP_ENABLE_0, 0x1);\n")

    def build(self, name, result, status=0, output=b"", presets=True):
        """An executable that prints `result`, writes `output` to a file, and counts its runs."""
        path = self.folder / name
        path.write_text(f"#!{sys.executable}\nimport pathlib, sys\n"
                        f"if sys.argv[1:] == ['list', 'presets']: sys.exit({0 if presets else 2})\n"
                        f"pathlib.Path('out.bin').write_bytes({output!r})\n"
                        f"with open({str(path)!r} + '.runs', 'a') as runs: runs.write('x')\n"
                        f"print({json.dumps(result)!r})\nsys.exit({status})\n")
        path.chmod(0o755)
        return path

    def runs(self, path):
        counted = pathlib.Path(f"{path}.runs")
        return len(counted.read_text()) if counted.exists() else 0

    def compare(self, old, new, *options):
        command = [sys.executable, str(SCRIPT), str(old), str(new), "--data", str(self.folder / "data"),
                   "--only", "traces: small run nv_small", "--jobs", "1", *options]
        done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=False)
        return done.returncode, done.stdout + done.stderr

    def expect_difference(self, new, line, *options):
        status, text = self.compare(self.build("old", RESULT), new, *options)
        self.assertEqual(status, 1, text)
        self.assertIn(line, text)

    def test_a_build_without_its_presets_is_refused(self):
        status, text = self.compare(self.build("old", RESULT), self.build("new", RESULT, presets=False))
        self.assertEqual(status, 2, text)
        self.assertIn("new does not find its presets", text)

    def test_a_build_equals_itself(self):
        build = self.build("old", RESULT)
        status, text = self.compare(build, build)
        self.assertEqual(status, 0, text)
        self.assertGreater(self.runs(build), 0)

    def test_clocks_and_messages_are_not_compared(self):
        finding = {"severity": "note", "id": "late_write", "message": "new words"}
        new = self.build("new", changed(wall_seconds=9.0, findings=[finding]))
        self.assertEqual(self.compare(self.build("old", RESULT), new)[0], 0)
        self.expect_difference(new, "old words -> new words", "--messages")

    def test_cycles_findings_bytes_and_exit_codes_are_compared(self):
        self.expect_difference(self.build("new", changed(cycles=101)), "cycles: 100 -> 101")
        self.expect_difference(self.build("new", changed(findings=[])), "finding.note.late_write: 1 -> (absent)")
        self.expect_difference(self.build("new", RESULT, 1), "exit: 0 -> 1")
        self.expect_difference(self.build("new", RESULT, 0, b"other"), "file.out.bin: 0 bytes")
        self.expect_difference(self.build("new", changed(more=1)), "more: (absent) -> 1")

    def test_intended_differences_are_listed_in_a_file(self):
        renames = self.folder / "renames.json"
        finding = {"severity": "note", "id": "write_late", "message": ""}
        new = self.build("new", changed(findings=[finding], more=1))
        renames.write_text(json.dumps([
            {"kind": "rule", "old": "late_write", "new": "write_late", "why": "rules have new names"},
            {"kind": "added", "key": "^more$", "why": "more is told"}]))
        status, text = self.compare(self.build("old", RESULT), new, "--renames", str(renames))
        self.assertEqual(status, 0, text)
        self.assertIn("more is told", text)

    def test_the_cache_keeps_results_of_the_old_build(self):
        old, new = self.build("old", RESULT), self.build("new", changed(cycles=7))
        cache = ("--cache", str(self.folder / "cache"))
        self.compare(old, new, *cache)
        first = self.runs(old), self.runs(new)
        status, text = self.compare(old, new, *cache)
        self.assertEqual(status, 1)
        self.assertIn("cycles: 100 -> 7", text)
        self.assertEqual((self.runs(old), self.runs(new)), (first[0], 2 * first[1]))

    def test_programs_of_another_folder_run_on_the_preset_of_their_name(self):
        other = self.folder / "other/nv_large_add_1"
        other.mkdir(parents=True)
        (other / "program.cfg").write_text("")
        old, new = self.build("old", RESULT), self.build("new", changed(cycles=7))
        command = [sys.executable, str(SCRIPT), str(old), str(new), "--programs", str(other.parent)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertIn("given: nv_large_add_1/program.cfg run nv_large: cycles: 100 -> 7", done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_wrong_input_is_told_from_a_difference(self):
        build = self.build("old", RESULT)
        self.assertEqual(self.compare(build, self.folder / "absent")[0], 2)
        self.assertEqual(self.compare(build, build, "--data", str(self.folder / "absent"))[0], 2)
        self.assertEqual(self.compare(build, build, "--renames", str(self.folder / "absent"))[0], 2)


if __name__ == "__main__":
    unittest.main()
