"""XLA reads what Hone writes, as text and as a proto, and finds it equal.

Every module of a corpus goes through `BIN opt FILE -o OUT`, which runs no pass,
once to text and once to a proto. XLA parses both, and must print the same
program for them as for the original; names and the order of instructions do not
count. Modules whose constants were left out of the text have no
proto; XLA then has the text alone to compare.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import zstandard
from jaxlib import _hlo


def canonical(module, with_constants=True):
    """The parts of XLA's canonical text, which names instructions by order."""
    options = _hlo.HloPrintOptions.canonical()
    options.print_metadata = False
    options.print_backend_config = True
    options.print_large_constants = with_constants
    text = module.to_string(options)
    header, *computations = text.strip().split("\n\n")
    # The header holds the module's name; the order of computations is free.
    header = re.sub(r"^HloModule [^,\n]*", "HloModule m", header)
    return [header, *sorted(computations)]


def read_proto(proto):
    return _hlo.HloModule.from_serialized_hlo_module_proto(proto)


def run_hone(hone, source, target):
    """Whether Hone wrote `target`; a reason when it could not."""
    result = subprocess.run(
        [hone, "opt", str(source), "-o", str(target)],
        capture_output=True,
        text=True,
    )
    return result.returncode == 0, result.stderr.strip()


def check(hone, source, directory):
    """An error message, or None."""
    source_text = zstandard.decompress(source.read_bytes()).decode()
    # XLA makes up values for these, other ones at every read.
    whole = "constant({...})" not in source_text
    expected = canonical(_hlo.hlo_module_from_text(source_text), whole)
    text_path = pathlib.Path(directory, "out.hlo")
    ok, error = run_hone(hone, source, text_path)
    if not ok:
        return f"opt to text: {error}"
    written = _hlo.hlo_module_from_text(text_path.read_text())
    if canonical(written, whole) != expected:
        return "XLA reads another program from the text"
    proto_path = pathlib.Path(directory, "out.pb")
    ok, error = run_hone(hone, source, proto_path)
    if not ok:
        # Then the proto is refused, and rightly.
        return None if not whole else f"opt to proto: {error}"
    if not whole:
        return "wrote a proto without the values of constants"
    proto = proto_path.read_bytes()
    if canonical(read_proto(proto)) != expected:
        return "XLA reads another program from the proto"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hone", help="the command to test")
    parser.add_argument("corpus", help="folder of *.hlo.zst files")
    arguments = parser.parse_args()
    sources = sorted(pathlib.Path(arguments.corpus).glob("*.hlo.zst"))
    if not sources:
        sys.exit(f"no *.hlo.zst files in {arguments.corpus}")
    failures = 0
    with tempfile.TemporaryDirectory() as directory:
        for source in sources:
            error = check(arguments.hone, source, directory)
            if error:
                failures += 1
                print(f"{source.name}: {error}", file=sys.stderr)
    print(f"{len(sources) - failures} of {len(sources)} modules agree")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
