#include "loops/ir/affine_text.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace hone::loops {

std::string AffineText(const Affine& affine, absl::Span<const VarId> vars) {
  if (affine.IsConstant()) return absl::StrCat(affine.constant());
  std::vector<std::pair<int64_t, int64_t>> terms;  // depth, coefficient
  for (const Affine::Term& term : affine.terms()) {
    const auto at = std::find(vars.begin(), vars.end(), term.var);
    terms.emplace_back(at - vars.begin(), term.coefficient);
  }
  std::sort(terms.begin(), terms.end());
  std::string text;
  const bool constant_first = terms[0].second < 0 && affine.constant() > 0;
  if (constant_first) absl::StrAppend(&text, affine.constant());
  for (const auto& [depth, coefficient] : terms) {
    if (coefficient > 0 && !text.empty()) text += '+';
    if (coefficient == -1) text += '-';
    if (coefficient != 1 && coefficient != -1) {
      absl::StrAppend(&text, coefficient, "*");
    }
    // An invalid program may use variables that are not in scope.
    const bool known = depth < static_cast<int64_t>(vars.size());
    absl::StrAppend(&text, known ? "i" : "unknown", depth);
  }
  if (affine.constant() == 0 || constant_first) return text;
  absl::StrAppend(&text, affine.constant() > 0 ? "+" : "", affine.constant());
  return text;
}

}  // namespace hone::loops
