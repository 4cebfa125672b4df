#!/usr/bin/env python3
"""The checks in tools/ accept a clean tree and find each kind of violation.

Usage: checks_test.py ROOT [unittest arguments]
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1]).resolve()


class Check(unittest.TestCase):
    """Runs a check on trees, which are given as {path: text}."""

    script = ""
    clean = {}

    def write(self, files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        folder = pathlib.Path(folder.name)
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return folder

    def run_check(self, folder):
        return subprocess.run(
            [sys.executable, ROOT / "tools" / self.script, folder],
            capture_output=True, text=True)

    def expect_clean(self, files):
        result = self.run_check(self.write(files))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def expect_violation(self, files, *expected):
        """Expects exactly one message, which contains all of `expected`."""
        result = self.run_check(self.write({**self.clean, **files}))
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertEqual(result.stderr, "")
        message, = result.stdout.splitlines()
        for text in expected:
            self.assertIn(text, message)


class Layers(Check):
    script = "check_layers.py"
    clean = {
        "hlo/ir/shape.h": '#include <vector>\n#include "base/hash.h"\n',
        "hlo/text/parser.cc":
            '#include "hlo/ir/shape.h"\n// #include "cli/command.h"\n',
        "hlo/rewrite/tuples/tuples.cc": '#include "hlo/rewrite/rewriter.h"\n',
        "storage/sqlite/store.cc": "#include <sqlite3.h>\n",
        "tests/hlo/ir_test.cc":
            '#include "cli/command.h"\n#include "tests/support/random.h"\n',
        "bench/bench.cc": '#include "daemon/server.h"\n',
        "build/release/generated.h": '#include "cli/command.h"\n',
    }

    def test_clean(self):
        self.assertEqual(self.expect_clean(self.clean), "")

    def test_folder_without_layer(self):
        self.expect_violation({"plugins/plugin.cc": ""},
                              "plugins/plugin.cc:1: folder 'plugins' has no")

    def test_order_of_folders(self):
        self.expect_violation(
            {"hlo/ir/module.cc": '\n#include "loops/ir/program.h"\n'},
            "hlo/ir/module.cc:2: 'hlo' must not include 'loops'")

    def test_tests(self):
        for folder in ("base", "bench"):
            with self.subTest(folder):
                self.expect_violation(
                    {f"{folder}/a.cc": '#include "tests/support/random.h"\n'},
                    f"{folder}/a.cc:1: '{folder}' must not include 'tests'")

    def test_order_of_parts(self):
        for name, header, message in (
                ("hlo/ir/module.cc", "hlo/text/parser.h",
                 "part 'ir' of 'hlo' must not include part 'text'"),
                ("hlo/rewrite/rewriter.cc", "hlo/rewrite/tuples/tuples.h",
                 "part '.' of 'hlo/rewrite' must not include part 'tuples'"),
                ("hlo/new/a.cc", "hlo/ir/shape.h",
                 "part 'new' of 'hlo' has no layer")):
            with self.subTest(name):
                self.expect_violation({name: f'#include "{header}"\n'},
                                      f"{name}:1: {message}")

    def test_angle_brackets(self):
        self.expect_violation(
            {"loops/ir/program.cc": "#include <hlo/ir/shape.h>\n"},
            "loops/ir/program.cc:1: 'hlo/ir/shape.h'", "expected quotes")

    def test_angle_brackets_hide_no_layer(self):
        result = self.run_check(self.write(
            {"base/hash.cc": "#  include <hlo/ir/module.h>\n"}))
        self.assertEqual(result.returncode, 1)
        self.assertIn("base/hash.cc:1: 'base' must not include 'hlo'",
                      result.stdout)

    def test_fences(self):
        for name, line in (("cli/show.cc", "#include <sqlite3.h>\n"),
                           ("cli/show.h", '#include "llvm/IR/Module.h"\n')):
            with self.subTest(name):
                self.expect_violation({name: line}, f"{name}:1: ",
                                      "is fenced to")


class Lists(Check):
    script = "check_lists.py"
    ENTRIES = ('HONE_PASS("cse", CreateCse)\n', 'HONE_PASS("dce", CreateDce)\n',
               'HONE_PASS("dot-merger", CreateDotMerger)\n')
    clean = {
        "hlo/passes/passes.def": "// Sorted.\n" + "".join(ENTRIES),
        "hlo/passes/cse.cc": "std::unique_ptr<Pass> CreateCse() {}\n",
        "hlo/passes/dce.cc": "std::unique_ptr<Pass> CreateDce() {}\n",
        "hlo/passes/movement/dot_merger.cc":
            "std::unique_ptr<Pass> CreateDotMerger() {}\n",
        # Not a list of factories.
        "hlo/ir/opcodes.def": 'HONE_OPCODE("b", kB)\nHONE_OPCODE("a", kA)\n',
    }

    def test_clean(self):
        self.assertEqual(self.expect_clean(self.clean), "")

    def expect_wrong_list(self, entries, message):
        self.expect_violation({"hlo/passes/passes.def": entries},
                              f"hlo/passes/passes.def: {message}")

    def test_order(self):
        self.expect_wrong_list("".join(reversed(self.ENTRIES)),
                               "ids are not sorted")

    def test_distinct(self):
        self.expect_wrong_list(self.ENTRIES[0] + "".join(self.ENTRIES),
                               "an id stands twice")

    def test_definition(self):
        self.expect_wrong_list("".join(self.ENTRIES) +
                               'HONE_PASS("fusion", CreateFusion)\n',
                               "no file defines CreateFusion")

    def test_name_of_file(self):
        self.expect_wrong_list(
            'HONE_PASS("common-subexpressions", CreateCse)\n' +
            "".join(self.ENTRIES[1:]),
            "common-subexpressions should be in a file of that name")


class Rewrites(Check):
    script = "check_rewrites.py"
    SLOTS = "for (int i = 0; i < c.slot_count(); ++i) Visit(i);\n"
    clean = {
        "hlo/ir/computation.cc": SLOTS,
        "hlo/rewrite/rewriter.cc": SLOTS + "HONE_CHECK(ready);\n",
        "hlo/passes/pipeline.cc": "module.mutable_computation(id).Compact();\n",
        "hlo/passes/simplifiers/dce.cc":
            "// HONE_CHECK(never) and abort() are named here only.\n"
            "static_assert(kMost > 0);\n"
            "const bool done = set.at(id).value_or(false) || item.value;\n"
            "Recheck(id);\n"
            "for (InstructionId id : c.instructions()) Visit(id);\n",
        "cli/show.cc": "HONE_CHECK(argc > 0);\n",
    }

    def test_clean(self):
        self.assertEqual(self.expect_clean(self.clean), "")

    def test_loops_over_slots(self):
        for text in (
                self.SLOTS,
                "for (; i < module->computation_slots(); ++i) Visit(i);\n",
                "while (Ready(); i < c.slot_count()) ++i;\n",
                "const int slots = c.slot_count();\n"
                "for (int i = 0; i < slots; ++i) Visit(i);\n"):
            with self.subTest(text):
                self.expect_violation(
                    {"cli/stats.cc": text},
                    f"cli/stats.cc:{text.count(chr(10))}: loop over slots")

    def test_changes_past_the_rewriter(self):
        for code in ("m.mutable_computation(id)", "c.mutable_instruction(i)",
                     "c.is_live(id)", "c.slot_count()", "m.computation_slots()",
                     "m.has_computation(id)"):
            with self.subTest(code):
                self.expect_violation(
                    {"hlo/passes/simplifiers/cse.cc": f"\n  Use({code});\n"},
                    "hlo/passes/simplifiers/cse.cc:2: ", "in a pass")

    def test_end_of_the_process(self):
        for code in ("HONE_CHECK(found);", "CHECK_EQ(a, b);", "DCHECK(found);",
                     "LOG(FATAL) << id;", "ABSL_LOG(QFATAL) << id;",
                     "std::abort();", "exit(1);", "std::_Exit(1);",
                     "std::terminate();", "assert(found);", "__builtin_trap();",
                     "Use(Infer(shape).value());", "Use(found->value());",
                     'throw std::runtime_error("no");'):
            for name in ("hlo/passes/pipeline.cc", "hlo/passes/rules.h"):
                with self.subTest(code, name=name):
                    self.expect_violation(
                        {name: f"\n  {code}\n"},
                        f"{name}:2: ", "a pass fails with a Status")

    def test_lines(self):
        name = "hlo/passes/movement/dot_merger.cc"
        self.expect_clean({name: "\n" * 250})
        self.expect_violation({name: "\n" * 251},
                              f"{name}: 251 lines, expected at most 250")


class FileSizes(Check):
    script = "check_file_sizes.py"
    clean = {
        "cli/show.cc": "\n" * 500,
        "docs/utils.md": "\n" * 900,
        "build/generated.cc": "\n" * 900,
        ".gitignore": "/build/\n",
    }

    def write(self, files):
        folder = super().write(files)
        subprocess.run(["git", "init", "--quiet", folder], check=True)
        return folder

    def test_clean(self):
        self.assertEqual(self.expect_clean(self.clean), "")

    def test_many_lines_warn(self):
        self.assertEqual(self.expect_clean({"cli/show.cc": "\n" * 800}),
                         "cli/show.cc: warning: 800 lines, over 500\n")

    def test_too_many_lines(self):
        for name in ("cli/show.h", "cli/show.cc", "tools/show.py"):
            with self.subTest(name):
                self.expect_violation({name: "\n" * 801},
                                      f"{name}: 801 lines, over 800")

    def test_too_many_bytes(self):
        self.expect_violation({"docs/trace.json": "1" * ((2 << 20) + 1)},
                              "docs/trace.json: 2097153 bytes")

    def test_files_in_git_count_though_ignored(self):
        folder = self.write(self.clean)
        subprocess.run(["git", "add", "--force", "build"], cwd=folder,
                       check=True)
        result = self.run_check(folder)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout,
                         "build/generated.cc: 900 lines, over 800\n")

    def test_names(self):
        for name in ("utils", "util", "helpers", "helper", "misc", "common"):
            with self.subTest(name):
                self.expect_violation({f"base/{name}.h": ""},
                                      f"base/{name}.h: '{name}' says nothing")


class Format(Check):
    """check_format.sh checks the tree that it is in."""

    WRONG = "int  Twice( int x ){return 2*x;}\n"

    def run_script(self, text, *arguments):
        folder = self.write({"base/twice.cc": text})
        subprocess.run(["git", "init", "--quiet", folder], check=True)
        (folder / "tools").mkdir()
        shutil.copy(ROOT / "tools/check_format.sh", folder / "tools")
        shutil.copy(ROOT / ".clang-format", folder)
        result = subprocess.run(
            [folder / "tools/check_format.sh", *arguments],
            capture_output=True, text=True)
        return result, (folder / "base/twice.cc").read_text()

    def test_clean(self):
        result, _ = self.run_script("int Twice(int x) { return 2 * x; }\n")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_wrong_format(self):
        result, text = self.run_script(self.WRONG)
        self.assertEqual(result.returncode, 1)
        self.assertIn("base/twice.cc:1:", result.stderr)
        self.assertEqual(text, self.WRONG)

    def test_fix(self):
        result, text = self.run_script(self.WRONG, "--fix")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(text, "int Twice(int x) { return 2 * x; }\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
