// while-loop-constant-sinking: gives loops the constants that they are started
// with.
//
//   while(tuple(…, constant, …)), whose body hands element i on unchanged
//     →  body and condition use a copy of the constant in place of element i
//
// The body still hands the element on from its parameter, so that
// simplify-while-loops can remove it. Exact. Legal because element i is the
// constant in every iteration. Not for bodies and conditions with another
// caller (flatten-call-graph gives each loop its own), ends of control
// dependencies and scheduled modules. It undoes
// while-loop-invariant-code-motion as far as that moved constants.

#include <memory>

#include "hlo/passes/control_flow/sink_constant.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/callees.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/tuples/loop_rewriter.h"

namespace hone::hlo {
namespace {

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
      LoopRewriter loop(r, id);
      if (!callees.AreOwn(r[id]) || !r.Is(loop.init(), Opcode::kTuple) ||
          r.computation().HasControlDependency(id)) {
        return false;
      }
      bool sunk = false;
      for (int32_t i = 0; i < loop.element_count(); ++i) {
        sunk |= SinkConstant(loop, i, /*keeps_element=*/true);
      }
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
