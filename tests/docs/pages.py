"""What is in a Markdown page: fenced blocks, code spans and links.

A comment directly in front of a block says what is done with it:

    <!-- not run: REASON -->  its commands are only checked (commands.py)
    <!-- file: NAME -->       it is written to NAME before anything is run
    <!-- output -->           it is what the block before it prints

Blocks in sh, python, c and toml are run (sandbox.py); those in text, or in no
language, are for readers.
"""

import dataclasses
import pathlib
import re

LANGUAGES = ("", "c", "cpp", "python", "sh", "text", "toml")
# Build outputs, environments and what belongs to git.
IGNORED = ("build", "venv")


@dataclasses.dataclass
class Block:
    """One fenced block; `note` is the comment in front of it."""
    line: int
    language: str
    text: str
    note: str


def pages(root):
    """Every Markdown page of the source tree."""
    return [path for path in files(root) if path.suffix == ".md"]


def files(root):
    """Every file of the source tree."""
    found = []
    for path in sorted(root.iterdir()):
        if path.name in IGNORED or path.name.startswith("."):
            continue
        if path.is_symlink() or path.is_file():
            found.append(path)
        else:
            found += files(path)
    return found


def blocks(path):
    """The fenced blocks of a page, in order."""
    found, block, note = [], None, ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fence = re.match(r"\s*```(.*)$", line)
        if block is not None and fence:
            found.append(block)
            block, note = None, ""
        elif block is not None:
            block.text += line + "\n"
        elif fence:
            block = Block(number, fence[1].strip(), "", note)
        elif comment := re.fullmatch(r"\s*<!-- (.*) -->\s*", line):
            note = comment[1]
        elif line.strip():
            note = ""
    if block is not None:
        raise ValueError(f"{path}:{block.line}: the block does not end")
    return found


def prose(path):
    """The lines of a page outside blocks, with their numbers."""
    lines, inside = [], False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if re.match(r"\s*```", line):
            inside = not inside
        elif not inside:
            lines.append((number, line))
    return lines


def spans(path):
    """The code spans of a page with the numbers of their lines."""
    return [(number, span) for number, line in prose(path)
            for span in re.findall(r"`([^`]+)`", line)]


def links(path):
    """The targets of a page's links with the numbers of their lines."""
    return [(number, target) for number, line in prose(path)
            for target in re.findall(r"\]\(([^)\s]+)\)", line)]


def is_run(block):
    return (block.language not in ("", "text")
            and not re.match("not run: .|file: .", block.note))


def is_file_name(note):
    return note.startswith("file: ")


def file_name(note):
    return pathlib.PurePosixPath(note.removeprefix("file: "))
