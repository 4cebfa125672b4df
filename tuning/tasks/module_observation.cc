#include "tuning/tasks/module_observation.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hlo/ir/id_map.h"
#include "hlo/ir/opcode.h"

namespace hone::tuning {
namespace {

constexpr int32_t kNodeFeatures = 6;
// The histogram and the number of instructions.
constexpr int32_t kGlobalFeatures = hlo::kOpcodeCount + 1;

// Scales counts that span orders of magnitude: `limit` doublings give 1.
float Log(int64_t count, float limit) {
  return std::log2(1.0F + static_cast<float>(count)) / limit;
}

// Numbers the live instructions of all computations.
class Nodes {
 public:
  explicit Nodes(const hlo::Module& module) {
    for (const hlo::Computation& computation : module.computations()) {
      hlo::IdMap<int32_t>& indices = indices_[computation.id()];
      for (const hlo::Instruction& instruction : computation.instructions()) {
        indices[instruction.id()] = count_++;
      }
    }
  }

  size_t count() const { return static_cast<size_t>(count_); }
  int32_t operator()(hlo::ComputationId c, hlo::InstructionId i) const {
    return indices_.at(c).at(i);
  }

 private:
  int32_t count_ = 0;
  hlo::IdMap<hlo::IdMap<int32_t>> indices_;
};

}  // namespace

space::ObservationSpec ModuleObservationSpec() {
  space::ObservationSpec spec{.node_kinds = hlo::kOpcodeCount,
                              .node_features = kNodeFeatures,
                              .global_features = kGlobalFeatures};
  for (int kind = 0; kind < hlo::kOpcodeCount; ++kind) {
    spec.node_kind_names.emplace_back(
        hlo::OpcodeName(static_cast<hlo::Opcode>(kind)));
  }
  spec.global_feature_names = spec.node_kind_names;
  spec.global_feature_names.emplace_back("instructions");
  return spec;
}

space::Observation ObserveModule(const hlo::Module& module) {
  const Nodes nodes(module);
  space::Observation observation;
  observation.node_kinds.reserve(nodes.count());
  observation.node_features.reserve(nodes.count() * kNodeFeatures);
  observation.edge_sources.reserve(2 * nodes.count());
  observation.edge_targets.reserve(2 * nodes.count());
  const auto add_edge = [&](int32_t source, int32_t target) {
    observation.edge_sources.push_back(source);
    observation.edge_targets.push_back(target);
  };

  for (const hlo::Computation& computation : module.computations()) {
    const hlo::ComputationId c = computation.id();
    const float in_entry = c == module.entry() ? 1.0F : 0.0F;
    for (const hlo::Instruction& instruction : computation.instructions()) {
      observation.node_kinds.push_back(
          static_cast<int32_t>(instruction.opcode()));
      const hlo::Shape& shape = instruction.shape();
      observation.node_features.insert(
          observation.node_features.end(),
          {Log(shape.IsArray() ? shape.num_elements() : 0, 24),
           static_cast<float>(shape.rank()) / 6,
           Log(static_cast<int64_t>(instruction.users().size()), 6),
           Log(static_cast<int64_t>(instruction.operand_count()), 6), in_entry,
           computation.root() == instruction.id() ? 1.0F : 0.0F});
      const int32_t target = nodes(c, instruction.id());
      for (hlo::InstructionId operand : instruction.operands()) {
        add_edge(nodes(c, operand), target);
      }
      for (hlo::ComputationId callee : instruction.called()) {
        add_edge(nodes(callee, module.computation(callee).root()), target);
      }
    }
  }
  for (const int32_t count : CountOpcodes(module)) {
    observation.global_features.push_back(Log(count, 12));
  }
  observation.global_features.push_back(
      Log(static_cast<int64_t>(nodes.count()), 16));
  return observation;
}

std::vector<int32_t> CountOpcodes(const hlo::Module& module) {
  std::vector<int32_t> counts(hlo::kOpcodeCount);
  for (const hlo::Computation& computation : module.computations()) {
    for (const hlo::Instruction& instruction : computation.instructions()) {
      ++counts[static_cast<size_t>(instruction.opcode())];
    }
  }
  return counts;
}

}  // namespace hone::tuning
