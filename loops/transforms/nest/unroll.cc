// unroll PATH: fully unrolls a loop.
//
//   for i 4          →    for i 4 unrolled
//
// Always legal; refused if the code would become large, and for loops with
// another mode. Pays off for short inner loops: independent iterations overlap,
// and common loads are shared. Around a loop that is not unrolled it only
// duplicates code.

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

// The largest number of statements that unrolling one loop may produce.
constexpr int64_t kMaxStatements = 512;
// The largest extent for which Enumerate offers unrolling.
constexpr int64_t kMaxUsefulExtent = 16;

// Returns the number of statements of `node` once its loops are unrolled.
int64_t WrittenOut(const Node& node) {
  if (node.statement() != nullptr) return 1;
  int64_t statements = 0;
  for (const Node& child : node.loop()->body) statements += WrittenOut(child);
  const bool unrolled = node.loop()->mode == LoopMode::kUnrolled;
  return statements * (unrolled ? node.loop()->extent : 1);
}

absl::Status Check(const Program& program, const Path& path, const Loop& loop) {
  if (loop.mode != LoopMode::kSequential) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the loop is ", ModeName(loop.mode), ", expected sequential"));
  }
  if (loop.extent > kMaxStatements) {
    return absl::InvalidArgumentError(absl::StrCat(
        "extent ", loop.extent, ", expected at most ", kMaxStatements));
  }
  int64_t statements = WrittenOut(program.At(path)) * loop.extent;
  for (const Loop* above : program.LoopsAbove(path)) {
    if (above->mode == LoopMode::kUnrolled) statements *= above->extent;
  }
  if (statements > kMaxStatements) {
    return absl::InvalidArgumentError(
        absl::StrCat(statements,
                     " statements when written out, expected at "
                     "most ",
                     kMaxStatements));
  }
  return absl::OkStatus();
}

bool IsStraightLine(const Loop& loop) {
  return std::all_of(loop.body.begin(), loop.body.end(), [](const Node& node) {
    return node.statement() != nullptr ||
           node.loop()->mode == LoopMode::kUnrolled ||
           node.loop()->mode == LoopMode::kVector;
  });
}

class Unroll final : public Transform {
 public:
  absl::string_view name() const override { return "unroll"; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      if (loop.extent <= kMaxUsefulExtent && IsStraightLine(loop) &&
          Check(program, path, loop).ok()) {
        steps.push_back({"unroll", path, {}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Loop* loop, FindLoop(program, step));
    HONE_RETURN_IF_ERROR(Check(program, step.path, *loop));
    Loop unrolled = *loop;
    unrolled.mode = LoopMode::kUnrolled;
    unrolled.prefetch = 0;
    Program result = program;
    result.ReplaceLoop(step.path, std::move(unrolled));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeUnroll() { return std::make_unique<Unroll>(); }

}  // namespace hone::loops
