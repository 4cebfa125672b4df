#!/usr/bin/env python3
"""Everything that the documentation has people run works.

Usage: docs_test.py ROOT BIN_DIR Blocks|Commands|Configuration|Files
                    [unittest arguments]

pages.py says how a page marks what cannot be run here.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import commands
import pages
import sandbox

ROOT, BINARIES = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
# Words in capitals stand for something else.
PLACEHOLDER = r"(?<![A-Z])[A-Z]{2,}(?![A-Za-z])|NAME|\*|…"
TABLES = ("access", "server", "limits", "storage", "tuning", "workers", "drain",
          "log")


def place(page, line):
    return f"{page.relative_to(ROOT)}:{line}"


class Blocks(unittest.TestCase):
    """Each block of each page is run, in order, in a folder of the page's."""

    def check_page(self, page, blocks):
        folder = sandbox.Sandbox(ROOT, BINARIES)
        self.addCleanup(folder.close)
        # A block of TOML is a configuration that a daemon is started with.
        if not any("honed" in block.text or block.language == "toml"
                   for block in blocks):
            folder.start_daemon()
        for block in blocks:
            if pages.is_file_name(block.note):
                folder.write(pages.file_name(block.note), block.text)
        printed = ""
        for block in blocks:
            where = place(page, block.line)
            if block.note == "output":
                self.assertEqual(printed, block.text, where)
            elif pages.is_run(block):
                start = time.monotonic()
                printed, problem = folder.run(block)
                if problem:
                    self.fail(f"{where}: {problem}")
                print(f"{where}: {time.monotonic() - start:.1f} s", flush=True)
        folder.close()

    def test_every_block_runs(self):
        for page in pages.pages(ROOT):
            blocks = pages.blocks(page)
            for block in blocks:
                self.assertIn(block.language, pages.LANGUAGES,
                              place(page, block.line))
            if any(map(pages.is_run, blocks)):
                with self.subTest(place(page, 1)):
                    self.check_page(page, blocks)


class Commands(unittest.TestCase):
    """Each command, run or not, names options and files that exist."""

    def setUp(self):
        self.checker = commands.Checker(ROOT, BINARIES)

    def check(self, words, where):
        for problem in self.checker.problems(words):
            with self.subTest(where):
                self.fail(problem)

    def test_of_blocks(self):
        number = 0
        for page in pages.pages(ROOT):
            for block in pages.blocks(page):
                if block.language == "sh":
                    for words in commands.split(block.text):
                        self.check(words, place(page, block.line))
                        number += 1
        self.assertGreater(number, 30)

    def test_of_spans(self):
        number = 0
        for page in pages.pages(ROOT):
            for line, span in pages.spans(page):
                if words := commands.in_span(span):
                    self.check(words, place(page, line))
                    number += 1
        self.assertGreater(number, 20)

    def test_of_the_unit_and_the_image(self):
        unit = (ROOT / "deploy/hone.service").read_text()
        image = (ROOT / "deploy/Dockerfile").read_text()
        start = re.search(r"^ExecStart=(.*)$", unit, re.M)[1].split()
        entry = json.loads(re.search(r"^ENTRYPOINT (.*)$", image, re.M)[1])
        for words in (start, entry):
            self.assertEqual(pathlib.Path(words[0]).name, "honed")
            self.check(words, "deploy")

    def test_wrong_ones_are_found(self):
        for text in ("hone tune model.hlo --no-such-option",
                     "hone frobnicate model.hlo",
                     "hone bench no-such-bench",
                     "FOO=1 build/release/bin/honed --frobnicate",
                     "cmake --preset no-such-preset",
                     "python tools/no_such_tool.py",
                     ".venv/bin/python tools/compare_on_xla.py --no-such",
                     "./no_such_script.sh",
                     "./test.sh --no-such-option",
                     "hone stats \\\n bench/data/corpus/no_such.hlo.zst"):
            found = [problem for words in commands.split(text)
                     for problem in self.checker.problems(words)]
            self.assertEqual(len(found), 1, (text, found))


