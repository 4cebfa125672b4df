#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"

#include "backends/cpu/export/shared_object.h"
#include "backends/cpu/kernel_abi.h"
#include "base/embedded_file.h"

// NOLINTNEXTLINE(readability-identifier-naming): a symbol of the object file.
HONE_EMBED_FILE(hone_kernel_abi, HONE_KERNEL_ABI);

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

std::string CHeader(const ExportedNames& names,
                    absl::Span<const EntryArray> arguments,
                    absl::Span<const EntryArray> results,
                    absl::string_view comment) {
  std::string text = "/*\n";
  for (absl::string_view line : absl::StrSplit(comment, '\n')) {
    absl::StrAppend(&text, CommentLine(line));
  }
  absl::StrAppend(
      &text, " */\n#ifndef ", names.guard, "\n#define ", names.guard, "\n\n",
      HONE_EMBEDDED_FILE(hone_kernel_abi),
      absl::Substitute(R"(
#if HONE_ABI_VERSION != $0
#error "another header of Hone has another version of the interface"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Arrays are dense and row-major, of any alignment.
 *
$1$2 *
 * Returns HONE_OK or the code of an error. `context` may be null. Calls from
 * several threads may run at once.
 */
int32_t $3(const hone_context* context, const void* const* arguments,
    void* const* results);

const hone_info* $4(void);

/* Describes the last error on this thread, until the next. */
const char* $5(void);

/* Sets the threads of all of Hone's code in the process from now on, in place
 * of HONE_THREADS. */
void $6(int32_t threads);

/* A handler of XLA's FFI, XLA_FFI_Handler, for platform "cpu". */
struct XLA_FFI_Error;
struct XLA_FFI_CallFrame;
struct XLA_FFI_Error* $7(struct XLA_FFI_CallFrame* call_frame);

#ifndef HONE_ENTRY_DECLARED
#define HONE_ENTRY_DECLARED
/*
 * Names that every exported library has, for dlsym. In a program that links
 * several they are the first one's. hone_entry prints its errors.
 */
void hone_entry(const void* const* arguments, void* const* results);
void hone_kernel_set_threads(int32_t threads);
#endif /* HONE_ENTRY_DECLARED */

#ifdef __cplusplus
}
#endif

#endif /* $8 */
)",
                       HONE_ABI_VERSION, Describe("arguments", arguments),
                       Describe("results", results), names.entry, names.info,
                       names.error_message, names.set_threads, names.ffi,
                       names.guard));
  return text;
}

}  // namespace hone::backends
