// while-loop-constant-sinking: gives loops the constants that they are started
// with.
//
//   while(tuple(…, constant, …)), whose body hands element i on unchanged
//     →  body and condition use a copy of the constant in place of element i
//
// The body still hands the element on from its parameter, so that
// simplify-while-loops can remove it. Exact. Legal because element i is the
// constant in every round. Not for bodies and conditions with another caller
// (flatten-call-graph gives each loop its own), ends of control dependencies
// and scheduled modules. It undoes while-loop-invariant-code-motion as far as
// that moved constants.

#include <memory>
#include <vector>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/callees.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/loop_rewriter.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {
namespace {

// Moves the uses of element `i` of `state` to a copy of the constant, except
// that of `result`, the root tuple of a body, as its element `i`.
bool Sink(Rewriter& r, InstructionId state, int32_t i, const Literal& literal,
          InstructionId result) {
  InstructionId value = kNoInstruction;
  const auto constant = [&] {
    if (value == kNoInstruction) value = MakeConstant(r, literal);
    return value;
  };
  for (InstructionId read : LoopRewriter::Reads(r, state, i)) {
    const bool same_layout =
        Shape::Equal(r.shape(read), literal.shape(), /*ignore_layout=*/false);
    if (!Shape::Equal(r.shape(read), literal.shape()) ||
        (!same_layout && r.LayoutIsSeen(read))) {
      continue;
    }
    bool moved = false;
    for (InstructionId user : InstructionIds(r[read].users())) {
      for (size_t k = 0; k < r[user].operand_count(); ++k) {
        const bool hands_on = user == result && k == static_cast<size_t>(i);
        if (r.operand(user, k) == read && !hands_on) {
          r.SetOperand(user, k, constant());
          moved = true;
        }
      }
    }
    if (r.computation().root() == read) {
      r.SetRoot(constant());
      moved = true;
    }
    // One that was dead before is not ours.
    if (moved) r.RemoveDead(read);
  }
  return value != kNoInstruction;
}

bool SinkConstants(LoopRewriter& loop) {
  const Rewriter& r = loop.outside();
  bool changed = false;
  for (int32_t i = 0; i < loop.element_count(); ++i) {
    const Literal* literal = ConstantLiteral(
        r.computation(), r.operand(loop.init(), static_cast<size_t>(i)));
    if (literal == nullptr || !loop.HandsOn(i)) continue;
    const InstructionId result = loop.body().computation().root();
    changed |= Sink(loop.body(), loop.body_state(), i, *literal, result);
    changed |= Sink(loop.condition(), loop.condition_state(), i, *literal,
                    kNoInstruction);
  }
  return changed;
}

class WhileLoopConstantSinking final : public Pass {
 public:
  absl::string_view name() const override {
    return "while-loop-constant-sinking";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    // Outer loops first, so that a constant gets to the innermost in one run.
    const RewriteRule rule = {.name = name(),
                              .opcodes = {Opcode::kWhile},
                              .call_order = CallOrder::kCallersFirst,
                              .checks_itself = true};
    Callees callees(module);
    const auto rewrite = [&](Rewriter& r, InstructionId id) {
      LoopRewriter loop(module, r, id, options);
      if (!callees.AreOwn(r[id]) || !r.Is(loop.init(), Opcode::kTuple) ||
          r.computation().HasControlDependency(id)) {
        return false;
      }
      const bool sunk = SinkConstants(loop);
      loop.Finish();
      return sunk;
    };
    return RewriteModule(module, rule, options, rewrite);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeWhileLoopConstantSinking() {
  return std::make_unique<WhileLoopConstantSinking>();
}

}  // namespace hone::hlo
