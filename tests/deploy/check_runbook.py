#!/usr/bin/env python3
"""Checks that every alert has a runbook entry that exists, and a test.

Usage: check_runbook.py ROOT
"""

import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    rules = (root / "deploy/alerts.yml").read_text()
    tests = (root / "deploy/alerts_test.yml").read_text()
    alerts = re.findall(r"- alert: (\w+)", rules)
    links = re.findall(r"runbook: (\S+)#(\S+)", rules)
    problems = []
    if not alerts or len(links) != len(alerts):
        problems.append(f"{len(alerts)} alerts with {len(links)} runbook links")
    for alert, (path, anchor) in zip(alerts, links):
        headings = re.findall(r"^## (\S+)$", (root / path).read_text(), re.M)
        if anchor != alert.lower() or alert not in headings:
            problems.append(f"{alert}: no entry '## {alert}' at {path}#{anchor}")
        if not re.search(rf"alertname: {alert}\n.*\n +exp_alerts:", tests):
            problems.append(f"{alert}: no test that it fires")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
