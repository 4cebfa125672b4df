#include "hlo/proto/io.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"

#include "hlo/text/lexer.h"

namespace hone::hlo {
namespace {

// Returns true if `bytes` begin with `HloModule` and a blank behind it. A
// proto's name may be that word, but a tag follows.
bool BeginsAsText(absl::string_view bytes) {
  absl::ConsumePrefix(&bytes, kByteOrderMark);
  TextError error;
  TextLexer lexer(bytes, &error);
  return lexer.Take("HloModule") &&
         absl::ascii_isspace(static_cast<unsigned char>(lexer.PeekRaw()));
}

// Text has no control characters but blanks, unless it is damaged; a proto has
// the tags of its second and third field among its first bytes, whatever its
// name.
bool IsText(absl::string_view bytes) {
  if (BeginsAsText(bytes)) return true;
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
