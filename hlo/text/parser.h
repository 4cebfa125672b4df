#ifndef HONE_HLO_TEXT_PARSER_H_
#define HONE_HLO_TEXT_PARSER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// The limits of a reader, so that hostile input ends in an error within bounded
// time and memory.
struct ReadLimits {
  int64_t max_instructions = 1'000'000;
  // Nesting of shapes, literals and operands.
  int max_depth = kMaxTupleLevels;
};

// Editors put it in front of UTF-8.
inline constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

// Parses HLO text in any style that XLA prints: with or without `%`, operand
// shapes, layouts, metadata, comments, backend configs, nested operands;
// behind a byte order mark, too. Unknown opcodes and attributes are kept
// verbatim. The result is not verified yet (VerifyModule). Errors:
// InvalidArgument, "FILE:LINE:COLUMN: what, expected what".
absl::StatusOr<Module> ParseHloText(absl::string_view text,
                                    absl::string_view file_name = "<text>",
                                    const ReadLimits& limits = {});

}  // namespace hone::hlo

#endif  // HONE_HLO_TEXT_PARSER_H_
