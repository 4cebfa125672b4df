#ifndef HONE_LOOPS_TEXT_LEXER_H_
#define HONE_LOOPS_TEXT_LEXER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

#include "hlo/text/lexer.h"

namespace hone::loops {

// Reads the tokens of the text of a program, whose comments have been blanked
// out. Lines matter, so nothing but NextLine goes from one to the next. Readers
// that return bool report an error and return false when the text holds
// something else.
class LineLexer {
 public:
  // `text` and `error` must outlive the lexer; the first error stays.
  LineLexer(absl::string_view text, hlo::TextError* error)
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
  // What is left of the whole text.
  absl::string_view Rest() const {
    return {position_, static_cast<size_t>(end_ - position_)};
  }

  bool AtLineEnd();
  bool ExpectLineEnd() { return AtLineEnd() || FailExpected("a new line"); }
  // Goes to the first token behind blank lines; false at the end of the text.
  bool NextLine();

  // Takes a token if it is next; no error otherwise. A longer token that begins
  // like it (`<=`) must have been asked for before.
  bool Take(absl::string_view token);
  // Likewise for a word, which must not go on.
  bool TakeWord(absl::string_view word);
  bool Expect(absl::string_view token);
  // Whether `c` is next.
  bool IsNext(char c);

  // A letter or `_`, then letters, digits, `_` and `.`; empty if none is next.
  absl::string_view Word();
  bool Name(absl::string_view& name, absl::string_view expected);
  // Whether a digit is next.
  bool IsNumberNext();
  // Digits, as many as there are.
  bool Integer(int64_t& value);
  // Likewise, with an optional minus in front.
  bool SignedInteger(int64_t& value);

 private:
  void SkipBlanks();

  const char* position_;
  const char* end_;
  hlo::TextError* error_;
};

// Whether `c` may stand in a name, and at its beginning.
bool IsNameCharacter(char c);
bool StartsName(char c);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TEXT_LEXER_H_
