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
  // Fuse nests over blocks of so many rows, in which they stay apart: 1 no.
  kRowBlock,
  // Bypass the caches in vector stores of results: 2 yes.
  kStream,
  // Cache lines that an innermost loop over a large argument prefetches ahead:
  // 1 none.
  kPrefetch,
};
inline constexpr size_t kChoiceCount = 15;

// A schedule may make a choice several times, once per nest for example. Each
// choice may be overridden everywhere, or only the first, second, … time.
inline constexpr size_t kChoiceTimes = 4;

// Values of choices; 0: by the rule. Index: ChoiceIndex.
using Choices = std::array<int64_t, (1 + kChoiceTimes) * kChoiceCount>;

// Returns the index in Choices of a choice everywhere (time 0), or the
// `time`-th time.
constexpr size_t ChoiceIndex(size_t choice, size_t time) {
  return time * kChoiceCount + choice;
}

// How a schedule used choices.
struct ChoiceUse {
  // The number of times that it made each choice.
  std::array<size_t, kChoiceCount> times{};
  // The values that decided anything otherwise than without them; the others
  // are 0. They lead to the same schedule.
  Choices effective{};
};

struct ChoiceInfo {
  absl::string_view name;
  // The values to try besides the one of the rule, in this order.
  std::vector<int64_t> values;
};

// Returns the infos, indexed by Choice.
absl::Span<const ChoiceInfo> AllChoices();

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_CHOICES_H_
