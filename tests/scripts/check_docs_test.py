#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/check_docs finds a page whose output has changed, and rewrites it when asked."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class CheckDocs(unittest.TestCase):
    def check(self, text, *options):
        """The exit code, what was printed, and the page afterwards."""
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text)
            ended = subprocess.run([sys.executable, str(ROOT / "scripts/check_docs"), "--npuscope",
                                    "/bin/true", *options, str(page)],
                                   capture_output=True, text=True, check=False)
            return ended.returncode, ended.stdout + ended.stderr, page.read_text()

    def page(self, *lines):
        return "\n".join(["# Page", "```console", *lines, "```", ""])

    def test_output_as_shown_passes(self):
        self.assertEqual(self.check(self.page("$ echo one; echo two", "one", "two"))[0], 0)

    def test_another_output_fails_with_the_difference(self):
        code, text, _ = self.check(self.page("$ echo one", "two"))
        self.assertEqual(code, 1)
        self.assertIn("-two", text)
        self.assertIn("+one", text)

    def test_more_and_less_output_fail(self):
        self.assertEqual(self.check(self.page("$ echo one; echo two", "one"))[0], 1)
        self.assertEqual(self.check(self.page("$ echo one", "one", "two"))[0], 1)
        self.assertEqual(self.check(self.page("$ true", "one"))[0], 1)

    def test_dots_skip_any_lines_and_no_others(self):
        self.assertEqual(self.check(self.page("$ seq 9", "1", "...", "9"))[0], 0)
        self.assertEqual(self.check(self.page("$ seq 9", "1", "...", "8"))[0], 1)

    def test_a_failing_command_must_be_told(self):
        self.assertEqual(self.check(self.page("$ false"))[0], 1)
        self.assertEqual(self.check(self.page("$ false", "$ echo $?", "1"))[0], 0)

    def test_commands_share_a_shell_and_go_on_in_the_next_line(self):
        self.assertEqual(self.check(self.page("$ a=3", "$ for i in 1 2; do", ">   echo $((a + i))",
                                              "> done", "4", "5"))[0], 0)

    def test_only_the_wall_time_may_differ(self):
        shown = "simulated 5 cycles in 2.5 ms (1.00 Mcycles/s)"
        for printed, code in (("simulated 5 cycles in 0.31 s (9.25 Mcycles/s)", 0),
                              ("simulated 6 cycles in 2.5 ms (1.00 Mcycles/s)", 1)):
            self.assertEqual(self.check(self.page(f"$ echo '{printed}'", shown))[0], code)

    def test_how_much_repeats_may_differ(self):
        said = "{} % of these cycles repeat earlier ones: counted, not simulated"
        self.assertEqual(self.check(self.page(f"$ echo '{said.format(31.5)}'", said.format(9)))[0], 0)

    def test_blocks_become_files(self):
        text = "```yaml file=a/b.yaml\nkey: 1\n```\n" + self.page("$ cat a/b.yaml", "key: 1")
        self.assertEqual(self.check(text)[0], 0)

    def test_a_copy_of_a_file_must_be_one(self):
        self.assertEqual(self.check("```sh same=scripts/run\nset -euo pipefail\n```\n")[0], 0)
        self.assertEqual(self.check("```sh same=scripts/run\nset -x\n```\n")[0], 1)

    def test_update_writes_what_is_printed(self):
        code, _, page = self.check(self.page("$ seq 3", "$ echo b", "a"), "--update")
        self.assertEqual((code, page), (0, self.page("$ seq 3", "1", "2", "3", "$ echo b", "b")))

    def test_update_keeps_what_is_skipped(self):
        page = self.check(self.page("$ seq 9", "0", "...", "8"), "--update")[2]
        self.assertEqual(page, self.page("$ seq 9", "1", "...", "9"))

    def test_update_leaves_a_page_that_is_right(self):
        text = self.page("$ echo in 2.5 ms '(1.00 Mcycles/s)'", "in 7 s (3.00 Mcycles/s)")
        self.assertEqual(self.check(text, "--update")[2], text)

    def test_a_module_that_is_missing_is_said(self):
        text = "```console needs=no_such_module\n$ false\n```\n"
        code, said, _ = self.check(text)
        self.assertEqual(code, 0)
        self.assertIn("skipped, Python has no no_such_module", said)


if __name__ == "__main__":
    unittest.main()
