#include "loops/lowering/rewrites/unroll_loops.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"

#include "hlo/ir/clone.h"
#include "hlo/passes/control_flow/while_trip_count.h"
#include "loops/lowering/graph/opcode_traits.h"

namespace hone::loops {
namespace {

using hlo::Opcode;

constexpr int64_t kMaxIterations = 8;
// Instructions of all iterations together.
constexpr int64_t kMaxInstructions = 600;

bool IsElementwise(const hlo::Computation& body) {
  return absl::c_all_of(
      body.instructions(), [](const hlo::Instruction& instruction) {
        const Opcode opcode = instruction.opcode();
        return opcode == Opcode::kParameter || opcode == Opcode::kConstant ||
               opcode == Opcode::kTuple || opcode == Opcode::kGetTupleElement ||
               FormOf(instruction) == Form::kExpression;
      });
}

}  // namespace

bool UnrollElementwiseLoops(hlo::Module& module) {
  bool changed = false;
  for (hlo::ComputationId id : module.ComputationPostOrder()) {
    std::vector<hlo::InstructionId> loops;
    for (const hlo::Instruction& i : module.computation(id).instructions()) {
      if (i.opcode() == Opcode::kWhile) loops.push_back(i.id());
    }
    for (hlo::InstructionId loop : loops) {
      hlo::Computation& computation = module.mutable_computation(id);
      const hlo::Computation& body =
          module.computation(computation[loop].called()[1]);
      const std::optional<hlo::CountedLoop> counted =
          hlo::FindCountedLoop(module, computation, loop);
      if (!counted.has_value() || counted->trip_count > kMaxIterations ||
          counted->trip_count * body.live_count() > kMaxInstructions ||
          !IsElementwise(body)) {
        continue;
      }
      hlo::InstructionId state = computation[loop].operand(0);
      for (int64_t i = 0; i < counted->trip_count; ++i) {
        state = hlo::CloneInto(body, {state}, computation);
      }
      computation.ReplaceAllUses(loop, state);
      computation.Remove(loop);
      changed = true;
    }
  }
  if (changed) module.RemoveUnreachableComputations();
  return changed;
}

}  // namespace hone::loops
