#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

#include "hlo/text/parser.h"
#include "tests/fuzz/round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view input(reinterpret_cast<const char*>(data), size);
  hone::hlo::CheckRoundTrips(hone::hlo::ParseHloText(input));
  return 0;
}
