#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

#include "backends/cpu/export/shared_object.h"

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

std::string Entry(absl::string_view name) {
  return absl::StrCat(
      "void ", name, "(const void* const* arguments, void* const* results);\n");
}

std::string SetThreads(absl::string_view name) {
  return absl::StrCat("void ", name, "(int32_t threads);\n");
}

}  // namespace

std::string CHeader(const ExportedNames& names,
                    absl::Span<const EntryArray> arguments,
                    absl::Span<const EntryArray> results,
                    absl::string_view comment) {
  std::string text = "/*\n";
  for (absl::string_view line : absl::StrSplit(comment, '\n')) {
    absl::StrAppend(&text, CommentLine(line));
  }
  absl::StrAppend(
      &text, " */\n#ifndef ", names.guard, "\n#define ", names.guard,
      "\n\n#include <stdint.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n/*\n"
      " * Arrays are dense and row-major, of any alignment; results\n"
      " * overlap nothing else.\n *\n",
      Describe("arguments", arguments), Describe("results", results), " */\n",
      Entry(names.entry),
      "\n/* The number of threads from now on, in place of HONE_THREADS. */\n",
      SetThreads(names.set_threads),
      "\n/*\n * The same under the names that every exported library has, for"
      " dlsym.\n * In a program that links several they are the first one's."
      "\n */\n#ifndef HONE_ENTRY_DECLARED\n#define HONE_ENTRY_DECLARED\n",
      Entry(kEntryAlias), SetThreads(kSetThreadsAlias),
      "#endif /* HONE_ENTRY_DECLARED */\n\n"
      "#ifdef __cplusplus\n}\n#endif\n\n#endif /* ",
      names.guard, " */\n");
  return text;
}

}  // namespace hone::backends
