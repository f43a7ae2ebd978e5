#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every statement and key that the readers know is in a table of its page and in an example."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KEY = re.compile(r'visit\.(?:field|required)\(\s*"(\w+)"')
CALL = re.compile(r'CallRow\{"(\w+)"')
STATEMENT = re.compile(r'StatementRow\{"(\w+)"')
ENUMERATOR = re.compile(r'std::pair\{(?:Image\w+|LayerKind|InputType)::\w+,\s*std::string_view\("(\w+)"\)')


def text_of(path):
    return (ROOT / path).read_text()


def tables_of(page):
    return "\n".join(line for line in page.splitlines() if line.startswith("|"))


def examples_of(page):
    return "\n".join(re.findall(r"^```\w+ file=[^\n]*\n(.*?)^```$", page, re.M | re.S))


class DocsComplete(unittest.TestCase):
    def expect_all(self, page, names):
        text = text_of(page)
        tables, examples = tables_of(text), examples_of(text)
        self.assertGreater(len(names), 4, "the readers' rows were not found")
        for name in names:
            self.assertTrue(re.search(rf"`{name}\b", tables), f"no table of {page} tells of '{name}'")
            self.assertTrue(re.search(rf"\b{name}\b", examples), f"no example of {page} has '{name}'")

    def test_calls_of_cfg(self):
        names = CALL.findall(text_of("sim/program/trace_cfg.cpp"))
        synonym = "reg_read_expected"
        self.expect_all("docs/programs.md", [name for name in names if name != synonym])
        self.assertIn(synonym, tables_of(text_of("docs/programs.md")))

    def test_statements_of_txn(self):
        self.expect_all("docs/programs.md", STATEMENT.findall(text_of("sim/program/trace_txn.cpp")))

    def test_keys_of_networks(self):
        source = text_of("sim/model/network.h")
        self.expect_all("docs/networks.md", KEY.findall(source) + ENUMERATOR.findall(source))

    def test_keys_of_images(self):
        source = text_of("sim/check/image_description.h")
        self.expect_all("docs/images.md", KEY.findall(source) + ENUMERATOR.findall(source))


if __name__ == "__main__":
    unittest.main()
