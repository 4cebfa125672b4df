#include "loops/lowering/prepare.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/ir/clone.h"
#include "hlo/passes/pipeline.h"
#include "loops/lowering/complex/complex_expansion.h"
#include "loops/lowering/graph/unsupported.h"
#include "loops/lowering/library/library_calls.h"
#include "loops/lowering/rewrites/block_matrices.h"
#include "loops/lowering/rewrites/channels_last.h"
#include "loops/lowering/rewrites/hoist_dots.h"
#include "loops/lowering/rewrites/offset_dots.h"
#include "loops/lowering/rewrites/separate_windows.h"
#include "loops/lowering/rewrites/shorten_erfc.h"
#include "loops/lowering/rewrites/sink_dots.h"
#include "loops/lowering/rewrites/uncrop_convolutions.h"
#include "loops/lowering/rewrites/unroll_loops.h"
#include "loops/lowering/rewrites/widen_chains.h"
#include "loops/lowering/rewrites/widen_sums.h"

namespace hone::loops {
namespace {

using hlo::Opcode;

bool IsInlined(const hlo::Instruction& instruction) {
  return instruction.opcode() == Opcode::kCall ||
         instruction.opcode() == Opcode::kFusion;
}

// Unlike the pass call-inliner, also inlines fusions, regardless of their
// attributes, since a kernel cannot call.
absl::Status InlineCalls(hlo::Module& module) {
  const int64_t limit = hlo::CloningBudget(module);
  int64_t added = 0;
  for (hlo::ComputationId id : module.ComputationPostOrder()) {
    std::vector<hlo::InstructionId> calls;
    for (const hlo::Instruction& i : module.computation(id).instructions()) {
      if (IsInlined(i)) calls.push_back(i.id());
    }
    for (hlo::InstructionId call : calls) {
      hlo::Computation& caller = module.mutable_computation(id);
      const hlo::Computation& callee =
          module.computation(caller[call].called()[0]);
      added += callee.live_count();
      if (added > limit) {
        return Unsupported(
            caller[call],
            absl::StrCat("inlining it and the calls before it adds ", added,
                         " instructions, expected at most ", limit));
      }
      const hlo::InstructionId result =
          hlo::CloneInto(callee, caller[call].operands(), caller);
      if (caller[result].name().empty()) {
        caller.mutable_instruction(result).set_name(caller[call].name());
      }
      caller.ReplaceAllUses(call, result);
      caller.Remove(call);
    }
  }
  module.RemoveUnreachableComputations();
  return absl::OkStatus();
}

// Adds a constant for each array of `literal`, and the tuples that hold them.
hlo::InstructionId AddConstants(const hlo::Literal& literal,
                                hlo::Computation& computation) {
  if (!literal.shape().IsTuple()) {
    return computation.AddInstruction(hlo::Instruction::Constant(literal));
  }
  std::vector<hlo::InstructionId> elements;
  elements.reserve(literal.elements().size());
  for (const hlo::Literal& element : literal.elements()) {
    elements.push_back(AddConstants(element, computation));
  }
  return computation.AddInstruction(
      hlo::Instruction(Opcode::kTuple, literal.shape_ptr(), elements));
}

// Replaces constants that are tuples by tuples of constants: buffers hold
// arrays.
void SplitTupleConstants(hlo::Module& module) {
  for (hlo::ComputationId id : module.ComputationIds()) {
    std::vector<hlo::InstructionId> constants;
    for (const hlo::Instruction& i : module.computation(id).instructions()) {
      if (i.IsConstant() && i.shape().IsTuple()) constants.push_back(i.id());
    }
    for (hlo::InstructionId constant : constants) {
      hlo::Computation& computation = module.mutable_computation(id);
      const hlo::LiteralPtr literal = computation[constant].literal();
      computation.ReplaceAllUses(constant, AddConstants(*literal, computation));
      computation.Remove(constant);
    }
  }
}

// Instructions made by passes and inlining have no names; buffers and errors
// need them.
void NameInstructions(hlo::Module& module) {
  for (hlo::ComputationId id : module.ComputationIds()) {
    hlo::Computation& computation = module.mutable_computation(id);
    for (const hlo::Instruction& i : computation.instructions()) {
      if (!i.name().empty()) continue;
      computation.mutable_instruction(i.id()).set_name(
          absl::StrCat(hlo::OpcodeName(i.opcode()), ".", i.id()));
    }
  }
}

}  // namespace

absl::StatusOr<hlo::Module> PrepareForLowering(const hlo::Module& module) {
  hlo::Module prepared = module;
  // The passes skip scheduled modules; a plan makes its own schedule.
  prepared.set_is_scheduled(false);
  HONE_RETURN_IF_ERROR(InlineCalls(prepared));
  const std::vector<std::string> passes = {
      "batchnorm_expander", "conditional-to-select",
      "select_and_scatter_expander", "tuple-simplifier", "dce"};
  HONE_RETURN_IF_ERROR(hlo::RunPasses(prepared, passes).status());
  if (UnrollElementwiseLoops(prepared)) {
    const std::vector<std::string> cleanup = {"tuple-simplifier",
                                              "constant_folding", "dce"};
    HONE_RETURN_IF_ERROR(hlo::RunPasses(prepared, cleanup).status());
  }
  HONE_RETURN_IF_ERROR(HoistDots(prepared));
  HONE_RETURN_IF_ERROR(SinkDots(prepared));
  HONE_RETURN_IF_ERROR(BlockMatrices(prepared));
  HONE_RETURN_IF_ERROR(UseLibraryCalls(prepared));
  ShortenErfc(prepared);
  WidenChains(prepared);
  WidenSums(prepared);
  SeparateWindows(prepared);
  OffsetDots(prepared);
  HONE_RETURN_IF_ERROR(UncropConvolutions(prepared));
  HONE_RETURN_IF_ERROR(PutChannelsLast(prepared));
  SplitTupleConstants(prepared);
  HONE_RETURN_IF_ERROR(ExpandComplex(prepared));
  NameInstructions(prepared);
  return prepared;
}

}  // namespace hone::loops
