#include "tests/hlo/passes/shrink.h"

#include <optional>
#include <utility>

#include "hlo/inference/verifier.h"
#include "hlo/ir/opcode.h"

namespace hone::hlo {
namespace {

// Removes what the root does not need, parameters of the entry included, and
// brings the signature up to date.
void CleanUp(Module& module) {
  for (ComputationId id : module.ComputationIds()) {
    Computation& computation = module.mutable_computation(id);
    std::vector<InstructionId> order = computation.PostOrder();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const Instruction& instruction = computation[*it];
      if (*it == computation.root() || !instruction.users().empty()) continue;
      if (instruction.opcode() == Opcode::kParameter && id != module.entry()) {
        continue;
      }
      computation.Remove(*it);
    }
  }
  module.RemoveUnreachableComputations();
  Computation& entry = module.mutable_computation(module.entry());
  entry.RenumberParameters();
  std::vector<ShapePtr> parameters;
  for (InstructionId parameter : entry.parameters()) {
    parameters.push_back(entry[parameter].shape_ptr());
  }
  module.set_entry_shapes(std::move(parameters),
                          entry[entry.root()].shape_ptr());
}

bool CanBeArgument(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray();
  for (const ShapePtr& element : shape.tuple_elements()) {
    if (!CanBeArgument(*element)) return false;
  }
  return true;
}

class Shrinker {
 public:
  Shrinker(FailingCase failing, const StillFails& still_fails)
      : best_(std::move(failing)), still_fails_(still_fails) {}

  FailingCase Run() {
    bool progress = true;
    while (progress) {
      progress = DropPasses();
      progress |= ShrinkRoot();
      for (ComputationId id : best_.module.ComputationIds()) {
        if (best_.module.Contains(id)) progress |= ReplaceInstructions(id);
      }
    }
    return std::move(best_);
  }

 private:
  // Takes `module` as the best one if it is smaller and fails.
  bool Try(Module module) {
    CleanUp(module);
    if (module.instruction_count() >= best_.module.instruction_count() ||
        !VerifyModule(module).ok()) {
      return false;
    }
    FailingCase candidate{std::move(module), best_.passes};
    if (!still_fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool DropPasses() {
    bool progress = false;
    for (size_t i = 0; i < best_.passes.size();) {
      FailingCase candidate = best_;
      candidate.passes.erase(candidate.passes.begin() +
                             static_cast<std::ptrdiff_t>(i));
      if (still_fails_(candidate)) {
        best_ = std::move(candidate);
        progress = true;
      } else {
        ++i;
      }
    }
    return progress;
  }

  // One result of several, then each left out in turn.
  bool ShrinkRoot() {
    bool progress = false;
    for (size_t i = 0;; ++i) {
      const Computation& entry = best_.module.entry_computation();
      const Instruction& root = entry[entry.root()];
      if (root.opcode() != Opcode::kTuple || i >= root.operand_count()) break;
      Module module = best_.module;
      module.mutable_computation(module.entry()).set_root(root.operand(i));
      if (Try(std::move(module))) return true;
    }
    for (size_t i = 0;;) {
      const Computation& entry = best_.module.entry_computation();
      const Instruction& root = entry[entry.root()];
      if (root.opcode() != Opcode::kTuple || i >= root.operand_count()) break;
      InstructionIds operands = root.operands();
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
      std::vector<ShapePtr> shapes;
      for (InstructionId id : operands) shapes.push_back(entry[id].shape_ptr());
      Module module = best_.module;
      Computation& changed = module.mutable_computation(module.entry());
      changed.set_root(changed.AddInstruction(Instruction(
          Opcode::kTuple, Shape::Tuple(std::move(shapes)), operands)));
      if (Try(std::move(module))) {
        progress = true;
      } else {
        ++i;
      }
    }
    return progress;
  }

  bool ReplaceInstructions(ComputationId id) {
    bool progress = false;
    std::vector<InstructionId> order = best_.module.computation(id).PostOrder();
    // Instructions are tried from the root on: those far from it disappear with
    // their users.
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (!best_.module.has_computation(id)) break;
      const Computation& computation = best_.module.computation(id);
      if (!computation[*it].is_live() ||
          computation[*it].opcode() == Opcode::kParameter) {
        continue;
      }
      progress |= ReplaceByOperand(id, *it) || ReplaceByParameter(id, *it);
    }
    return progress;
  }

  bool ReplaceByOperand(ComputationId computation_id, InstructionId id) {
    const Computation& computation = best_.module.computation(computation_id);
    const InstructionIds operands = computation[id].operands();
    for (InstructionId operand : operands) {
      const Computation& now = best_.module.computation(computation_id);
      if (!Shape::Equal(now[operand].shape(), now[id].shape())) continue;
      Module module = best_.module;
      module.mutable_computation(computation_id).ReplaceAllUses(id, operand);
      if (Try(std::move(module))) return true;
    }
    return false;
  }

  bool ReplaceByParameter(ComputationId computation_id, InstructionId id) {
    if (computation_id != best_.module.entry()) return false;
    Module module = best_.module;
    Computation& entry = module.mutable_computation(computation_id);
    if (!CanBeArgument(entry[id].shape())) return false;
    const auto number = static_cast<int32_t>(entry.parameters().size());
    const InstructionId parameter = entry.AddInstruction(
        Instruction::Parameter(number, entry[id].shape_ptr()));
    entry.ReplaceAllUses(id, parameter);
    return Try(std::move(module));
  }

  FailingCase best_;
  const StillFails& still_fails_;
};

}  // namespace

FailingCase Shrink(FailingCase failing, const StillFails& still_fails) {
  return Shrinker(std::move(failing), still_fails).Run();
}

}  // namespace hone::hlo
