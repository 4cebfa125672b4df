#ifndef HONE_HLO_INFERENCE_VALUE_READER_H_
#define HONE_HLO_INFERENCE_VALUE_READER_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#include "hlo/ir/shape.h"

namespace hone::hlo::inference {

// The shape as messages show it.
std::string ShownShape(const Shape& shape);

// Reads the tokens of a value. Blanks and comments between them do not count.
class ValueReader {
 public:
  explicit ValueReader(absl::string_view text) : rest_(text) {}

  bool AtEnd() {
    SkipBlanks();
    return rest_.empty();
  }
  bool Take(absl::string_view token) {
    SkipBlanks();
    return TakeRaw(token);
  }
  // Takes a token that follows at once.
  bool TakeRaw(absl::string_view token) {
    return absl::ConsumePrefix(&rest_, token);
  }

  // Takes a word; empty if none is next.
  absl::string_view Word() {
    SkipBlanks();
    size_t size = 0;
    while (size < rest_.size() && IsWordCharacter(rest_[size], size == 0)) {
      ++size;
    }
    return TakeFront(size);
  }

  // Takes nothing if it returns false; an overflow is no integer.
  bool Integer(int64_t& value) {
    SkipBlanks();
    size_t size = absl::StartsWith(rest_, "-") ? 1 : 0;
    while (size < rest_.size() && IsDigit(rest_[size])) ++size;
    if (!absl::SimpleAtoi(rest_.substr(0, size), &value) ||
        absl::StartsWith(rest_.substr(size), ".")) {
      return false;
    }
    TakeFront(size);
    return true;
  }

  // Takes `1,2`, at least one.
  bool Integers(std::vector<int64_t>& values) {
    do {
      if (!Integer(values.emplace_back())) return false;
    } while (Take(","));
    return true;
  }

  // Takes `{1,2}`.
  bool Index(std::vector<int64_t>& index) {
    if (!Take("{")) return false;
    while (!Take("}")) {
      if (!Integer(index.emplace_back())) return false;
      if (!Take(",")) return Take("}");
    }
    return true;
  }

  // Takes what brackets enclose; false unless they are next and closed.
  bool Bracketed() {
    SkipBlanks();
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (c == '\\' && quoted) ++i;
      if (c == '"') quoted = !quoted;
      if (quoted) continue;
      depth += c == '{' || c == '[' || c == '(' ? 1 : 0;
      depth -= c == '}' || c == ']' || c == ')' ? 1 : 0;
      if (depth > 0) continue;
      if (i > 0) TakeFront(i + 1);
      return depth == 0 && i > 0;
    }
    return false;
  }

  // Takes a value of any form, up to a blank that no bracket encloses.
  bool SkipValue() {
    if (AtEnd()) return false;
    while (!rest_.empty() && !absl::ascii_isspace(Byte(rest_.front()))) {
      if (absl::string_view("{[(\"").find(rest_.front()) == rest_.npos) {
        TakeFront(1);
      } else if (!Bracketed()) {
        return false;
      }
    }
    return true;
  }

  // The text from the next token on.
  absl::string_view rest() {
    SkipBlanks();
    return rest_;
  }

 private:
  static unsigned char Byte(char c) { return static_cast<unsigned char>(c); }
  static bool IsDigit(char c) { return absl::ascii_isdigit(Byte(c)); }
  static bool IsWordCharacter(char c, bool first) {
    return absl::ascii_isalpha(Byte(c)) || c == '_' ||
           (!first && (IsDigit(c) || c == '.' || c == '-'));
  }

  absl::string_view TakeFront(size_t size) {
    const absl::string_view front = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return front;
  }

  void SkipBlanks() {
    while (true) {
      rest_ = absl::StripLeadingAsciiWhitespace(rest_);
      if (absl::StartsWith(rest_, "//")) {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (size_t end; absl::StartsWith(rest_, "/*") &&
                             (end = rest_.find("*/", 2)) != rest_.npos) {
        rest_.remove_prefix(end + 2);
      } else {
        return;
      }
    }
  }

  absl::string_view rest_;
};

}  // namespace hone::hlo::inference

#endif  // HONE_HLO_INFERENCE_VALUE_READER_H_
