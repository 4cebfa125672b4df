#include "hlo/fusion/executed_regions.h"

#include <algorithm>
#include <utility>

#include "hlo/analysis/canonical.h"
#include "hlo/analysis/cost_analysis.h"
#include "hlo/ir/id_map.h"

namespace hone::hlo {
namespace {

constexpr double kMaxExecutions = 1e18;

bool RunsCallees(Opcode opcode) {
  return opcode == Opcode::kCall || opcode == Opcode::kWhile ||
         opcode == Opcode::kConditional || opcode == Opcode::kAsyncStart;
}

// How often one execution of `instruction` runs its callee number `i`.
double RunsOf(const Instruction& instruction, size_t i) {
  if (instruction.opcode() == Opcode::kWhile) {
    const double trips = KnownTripCount(instruction);
    return i == 0 ? trips + 1 : trips;
  }
  if (instruction.opcode() == Opcode::kConditional) {
    return 1 / static_cast<double>(instruction.called().size());
  }
  return 1;
}

std::vector<InstructionId> NeededInstructions(const Module& module,
                                              ComputationId id) {
  const Computation& computation = module.computation(id);
  std::vector<InstructionId> order = CanonicalOrder(module, id);
  IdMap<bool> needed;
  std::vector<InstructionId> stack;
  const auto need = [&](InstructionId instruction) {
    if (needed.at(instruction)) return;
    needed[instruction] = true;
    stack.push_back(instruction);
  };
  need(computation.root());
  for (const InstructionId instruction : order) {
    if (module.HasSideEffect(computation[instruction])) need(instruction);
  }
  while (!stack.empty()) {
    const InstructionId instruction = stack.back();
    stack.pop_back();
    for (const InstructionId i : computation[instruction].operands()) need(i);
  }
  order.erase(std::remove_if(order.begin(), order.end(),
                             [&](InstructionId i) { return !needed.at(i); }),
              order.end());
  return order;
}

}  // namespace

std::vector<ExecutedRegion> ExecutedRegions(const Module& module) {
  std::vector<ExecutedRegion> regions;
  IdMap<int32_t> region_of(-1);
  const auto visit = [&](ComputationId id) {
    if (region_of.at(id) >= 0) return;
    region_of[id] = static_cast<int32_t>(regions.size());
    regions.push_back({id, 0, {}});
  };
  visit(module.entry());
  regions[0].executions = 1;
  for (size_t i = 0; i < regions.size(); ++i) {
    const ComputationId id = regions[i].computation;
    std::vector<InstructionId> needed = NeededInstructions(module, id);
    for (const InstructionId instruction : needed) {
      const Instruction& caller = module.computation(id)[instruction];
      if (!RunsCallees(caller.opcode())) continue;
      for (const ComputationId callee : caller.called()) visit(callee);
    }
    regions[i].instructions = std::move(needed);
  }
  // Callers before callees.
  std::vector<ComputationId> order = module.ComputationPostOrder();
  std::reverse(order.begin(), order.end());
  for (const ComputationId id : order) {
    if (region_of.at(id) < 0) continue;
    const ExecutedRegion& region =
        regions[static_cast<size_t>(region_of.at(id))];
    for (const InstructionId instruction : region.instructions) {
      const Instruction& caller = module.computation(id)[instruction];
      if (!RunsCallees(caller.opcode())) continue;
      for (size_t i = 0; i < caller.called().size(); ++i) {
        ExecutedRegion& callee =
            regions[static_cast<size_t>(region_of.at(caller.called()[i]))];
        callee.executions =
            std::min(kMaxExecutions,
                     callee.executions + region.executions * RunsOf(caller, i));
      }
    }
  }
  return regions;
}

}  // namespace hone::hlo
