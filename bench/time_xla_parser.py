"""Times XLA's own HLO text parser: prints the seconds of one parse per line.

Usage: time_xla_parser.py FILE; one parse runs for every line on stdin.
"""

import sys
import time

from jaxlib import _hlo


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    _hlo.hlo_module_from_text(text)
    for _ in sys.stdin:
        start = time.perf_counter()
        _hlo.hlo_module_from_text(text)
        print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    main()
