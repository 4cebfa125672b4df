#ifndef HONE_LOOPS_SCHEDULES_CHOICES_H_
#define HONE_LOOPS_SCHEDULES_CHOICES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hone::loops {

// What the default schedule decides by a rule and a search may decide
// otherwise.
enum class Choice {
  // Rows and vectors of columns of a contraction's register tile.
  kTileRows,
  kTileVectors,
  // Bytes of the panel that a contraction works on at a time, as a divisor of
  // the second cache.
  kPanelShare,
  // Whether contractions copy panels: 1 never, 2 always.
  kPack,
  // Partial sums in vectors of a reduction along memory.
  kPartialSums,
  // Elements of a row of sums kept at once in a reduction across memory.
  kSumsAtOnce,
  // Rows of the blocks of a transpose.
  kBlockRows,
  // Vectors that a leaf works on side by side.
  kVectorsAtOnce,
  // Whether nests over the same rows are fused: 1 never.
  kFuse,
  // Whether results that are not read again go past the caches: 1 always.
  kStores,
};
inline constexpr size_t kChoiceCount = 10;

// 0: by the rule.
using Choices = std::array<int64_t, kChoiceCount>;

struct ChoiceInfo {
  absl::string_view name;
  // What there is besides the rule's own.
  std::vector<int64_t> values;
};

// By Choice.
absl::Span<const ChoiceInfo> AllChoices();

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_CHOICES_H_
