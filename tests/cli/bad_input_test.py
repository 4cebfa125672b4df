#!/usr/bin/env python3
"""Bad usage and bad input: one line, and its exit status.

command_line.py has the usage.
"""

import json
import socket

from command_line import CORPUS, ROOT, TINY, Scratch, hone, main


class BadInput(Scratch):
    def test_malformed_text_names_the_place(self):
        path = self.write("bad.hlo", TINY.replace("add(x, zeros)",
                                                  "add(x, nothing)"))
        self.one_line_error(hone("stats", path), 2, "bad.hlo:8:", "nothing")

    def test_wrong_shape(self):
        path = self.write("bad.hlo", TINY.replace("ROOT sum = f32[4]",
                                                  "ROOT sum = f32[5]"))
        self.one_line_error(hone("stats", path), 2, "bad.hlo", "sum")

    def test_messages_are_one_line_whatever_the_module_says(self):
        path = self.write("odd.hlo", TINY.replace(
            "add(x, zeros)",
            'custom-call(x), custom_call_target="a\\n\\033[31mb"'))
        self.one_line_error(hone("run", path), 2, r'"a\n\x1b[31mb"', "sum")
        path = self.write("odd.hlo", TINY.replace("add(", "\x1badd("))
        self.one_line_error(hone("stats", path), 2, "odd.hlo:8:",
                            r"found '\x1b'")

    def test_calls_that_grow_too_much(self):
        computations = ["f0 {\n  a = f32[] parameter(0)\n"
                        "  ROOT r = f32[] negate(a)\n}\n"]
        computations += [
            f"f{i} {{\n  a = f32[] parameter(0)\n"
            f"  b = f32[] call(a), to_apply=f{i - 1}\n"
            f"  ROOT r = f32[] call(b), to_apply=f{i - 1}\n}}\n"
            for i in range(1, 21)]
        path = self.write("calls.hlo", "HloModule calls\n" + "".join(
            computations).replace("f20", "ENTRY f20"))
        self.one_line_error(hone("run", path, "--target", "cpu"), 2,
                            "no kernel for call", "expected at most 100000")

    def test_missing_file(self):
        self.one_line_error(hone("stats", "no.hlo"), 2, "no.hlo")

    def test_unknown_names_list_the_known(self):
        path = self.write("tiny.hlo", TINY)
        self.one_line_error(hone("opt", path, "--passes=nope"), 2, "nope",
                            "algsimp", "dce")
        self.one_line_error(hone("opt", path, "--pipeline=nope"), 2, "nope",
                            "xla-cpu")
        self.one_line_error(
            hone("tune", path, "--local", "--optimizer", "nope"), 2, "nope",
            "beam", "greedy")
        self.one_line_error(hone("tune", path, "--local", "--task", "nope"), 2,
                            "nope", "pass_order")
        for command in (["opt"], ["tune", "--local"], ["lookup"],
                        ["compile", "-o", "out.hlo"]):
            self.one_line_error(hone(*command, path, "--numerics=nope"), 2,
                                "'nope'", "exact, reassociate or fast")

    def test_usage(self):
        self.one_line_error(hone("tune"), 2)
        self.one_line_error(hone("frobnicate"), 2)
        self.one_line_error(hone("tune", "x", "--trials", "-3"), 2)
        self.one_line_error(
            hone("tune", self.write("t.hlo", TINY), "--time", "soon"), 2,
            "soon")

    def test_unknown_commands_are_named(self):
        self.one_line_error(hone("frobnicate", "--fast"), 2,
                            "unknown command 'frobnicate', expected one of: ",
                            "tune", "cancel", "worker")
        self.assertNotIn("measure", hone("frobnicate").stderr)
        self.one_line_error(hone("list", "frogs"), 2,
                            "unknown command 'list frogs', expected one of: ",
                            "passes", "workers")
        self.one_line_error(hone("cache"), 2,
                            "no cache command, expected one of: list, ")
        self.one_line_error(hone("--frogs"), 2, "unknown option '--frogs'")

    def test_expressions_name_their_option(self):
        for expression, expected in (
                ("^nope$", "--models-only '^nope$' matches none"),
                ("(", "--models-only '(': not a regular expression")):
            self.one_line_error(
                hone("bench", "placement", "--tables", "steps", "--models",
                     ROOT / "bench/data/placement", "--models-only",
                     expression), 2, expected)

    def test_numbers_say_their_range(self):
        path = self.write("tiny.hlo", TINY)
        for arguments, expected in (
                (["run", path, "--seed", "-1"],
                 "--seed: '-1', expected a whole number from 0 to "
                 "18446744073709551615"),
                (["tune", path, "--trials", "0"],
                 "--trials: '0', expected a whole number from 1 to 1000000000"),
                (["tune", path, "--trials", "1e3"], "'1e3'"),
                (["tune", path, "--trials", "9" * 30], "'" + "9" * 30 + "'"),
                (["diff", path, path, "--inputs", "1001"],
                 "'1001', expected a whole number from 0 to 1000"),
                (["bench", "kernels", "--threads", "1,0"],
                 "'0', expected a whole number from 1 to 1024"),
                (["run", path, "--time-limit", "-1"],
                 "'-1', expected a number above 0"),
                (["run", path, "--time-limit", "nan"],
                 "'nan', expected a number above 0")):
            self.one_line_error(hone(*arguments), 2, expected)

    def test_durations_say_their_range(self):
        path = self.write("tiny.hlo", TINY)
        for command in (["tune", path], ["bench", "pass-order"],
                        ["train", "pass-order"]):
            for time in ("-5s", "0s", "soon", "inf"):
                self.one_line_error(
                    hone(*command, f"--time={time}"), 2,
                    f"--time '{time}': expected a duration above 0, such as")
        self.one_line_error(
            hone("compile", path, "-o", self.folder / "o.hlo",
                 "--patience=-1s"), 2,
            "--patience '-1s': expected a duration of 0 or more, such as")

    def test_empty_values_are_named(self):
        path = self.write("tiny.hlo", TINY)
        self.one_line_error(hone("stats", ""), 2,
                            "FILE: '', expected the path of a module")
        self.one_line_error(hone("lookup", path, "--server", ""), 2,
                            "--server: '', expected HOST:PORT or unix:PATH")
        for passes in (",", "", "algsimp,,dce", "dce,", " "):
            self.one_line_error(
                hone("opt", path, "--passes", passes), 2,
                f"--passes '{passes}': a name is missing, expected")
        self.one_line_error(
            hone("diff", path, path, "--inputs", 0, "--adversarial", 0), 2,
            "nothing to compare on, expected 1 or more")
        self.one_line_error(
            hone("cache", "invalidate"), 2, "no filter, expected --module, "
            "--target, --task, --producer, --measured-by, --after, --before "
            "or --all")

    def test_json_has_stdout_for_itself(self):
        path = self.write("tiny.hlo", TINY)
        for command in (["opt", path], ["opt", path, "-o", "-"],
                        ["tune", path, "--local", "-o", "-"],
                        ["compile", path, "-o", "-"]):
            result = hone(*command, "--json")
            self.one_line_error(result, 2, "--json needs -o FILE: the module "
                                "would go to stdout, too")
            self.assertEqual(result.stdout, "")
        for command in ("worker", "measure"):
            self.one_line_error(hone(command, "--json"), 2, "--json")

    def test_what_cannot_work_fails_before_it_starts(self):
        path = self.write("tiny.hlo", TINY)
        for arguments, expected in (
                (["-o", self.folder / "no" / "out.hlo"],
                 "out.hlo: cannot be written"),
                (["-o", self.folder], "cannot be written: Is a directory"),
                (["--optimizer", "nope"], "unknown optimizer 'nope'"),
                (["--task", "pass_order,nope"], "unknown task 'nope'"),
                (["--task", "kernel", "-o", self.folder / "out.hlo"],
                 "expected --export K.so"),
                (["--state", path], "expected a folder for the store")):
            result = hone("tune", path, "--local", *arguments)
            self.one_line_error(result, 2, expected)
            self.assertEqual(result.stdout, "")
        self.one_line_error(
            hone("bench", "pass-order", "-o", self.folder / "no" / "o.json"), 2,
            "o.json: cannot be written")

    def test_unknown_tasks_are_no_misses(self):
        self.one_line_error(
            hone("lookup", self.write("tiny.hlo", TINY), "--task", "nope"), 2,
            "unknown task 'nope'", "pass_order")

    def test_training_names_what_leaves_no_modules(self):
        self.one_line_error(
            hone("train", "pass-order", "-o", self.folder / "w.pt", "--corpus",
                 CORPUS, "--max-instructions", 1), 2, "--corpus",
            "--max-instructions 1", "expected 1 or more")

    def test_training_writes_each_file_for_one_thing(self):
        weights = self.folder / "w.pt"
        for options in (["--state", weights], ["--curve", weights],
                        ["--from", "w.pt", "--curve", "w.pt"],
                        ["--state", self.folder / "s",
                         "--curve", f"{self.folder}/./s"]):
            self.one_line_error(
                hone("train", "placement", "-o", weights, *options), 2,
                "expected different files")
        self.assertFalse(weights.exists())
        other = self.write("notes.csv", "mine\n")
        self.one_line_error(
            hone("train", "placement", "-o", weights, "--curve", other), 2,
            "notes.csv: not the curve of a training")
        self.assertEqual(other.read_text(), "mine\n")

    def test_data_sets_are_listed(self):
        self.one_line_error(
            hone("train", "nope"), 2, "unknown data set 'nope', expected one "
            "of: go, partition, pass-order, placement")
        listed = " ".join(hone("train", "--help").stdout.split())
        for name in ("pass-order: the policy", "placement: the policy",
                     "go, pass-order: folder of the corpus",
                     "go, pass-order: leave out larger modules",
                     "go, partition, placement: graphs to train on",
                     "partition: folder of the graphs",
                     "pass-order, placement: the search that is imitated"):
            self.assertIn(name, listed)

    def test_options_that_a_data_set_does_not_use(self):
        weights = self.folder / "w.pt"
        for data_set, option, value, users in (
                ("go", "--teacher", "annealing", "pass-order, placement"),
                ("go", "--search-trials", 5, "pass-order, placement"),
                ("go", "--episodes-per-problem", 5, "pass-order, placement"),
                ("go", "--max-nodes", 50, "placement"),
                ("pass-order", "--graphs", 5, "go, partition, placement"),
                ("go", "--partitions", CORPUS, "partition"),
                ("placement", "--corpus", CORPUS, "go, pass-order")):
            self.one_line_error(
                hone("train", data_set, option, value, "-o", weights), 2,
                f"{option}: data set {data_set} does not use it, expected "
                f"one of: {users}")

    def test_weights_that_are_none(self):
        graphs = ROOT / "bench/data/graphs"
        shipped = ROOT / "models/pass_order.pt"
        for weights, expected in (
                (self.folder, "a folder, expected a file of weights"),
                (self.folder / "none.pt", "cannot be read"),
                (self.write("text.pt", "text"), "not the weights of a policy"),
                (shipped, "weights of a policy for sequences, expected one "
                 "for assignments")):
            self.one_line_error(
                hone("bench", "placement-searches", "--graphs", graphs,
                     "--only", "layer_bert24_inference", "--search", "policy",
                     "--trials", 2, "--seeds", 1, "--weights", weights), 2,
                expected)
            self.one_line_error(
                hone("train", "placement", "-o", self.folder / "w.pt",
                     "--graphs", 1, "--max-nodes", 20, "--from", weights), 2,
                expected)
        self.one_line_error(
            hone("bench", "placement-searches", "--graphs",
                 self.folder / "none"), 2, "none/manifest.json")

    def test_unequal_signatures(self):
        path = self.write("tiny.hlo", TINY)
        rows = self.write("two.hlo", """HloModule two

ENTRY main {
  x = f32[4]{0} parameter(0)
  y = f32[4]{0} parameter(1)
  ROOT sum = f32[4]{0} add(x, y)
}
""")
        self.one_line_error(hone("diff", path, rows), 2,
                            "1 and 2 parameters, expected the same number")

    def test_no_daemon(self):
        path = self.write("tiny.hlo", TINY)
        self.one_line_error(hone("tune", path), 3, "127.0.0.1:1", "--local")
        self.one_line_error(hone("lookup", path), 3, "127.0.0.1:1")

    def test_no_daemon_on_the_default_addresses(self):
        with socket.socket() as s:
            self.assertNotEqual(s.connect_ex(("127.0.0.1", 7420)), 0,
                                "something listens on 127.0.0.1:7420")
        path = self.write("tiny.hlo", TINY)
        result = hone("tune", path, "--trials", 5, "--json",
                      state_home=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"no daemon on unix:{self.folder}/hone/hone.sock or "
                      "127.0.0.1:7420", result.stderr)
        self.assertEqual(json.loads(result.stdout)["tasks"][0]["cache"],
                         "miss")
        # One that is named has to be there.
        self.one_line_error(hone("tune", path, server="127.0.0.1:7420"), 3,
                            "127.0.0.1:7420")

    def test_bad_credentials(self):
        token = self.write("token", "secret")
        empty = self.write("empty", "")
        path = self.write("tiny.hlo", TINY)
        self.one_line_error(
            hone("lookup", path, "--token-file", token,
                 server="hone.example:7420"), 2,
            "hone.example:7420 in the clear")
        self.one_line_error(hone("lookup", path, "--token-file", empty), 2,
                            "--token-file", "expected a file with content")
        self.one_line_error(hone("lookup", path, "--tls-ca", "/none"), 2,
                            "--tls-ca '/none': cannot be read")
        self.one_line_error(hone("lookup", path, "--tls-cert", token), 2,
                            "expected --tls-ca")

    def test_unwritable_output_leaves_nothing(self):
        path = self.write("tiny.hlo", TINY)
        self.one_line_error(
            hone("opt", path, "-o", self.folder / "no" / "out.hlo"), 2, "out")


if __name__ == "__main__":
    main()
