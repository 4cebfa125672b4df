#!/usr/bin/env bash
# Runs clang-tidy on our sources; .clang-tidy lists the checks.
#
# Usage: tools/check_tidy.sh [FOLDER...]   default: every folder
# Takes the compile commands of build/clang, else of build/release, which must
# be built as far as generated sources go.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -f build/clang/compile_commands.json ]; then
  build=build/clang
elif [ -f build/release/compile_commands.json ]; then
  build=build/release
else
  echo "no compile_commands.json in build/clang or build/release, expected a" \
    "configured build" >&2
  exit 2
fi
tidy=clang-tidy-19
command -v "$tidy" >/dev/null || tidy=/usr/lib/llvm-19/bin/clang-tidy

folders=("$@")
[ ${#folders[@]} -gt 0 ] || folders=(
  base hlo loops space backends optimizers costmodels storage tuning daemon
  bench cli)
mapfile -t sources < <(git ls-files -- "${folders[@]/%//*.cc}" |
  python3 -c '
import json, os, sys
known = {os.path.relpath(os.path.join(e["directory"], e["file"]))
         for e in json.load(open(sys.argv[1]))}
print("\n".join(s for s in sys.stdin.read().split("\n") if s in known))
' "$build/compile_commands.json")

# g++ and its flags are in the commands of build/release, -Werror perhaps, which
# would make errors of what clang alone warns about in system headers.
tidy=("$tidy" -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option
  --extra-arg=-Wno-error)

# Headers of Torch use vectors of incomplete types, which clang accepts up to
# C++17 only.
for source in "${sources[@]}"; do
  case $source in
    learning/* | optimizers/policies/*) echo "--extra-arg=-std=c++17 $source" ;;
    *) echo "$source" ;;
  esac
done | xargs -r -L 1 -P "$(nproc)" "${tidy[@]}"
