#!/usr/bin/env bash
# Builds Hone, starts honed, which listens on a socket in your state folder, and
# runs the main job on a bundled GPT-2 training step: tune, verify, store, and answer again from the cache.
#
# Usage: ./quickstart.sh [--keep]   --keep leaves honed running at the end
set -euo pipefail
cd "$(dirname "$0")"

keep=false
case "${1:-}" in
  "") ;;
  --keep) keep=true ;;
  *) echo "usage: $0 [--keep]" >&2; exit 2 ;;
esac

tools/install_deps.sh build

if [ ! -e build/release/build.ninja ]; then
  cmake --preset release -DHONE_BUILD_TESTS=OFF >/dev/null
fi
echo "building (the first build takes about 10 minutes on two cores) ..." >&2
cmake --build build/release --target honed hone

bin=build/release/bin
model=bench/data/corpus/gpt2_2l.train.hlo.zst

# A daemon that is already there is used as it is.
if ! "$bin/hone" list tunings --json >/dev/null 2>&1; then
  log=build/release/honed.log
  "$bin/honed" >"$log" 2>&1 &
  honed=$!
  if ! $keep; then trap 'kill $honed 2>/dev/null; wait $honed || true' EXIT; fi
  for _ in $(seq 100); do
    "$bin/hone" list tunings --json >/dev/null 2>&1 && break
    kill -0 $honed 2>/dev/null || { cat "$log" >&2; exit 3; }
    sleep 0.1
  done
fi

run() { printf '\n$ %s\n' "$*"; "$@"; }
run "$bin/hone" stats "$model"
run "$bin/hone" tune "$model" --trials 600 -o build/release/gpt2.tuned.hlo
run "$bin/hone" tune "$model" --trials 600
run "$bin/hone" lookup "$model" --explain

printf '\nMetrics: http://127.0.0.1:7421/metrics\n'
if [ -z "${honed:-}" ]; then
  printf 'honed was running before and keeps running.\n'
elif $keep; then
  printf 'honed keeps running; "kill %s" ends it.\n' "$honed"
else
  printf 'honed ends with this script; start it again with %s/honed\n' "$bin"
fi
