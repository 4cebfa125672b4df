#!/usr/bin/env bash
# Installs, builds and runs every test. A test that is skipped is a failure,
# unless it needs a GPU (label gpu): those are named at the end.
#
# Usage: ./test.sh [--all]    --all adds the slow tests (fuzzing, sanitizers,
#                             the whole corpus on the real XLA)
set -euo pipefail
cd "$(dirname "$0")"

all=false
case "${1:-}" in
  "") ;;
  --all) all=true ;;
  *) echo "usage: $0 [--all]" >&2; exit 2 ;;
esac

tools/install_deps.sh "$($all && echo all || echo test)"

# The real XLA, as an independent judge of the HLO that we write, PyTorch, which
# kernels are timed beside, and what our Python client needs. The stamp says for
# which Python and requirements they were installed.
requirements=tests/python/requirements.txt
stamp=$(python3 -VV && cat "$requirements")
if [ "$(cat .venv/installed 2>/dev/null)" != "$stamp" ]; then
  python3 -m venv --clear .venv
  .venv/bin/pip install --quiet --disable-pip-version-check -r "$requirements"
  printf '%s\n' "$stamp" >.venv/installed
fi

# promtool without the service that Debian's package would start.
if ! command -v promtool >/dev/null; then
  if [ ! -x build/tools/usr/bin/promtool ]; then
    mkdir -p build/tools
    (cd build/tools && apt-get download -qq prometheus &&
      dpkg -x prometheus_*.deb .)
  fi
  export PATH="$PWD/build/tools/usr/bin:$PATH"
fi

# CI turns warnings into errors; both build in build/release.
preset=$([ "${CI:-}" = true ] && echo ci || echo release)
cmake --preset "$preset" -DHONE_BUILD_TESTS=ON >/dev/null
cmake --build build/release

labels='slow|bench'
$all && labels='bench'
tools/run_tests.sh build/release --label-exclude "$labels" --parallel 2 \
  --schedule-random

if $all; then tools/run_slow_checks.sh; fi
