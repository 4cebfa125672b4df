#!/usr/bin/env python3
"""Fails if a test was skipped, disabled or not run, and names it.

Usage: check_skipped.py JUNIT_XML TESTS_JSON

JUNIT_XML is from `ctest --output-junit`, TESTS_JSON from `ctest
--show-only=json-v1` with the same filters. Tests with the label gpu may be
skipped: they are counted and named.
"""

import json
import pathlib
import sys
import xml.etree.ElementTree


def labels_of(test):
    for entry in test.get("properties", []):
        if entry["name"] == "LABELS":
            return entry["value"]
    return []


def main():
    junit, listing = map(pathlib.Path, sys.argv[1:])
    labels = {test["name"]: labels_of(test)
              for test in json.loads(listing.read_text())["tests"]}
    reasons = {name: "not run" for name in labels}
    for case in xml.etree.ElementTree.parse(junit).iter("testcase"):
        # Failed tests did run; ctest reports them.
        if case.get("status") in ("run", "fail"):
            reasons.pop(case.get("name"), None)
        elif case.get("status") == "disabled":
            reasons[case.get("name")] = "disabled"
        elif (skipped := case.find("skipped")) is not None:
            reasons[case.get("name")] = skipped.get("message")
    without_gpu = [name for name in reasons if "gpu" in labels[name]]
    refused = [name for name in reasons if "gpu" not in labels[name]]
    if without_gpu:
        print(f"Tests skipped, as they need a GPU: {len(without_gpu)}")
    for name in without_gpu:
        print(f"  {name}")
    if refused:
        print(f"Tests that did not run: {len(refused)}", file=sys.stderr)
    for name in refused:
        print(f"  {name}: {reasons[name]}", file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
