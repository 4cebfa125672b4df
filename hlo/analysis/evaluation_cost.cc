#include "hlo/analysis/evaluation_cost.h"

#include "hlo/analysis/cost_analysis.h"

namespace hone::hlo {
namespace {

double Bytes(const Instruction& instruction) {
  return static_cast<double>(instruction.shape().byte_size());
}

// Returns true if the evaluator allocates the value of an instruction.
bool IsComputed(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
      return false;
    default:
      return true;
  }
}

}  // namespace

EvaluationCost EstimateEvaluation(const Module& module) {
  EvaluationCost cost;
  const CostAnalysis costs(module);
  const Costs& all = costs.ModuleCosts();
  cost.flops = all.flops + all.transcendentals;
  const Computation& entry = module.entry_computation();
  double most_flops = 0;
  for (const InstructionId id : entry.PostOrder()) {
    const Costs own = costs.InstructionCosts(entry, id);
    if (own.flops + own.transcendentals <= most_flops) continue;
    most_flops = own.flops + own.transcendentals;
    cost.most_flops = std::string(entry[id].name());
  }
  double most_bytes = 0;
  for (const Computation& computation : module.computations()) {
    for (const InstructionId id : computation.PostOrder()) {
      const Instruction& instruction = computation[id];
      if (!IsComputed(instruction)) continue;
      double bytes = Bytes(instruction);
      for (const InstructionId operand : instruction.operands()) {
        bytes += Bytes(computation[operand]);
      }
      if (bytes <= most_bytes) continue;
      most_bytes = bytes;
      cost.most_bytes = std::string(instruction.name());
    }
  }
  cost.bytes = 2 * (most_bytes + Bytes(entry[entry.root()]));
  for (const InstructionId parameter : entry.parameters()) {
    cost.bytes += Bytes(entry[parameter]);
  }
  return cost;
}

int64_t ConstantBytes(const Module& module) {
  int64_t bytes = 0;
  for (const Computation& computation : module.computations()) {
    for (const Instruction& instruction : computation.instructions()) {
      if (instruction.opcode() != Opcode::kConstant) continue;
      bytes += instruction.shape().byte_size();
    }
  }
  return bytes;
}

}  // namespace hone::hlo
