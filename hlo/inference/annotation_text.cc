#include "hlo/inference/annotation_text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace hone::hlo {

std::optional<absl::string_view> Enclosed(absl::string_view text, char open,
                                          char close) {
  text = absl::StripAsciiWhitespace(text);
  if (text.size() < 2 || text.front() != open || text.back() != close) {
    return std::nullopt;
  }
  return absl::StripAsciiWhitespace(text.substr(1, text.size() - 2));
}

std::optional<std::vector<absl::string_view>> SplitAtCommas(
    absl::string_view text) {
  std::vector<absl::string_view> parts;
  if (absl::StripAsciiWhitespace(text).empty()) return parts;
  int depth = 0;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (absl::StartsWith(text.substr(i), "/*")) {
      const size_t end = text.find("*/", i);
      if (end == text.npos) return std::nullopt;
      if (absl::StripAsciiWhitespace(text.substr(begin, i - begin)).empty()) {
        begin = end + 2;
      }
      i = end + 1;
    } else if (c == '{' || c == '(' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ')' || c == ']') {
      if (--depth < 0) return std::nullopt;
    } else if (c == ',' && depth == 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (quoted || depth != 0) return std::nullopt;
  parts.push_back(text.substr(begin));
  for (absl::string_view& part : parts) part = absl::StripAsciiWhitespace(part);
  return parts;
}

}  // namespace hone::hlo
