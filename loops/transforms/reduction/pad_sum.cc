// pad_sum PATH FACTOR: extends the loop of a sum of products to a multiple of
// FACTOR iterations; in those that it adds both factors are zero.
//
//   for k 5                    for k 6
//   | s[] += a[k] * b[k]   →   | s[] += where(0 <= k < 5, a[k], 0.0)
//                                     * where(0 <= k < 5, b[k], 0.0)
//
// Legal for a loop without a bound, in a perfect nest around one statement that
// adds a product of two loads, which may be converted and may be zero outside
// of ranges already; its target must not depend on the loop. Changes rounding
// only in that a sum that is -0 becomes 0. Pays off with pad_input, which then
// moves the ranges into copies, where an instruction takes several steps of the
// sum at once (Machine::has_bf16_dot).

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostFactor = 8;

bool IsZero(const Expression& e) {
  return e.kind() == Expression::Kind::kConstant && e.number() == 0 &&
         e.integer() == 0;
}

// Returns `factor` with zero where `range` does not hold; null if it is not a
// load as described above.
ExpressionPtr ZeroOutside(const ExpressionPtr& factor, const Range& range) {
  switch (factor->kind()) {
    case Expression::Kind::kLoad:
      return Expression::Where({range}, factor,
                               Expression::Constant(factor->type(), 0));
    case Expression::Kind::kWhere: {
      if (factor->operands()[0]->kind() != Expression::Kind::kLoad ||
          !IsZero(*factor->operands()[1])) {
        return nullptr;
      }
      std::vector<Range> ranges = factor->ranges();
      ranges.push_back(range);
      return Expression::Where(std::move(ranges), factor->operands()[0],
                               factor->operands()[1]);
    }
    case Expression::Kind::kApply: {
      if (factor->opcode() != hlo::Opcode::kConvert) return nullptr;
      ExpressionPtr operand = ZeroOutside(factor->operands()[0], range);
      if (operand == nullptr) return nullptr;
      return Expression::Apply(hlo::Opcode::kConvert, factor->type(),
                               {std::move(operand)});
    }
    default:
      return nullptr;
  }
}

// Returns the only statement in the perfect nest `loop`, or an error.
absl::StatusOr<const Statement*> OnlyStatement(const Loop& loop) {
  const Loop* at = &loop;
  while (true) {
    if (at->bound.has_value() || !at->locals.empty()) {
      return absl::InvalidArgumentError("a loop has a bound or locals");
    }
    if (at->mode != LoopMode::kSequential) {
      return absl::InvalidArgumentError(
          absl::StrCat("a loop is ", ModeName(at->mode)));
    }
    if (at->body.size() != 1) {
      return absl::InvalidArgumentError("expected a single statement");
    }
    if (at->body[0].statement() != nullptr) return at->body[0].statement();
    at = at->body[0].loop();
  }
}

absl::StatusOr<ExpressionPtr> PaddedProduct(const Statement& statement,
                                            const Loop& loop) {
  if (statement.combine != hlo::Opcode::kAdd ||
      statement.predicate != nullptr ||
      statement.value->kind() != Expression::Kind::kApply ||
      statement.value->opcode() != hlo::Opcode::kMultiply) {
    return absl::InvalidArgumentError(
        "expected a sum of products without a predicate");
  }
  for (const Index& index : statement.target.indices) {
    if (index.affine.Uses(loop.var) || index.offset != nullptr) {
      return absl::InvalidArgumentError(
          "the target depends on the loop or on data");
    }
  }
  const Range range = {Affine::Var(loop.var), 0, loop.extent};
  std::vector<ExpressionPtr> factors;
  for (const ExpressionPtr& operand : statement.value->operands()) {
    factors.push_back(ZeroOutside(operand, range));
    if (factors.back() == nullptr) {
      return absl::InvalidArgumentError("a factor is not a load");
    }
  }
  return Expression::Apply(hlo::Opcode::kMultiply, statement.value->type(),
                           std::move(factors));
}

class PadSum final : public Transform {
 public:
  absl::string_view name() const override { return "pad_sum"; }
  bool changes_rounding() const override { return true; }

  // Where an instruction takes that many steps.
  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    if (!machine.has_bf16_dot && !machine.has_integer_dot) return;
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      const absl::StatusOr<const Statement*> statement = OnlyStatement(loop);
      if (loop.extent < 3 || !statement.ok() ||
          !PaddedProduct(**statement, loop).ok()) {
        return;
      }
      int64_t widest = 1;
      VisitLoads(*(*statement)->value, [&](const Access& access) {
        widest = std::max(widest,
                          hlo::ByteWidth(program.buffer(access.buffer).type));
      });
      const int64_t factor = 4 / widest;
      if (factor > 1 && loop.extent % factor != 0) {
        steps.push_back({"pad_sum", path, {factor}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 1, "FACTOR"));
    HONE_ASSIGN_OR_RETURN(const Loop* loop, FindLoop(program, step));
    const int64_t factor = step.parameters[0];
    if (factor < 2 || factor > kMostFactor || loop->extent % factor == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("factor ", factor, ", expected 2 … ", kMostFactor,
                       " and no divisor of the extent ", loop->extent));
    }
    HONE_ASSIGN_OR_RETURN(const Statement* statement, OnlyStatement(*loop));
    HONE_ASSIGN_OR_RETURN(const ExpressionPtr product,
                          PaddedProduct(*statement, *loop));
    const Node padded =
        MapStatements(program.At(step.path), [&](const StatementPtr& old) {
          auto with_ranges = std::make_shared<Statement>(*old);
          with_ranges->value = product;
          return StatementPtr(with_ranges);
        });
    Loop longer = *padded.loop();
    longer.extent = (loop->extent + factor - 1) / factor * factor;
    Program result = program;
    result.ReplaceLoop(step.path, std::move(longer));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakePadSum() { return std::make_unique<PadSum>(); }

}  // namespace hone::loops
