#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

#include "backends/cpu/shared_object.h"

namespace hone::backends {
namespace {

// A line within a comment, which it must not end.
std::string CommentLine(absl::string_view text) {
  return absl::StrCat(
      " * ", absl::StrReplaceAll(text, {{"*/", "* /"}, {"/*", "/ *"}}), "\n");
}

std::string Describe(absl::string_view array,
                     absl::Span<const EntryArray> entries) {
  std::string text;
  for (size_t i = 0; i < entries.size(); ++i) {
    absl::StrAppend(&text, CommentLine(absl::StrCat(
                               array, "[", i, "]: ", entries[i].name, ", ",
                               entries[i].shape->ToString(), ", ",
                               entries[i].shape->byte_size(), " bytes")));
  }
  return text;
}

}  // namespace

std::string CHeader(absl::string_view symbol,
                    absl::Span<const EntryArray> arguments,
                    absl::Span<const EntryArray> results,
                    absl::string_view comment) {
  const std::string guard = absl::StrCat(absl::AsciiStrToUpper(symbol), "_H_");
  std::string text = "/*\n";
  for (absl::string_view line : absl::StrSplit(comment, '\n')) {
    absl::StrAppend(&text, CommentLine(line));
  }
  absl::StrAppend(&text, " */\n#ifndef ", guard, "\n#define ", guard,
                  "\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n/*\n",
                  " * Arrays are dense and row-major, of any alignment; results"
                  "\n * overlap nothing else.\n *\n",
                  Describe("arguments", arguments),
                  Describe("results", results), " */\nvoid ", symbol,
                  "(const void* const* arguments, void* const* results);\n\n",
                  "#ifdef __cplusplus\n}\n#endif\n\n#endif /* ", guard,
                  " */\n");
  return text;
}

}  // namespace hone::backends
