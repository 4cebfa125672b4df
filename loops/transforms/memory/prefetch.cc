// prefetch PATH DISTANCE: lets each iteration of a loop prefetch what its loads
// will touch DISTANCE iterations later.
//
//   for i 100              →    for i 100 prefetch 8
//   | y[i] = x[16*i]            | y[i] = x[16*i]
//
// Legal for sequential loops with a load whose address changes in each
// iteration; prefetched addresses need not exist. Pays off if a loop walks
// through memory in steps that the processor does not predict: across pages, or
// along many rows at once. Not offered for data in L1.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

// Returns true if a statement in `body`, or in loops there that are written
// out, loads from memory what `var` moves.
bool LoadsMove(const Program& program, const std::vector<Node>& body,
               VarId var) {
  return std::any_of(body.begin(), body.end(), [&](const Node& node) {
    if (node.loop() != nullptr) {
      const LoopMode mode = node.loop()->mode;
      return (mode == LoopMode::kUnrolled || mode == LoopMode::kVector) &&
             LoadsMove(program, node.loop()->body, var);
    }
    bool moves = false;
    VisitAccesses(*node.statement(), [&](const Access& access, bool is_target) {
      moves =
          moves || (!is_target &&
                    program.buffer(access.buffer).memory != Memory::kRegister &&
                    std::any_of(access.indices.begin(), access.indices.end(),
                                [&](const Index& index) {
                                  return index.offset == nullptr &&
                                         index.affine.Uses(var);
                                }));
    });
    return moves;
  });
}

absl::Status Check(const Program& program, const Loop& loop) {
  if (loop.mode != LoopMode::kSequential) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the loop is ", ModeName(loop.mode), ", expected sequential"));
  }
  if (loop.prefetch != 0) {
    return absl::InvalidArgumentError("the loop prefetches already");
  }
  if (!LoadsMove(program, loop.body, loop.var)) {
    return absl::InvalidArgumentError(
        "nothing in the loop loads from a place that it moves");
  }
  return absl::OkStatus();
}

class Prefetch final : public Transform {
 public:
  absl::string_view name() const override { return "prefetch"; }

  // Loops over what does not fit in the first cache.
  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      const bool is_large = std::any_of(
          program.buffers().begin(), program.buffers().end(),
          [&](const BufferPtr& buffer) {
            return buffer->allocated_bytes() > machine.l1_bytes &&
                   Mentions(program.At(path),
                            static_cast<BufferId>(&buffer -
                                                  program.buffers().data()));
          });
      if (!is_large || !Check(program, loop).ok()) return;
      for (int64_t distance : {2, 8, 32}) {
        if (distance < loop.extent) {
          steps.push_back({"prefetch", path, {distance}});
        }
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "one: the distance"));
    HONE_ASSIGN_OR_RETURN(const Loop* loop, FindLoop(program, step));
    const int64_t distance = step.parameters[0];
    if (distance < 1 || distance > kMaxPrefetch) {
      return absl::InvalidArgumentError(
          absl::StrCat("distance ", distance, ", expected 1 … ", kMaxPrefetch));
    }
    HONE_RETURN_IF_ERROR(Check(program, *loop));
    Loop ahead = *loop;
    ahead.prefetch = static_cast<int32_t>(distance);
    Program result = program;
    result.ReplaceLoop(step.path, std::move(ahead));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakePrefetch() {
  return std::make_unique<Prefetch>();
}

}  // namespace hone::loops
