#!/usr/bin/env bash
# Installs what is missing from Debian 12 packages.
#
# Usage: tools/install_deps.sh build|test|all
#   build  what compiles and runs honed and hone
#   test   and what the default tests need (chromium, which draws reports: 410 MB)
#   all    and what the slow tests need (clang, clang-tidy, libFuzzer)
set -euo pipefail

build=(
  ca-certificates ccache cmake g++ git libabsl-dev libcli11-dev
  libcpp-httplib-dev libgrpc++-dev liblld-19-dev libmetis-dev libopenblas-pthread-dev
  libprotobuf-dev libseccomp-dev libspdlog-dev libsqlite3-dev libssl-dev
  libsystemd-dev libtomlplusplus-dev libtorch-dev libxxhash-dev libzstd-dev llvm-19-dev mold
  ninja-build nlohmann-json3-dev pkg-config prometheus-cpp-dev protobuf-compiler
  protobuf-compiler-grpc zlib1g-dev
)
test=(
  chromium clang-format-14 libgecode-dev libgmock-dev libgtest-dev openssl python3 python3-venv systemd
  util-linux
)
all=(clang-19 clang-tidy-19 libclang-rt-19-dev)

case "${1:-}" in
  build) packages=("${build[@]}") ;;
  test) packages=("${build[@]}" "${test[@]}") ;;
  all) packages=("${build[@]}" "${test[@]}" "${all[@]}") ;;
  *) echo "usage: $0 build|test|all" >&2; exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "missing packages, and neither root nor sudo to install them:" \
      "${missing[*]}" >&2
    exit 3
  }
  sudo=(sudo)
fi
echo "installing: ${missing[*]}" >&2
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
