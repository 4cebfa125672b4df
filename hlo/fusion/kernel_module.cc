#include "hlo/fusion/kernel_module.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/ir/id_map.h"
#include "hlo/rewrite/carried_attributes.h"

namespace hone::hlo {
namespace {

const OpcodeSet& WithoutKernel() {
  static const OpcodeSet opcodes = {
      // Values by other names, and in groups.
      Opcode::kBitcast,
      Opcode::kConstant,
      Opcode::kDomain,
      Opcode::kGetDimensionSize,
      Opcode::kGetTupleElement,
      Opcode::kParameter,
      Opcode::kPartitionId,
      Opcode::kReplicaId,
      Opcode::kTuple,
      // Order.
      Opcode::kAddDependency,
      Opcode::kAfterAll,
      Opcode::kOptBarrier,
      // Control flow.
      Opcode::kAsyncDone,
      Opcode::kAsyncStart,
      Opcode::kAsyncUpdate,
      Opcode::kCall,
      Opcode::kConditional,
      Opcode::kWhile,
      // Communication and transfers.
      Opcode::kAllGather,
      Opcode::kAllGatherDone,
      Opcode::kAllGatherStart,
      Opcode::kAllReduce,
      Opcode::kAllReduceDone,
      Opcode::kAllReduceStart,
      Opcode::kAllToAll,
      Opcode::kCollectiveBroadcast,
      Opcode::kCollectivePermute,
      Opcode::kCollectivePermuteDone,
      Opcode::kCollectivePermuteStart,
      Opcode::kCollectiveReduce,
      Opcode::kCopyDone,
      Opcode::kCopyStart,
      Opcode::kInfeed,
      Opcode::kOutfeed,
      Opcode::kRaggedAllToAll,
      Opcode::kRecv,
      Opcode::kRecvDone,
      Opcode::kReduceScatter,
      Opcode::kSend,
      Opcode::kSendDone,
  };
  return opcodes;
}

bool IsRefusedInside(Opcode opcode) {
  return opcode == Opcode::kWhile || opcode == Opcode::kConditional ||
         opcode == Opcode::kAsyncStart;
}

absl::Status CheckArray(const Shape& shape, absl::string_view kernel,
                        absl::string_view what) {
  if (shape.IsArray() && !shape.is_dynamic()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("instruction ", kernel, ": ", what, " is ", shape.ToString(),
                   ", expected an array of static size"));
}

// Replaces the callees of the instructions of `computation`, which are
// computations of `source`, by copies in `target`, with what they call.
void CopyCallees(const Module& source, Computation& computation,
                 Module& target) {
  absl::flat_hash_map<ComputationId, ComputationId> copies;
  std::vector<ComputationId> added;
  const auto replace_callees = [&](Computation& caller) {
    for (const Instruction& instruction : caller.instructions()) {
      if (instruction.called().empty()) continue;
      ComputationIds called;
      for (const ComputationId id : instruction.called()) {
        const auto [it, is_new] = copies.emplace(id, kNoComputation);
        if (is_new) {
          it->second = target.AddComputation(source.computation(id));
          added.push_back(it->second);
        }
        called.push_back(it->second);
      }
      caller.mutable_instruction(instruction.id())
          .set_called(std::move(called));
    }
  };
  replace_callees(computation);
  // Grows meanwhile.
  for (size_t i = 0; i < added.size(); ++i) {
    Computation caller = target.computation(added[i]);
    replace_callees(caller);
    target.mutable_computation(added[i]) = std::move(caller);
  }
}

// Copies what a fused computation computes into one without fusions and calls.
class Inliner {
 public:
  Inliner(const Module& module, Computation& target, std::string kernel)
      : module_(module), target_(target), kernel_(std::move(kernel)) {}

  // Returns what stands for the root.
  absl::StatusOr<InstructionId> Inline(
      ComputationId callee, absl::Span<const InstructionId> arguments,
      int depth) {
    if (depth > kMaxDepth) return Refuse("fusions nest too deep", kMaxDepth);
    // Also of computations that add no instruction.
    if (++inlined_ > kMaxKernelInstructions) {
      return Refuse("is too large", kMaxKernelInstructions);
    }
    const Computation& source = module_.computation(callee);
    IdMap<InstructionId> copies(kNoInstruction);
    for (const InstructionId id : source.PostOrder()) {
      const Instruction& instruction = source[id];
      if (instruction.opcode() == Opcode::kParameter) {
        copies[id] = arguments[static_cast<size_t>(instruction.index())];
        continue;
      }
      InstructionIds operands;
      for (const InstructionId i : instruction.operands()) {
        operands.push_back(copies.at(i));
      }
      if (instruction.opcode() == Opcode::kFusion ||
          instruction.opcode() == Opcode::kCall) {
        HONE_ASSIGN_OR_RETURN(
            copies[id], Inline(instruction.called()[0], operands, depth + 1));
        continue;
      }
      if (IsRefusedInside(instruction.opcode())) {
        return absl::InvalidArgumentError(absl::StrCat(
            "instruction ", kernel_, ": has a ",
            OpcodeName(instruction.opcode()), " inside, expected none"));
      }
      if (instruction.opcode() == Opcode::kGetTupleElement &&
          target_[operands[0]].opcode() == Opcode::kTuple) {
        // Of a fusion with several results.
        copies[id] = target_[operands[0]].operand(
            static_cast<size_t>(instruction.index()));
        continue;
      }
      if (target_.live_count() >= kMaxKernelInstructions) {
        return Refuse("is too large", kMaxKernelInstructions);
      }
      Instruction copy = instruction.WithOperands(operands);
      copy.set_metadata(nullptr);
      copy.set_attributes(WithoutCarried(instruction.attributes_ptr()));
      if (depth == 0) copy.set_name(instruction.name());
      copies[id] = target_.AddInstruction(std::move(copy));
    }
    return copies.at(source.root());
  }

