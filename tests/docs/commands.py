"""Checks command lines without running them: programs, options and files."""

import functools
import json
import pathlib
import re
import shlex
import subprocess

# Folders of the source tree by which arguments are recognized as its files.
SOURCES = ("backends", "base", "bench", "cli", "clients", "cmake", "costmodels",
           "daemon", "deploy", "docs", "hlo", "loops", "models", "optimizers",
           "proto", "space", "storage", "tests", "tools", "tuning")


def split(text):
    """The commands of a shell script as lists of words."""
    text = text.replace("\\\n", " ")
    commands = []
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        command = []
        for word in [*words, ";"]:
            # Operators are words of their own in what people write.
            ends = word in ("&&", "||", "|", ";", "&")
            if not ends:
                command.append(word)
            elif command:
                commands.append(command)
                command = []
    return commands


class Checker:
    """Knows the options of the programs in `binaries`."""

    def __init__(self, root, binaries):
        self.root = root
        self.binaries = binaries

    def problems(self, words):
        """What is wrong with one command."""
        while words and re.match(r"\w+=", words[0]):
            words = words[1:]
        if not words:
            return []
        name = pathlib.PurePosixPath(words[0]).name
        if name in ("hone", "honed"):
            found = self._check_hone(name, words[1:])
        elif name == "cmake":
            found = self._check_cmake(words[1:])
        elif re.fullmatch(r"python[\d.]*", name):
            found = self._check_script(words[1:])
        elif "/" in words[0]:
            found = self._check_script(words)
        else:
            found = []
        found += [f"{word}: no such file" for word in words
                  if self._is_missing(word)]
        return list(dict.fromkeys(found))

    def _is_missing(self, word):
        return (word.split("/")[0] in SOURCES and "/" in word
                and re.fullmatch(r"[\w./-]+", word) is not None
                and not (self.root / word).exists())

    @functools.cache
    def _help(self, words):
        result = subprocess.run(
            [self.binaries / words[0], *words[1:], "--help"],
            capture_output=True, text=True, timeout=60)
        return result.stdout

    def _subcommands(self, words):
        listed = self._help(words).partition("\nSubcommands:\n")[2]
        return re.findall(r"^  ([\w-]+)", listed, re.M)

    def _is_hidden_subcommand(self, words):
        return re.search(rf"^Usage: \S*{re.escape(' '.join(words))}\b",
                         self._help(words), re.M) is not None

    def _takes_argument(self, words):
        """Whether a command takes an argument where its subcommands stand."""
        return re.search(r"^Usage: .*\[OPTIONS\] \[?[A-Z_]+\]? \[SUBCOMMAND\]",
                         self._help(words), re.M) is not None

    def _check_hone(self, program, words):
        """Subcommands exist, and each option belongs to one of them."""
        path = (program,)
        known, found = set(), []
        for word in words:
            subcommands = self._subcommands(path)
            if not subcommands or not re.fullmatch(r"[a-z][\w-]*", word):
                continue
            if word in subcommands or self._is_hidden_subcommand((*path, word)):
                path += (word,)
            elif not self._takes_argument(path):
                found.append(f"{' '.join(path)}: no subcommand {word}")
                break
        for depth in range(1, len(path) + 1):
            known |= set(options(self._help(path[:depth])))
        return found + [f"{' '.join(path)}: no option {option}"
                        for option in options_of(words) if option not in known]

    def _check_cmake(self, words):
        presets = json.loads((self.root / "CMakePresets.json").read_text())
        kind = ("workflowPresets" if "--workflow" in words
                else "configurePresets")
        names = {preset["name"] for preset in presets[kind]
                 if not preset.get("hidden")}
        found = []
        for word, value in zip(words, words[1:]):
            if word == "--preset":
                found += [f"no preset {name}" for name in value.split("|")
                          if name not in names]
        return found

    def _check_script(self, words):
        """A script of ours: it is there, and its source has the options."""
        if not words or words[0].startswith("-"):
            return []
        script = self.root / words[0]
        if script.suffix not in (".py", ".sh"):
            return []
        if not script.exists():
            return [f"{words[0]}: no such file"]
        source = script.read_text()
        return [f"{words[0]}: no option {option}"
                for option in options_of(words[1:]) if option not in source]


def options(text):
    """The options that a help text names."""
    return re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", text)


def options_of(words):
    """The options among the words of a command, without values."""
    return [word.partition("=")[0] for word in words
            if re.match(r"--?[A-Za-z]", word)]


def in_span(span):
    """The command that a code span holds, or none.

    Optional parts and dots are taken apart: `hone opt FILE [--passes=a,b]`.
    """
    if not re.match(r"(honed?|cmake|(\.|tools)/\S+) ", span):
        return None
    words = re.sub(r"[\[\]…]", " ", span).split()
    return [part for word in words
            for part in (word.split("|") if word[0] != "-" and
                         words[0] != "cmake" else [word])]
