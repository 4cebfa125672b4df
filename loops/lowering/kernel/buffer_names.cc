#include "loops/lowering/kernel/buffer_names.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace hone::loops {

std::string BufferNames::Unique(absl::string_view name) {
  std::string base(name);
  for (char& c : base) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  if (base.empty() ||
      absl::ascii_isdigit(static_cast<unsigned char>(base[0]))) {
    base = absl::StrCat("_", base);
  }
  std::string unique = base;
  for (int n = 1; !used_.insert(unique).second; ++n) {
    unique = absl::StrCat(base, "_", n);
  }
  return unique;
}

}  // namespace hone::loops
