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
  // Rows and vectors of columns of a contraction's tile in registers.
  kTileRows,
  kTileVectors,
  // Whether contractions copy panels of a factor: 1 no, 2 yes.
  kPanels,
  // Parts of the second cache of which a panel may fill one.
  kPanelShare,
  // Whether a contraction's tiles of rows are around those of columns, and it
  // copies panels of the rows' factor: 1 no, 2 yes.
  kRowsFirst,
  // Sums that a contraction without panels takes at once.
  kSumsPerBlock,
  // Rows, and vectors of each, that sums along rows take at once.
  kRowsAtOnce,
  kRowVectors,
  // Vectors of partial results of other sums along a leaf.
  kPartialSums,
  // The longer side of blocks that are read along one side and written along
  // the other.
  kBlock,
  // Vectors that a leaf without sums takes at once.
  kVectorsAtOnce,
  // Whether nests over the same rows are fused: 1 no.
  kFuse,
  // Whether vectors of results are stored past the caches: 2 yes.
  kStream,
};
inline constexpr size_t kChoiceCount = 13;

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
