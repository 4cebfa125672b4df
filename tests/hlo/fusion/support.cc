#include "tests/hlo/fusion/support.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/fusion/kernel_rules.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"

namespace hone::hlo {

Module VerifiedModule(absl::string_view text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return Module();
  const absl::Status status = VerifyModule(*module);
  EXPECT_TRUE(status.ok()) << status;
  return *std::move(module);
}

FusionIndex NodeNamed(const FusionSpace& space, absl::string_view name) {
  for (size_t i = 0; i < space.size(); ++i) {
    const auto node = static_cast<FusionIndex>(i);
    if (space.NameOf(node) == name) return node;
  }
  ADD_FAILURE() << "no node " << name;
  return 0;
}

FusionBits FuseNodes(const FusionSpace& space,
                     const std::vector<std::string>& names) {
  FusionBits fused = space.Unfused();
  for (const std::string& name : names) {
    fused[static_cast<size_t>(NodeNamed(space, name))] = kFused;
  }
  return fused;
}

FusionBits RandomFusion(const FusionSpace& space, Rng& rng) {
  const double share = rng.Uniform();
  FusionBits wanted = space.Unfused();
  for (const FusionIndex node : space.fusible()) {
    if (rng.Uniform() < share) wanted[static_cast<size_t>(node)] = kFused;
  }
  return KernelRules(space).Legalize(wanted);
}

LayoutBits RandomLayouts(const FusionSpace& space, Rng& rng) {
  LayoutBits layouts = space.RowMajor();
  for (const FusionIndex node : space.swappable()) {
    layouts[static_cast<size_t>(node)] = static_cast<uint8_t>(rng.Below(2));
  }
  return layouts;
}

Module ComposeOfKernels(const Module& module,
                        absl::Span<const Kernel> kernels) {
  Module composed = module;
  // The calls in place of instructions, by computation.
  absl::flat_hash_map<std::pair<ComputationId, InstructionId>, InstructionId>
      calls;
  int next = 0;
  for (const Kernel& kernel : kernels) {
    absl::flat_hash_map<ComputationId, ComputationId> copies;
    for (const ComputationId id : kernel.module.ComputationPostOrder()) {
      Computation copy = kernel.module.computation(id);
      for (const Instruction& instruction : copy.instructions()) {
        ComputationIds called;
        for (const ComputationId callee : instruction.called()) {
          called.push_back(copies.at(callee));
        }
        copy.mutable_instruction(instruction.id()).set_called(called);
      }
      copy.set_name(absl::StrCat("of_kernel_", next++));
      copies[id] = composed.AddComputation(std::move(copy));
    }
    const Computation& region = module.computation(kernel.computation);
    const Instruction& instruction = region[kernel.instruction];
    std::vector<InstructionId> operands;
    for (const InstructionId operand : instruction.operands()) {
      const bool is_embedded = instruction.opcode() != Opcode::kFusion &&
                               (absl::c_linear_search(operands, operand) ||
                                (region[operand].IsConstant() &&
                                 region[operand].shape().IsScalar()));
      if (!is_embedded) operands.push_back(operand);
    }
    for (InstructionId& operand : operands) {
      const auto it = calls.find({kernel.computation, operand});
      if (it != calls.end()) operand = it->second;
    }
    Instruction call(Opcode::kCall, instruction.shape_ptr(), operands);
    call.set_called({copies.at(kernel.module.entry())});
    Computation& target = composed.mutable_computation(kernel.computation);
    const InstructionId id = target.AddInstruction(std::move(call));
    target.ReplaceAllUses(kernel.instruction, id);
    calls[{kernel.computation, kernel.instruction}] = id;
  }
  return composed;
}

double MadeUpTime(const Module& kernel) {
  const Computation& computation = kernel.entry_computation();
  double time = 100;
  for (const Instruction& instruction : computation.instructions()) {
    const auto bytes = static_cast<double>(instruction.shape().byte_size());
    time += instruction.opcode() == Opcode::kParameter
                ? 2 * bytes
                : 3 + static_cast<int>(instruction.opcode()) % 5;
    if (instruction.id() == computation.root()) time += 2 * bytes;
    if (instruction.opcode() == Opcode::kDot ||
        instruction.opcode() == Opcode::kReduce) {
      time += bytes;
    }
  }
  return time;
}

}  // namespace hone::hlo
