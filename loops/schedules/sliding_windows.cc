#include "loops/schedules/sliding_windows.h"

#include <algorithm>

#include "absl/algorithm/container.h"

#include "loops/analysis/simplify_ranges.h"
#include "loops/schedules/contraction_costs.h"

namespace hone::loops {
namespace {

// Returns true if the values of `range` exceed it by at most one on each side.
bool IsNarrow(const Range& range, const ValueRanges& ranges) {
  const Interval value = ranges.Of(range.value);
  return value.lo >= range.lo - 1 && value.hi <= range.hi;
}

}  // namespace

std::optional<SlidingWindow> FindSlidingWindow(
    const Program& program, const Access& image, const std::vector<VarId>& rows,
    const std::vector<VarId>& sums,
    const absl::flat_hash_map<VarId, int64_t>& extents, int64_t enough) {
  std::optional<SlidingWindow> best;
  int64_t longest = 1;
  for (VarId row : rows) {
    const int64_t length = std::min(extents.at(row), enough);
    if (length <= longest) continue;
    for (VarId sum : sums) {
      if (ElementsOfWindow(program, image, row, 2, sum, extents.at(sum)) == 1) {
        continue;
      }
      best = {row, sum};
      longest = length;
    }
  }
  return best;
}

std::optional<SlidingWindow> FindSharedRows(
    const Program& program, const Contraction& c,
    const absl::flat_hash_map<VarId, int64_t>& extents, VarId column) {
  for (VarId row : c.columns) {
    const auto stride = StrideOf(program, *c.b, row);
    for (VarId sum : c.sums) {
      const auto step = StrideOf(program, *c.b, sum);
      // Without weights, windows apart pay for loads that are strided anyway.
      if (extents.at(sum) > kFewSums || extents.at(row) < kLeastSharedRows ||
          step.value_or(0) <= 1 ||
          ElementsOfWindow(program, *c.b, row, 2, sum, extents.at(sum)) == 1 ||
          (stride != step && c.a == nullptr &&
           StrideOf(program, *c.b, column) == 1)) {
        continue;
      }
      return SlidingWindow{row, sum};
    }
  }
  return std::nullopt;
}

bool ShouldReadBorderInPlace(const Program& program, const Contraction& c) {
  const Access& image = c.rows.empty() ? *c.b : *c.a;
  if (c.rows.empty() == c.columns.empty() ||
      program.buffer(image.buffer).memory != Memory::kArgument) {
    return false;
  }
  const Statement& statement = *program.At(c.path).statement();
  const std::vector<const Loop*> loops = program.LoopsAbove(c.path);
  const ValueRanges ranges(loops);
  int64_t steps = 1;
  const Loop* channels = nullptr;
  for (const Loop* loop : loops) {
    if (absl::c_linear_search(c.sums, loop->var)) steps *= loop->extent;
    if (absl::c_linear_search(c.batches, loop->var) &&
        StrideOf(program, statement.target, loop->var) == 1 &&
        StrideOf(program, image, loop->var) == 1) {
      channels = loop;
    }
  }
  if (channels == nullptr || steps > kMostUnrolledSteps) return false;
  return absl::c_any_of(
      statement.value->operands(), [&](const ExpressionPtr& operand) {
        return operand->kind() == Expression::Kind::kWhere &&
               operand->operands()[0]->kind() == Expression::Kind::kLoad &&
               absl::c_all_of(operand->ranges(), [&](const Range& range) {
                 return !range.value.Uses(channels->var) &&
                        IsNarrow(range, ranges);
               });
      });
}

}  // namespace hone::loops
