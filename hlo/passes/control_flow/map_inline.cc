// map-inline: does what a map applies to each element to whole arrays.
//
//   map(x, y), to_apply=(a, b) -> op(a, b)  →  op(x, y)
//   map(x, y), to_apply=(a, b) -> b         →  y
//   map(x), to_apply=(a) -> constant        →  broadcast(constant)
//
// Exact. Legal where op is elementwise and all its operands are parameters.
// Functions of more than one operation stay maps, as upstream. Not for
// functions with effects, ends of control dependencies, dynamic sizes and
// scheduled modules.

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {
namespace {

bool Inline(Rewriter& r, InstructionId id) {
  const Instruction& map = r[id];
  const Computation& function = r.module().computation(map.called()[0]);
  const Instruction& root = function[function.root()];
  const auto argument = [&](InstructionId parameter) {
    return map.operand(static_cast<size_t>(function[parameter].index()));
  };
  if (root.opcode() == Opcode::kParameter) {
    const InstructionId value = argument(function.root());
    return Shape::Equal(r.shape(value), map.shape()) && r.Replace(id, value);
  }
  if (const Literal* value = ConstantLiteral(function, function.root())) {
    return r.Replace(id, MakeUniform(r, *value, r.dimensions_of(id)));
  }
  InstructionIds operands;
  for (InstructionId operand : root.operands()) {
    if (function[operand].opcode() != Opcode::kParameter) return false;
    operands.push_back(argument(operand));
  }
  if (!IsElementwise(root.opcode())) return false;
  Instruction operation = root.WithOperands(operands);
  operation.set_shape(map.shape_ptr());
  return r.ReplaceWith(id, std::move(operation));
}

class MapInline final : public Pass {
 public:
  absl::string_view name() const override { return "map-inline"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    // Callees first, so that a map in a function that a map applies is gone.
    const RewriteRule rule = {.name = name(),
                              .opcodes = {Opcode::kMap},
                              .call_order = CallOrder::kCalleesFirst};
    HONE_ASSIGN_OR_RETURN(const bool changed,
                          RewriteModule(module, rule, options, Inline));
    if (changed) module.RemoveUnreachableComputations();
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeMapInline() { return std::make_unique<MapInline>(); }

}  // namespace hone::hlo
