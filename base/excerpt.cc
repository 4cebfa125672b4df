#include "base/excerpt.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace hone {

std::string Excerpt(absl::string_view text) {
  constexpr size_t kShown = 80;
  return absl::StrCat(absl::CHexEscape(text.substr(0, kShown)),
                      text.size() > kShown ? "…" : "");
}

}  // namespace hone
