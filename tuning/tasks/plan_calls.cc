#include "tuning/tasks/plan_calls.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"

#include "hlo/analysis/stated_trip_count.h"

namespace hone::tuning {
namespace {

// Returns the constant that the root of a condition compares a counter with:
// the trip count of a loop that counts from 0 by 1, as programs write loops.
std::optional<double> ComparedConstant(const hlo::Computation& condition) {
  const hlo::Instruction& root = condition[condition.root()];
  if (root.opcode() != hlo::Opcode::kCompare) return std::nullopt;
  for (hlo::InstructionId id : root.operands()) {
    const hlo::Instruction& operand = condition[id];
    if (operand.opcode() != hlo::Opcode::kConstant ||
        operand.literal() == nullptr || operand.shape().IsTuple() ||
        !hlo::IsIntegral(operand.shape().element_type()) ||
        operand.literal()->num_elements() != 1) {
      continue;
    }
    const double value = operand.literal()->AsDouble(0);
    if (value > 0) return value;
  }
  return std::nullopt;
}

// By the name of the body, which plans keep.
absl::flat_hash_map<std::string, double> TripCounts(const hlo::Module& module) {
  absl::flat_hash_map<std::string, double> counts;
  for (const hlo::Computation& computation : module.computations()) {
    for (const hlo::Instruction& loop : computation.instructions()) {
      if (loop.opcode() != hlo::Opcode::kWhile) continue;
      std::optional<double> count = hlo::StatedTripCount(loop);
      if (!count) {
        count = ComparedConstant(module.computation(loop.called()[0]));
      }
      if (count) counts[module.computation(loop.called()[1]).name()] = *count;
    }
  }
  return counts;
}

class CallCounter {
 public:
  CallCounter(const hlo::Module& module, const loops::ModulePlan& plan)
      : plan_(plan), trips_(TripCounts(module)), calls_(plan.kernels.size()) {}

  std::vector<double> Count() {
    Visit(plan_.entry, 1);
    return std::move(calls_);
  }

 private:
  // Functions call no function that calls them.
  void Visit(int32_t function, double times) {
    for (const loops::PlanStep& step :
         plan_.functions[static_cast<size_t>(function)].steps) {
      if (const auto* kernel = std::get_if<loops::KernelStep>(&step)) {
        calls_[static_cast<size_t>(kernel->kernel)] += times;
      } else if (const auto* loop = std::get_if<loops::WhileStep>(&step)) {
        const std::string& body =
            plan_.functions[static_cast<size_t>(loop->body)].name;
        const auto stated = trips_.find(body);
        const double trips =
            stated == trips_.end() ? kUnknownTripCount : stated->second;
        Visit(loop->condition, times * (trips + 1));
        Visit(loop->body, times * trips);
      } else if (const auto* branch =
                     std::get_if<loops::ConditionalStep>(&step)) {
        for (int32_t each : branch->branches) {
          Visit(each, times / static_cast<double>(branch->branches.size()));
        }
      }
    }
  }

  const loops::ModulePlan& plan_;
  const absl::flat_hash_map<std::string, double> trips_;
  std::vector<double> calls_;
};

}  // namespace

std::vector<double> CallsOfKernels(const hlo::Module& module,
                                   const loops::ModulePlan& plan) {
  return CallCounter(module, plan).Count();
}

}  // namespace hone::tuning
