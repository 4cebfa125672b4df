#include "loops/text/lexer.h"

#include <charconv>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "loops/analysis/verifier_internal.h"

namespace hone::loops {

bool StartsName(char c) {
  return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_';
}

bool IsNameCharacter(char c) {
  return StartsName(c) || absl::ascii_isdigit(static_cast<unsigned char>(c)) ||
         c == '.';
}

bool LineLexer::Fail(const char* at, std::string message) {
  if (error_->position == nullptr) {
    error_->position = at;
    error_->message = std::move(message);
  }
  return false;
}

bool LineLexer::FailExpected(absl::string_view expected) {
  if (AtLineEnd()) {
    return Fail(position_,
                absl::StrCat("the ", position_ < end_ ? "line" : "text",
                             " ends here, expected ", expected));
  }
  return Fail(position_,
              hlo::UnexpectedToken(position_, end_, IsNameCharacter, expected));
}

void LineLexer::SkipBlanks() {
  while (position_ < end_ &&
         (*position_ == ' ' || *position_ == '\t' || *position_ == '\r')) {
    ++position_;
  }
}

bool LineLexer::AtLineEnd() {
  SkipBlanks();
  return position_ == end_ || *position_ == '\n';
}

bool LineLexer::NextLine() {
  while (AtLineEnd()) {
    if (position_ == end_) return false;
    ++position_;
  }
  return true;
}

bool LineLexer::Take(absl::string_view token) {
  SkipBlanks();
  if (!absl::StartsWith(Rest(), token)) return false;
  position_ += token.size();
  return true;
}

bool LineLexer::TakeWord(absl::string_view word) {
  const char* start = Position();
  if (Word() == word) return true;
  position_ = start;
  return false;
}

bool LineLexer::Expect(absl::string_view token) {
  return Take(token) || FailExpected(absl::StrCat("'", token, "'"));
}

bool LineLexer::IsNext(char c) {
  SkipBlanks();
  return position_ < end_ && *position_ == c;
}

absl::string_view LineLexer::Word() {
  SkipBlanks();
  const char* start = position_;
  if (position_ < end_ && StartsName(*position_)) {
    while (position_ < end_ && IsNameCharacter(*position_)) ++position_;
  }
  return {start, static_cast<size_t>(position_ - start)};
}

bool LineLexer::Name(absl::string_view& name, absl::string_view expected) {
  name = Word();
  return !name.empty() || FailExpected(expected);
}

bool LineLexer::IsNumberNext() {
  SkipBlanks();
  return position_ < end_ &&
         absl::ascii_isdigit(static_cast<unsigned char>(*position_));
}

bool LineLexer::Integer(int64_t& value) {
  if (!IsNumberNext()) return FailExpected("an integer");
  const auto [stop, error] = std::from_chars(position_, end_, value);
  if (error != std::errc() || value > kMaxIndexNumber) {
    return Fail(position_, "the number is too large, expected at most 2^56");
  }
  position_ = stop;
  return true;
}

bool LineLexer::SignedInteger(int64_t& value) {
  const bool negative = Take("-");
  if (!Integer(value)) return false;
  if (negative) value = -value;
  return true;
}

}  // namespace hone::loops
