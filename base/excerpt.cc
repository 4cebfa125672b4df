#include "base/excerpt.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace hone {
namespace {

// Returns the beginning of `text`, at most `size` bytes, without a part of a
// character of UTF-8 at its end.
absl::string_view Beginning(absl::string_view text, size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) {
    --size;
  }
  return text.substr(0, size);
}

}  // namespace

std::string Excerpt(absl::string_view text) {
  constexpr size_t kShown = 80;
  return absl::StrCat(absl::CHexEscape(text.substr(0, kShown)),
                      text.size() > kShown ? "…" : "");
}

std::string BoundedMessage(absl::string_view message) {
  constexpr size_t kLongestWord = 200;
  constexpr size_t kShownOfWord = 80;
  constexpr size_t kLongest = 2000;
  std::string result;
  while (!message.empty()) {
    size_t size = 0;
    while (size < message.size() &&
           static_cast<unsigned char>(message[size]) > ' ' &&
           message[size] != 0x7f) {
      ++size;
    }
    const absl::string_view word = message.substr(0, size);
    const bool fits = size <= kLongestWord;
    absl::StrAppend(&result, fits ? word : Beginning(word, kShownOfWord),
                    fits ? "" : "…");
    message.remove_prefix(size);
    if (!message.empty()) {
      result += ' ';
      message.remove_prefix(1);
    }
    if (result.size() > kLongest) {
      return absl::StrCat(Beginning(result, kLongest), "…");
    }
  }
  return result;
}

}  // namespace hone
