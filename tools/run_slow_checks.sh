#!/usr/bin/env bash
# The checks of ./test.sh --all beyond the slow CTest cases: a minute of fuzzing
# per target, clang-tidy, the address and undefined-behavior sanitizers over the
# unit tests, the thread sanitizer over the tests of concurrent code, and every
# tuned corpus module on the real XLA:CPU. Broken learning has to be noticed by
# its tests.
set -euo pipefail
cd "$(dirname "$0")/.."

cmake --preset clang >/dev/null
cmake --build build/clang --target hone_text_fuzzer hone_proto_fuzzer
for target in text proto; do
  echo "fuzzing $target for a minute" >&2
  corpus=$(mktemp -d)
  build/clang/bin/hone_${target}_fuzzer -max_total_time=60 -rss_limit_mb=2048 \
    -timeout=5 "$corpus" "tests/testdata/fuzz/$target"
  rm -r "$corpus"
done

tools/check_tidy.sh
tools/check_mutations.py

cmake --preset asan -DHONE_BUILD_TESTS=ON >/dev/null
cmake --build build/asan
# The sandbox of candidates forbids what the check of virtual tables does to see
# whether memory can be read, so the preset leaves that check out. Processes that
# tests have crash end by the signal, as they do otherwise. An image with the
# sanitizers' libraries is not deployed.
ASAN_OPTIONS=handle_segv=0 \
  tools/run_tests.sh build/asan --label-exclude 'slow|bench|e2e' --parallel 2 \
  --exclude-regex '^deploy\.image$'

cmake --preset tsan -DHONE_BUILD_TESTS=ON >/dev/null
cmake --build build/tsan --target hone_base_test hone_storage_test \
  hone_tuning_test hone_daemon_test hone_work_test
# Debian's Abseil is built without the sanitizer, which so cannot see a mutex.
# Tests that send messages of megabytes stay out: each word that gRPC copies is
# a report, which takes minutes to suppress.
g++ -std=c++20 -O1 -fPIC -shared -fsanitize=thread tests/daemon/tsan_mutex.cc \
  -o build/tsan/libtsan_mutex.so -ldl
LD_PRELOAD="$(g++ -print-file-name=libtsan.so) $PWD/build/tsan/libtsan_mutex.so" \
  TSAN_OPTIONS="halt_on_error=1 handle_segv=0 suppressions=$PWD/tools/tsan_suppressions.txt" \
  tools/run_tests.sh build/tsan --label-regex 'base|storage|tuning|daemon|work' \
  --label-exclude 'slow|bench|e2e' --parallel 2 --exclude-regex \
  'BadUploadsAreRefused|DownloadsAreHeld|WhatIsTooLargeIs|ModulesOverGrpcs|ResponsesAreLimited|TuningServiceTest.BadRe|IsReached/(message|rpc_memory)_bytes'

tuned=$(mktemp -d)
build/release/bin/hone bench pass-order --search beam --trials 100 \
  --tuned "$tuned"
.venv/bin/python tools/compare_on_xla.py \
  --corpus bench/data/corpus --tuned "$tuned"
rm -r "$tuned"
