#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every statement and key that the readers know is in a table of its page and in an example; recipes name
files that exist."""

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

    def test_files_of_recipes(self):
        for page in ("docs/extending.md", "docs/architecture.md"):
            files = re.findall(r"`((?:\w+/)+[\w.]*)`", text_of(page))
            self.assertGreater(len(files), 4, page)
            for name in files:
                self.assertTrue((ROOT / name).exists() or (ROOT / (name + ".md")).exists()
                                or (ROOT / "docs" / name).exists(), f"{page}: there is no '{name}'")

    def test_names_of_recipes(self):
        words = set()
        for top in "models", "sim", "tests", "scripts":
            for path in (ROOT / top).rglob("*"):
                words.add(path.stem)
                if path.suffix in (".h", ".cpp", ".txt") or top == "scripts" and path.is_file():
                    words.update(re.findall(r"\w+", path.read_text()))
        prose = re.sub(r"Commits?: .*?(?:\n\n|\Z)", "", text_of("docs/extending.md"), flags=re.S)
        for name in re.findall(r"`(\w*[A-Z_]\w*(?:::\w+)?)`", prose):
            self.assertTrue(name.split("::")[-1] in words, f"docs/extending.md: no source has '{name}'")


if __name__ == "__main__":
    unittest.main()