class Files(unittest.TestCase):
    """What pages name of the source tree is there."""

    def test_links(self):
        for page in pages.pages(ROOT):
            for line, target in pages.links(page):
                path, _, anchor = target.partition("#")
                if "://" in target:
                    continue
                with self.subTest(place(page, line)):
                    linked = page.parent / path if path else page
                    self.assertTrue(linked.exists(), target)
                    if anchor:
                        self.assertIn(anchor, self.anchors(linked))

    def anchors(self, page):
        headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
        return [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")
                for heading in headings]

    def test_spans(self):
        """A path in a code span is one, from the root or the page's folder."""
        names = [f"/{path.relative_to(ROOT)}" for path in pages.files(ROOT)]
        folders = {f"/{folder.relative_to(ROOT)}"
                   for path in pages.files(ROOT) for folder in path.parents
                   if folder.is_relative_to(ROOT) and folder != ROOT}
        for page in pages.pages(ROOT):
            for line, span in pages.spans(page):
                if self.is_path(span) and not any(
                        name.endswith("/" + span.rstrip("/"))
                        for name in (*names, *folders)):
                    with self.subTest(place(page, line)):
                        self.fail(f"{span}: no such file")

    def is_path(self, span):
        if re.search(PLACEHOLDER, span) or not re.fullmatch(
                r"[\w.-]+(/[\w.-]+)*/?", span):
            return False
        return (span.split("/")[0] in commands.SOURCES and "/" in span
                or re.search(r"\w\.(cc|def|h|md|proto|service|yml)$", span))


class Configuration(unittest.TestCase):
    """Keys of the configuration and metrics that pages name exist."""

    def keys(self):
        """What honed says that it knows."""
        known = set()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "hone.toml")
            for table in TABLES:
                path.write_text(f"[{table}]\nno_such_key = 1\n")
                result = subprocess.run(
                    [BINARIES / "honed", "--config", path],
                    capture_output=True, text=True, timeout=60)
                self.assertEqual(result.returncode, 2, result.stderr)
                listed = result.stderr.partition("expected one of: ")[2]
                known |= {f"{table}.{key}"
                          for key in listed.strip().split(", ")}
        return known

    def test_the_manual_lists_every_key(self):
        documented = set()
        for block in pages.blocks(ROOT / "deploy/README.md"):
            if block.language == "toml":
                for line in block.text.splitlines():
                    if header := re.match(r"\[(\w+)\]", line):
                        table = header[1]
                    elif key := re.match(r"(?:# )?(\w+) = ", line):
                        documented.add(f"{table}.{key[1]}")
        self.assertEqual(documented, self.keys())

    def test_keys_in_spans(self):
        known = self.keys()
        for page in pages.pages(ROOT):
            for line, span in pages.spans(page):
                if re.fullmatch(rf"({'|'.join(TABLES)})\.[a-z_]{4,}", span):
                    with self.subTest(place(page, line)):
                        self.assertIn(span, known)

    def test_limits(self):
        """The table of limits is the one that honed prints."""
        table = subprocess.run([BINARIES / "honed", "--print-limits"],
                               capture_output=True, text=True, timeout=60,
                               check=True).stdout
        self.assertGreater(table.count("\n"), 30)
        self.assertIn("\n\n" + table + "\n",
                      (ROOT / "docs/OPERATIONS.md").read_text())

    def test_metrics(self):
        sources = "".join(path.read_text()
                          for path in pages.files(ROOT / "daemon")
                          if path.suffix in (".cc", ".h"))
        for name in ("docs/runbook.md", "docs/OPERATIONS.md",
                     "deploy/alerts.yml"):
            text = (ROOT / name).read_text()
            for metric in set(re.findall(r"\bhone_[a-z_]+", text)):
                metric = re.sub("_bucket$", "", metric)
                with self.subTest(metric):
                    self.assertIn(f'"{metric}"', sources)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
