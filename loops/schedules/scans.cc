#include "loops/schedules/scans.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"

#include "loops/ir/operation_types.h"
#include "loops/ir/rewrite.h"
#include "loops/schedules/nest.h"

namespace hone::loops {
namespace {

// The most recurrences that are worth the registers.
constexpr int64_t kMaxAtOnce = 16;

bool IsSlow(const Expression& expression) {
  return (expression.kind() == Expression::Kind::kApply &&
          IsSlowOperation(expression.opcode(), expression.type())) ||
         absl::c_any_of(expression.operands(),
                        [](const auto& operand) { return IsSlow(*operand); });
}

// Returns true if no access in the loop is strided along it.
bool IsContiguous(const Program& program, const Loop& loop) {
  bool fits = true;
  for (const Node& node : loop.body) {
    VisitAccesses(*node.statement(), [&](const Access& access, bool) {
      const auto stride = StrideOf(program, access, loop.var);
      fits = fits && (stride == 0 || stride == 1);
    });
  }
  return fits;
}

// Returns true if the iterations of `loop` update elements of a local that
// iterations of `around` carry on, and no store is contiguous.
bool IsInterleaved(const Program& program, const Loop& around,
                   const Loop& loop) {
  if (loop.extent < 2 || loop.extent > kMaxAtOnce || loop.bound.has_value()) {
    return false;
  }
  std::vector<BufferId> carried;
  for (const Node& node : loop.body) {
    const Statement& statement = *node.statement();
    const Buffer& buffer = program.buffer(statement.target.buffer);
    const auto along = StrideOf(program, statement.target, loop.var);
    if (buffer.IsLocal() && along == 1 &&
        StrideOf(program, statement.target, around.var) == 0) {
      carried.push_back(statement.target.buffer);
    } else if (!buffer.IsLocal() && along == 1) {
      return false;
    }
  }
  bool reads = false;
  for (const Node& node : loop.body) {
    VisitAccesses(*node.statement(), [&](const Access& access, bool is_target) {
      reads |= !is_target && absl::c_linear_search(carried, access.buffer);
    });
  }
  return reads;
}

// Returns true if the steps of `around` are few and contiguous in all arrays
// that the lines in `loop` access: blocks that can be transposed.
bool IsShortAndContiguous(const Program& program, const Loop& around,
                          const Loop& loop) {
  bool fits = around.extent <= kMaxAtOnce && !around.bound.has_value();
  for (const Node& node : loop.body) {
    VisitAccesses(*node.statement(), [&](const Access& access, bool is_target) {
      const auto stride = StrideOf(program, access, around.var);
      fits = fits && (program.buffer(access.buffer).IsLocal() || stride == 1 ||
                      (stride == 0 && !is_target));
    });
  }
  return fits;
}

// Unrolls the steps of the loop at `path`, of many only as many as its vector
// has lanes, if the array of its lines is contiguous along them: the code
// generator then transposes blocks of lines and steps in registers.
void TransposeSteps(Scheduler& s, const Path& path) {
  const Loop& steps = *s.program().At(path).loop();
  const Loop& lines = *OnlyChildLoop(steps);
  const Statement& last = *lines.body.back().statement();
  const int64_t extent = steps.extent;
  const int64_t count = lines.extent;
  if (steps.bound.has_value() ||
      s.program().buffer(last.target.buffer).IsLocal() ||
      StrideOf(s.program(), last.target, steps.var) != 1 ||
      StrideOf(s.program(), last.target, lines.var) == 1) {
    return;
  }
  const Scheduler::Checkpoint mark = s.Save();
  Path block = path;
  if (extent > std::max(count, kMaxAtOnce)) {
    if (!s.Try("split", path, {count}) ||
        (extent % count != 0 && !s.Try("peel", path, {extent / count}))) {
      s.Restore(mark);
      return;
    }
    // A single block is no loop around the steps.
    if (extent / count > 1 || extent % count == 0) block.push_back(0);
    // What is left over.
    if (extent % count > 1) s.Try("unroll", Sibling(path, 1));
  }
  if (!s.Try("unroll", block)) s.Restore(mark);
}

}  // namespace

void InterleaveScans(Scheduler& s, const Path& path) {
  // From the last on, since what is peeled off follows a loop.
  const std::vector<Path> leaves = SequentialInnermostLoops(s.program(), path);
  for (size_t i = leaves.size(); i-- > 0;) {
    const Path& leaf = leaves[i];
    if (leaf.size() < 2) continue;
    const Path above = Parent(leaf);
    const Loop& around = *s.program().At(above).loop();
    const Loop& loop = *s.program().At(leaf).loop();
    if (OnlyChildLoop(around) == nullptr ||
        !IsInterleaved(s.program(), around, loop)) {
      continue;
    }
    const bool prefers_lanes =
        IsContiguous(s.program(), loop) ||
        IsShortAndContiguous(s.program(), around, loop) ||
        absl::c_any_of(loop.body, [](const Node& node) {
          return IsSlow(*node.statement()->value);
        });
    if (prefers_lanes && s.Try("vectorize", leaf)) {
      TransposeSteps(s, above);
      continue;
    }
    s.Try("unroll", leaf);
    // The loop that starts the recurrences.
    if (above.size() < 2 || above.back() == 0) continue;
    const Path first = Sibling(above, -1);
    const Loop* const starts = s.program().At(first).loop();
    if (starts != nullptr && starts->extent <= kMaxAtOnce) {
      s.Try("unroll", first);
    }
  }
}

}  // namespace hone::loops
