// combine_steps PATH: replaces a short reduction loop with one statement that
// combines the values of its iterations before it combines them into the
// target.
//
//   for k 2                     →    s[i] += a[i,0] * b[0,j] + a[i,1] * b[1,j]
//   | s[i] += a[i,k] * b[k,j]
//
// Legal for loops of at most 8 iterations without a bound around a single
// combining statement without a predicate, whose target does not depend on the
// loop and is not read by its value. Changes rounding. Pays off where the
// processor has an instruction for sums of products of adjacent elements
// (Machine::has_bf16_dot).

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

constexpr int64_t kMaxSteps = 8;

absl::Status Check(const Loop& loop) {
  if (loop.mode == LoopMode::kParallel || loop.mode == LoopMode::kVector) {
    return absl::InvalidArgumentError(
        absl::StrCat("the loop is ", ModeName(loop.mode)));
  }
  if (loop.bound.has_value() || !loop.locals.empty()) {
    return absl::InvalidArgumentError("the loop has a bound or locals");
  }
  if (loop.extent < 1 || loop.extent > kMaxSteps) {
    return absl::InvalidArgumentError(absl::StrCat(
        "extent ", loop.extent, ", expected 1 … ", kMaxSteps, " steps"));
  }
  if (loop.body.size() != 1 || loop.body[0].statement() == nullptr) {
    return absl::InvalidArgumentError("expected a single statement");
  }
  const Statement& statement = *loop.body[0].statement();
  if (!statement.combine.has_value() || statement.predicate != nullptr) {
    return absl::InvalidArgumentError(
        "expected a reduction without a predicate");
  }
  for (const Index& index : statement.target.indices) {
    if (index.affine.Uses(loop.var) || index.offset != nullptr) {
      return absl::InvalidArgumentError(
          "the target depends on the loop or on data");
    }
  }
  bool reads_target = false;
  VisitLoads(*statement.value, [&](const Access& access) {
    reads_target |= access.buffer == statement.target.buffer;
  });
  if (reads_target) {
    return absl::InvalidArgumentError("the value depends on the target");
  }
  return absl::OkStatus();
}

class CombineSteps final : public Transform {
 public:
  absl::string_view name() const override { return "combine_steps"; }
  bool changes_rounding() const override { return true; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      if (Check(loop).ok()) steps.push_back({"combine_steps", path, {}});
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Loop* loop, FindLoop(program, step));
    HONE_RETURN_IF_ERROR(Check(*loop));
    Statement combined = *loop->body[0].statement();
    const hlo::ElementType type = combined.value->type();
    for (int64_t i = 0; i < loop->extent; ++i) {
      const Node at = Substitute(loop->body[0], loop->var, Affine(i));
      const ExpressionPtr& value = at.statement()->value;
      combined.value = i == 0 ? value
                              : Expression::Apply(*combined.combine, type,
                                                  {combined.value, value});
    }
    Program result = program;
    result.Replace(step.path, {MakeNode(std::move(combined))});
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeCombineSteps() {
  return std::make_unique<CombineSteps>();
}

}  // namespace hone::loops
