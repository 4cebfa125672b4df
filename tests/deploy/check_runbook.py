#!/usr/bin/env python3
"""Checks that every alert has a runbook entry that exists, a test, and a line in
the table of docs/OPERATIONS.md; and that there are no others.

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
    manual = (root / "docs/OPERATIONS.md").read_text()
    listed = dict(re.findall(
        r"^\| \[(\w+)\]\(runbook\.md#(\w+)\) \| [^|]{10,} \|", manual, re.M))
    entries = re.findall(r"^## (\S+)$", (root / "docs/runbook.md").read_text(),
                         re.M)
    for name, found in (("docs/OPERATIONS.md, Alerts", listed),
                        ("docs/runbook.md", entries)):
        for alert in sorted(set(alerts) ^ set(found)):
            where = "deploy/alerts.yml" if alert in found else name
            problems.append(f"{alert}: not in {where}")
    problems += [f"docs/OPERATIONS.md: {alert} links to {anchor}"
                 for alert, anchor in listed.items() if anchor != alert.lower()]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
