#!/usr/bin/env python3
"""Checks that tests notice when a part of learning is broken.

Each mutation changes one expression in a copy of the sources; a test of
hone_learning_test has to fail. A mutation whose text is gone is an error, so
that the list keeps up with the code.

Usage: tools/check_mutations.py [NAME...]
Prints a line per mutation; exit status 1 if one is not noticed.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

# name, file, text, replacement
MUTATIONS = [
    ("policy loss without the ratio", "learning/networks/losses.cc",
     "torch::exp(log_probability - log_probability_before)",
     "torch::ones_like(log_probability)"),
    ("policy loss without the clip", "learning/networks/losses.cc",
     "ratio.clamp(1 - clip, 1 + clip) * advantage", "ratio * advantage"),
    ("no policy loss in an update", "learning/ppo_learner.cc",
     "descent_.Accumulate((policy +", "descent_.Accumulate((0 * policy +"),
    ("no advantage", "learning/ppo_learner.cc",
     "samples[i].advantage = estimates[i] +",
     "samples[i].advantage = 0 * estimates[i] + 0 *"),
    ("advantages of ties blow up", "learning/advantage.cc",
     "  ScaleToUnit(advantages, least_deviation);",
     "  ScaleToUnit(advantages, 1e-30F);"),
    ("no mask", "learning/networks/losses.cc",
     "scores.masked_fill(allowed.logical_not(),",
     "scores.masked_fill(allowed.logical_and(allowed.logical_not()),"),
    ("forced variables carry a gradient", "learning/assignment_learner.cc",
     "if (std::popcount(sample.choice[v]) < 2) continue;\n"
     "                     list.Add(r, sample.values[v], sample.choice[v],",
     "list.Add(r, sample.values[v], ~uint64_t{0},"),
    ("imitation of everything after the best", "learning/games/rollout.cc",
     "for (size_t t = 0; t < end.best_moves; ++t) {",
     "for (size_t t = 0; t < turns.size(); ++t) {"),
    ("imitation of no-ops", "learning/games/rollout.cc",
     "if (turns[t].changed) useful.push_back(turns[t]);",
     "useful.push_back(turns[t]);"),
    ("nothing comes after a part of a game", "learning/games/rollout.cc",
     "playing[i]->value_after = scores[i].value;",
     "playing[i]->value_after = 0;"),
    ("lookahead through exploring turns", "learning/advantage.cc",
     "greedy[end]);", "true);"),
    ("the target network chooses", "learning/networks/losses.cc",
     "online.argmax(1, /*keepdim=*/true)",
     "target.argmax(1, /*keepdim=*/true)"),
    ("ranks count ties", "learning/networks/losses.cc",
     ".gt(times.unsqueeze(1))", ".ge(times.unsqueeze(1))"),
    ("ranks count what is not there", "learning/networks/losses.cc",
     ".logical_and(present.unsqueeze(2).logical_and(present.unsqueeze(1)))",
     ""),
    ("ranks the wrong way round", "learning/networks/losses.cc",
     "torch::relu(1 - difference)", "torch::relu(1 + difference)"),
    ("half of a minibatch teaches nothing", "learning/cost_learner.cc",
     "for (const auto& replica : replicas_) AddGradients(*replica);", ""),
    ("refinement the wrong way", "learning/networks/cost_regression.cc",
     "layers.output->weight += (slopes / scale)",
     "layers.output->weight -= (slopes / scale)"),
    ("segments see the future", "learning/networks/segment_attention.cc",
     "before.push_back(begin > first ? segment - 1 : segment);",
     "before.push_back(segment);"),
]


def run(command, folder):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    wanted = sys.argv[1:]
    chosen = [m for m in MUTATIONS if not wanted or m[0] in wanted]
    with tempfile.TemporaryDirectory() as temporary:
        copy = pathlib.Path(temporary) / "hone"
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(
            "build", ".git", ".venv"))
        build = ["cmake", "--build", "build/release", "--target",
                 "hone_learning_test"]
        test = ["build/release/bin/hone_learning_test", "--gtest_brief=1"]
        for command in (["cmake", "--preset", "release"], build, test):
            result = run(command, copy)
            if result.returncode != 0:
                print("without a mutation:", " ".join(command))
                print(result.stdout[-2000:])
                return 1
        unnoticed = 0
        for name, file, text, replacement in chosen:
            path = copy / file
            source = path.read_text()
            if source.count(text) != 1:
                print(f"{name}: {file} does not have its text once")
                unnoticed += 1
                continue
            path.write_text(source.replace(text, replacement))
            result = run(build, copy)
            if result.returncode != 0:
                verdict = "does not compile: " + result.stdout[-1000:]
                unnoticed += 1
            elif run(test, copy).returncode == 0:
                verdict = "NOT NOTICED"
                unnoticed += 1
            else:
                verdict = "noticed"
            print(f"{name}: {verdict}", flush=True)
            path.write_text(source)
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
