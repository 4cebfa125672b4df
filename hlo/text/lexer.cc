#include "hlo/text/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace hone::hlo {
namespace {

constexpr std::array<bool, 256> kNameCharacters = [] {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<size_t>(c)] = true;
  table['.'] = table['-'] = table['_'] = true;
  return table;
}();

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

bool IsNameCharacter(char c) {
  return kNameCharacters[static_cast<unsigned char>(c)];
}

std::string UnexpectedToken(const char* position, const char* end,
                            absl::FunctionRef<bool(char)> is_name,
                            absl::string_view expected) {
  constexpr int64_t kShown = 30;
  const char* stop = position;
  while (stop < end && stop - position < kShown && is_name(*stop)) ++stop;
  if (stop == position) ++stop;
  const absl::string_view found(position, static_cast<size_t>(stop - position));
  return absl::StrCat("found '", absl::CHexEscape(found), "', expected ",
                      expected);
}

bool TextLexer::Fail(const char* at, std::string message) {
  if (error_->position == nullptr) {
    error_->position = at;
    error_->message = std::move(message);
  }
  return false;
}

bool TextLexer::FailExpected(absl::string_view expected) {
  if (AtEnd()) {
    return Fail(position_,
                absl::StrCat("the text ends here, expected ", expected));
  }
  return Fail(position_,
              UnexpectedToken(position_, end_, IsNameCharacter, expected));
}

void TextLexer::SkipBlanksSlow() {
  while (position_ < end_) {
    if (IsBlank(*position_)) {
      ++position_;
      continue;
    }
    if (*position_ != '/' || end_ - position_ < 2) return;
    const absl::string_view rest(position_ + 2,
                                 static_cast<size_t>(end_ - position_ - 2));
    if (position_[1] == '*') {
      const size_t close = rest.find("*/");
      // An unclosed comment stays and is an unexpected token.
      if (close == absl::string_view::npos) return;
      position_ += close + 4;
    } else if (position_[1] == '/') {
      const size_t newline = rest.find('\n');
      position_ =
          newline == absl::string_view::npos ? end_ : position_ + 2 + newline;
    } else {
      return;
    }
  }
}

bool TextLexer::Take(absl::string_view token) {
  SkipBlanks();
  if (static_cast<size_t>(end_ - position_) < token.size() ||
      std::memcmp(position_, token.data(), token.size()) != 0) {
    return false;
  }
  position_ += token.size();
  return true;
}

bool TextLexer::Expect(char c) {
  return Take(c) ||
         FailExpected(absl::StrCat("'", absl::string_view(&c, 1), "'"));
}

bool TextLexer::Expect(absl::string_view token) {
  return Take(token) || FailExpected(absl::StrCat("'", token, "'"));
}

absl::string_view TextLexer::Word() {
  SkipBlanks();
  const char* start = position_;
  while (position_ < end_ && IsNameCharacter(*position_)) ++position_;
  return {start, static_cast<size_t>(position_ - start)};
}

bool TextLexer::Name(absl::string_view& name, absl::string_view expected) {
  const char* start = Position();
  Take('%');
  const char* first = position_;
  while (position_ < end_ && IsNameCharacter(*position_)) ++position_;
  name = {first, static_cast<size_t>(position_ - first)};
  if (!name.empty()) return true;
  position_ = start;
  return FailExpected(expected);
}

bool TextLexer::Integer(int64_t& value) {
  SkipBlanks();
  const auto [stop, error] = std::from_chars(position_, end_, value);
  if (error == std::errc::invalid_argument) return FailExpected("an integer");
  if (error != std::errc()) {
    return Fail(position_, "the number is too large, expected 64 bits");
  }
  position_ = stop;
  return true;
}

bool TextLexer::Bool(bool& value) {
  const char* start = Position();
  const absl::string_view word = Word();
  value = word == "true" || word == "1";
  if (value || word == "false" || word == "0") return true;
  position_ = start;
  return FailExpected("true or false");
}

bool TextLexer::SkipString() {
  const char* start = position_;
  const char quote = *position_++;
  while (position_ < end_ && *position_ != quote) {
    position_ += *position_ == '\\' ? 2 : 1;
  }
  if (position_ >= end_) {
    position_ = end_;
    return Fail(start, absl::StrCat("the string has no end, expected ",
                                    absl::string_view(&quote, 1)));
  }
  ++position_;
  return true;
}

bool TextLexer::String(std::string& value) {
  const char* start = Position();
  if (Peek() != '"' && Peek() != '\'') return FailExpected("a quoted string");
  if (!SkipString()) return false;
  std::string problem;
  const absl::string_view body(start + 1,
                               static_cast<size_t>(position_ - start - 2));
  if (!absl::CUnescape(body, &value, &problem)) {
    return Fail(start, "the string has an unknown escape, expected C escapes");
  }
  return true;
}

bool TextLexer::IntegerList(DimensionVector& values) {
  if (!Expect('{')) return false;
  if (Take('}')) return true;
  do {
    int64_t value = 0;
    if (!Integer(value)) return false;
    values.push_back(value);
  } while (Take(','));
  return Expect('}');
}

bool TextLexer::Bracketed(absl::string_view& text) {
  const char* start = Position();
  int64_t depth = 0;
  while (position_ < end_) {
    switch (*position_) {
      case '{':
      case '(':
      case '[':
        ++depth;
        break;
      case '}':
      case ')':
      case ']':
        if (--depth == 0) {
          ++position_;
          text = {start, static_cast<size_t>(position_ - start)};
          return true;
        }
        break;
      case '"':
      case '\'':
        if (!SkipString()) return false;
        continue;
      default:
        break;
    }
    ++position_;
  }
  return Fail(start, absl::StrCat("the '", absl::string_view(start, 1),
                                  "' is never closed, expected its end"));
}

bool TextLexer::AttributeValue(absl::string_view& text) {
  const char* start = Position();
  bool done = false;
  while (!done && position_ < end_) {
    switch (*position_) {
      case '{':
      case '(':
      case '[': {
        absl::string_view unused;
        if (!Bracketed(unused)) return false;
        continue;
      }
      case '"':
      case '\'':
        if (!SkipString()) return false;
        continue;
      case '}':
      case ')':
      case ']':
      case ',':
      case '\n':
      case '\r':
        done = true;
        continue;
      case ' ':
      case '\t': {
        // Only a literal (`literal=s32[2] {1, 2}`) goes on behind a blank.
        const char* blank = position_;
        while (position_ < end_ && (*position_ == ' ' || *position_ == '\t')) {
          ++position_;
        }
        if (position_ < end_ && *position_ == '{') continue;
        position_ = blank;
        done = true;
        continue;
      }
      default:
        ++position_;
    }
  }
  text = {start, static_cast<size_t>(position_ - start)};
  return !text.empty() || FailExpected("the value of the attribute");
}

std::string FormatTextError(absl::string_view text, absl::string_view file_name,
                            const TextError& error) {
  const absl::string_view before =
      text.substr(0, static_cast<size_t>(error.position - text.data()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t newline = before.rfind('\n');
  const size_t column = newline == absl::string_view::npos
                            ? before.size() + 1
                            : before.size() - newline;
  return absl::StrCat(file_name, ":", line, ":", column, ": ", error.message);
}

}  // namespace hone::hlo
