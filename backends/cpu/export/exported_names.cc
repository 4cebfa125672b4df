#include "backends/cpu/export/exported_names.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace hone::backends {

ExportedNames ExportedNames::Of(absl::string_view path) {
  absl::string_view file = path.substr(path.find_last_of('/') + 1);
  std::string stem(file.substr(0, file.find_last_of('.')));
  for (char& c : stem) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  if (stem.empty()) stem = "kernel";
  if (!absl::ascii_isalpha(static_cast<unsigned char>(stem[0]))) {
    stem.insert(0, "kernel_");
  }
  // Names of files that differ in case are different ones.
  return {.entry = absl::StrCat(stem, "_entry"),
          .set_threads = absl::StrCat(stem, "_set_threads"),
          .guard = absl::StrCat("HONE_", stem, "_H_")};
}

}  // namespace hone::backends
