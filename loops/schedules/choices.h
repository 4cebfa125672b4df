#ifndef HONE_LOOPS_SCHEDULES_CHOICES_H_
#define HONE_LOOPS_SCHEDULES_CHOICES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hone::loops {

// The decisions that the default schedule makes by a rule, and that a search
// may override.
enum class Choice {
  // The register tile of a contraction: rows, and vectors of columns.
  kTileRows,
  kTileVectors,
  // Copy panels of an operand of a contraction: 1 no, 2 yes.
  kPanels,
  // A panel may use 1/N of L2.
  kPanelShare,
  // Place the loop over row tiles of a contraction outside the loop over column
  // tiles, with panels of the rows' operand: 1 no, 2 yes.
  kRowsFirst,
  // Steps of the sum per block, for contractions without panels.
  kSumsPerBlock,
  // For sums along rows: rows, and vectors of each row, per iteration.
  kRowsAtOnce,
  kRowVectors,
  // Vectors of partial results of other sums in an innermost loop.
  kPartialSums,
  // The longer side of blocks of transposes, which are read along one dimension
  // and written along the other.
  kBlock,
  // Vectors per iteration of an innermost loop without sums.
  kVectorsAtOnce,
  // Fuse nests over the same rows: 1 no.
  kFuse,
  // Fuse nests over blocks of so many rows, in which they stay apart.
  kRowBlock,
  // Bypass the caches in vector stores of results: 2 yes.
  kStream,
};
inline constexpr size_t kChoiceCount = 14;

// The value of each Choice; 0: by the rule.
using Choices = std::array<int64_t, kChoiceCount>;

struct ChoiceInfo {
  absl::string_view name;
  // The values to try besides the one of the rule.
  std::vector<int64_t> values;
};

// Returns the infos, indexed by Choice.
absl::Span<const ChoiceInfo> AllChoices();

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_CHOICES_H_
