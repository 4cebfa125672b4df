#include "backends/cpu/export/exported_names.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <dlfcn.h>

namespace hone::backends {
namespace {

// Words that C, C++ or their implementations take, sorted.
constexpr absl::string_view kWords[] = {
    "NAN",       "NULL",     "and",       "asm",      "assert",   "auto",
    "bitand",    "bitor",    "bool",      "break",    "case",     "catch",
    "char",      "class",    "compl",     "concept",  "const",    "constexpr",
    "continue",  "decltype", "default",   "delete",   "do",       "double",
    "else",      "enum",     "errno",     "explicit", "export",   "extern",
    "false",     "float",    "for",       "friend",   "goto",     "if",
    "inline",    "int",      "linux",     "long",     "main",     "mutable",
    "namespace", "new",      "noexcept",  "not",      "nullptr",  "operator",
    "or",        "private",  "protected", "public",   "register", "requires",
    "restrict",  "return",   "short",     "signed",   "sizeof",   "static",
    "struct",    "switch",   "template",  "this",     "throw",    "true",
    "try",       "typedef",  "typeid",    "typename", "typeof",   "union",
    "unix",      "unsigned", "using",     "virtual",  "void",     "volatile",
    "while",     "xor",
};

// A program that links the shared object would call it in place of the C
// library's function.
bool IsInCLibrary(const std::string& name) {
  float (*const cosine)(float) = &cosf;
  for (const void* function : {reinterpret_cast<const void*>(cosine),
                               reinterpret_cast<const void*>(&std::getenv)}) {
    Dl_info info;
    if (dladdr(function, &info) == 0) continue;
    void* const library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    const bool is_defined = dlsym(library, name.c_str()) != nullptr;
    dlclose(library);
    if (is_defined) return true;
  }
  return false;
}

bool IsTaken(const std::string& name) {
  return std::binary_search(std::begin(kWords), std::end(kWords), name) ||
         absl::StartsWith(name, "hone") || absl::EndsWith(name, "_t") ||
         IsInCLibrary(name);
}

}  // namespace

ExportedNames ExportedNames::Of(absl::string_view path) {
  absl::string_view file = path.substr(path.find_last_of('/') + 1);
  std::string stem(file.substr(0, file.find_last_of('.')));
  for (char& c : stem) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  if (stem.empty()) stem = "kernel";
  if (!absl::ascii_isalpha(static_cast<unsigned char>(stem[0])) ||
      IsTaken(stem)) {
    stem.insert(0, "kernel_");
  }
  // Names of files that differ in case are different ones.
  return {.entry = stem,
          .info = absl::StrCat(stem, "_info"),
          .error_message = absl::StrCat(stem, "_error_message"),
          .set_threads = absl::StrCat(stem, "_set_threads"),
          .ffi = absl::StrCat(stem, "_ffi"),
          .guard = absl::StrCat("HONE_", stem, "_H_")};
}

}  // namespace hone::backends
