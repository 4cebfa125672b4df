#!/bin/sh
# Serializes the samples *.txtpb of a folder, by the messages as they are now.
# Only for new samples and new versions of the API: clients that send the bytes
# that are there exist.
#
# Usage: tests/testdata/wire/write.sh FOLDER    (v1)
set -eu
cd "$(dirname "$0")/$1"
protos="$(git rev-parse --show-toplevel)/proto"
for sample in *.txtpb; do
  message=$(sed -n 's/^# message: //p' "$sample")
  bytes="${sample%.txtpb}.bin"
  if [ -e "$bytes" ]; then continue; fi
  protoc --proto_path="$protos" --encode="$message" \
    $(cd "$protos" && ls hone/v1/*.proto google/longrunning/*.proto) \
    <"$sample" >"$bytes"
  echo "$1/$bytes"
done
