#ifndef HONE_BASE_EMBEDDED_FILE_H_
#define HONE_BASE_EMBEDDED_FILE_H_

#include <cstddef>

#include "absl/strings/string_view.h"

// Puts the bytes of a file into the object file, by the assembler, at
// `symbol`, aligned to 16, and a zero after them. `path` is a string literal;
// the build must make the object depend on the file (OBJECT_DEPENDS). At
// namespace scope, outside of namespaces, once for each symbol of a program:
//
//   // NOLINTNEXTLINE(readability-identifier-naming): a symbol of the object.
//   HONE_EMBED_FILE(hone_page, HONE_FILES "/page.html");
//   …
//   const absl::string_view page = HONE_EMBEDDED_FILE(hone_page);
#define HONE_EMBED_FILE(symbol, path)     \
  __asm__(                                \
      ".pushsection .rodata\n"            \
      ".balign 16\n"                      \
      ".global " #symbol "\n" #symbol     \
      ":\n"                               \
      ".incbin \"" path                   \
      "\"\n"                              \
      ".global " #symbol "_end\n" #symbol \
      "_end:\n.byte 0\n"                  \
      ".popsection\n");                   \
  extern "C" const char symbol[];         \
  extern "C" const char symbol##_end[]

// The bytes of such a file.
#define HONE_EMBEDDED_FILE(symbol) \
  absl::string_view(symbol, static_cast<size_t>(symbol##_end - symbol))

#endif  // HONE_BASE_EMBEDDED_FILE_H_
