// while-loop-constant-sinking: gives loops the constants that they are started
// with.
//
//   while(tuple(…, constant, …)), whose body hands element i on unchanged
//     →  body and condition use a copy of the constant in place of element i
//
// The body still hands the element on from its parameter, so that
// simplify-while-loops can remove it. Legal because element i is the constant
// in every round. Not for bodies and conditions with another caller
// (flatten-call-graph gives each loop its own), ends of control dependencies
// and scheduled modules. It undoes while-loop-invariant-code-motion as far as
// that moved constants.

#include <algorithm>
#include <memory>
#include <vector>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/call_sites.h"

namespace hone::hlo {
namespace {

// Moves the uses of element i of the parameter to a copy of the constant,
// except that of the root tuple as its element i.
bool Sink(Module& module, ComputationId c, int32_t i,
          const Instruction& constant, bool is_body) {
  struct Use {
    InstructionId user;
    size_t operand;
  };
  const Computation& shared = module.computation(c);
  std::vector<InstructionId> reads;
  std::vector<Use> uses;
  bool is_root = false;
  for (InstructionId read : shared[shared.parameters()[0]].users()) {
    if (shared[read].opcode() != Opcode::kGetTupleElement ||
        shared[read].index() != i) {
      continue;
    }
    reads.push_back(read);
    is_root |= read == shared.root();
    for (InstructionId user : shared[read].users()) {
      const InstructionIds& operands = shared[user].operands();
      for (size_t k = 0; k < operands.size(); ++k) {
        const bool hands_on =
            is_body && user == shared.root() && k == static_cast<size_t>(i);
        if (operands[k] == read && !hands_on) uses.push_back({user, k});
      }
    }
  }
  if (uses.empty() && !is_root) return false;
  Instruction copy = constant.WithOperands({});
  Computation& computation = module.mutable_computation(c);
  const InstructionId value = computation.AddInstruction(copy);
  for (const Use& use : uses) {
    computation.ReplaceOperand(use.user, use.operand, value);
  }
  if (is_root) computation.set_root(value);
  for (InstructionId read : reads) {
    if (computation[read].users().empty() &&
        !computation.HasControlDependency(read)) {
      computation.Remove(read);
    }
  }
  return true;
}

bool HandsOn(const Computation& body, size_t i) {
  const Instruction& value = body[body[body.root()].operand(i)];
  return value.opcode() == Opcode::kGetTupleElement &&
         static_cast<size_t>(value.index()) == i &&
         value.operand(0) == body.parameters()[0];
}

bool SinkInto(Module& module, ComputationId c, InstructionId id,
              const std::vector<int>& callers) {
  const Computation& outside = module.computation(c);
  const ComputationId condition = outside[id].called()[0];
  const ComputationId body_id = outside[id].called()[1];
  if (callers[static_cast<size_t>(condition)] != 1 ||
      callers[static_cast<size_t>(body_id)] != 1 ||
      outside.HasControlDependency(id)) {
    return false;
  }
  const Instruction& init = outside[outside[id].operand(0)];
  const Computation& body = module.computation(body_id);
  if (init.opcode() != Opcode::kTuple ||
      body[body.root()].opcode() != Opcode::kTuple) {
    return false;
  }
  bool changed = false;
  for (size_t i = 0; i < init.operand_count(); ++i) {
    const Instruction& value = outside[init.operand(i)];
    if (!value.IsConstant() || value.literal()->is_elided() ||
        !HandsOn(module.computation(body_id), i)) {
      continue;
    }
    const auto element = static_cast<int32_t>(i);
    changed |= Sink(module, body_id, element, value, true);
    changed |= Sink(module, condition, element, value, false);
  }
  return changed;
}

class WhileLoopConstantSinking final : public Pass {
 public:
  absl::string_view name() const override {
    return "while-loop-constant-sinking";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    std::vector<int> callers;
    // Outer loops first, so that a constant gets to the innermost in one run.
    std::vector<ComputationId> order = module.ComputationPostOrder();
    std::reverse(order.begin(), order.end());
    for (ComputationId c : order) {
      const Computation& computation = module.computation(c);
      for (InstructionId id = 0; id < computation.slot_count(); ++id) {
        if (!computation[id].is_live() ||
            computation[id].opcode() != Opcode::kWhile) {
          continue;
        }
        if (callers.empty()) callers = CountCallers(module);
        changed |= SinkInto(module, c, id, callers);
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeWhileLoopConstantSinking() {
  return std::make_unique<WhileLoopConstantSinking>();
}

}  // namespace hone::hlo
