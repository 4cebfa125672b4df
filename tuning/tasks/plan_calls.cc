#include "tuning/tasks/plan_calls.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "graphs/trip_counts.h"
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

// By the name of the body, which plans keep. `module` states the counts that
// can be found.
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
      : plan_(plan),
        trips_(TripCounts(graphs::WithTripCounts(module))),
        calls_(plan.kernels.size()),
        times_(plan.functions.size()),
        ordered_(plan.functions.size()) {}

  std::vector<double> Count() {
    Order(plan_.entry);
    times_[static_cast<size_t>(plan_.entry)] = 1;
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) AddCalls(*it);
    return std::move(calls_);
  }

 private:
  void Call(int32_t function, double times) {
    times_[static_cast<size_t>(function)] += times;
  }

  // Lists a function after all that it calls, each once, as many callers may
  // share one. No function calls one that calls it.
  void Order(int32_t function) {
    const auto index = static_cast<size_t>(function);
    if (ordered_[index]) return;
    ordered_[index] = true;
    for (const loops::PlanStep& step : plan_.functions[index].steps) {
      if (const auto* loop = std::get_if<loops::WhileStep>(&step)) {
        Order(loop->condition);
        Order(loop->body);
      } else if (const auto* branch =
                     std::get_if<loops::ConditionalStep>(&step)) {
        for (int32_t each : branch->branches) Order(each);
      }
    }
    order_.push_back(function);
  }

  // Adds what a function calls in all of its calls, which are known.
  void AddCalls(int32_t function) {
    const auto index = static_cast<size_t>(function);
    const double times = times_[index];
    for (const loops::PlanStep& step : plan_.functions[index].steps) {
      if (const auto* kernel = std::get_if<loops::KernelStep>(&step)) {
        calls_[static_cast<size_t>(kernel->kernel)] += times;
      } else if (const auto* loop = std::get_if<loops::WhileStep>(&step)) {
        const std::string& body =
            plan_.functions[static_cast<size_t>(loop->body)].name;
        const auto stated = trips_.find(body);
        const double trips =
            stated == trips_.end() ? kUnknownTripCount : stated->second;
        Call(loop->condition, times * (trips + 1));
        Call(loop->body, times * trips);
      } else if (const auto* branch =
                     std::get_if<loops::ConditionalStep>(&step)) {
        for (int32_t each : branch->branches) {
          Call(each, times / static_cast<double>(branch->branches.size()));
        }
      }
    }
  }

  const loops::ModulePlan& plan_;
  const absl::flat_hash_map<std::string, double> trips_;
  std::vector<double> calls_;  // [kernels]
  std::vector<double> times_;  // [functions]
  std::vector<bool> ordered_;  // [functions]
  std::vector<int32_t> order_;
};

}  // namespace

std::vector<double> CallsOfKernels(const hlo::Module& module,
                                   const loops::ModulePlan& plan) {
  return CallCounter(module, plan).Count();
}

}  // namespace hone::tuning
