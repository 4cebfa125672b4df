#ifndef HONE_HLO_TEXT_LEXER_H_
#define HONE_HLO_TEXT_LEXER_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/shape.h"

namespace hone::hlo {

// The first error of a parse: where in the text, and what.
struct TextError {
  const char* position = nullptr;  // null: none
  std::string message;
};

// "found TOKEN, expected EXPECTED" for a token at `position`, before `end`: a
// run of characters that `is_name` likes, or a single other one.
std::string UnexpectedToken(const char* position, const char* end,
                            absl::FunctionRef<bool(char)> is_name,
                            absl::string_view expected);

// Reads the tokens of HLO text. What a token is depends on where it stands
// (`3x3`, `0_1x1_2`, `b01f_01io->b01f`, names with dots and dashes), so the
// parser asks for the kind it expects. Every reader skips blanks and comments
// first; those that return bool report an error and return false when the text
// holds something else.
class TextLexer {
 public:
  // `text` and `error` must outlive the lexer. Errors of several lexers over
  // parts of one text may go to the same place; the first one stays.
  TextLexer(absl::string_view text, TextError* error)
      : position_(text.data()),
        end_(text.data() + text.size()),
        error_(error) {}

  // Both return false.
  bool Fail(const char* at, std::string message);
  // "found TOKEN, expected EXPECTED" at the next token.
  bool FailExpected(absl::string_view expected);

  // The place of the next token.
  const char* Position() {
    SkipBlanks();
    return position_;
  }
  void set_position(const char* position) { position_ = position; }
  // The end of the last token.
  const char* token_end() const { return position_; }
  int64_t remaining() const { return end_ - position_; }

  // The next character that is neither blank nor comment, without taking it;
  // NUL at the end.
  char Peek() {
    SkipBlanks();
    return position_ < end_ ? *position_ : '\0';
  }
  bool AtEnd() {
    SkipBlanks();
    return position_ == end_;
  }
  // The character right behind the last token, blanks not skipped.
  char PeekRaw() const { return position_ < end_ ? *position_ : '\0'; }

  // Takes `c` if it is next; no error otherwise.
  bool Take(char c) {
    if (Peek() != c || position_ == end_) return false;
    ++position_;
    return true;
  }
  // Likewise for a longer token.
  bool Take(absl::string_view token);
  bool Expect(char c);
  bool Expect(absl::string_view token);

  // Letters, digits, `.`, `-` and `_`, as many as there are; maybe none.
  absl::string_view Word();
  // A name, with or without `%`; not empty.
  bool Name(absl::string_view& name, absl::string_view expected);
  bool Integer(int64_t& value);
  // true, false, 1 or 0.
  bool Bool(bool& value);
  // A quoted string with C escapes, unescaped.
  bool String(std::string& value);
  // `{1,2}`
  bool IntegerList(DimensionVector& values);

  // The text from an opening bracket to the one that closes it, both included;
  // brackets in strings do not count.
  bool Bracketed(absl::string_view& text);
  // The value of any attribute: up to a comma, a closing bracket or a blank
  // that no bracket encloses.
  bool AttributeValue(absl::string_view& text);

 private:
  void SkipBlanks() {
    if (position_<end_&& static_cast<unsigned char>(*position_)> ' ' &&
        *position_ != '/') {
      return;
    }
    SkipBlanksSlow();
  }
  void SkipBlanksSlow();
  bool SkipString();

  const char* position_;
  const char* end_;
  TextError* error_;
};

// Returns true if `c` may stand in a name.
bool IsNameCharacter(char c);

// "FILE:LINE:COLUMN: message", columns counted in bytes from 1.
std::string FormatTextError(absl::string_view text, absl::string_view file_name,
                            const TextError& error);

}  // namespace hone::hlo

#endif  // HONE_HLO_TEXT_LEXER_H_
