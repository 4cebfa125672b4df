#ifndef HONE_LOOPS_TEXT_LEXER_H_
#define HONE_LOOPS_TEXT_LEXER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

#include "hlo/text/lexer.h"

namespace hone::loops {

// Reads the tokens of the text of a program, whose comments have been blanked
// out. Lines matter: only NextLine advances to the next line. Functions that
// return bool report an error and return false if the text does not match.
class LineLexer {
 public:
  // `text` and `error` must outlive the lexer. Only the first error is kept.
  LineLexer(absl::string_view text, hlo::TextError* error)
      : position_(text.data()),
        end_(text.data() + text.size()),
        error_(error) {}

  // Report an error and return false. The message of FailExpected is "found
  // TOKEN, expected EXPECTED", at the next token.
  bool Fail(const char* at, std::string message);
  bool FailExpected(absl::string_view expected);

  // The position of the next token.
  const char* Position() {
    SkipBlanks();
    return position_;
  }
  void set_position(const char* position) { position_ = position; }
  // The rest of the whole text.
  absl::string_view Rest() const {
    return {position_, static_cast<size_t>(end_ - position_)};
  }

  bool AtLineEnd();
  bool ExpectLineEnd() { return AtLineEnd() || FailExpected("a new line"); }
  // Advances to the first token after blank lines; returns false at the end of
  // the text.
  bool NextLine();

  // Consumes `token` if it is next; no error otherwise. Try longer tokens with
  // the same prefix (`<=`) first.
  bool Take(absl::string_view token);
  // Consumes `word` if it is the whole next word.
  bool TakeWord(absl::string_view word);
  bool Expect(absl::string_view token);
  // Returns true if `c` is next.
  bool IsNext(char c);

  // Consumes a word: a letter or `_`, then letters, digits, `_` and `.`.
  // Returns an empty string if none is next.
  absl::string_view Word();
  bool Name(absl::string_view& name, absl::string_view expected);
  // Returns true if a digit is next.
  bool IsNumberNext();
  // Reads an unsigned decimal integer.
  bool Integer(int64_t& value);
  // Reads a decimal integer with an optional minus in front.
  bool SignedInteger(int64_t& value);

 private:
  void SkipBlanks();

  const char* position_;
  const char* end_;
  hlo::TextError* error_;
};

// Return true if `c` may occur in a name, and at the start of one.
bool IsNameCharacter(char c);
bool StartsName(char c);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TEXT_LEXER_H_
