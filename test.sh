#!/usr/bin/env bash
# Installs, builds and runs every test.
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

# The real XLA, as an independent judge of the HLO that we write, and what our
# Python client needs.
if ! .venv/bin/python -c 'import grpc_tools, gymnasium, jax' 2>/dev/null; then
  python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check \
    -r tests/python/requirements.txt
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

labels='slow|gpu|bench'
$all && labels='gpu|bench'
ctest --test-dir build/release --output-on-failure --label-exclude "$labels" \
  --parallel 2 --schedule-random --no-tests=error

if $all; then tools/run_slow_checks.sh; fi
