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

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
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

}  // namespace

std::unique_ptr<Pass> MakeMapInline() {
  // Callees first, so that a map in a function that a map applies is gone.
  return MakeRulePass({.name = "map-inline",
                       .opcodes = {Opcode::kMap},
                       .call_order = CallOrder::kCalleesFirst,
                       .drops_callees = true},
                      Inline);
}

}  // namespace hone::hlo
