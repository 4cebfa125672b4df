#include "hlo/analysis/stated_trip_count.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace hone::hlo {
namespace {

// The configuration may be JSON, or JSON in a string, with escapes.
constexpr absl::string_view kKey = "known_trip_count";
constexpr absl::string_view kBlanks = " \t\r\n";
constexpr absl::string_view kBeforeName = "\"\\:{ \t\r\n";
constexpr absl::string_view kBeforeValue = "\"\\: \t\r\n";
constexpr absl::string_view kAfterValue = "\"\\},";

void Skip(absl::string_view characters, absl::string_view& text) {
  const size_t end = text.find_first_not_of(characters);
  text.remove_prefix(end == text.npos ? text.size() : end);
}

// Parses what follows the key: ":{"n":"10"}.
std::optional<double> ParseTripCount(absl::string_view text) {
  Skip(kBeforeName, text);
  if (!absl::ConsumePrefix(&text, "n")) return std::nullopt;
  Skip(kBeforeValue, text);
  const absl::string_view digits =
      text.substr(0, text.find_first_not_of("0123456789"));
  text.remove_prefix(digits.size());
  Skip(kBlanks, text);
  if (!text.empty() && kAfterValue.find(text[0]) == kAfterValue.npos) {
    return std::nullopt;
  }
  double count = 0;
  if (digits.empty() || !absl::SimpleAtod(digits, &count)) return std::nullopt;
  // Hundreds of digits.
  if (!std::isfinite(count)) return std::nullopt;
  return count;
}

}  // namespace

std::optional<double> StatedTripCount(const Instruction& instruction) {
  for (const auto& [name, value] : instruction.attributes().others) {
    if (name != "backend_config") continue;
    const absl::string_view text = value;
    const size_t key = text.find(kKey);
    if (key == text.npos) continue;
    return ParseTripCount(text.substr(key + kKey.size()));
  }
  return std::nullopt;
}

}  // namespace hone::hlo
