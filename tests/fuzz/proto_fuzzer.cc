#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

#include "hlo/proto/io.h"
#include "tests/fuzz/round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view input(reinterpret_cast<const char*>(data), size);
  hone::hlo::CheckRoundTrips(hone::hlo::ParseHloProto(input));
  return 0;
}
