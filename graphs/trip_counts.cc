#include "graphs/trip_counts.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <nlohmann/json.hpp>

#include "hlo/analysis/backend_config.h"
#include "hlo/analysis/stated_trip_count.h"
#include "hlo/passes/control_flow/while_trip_count.h"

namespace hone::graphs {
namespace {

using hlo::Computation;
using hlo::ComputationId;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Module;

constexpr char kAttribute[] = "backend_config";

// States the count in the loop's configuration, unless that is none to be
// extended.
void StateTripCount(int64_t count, Instruction& loop) {
  auto attributes = std::make_shared<hlo::Attributes>(loop.attributes());
  nlohmann::ordered_json config = nlohmann::ordered_json::object();
  std::erase_if(attributes->others, [&](const auto& attribute) {
    if (attribute.first != kAttribute) return false;
    config = hlo::ParseBackendConfig(attribute.second);
    return true;
  });
  if (!config.is_object()) return;
  config["known_trip_count"] = {{"n", absl::StrCat(count)}};
  attributes->others.emplace_back(kAttribute, config.dump());
  loop.set_attributes(std::move(attributes));
}

// Removes what the root does not need: conditions as JAX writes them read all
// elements, and use one.
void RemoveDeadCode(Computation& computation) {
  std::vector<InstructionId> order = computation.PostOrder();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const Instruction& instruction = computation[*id];
    if (*id == computation.root() || !instruction.users().empty() ||
        instruction.opcode() == hlo::Opcode::kParameter ||
        computation.HasControlDependency(*id)) {
      continue;
    }
    computation.Remove(*id);
  }
}

}  // namespace

bool StatesTripCount(const Instruction& loop) {
  return hlo::StatedTripCount(loop).has_value();
}

Module WithTripCounts(const Module& module) {
  struct Loop {
    ComputationId computation;
    InstructionId id;
  };
  std::vector<Loop> loops;
  for (const Computation& computation : module.computations()) {
    for (const Instruction& i : computation.instructions()) {
      if (i.opcode() == hlo::Opcode::kWhile && !StatesTripCount(i)) {
        loops.push_back({computation.id(), i.id()});
      }
    }
  }
  if (loops.empty()) return module;
  Module simplified = module;
  for (const Loop& loop : loops) {
    const Instruction& i = module.computation(loop.computation)[loop.id];
    RemoveDeadCode(simplified.mutable_computation(i.called()[0]));
  }
  Module counted = module;
  for (const auto& [computation, id] : loops) {
    // A loop in a condition that does not need it is gone.
    if (!simplified.computation(computation).Contains(id)) continue;
    const std::optional<hlo::CountedLoop> found = hlo::FindCountedLoop(
        simplified, simplified.computation(computation), id);
    if (!found.has_value()) continue;
    StateTripCount(
        found->trip_count,
        counted.mutable_computation(computation).mutable_instruction(id));
  }
  return counted;
}

}  // namespace hone::graphs