 private:
  // A call graph may be deeper than the stack.
  static constexpr int kMaxDepth = 100;

  absl::Status Refuse(absl::string_view what, int64_t most) const {
    return absl::InvalidArgumentError(absl::StrCat(
        "instruction ", kernel_, ": ", what, ", expected at most ", most));
  }

  const Module& module_;
  Computation& target_;
  const std::string kernel_;
  int64_t inlined_ = 0;  // computations
};

// Removes what the root does not need.
void RemoveDead(Computation& computation) {
  std::vector<InstructionId> order = computation.PostOrder();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Instruction& instruction = computation[*it];
    if (instruction.users().empty() && *it != computation.root() &&
        instruction.opcode() != Opcode::kParameter) {
      computation.Remove(*it);
    }
  }
}

}  // namespace

bool HasKernel(const Instruction& instruction) {
  return !WithoutKernel().Contains(instruction.opcode());
}

bool IsEmbeddedConstant(const Instruction& instruction) {
  return instruction.IsConstant() && instruction.shape().IsScalar();
}

ExtractedComputation ExtractInstructions(
    const Computation& source, absl::Span<const InstructionId> members,
    absl::FunctionRef<ShapePtr(InstructionId)> shape_in_memory,
    bool annotations) {
  ExtractedComputation result;
  Computation& target = result.computation;
  absl::flat_hash_map<InstructionId, InstructionId> copies;
  for (const InstructionId member : members) copies[member] = kNoInstruction;
  for (const InstructionId member : members) {
    for (const InstructionId operand : source[member].operands()) {
      if (IsEmbeddedConstant(source[operand]) || copies.contains(operand)) {
        continue;
      }
      const auto number = static_cast<int32_t>(result.operands.size());
      result.operands.push_back(operand);
      Instruction parameter =
          Instruction::Parameter(number, shape_in_memory(operand));
      parameter.set_name(absl::StrCat("param_", number));
      copies[operand] = target.AddInstruction(std::move(parameter));
    }
  }
  const auto copy = [&](InstructionId id, absl::Span<const InstructionId> to) {
    const Instruction& original = source[id];
    Instruction instruction = original.WithOperands(to);
    instruction.set_name(original.name());
    if (!annotations) {
      instruction.set_metadata(nullptr);
      instruction.set_attributes(WithoutCarried(original.attributes_ptr()));
    }
    if (id == members.back()) instruction.set_shape(shape_in_memory(id));
    copies[id] = target.AddInstruction(std::move(instruction));
  };
  InstructionIds operands;
  for (const InstructionId member : members) {
    operands.clear();
    for (const InstructionId operand : source[member].operands()) {
      if (!copies.contains(operand)) copy(operand, {});
      operands.push_back(copies[operand]);
    }
    copy(member, operands);
  }
  target.set_root(copies[members.back()]);
  return result;
}

absl::StatusOr<Module> MakeKernelModule(const Module& source,
                                        Computation computation) {
  const Instruction& root = computation[computation.root()];
  const std::string name = root.name().empty()
                               ? std::string(OpcodeName(root.opcode()))
                               : root.name();
  std::vector<ShapePtr> parameters;
  for (const InstructionId id : computation.parameters()) {
    const ShapePtr& shape = computation[id].shape_ptr();
    HONE_RETURN_IF_ERROR(
        CheckArray(*shape, name, absl::StrCat("operand ", parameters.size())));
    parameters.push_back(shape);
  }
  const ShapePtr result = root.shape_ptr();
  if (result->IsTuple()) {
    for (const ShapePtr& element : result->tuple_elements()) {
      HONE_RETURN_IF_ERROR(CheckArray(*element, name, "a result"));
    }
  } else {
    HONE_RETURN_IF_ERROR(CheckArray(*result, name, "the result"));
  }
  Module module(name);
  CopyCallees(source, computation, module);
  computation.set_name("kernel");
  computation.set_suffix("");
  module.set_entry(module.AddComputation(std::move(computation)));
  module.set_entry_shapes(std::move(parameters), result);
  return module;
}

absl::StatusOr<Module> MakeFusionKernel(const Module& module,
                                        const Computation& computation,
                                        InstructionId instruction) {
  const Instruction& fusion = computation[instruction];
  Computation kernel;
  std::vector<InstructionId> arguments;
  for (const InstructionId operand : fusion.operands()) {
    const auto number = static_cast<int32_t>(arguments.size());
    Instruction parameter =
        Instruction::Parameter(number, computation[operand].shape_ptr());
    parameter.set_name(absl::StrCat("param_", number));
    arguments.push_back(kernel.AddInstruction(std::move(parameter)));
  }
  HONE_ASSIGN_OR_RETURN(const InstructionId root,
                        Inliner(module, kernel, fusion.name())
                            .Inline(fusion.called()[0], arguments, 0));
  kernel.set_root(root);
  RemoveDead(kernel);
  HONE_ASSIGN_OR_RETURN(Module result,
                        MakeKernelModule(module, std::move(kernel)));
  result.set_name(fusion.name());
  return result;
}

}  // namespace hone::hlo
