#!/usr/bin/env bash
# Runs tests; one that is skipped, disabled or not run is a failure, unless it has
# the label gpu (check_skipped.py).
#
# Usage: tools/run_tests.sh BUILD_DIR [ctest arguments]
set -euo pipefail
tools=$(dirname "$0")
build=$(realpath "$1")
shift

results=$build/Testing/results.xml
listing=$build/Testing/listing.json
mkdir -p "$build/Testing"
rm -f "$results"
ctest --test-dir "$build" "$@" --show-only=json-v1 >"$listing"
failed=false
ctest --test-dir "$build" "$@" --output-on-failure --no-tests=error \
  --output-junit "$results" || failed=true
"$tools/check_skipped.py" "$results" "$listing" || failed=true
if $failed; then exit 1; fi
