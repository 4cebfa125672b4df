#include "hlo/proto/io.h"

#include <algorithm>

namespace hone::hlo {
namespace {

// Text has no control characters but blanks; a proto has the tags of its second
// and third field among its first bytes, whatever its name.
bool IsText(absl::string_view bytes) {
  constexpr size_t kEnough = 64 << 10;
  const absl::string_view start = bytes.substr(0, kEnough);
  return std::none_of(start.begin(), start.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < ' ' && (byte < '\t' || byte > '\r');
  });
}

}  // namespace

absl::StatusOr<Module> ParseHlo(absl::string_view bytes,
                                absl::string_view file_name,
                                const ReadLimits& limits) {
  return IsText(bytes) ? ParseHloText(bytes, file_name, limits)
                       : ParseHloProto(bytes, file_name, limits);
}

}  // namespace hone::hlo
