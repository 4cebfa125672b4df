#include "tuning/tasks/placed_module.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace hone::tuning {
namespace {

using hlo::InstructionId;

constexpr absl::string_view kSharding = "sharding";

// The device of each instruction of the entry computation, by id.
std::vector<int32_t> DevicesOfInstructions(const hlo::Computation& entry,
                                           const graphs::ImportedHlo& imported,
                                           absl::Span<const int32_t> devices) {
  constexpr int32_t kNone = -1;
  std::vector<int32_t> of(imported.nodes.size(), kNone);
  const std::vector<InstructionId> order = entry.PostOrder();
  const auto at = [&](InstructionId id) -> int32_t& {
    return of[static_cast<size_t>(id)];
  };
  for (const InstructionId id : order) {
    const int32_t node = imported.nodes[static_cast<size_t>(id)];
    if (node >= 0) {
      at(id) = devices[static_cast<size_t>(node)];
      continue;
    }
    for (const InstructionId operand : entry[id].operands()) {
      if (at(id) == kNone) at(id) = at(operand);
    }
  }
  // Backwards, so that the first reader is the last to decide.
  std::vector<bool> is_open(of.size());
  for (size_t i = 0; i < of.size(); ++i) is_open[i] = of[i] == kNone;
  for (size_t i = order.size(); i-- > 0;) {
    if (at(order[i]) == kNone) continue;
    for (const InstructionId operand : entry[order[i]].operands()) {
      if (is_open[static_cast<size_t>(operand)]) at(operand) = at(order[i]);
    }
  }
  for (int32_t& device : of) device = std::max(device, 0);
  return of;
}

}  // namespace

hlo::Module WithDevices(const hlo::Module& module,
                        const graphs::ImportedHlo& imported,
                        absl::Span<const int32_t> devices) {
  const std::vector<int32_t> of =
      DevicesOfInstructions(module.entry_computation(), imported, devices);
  hlo::Module placed = module;
  hlo::Computation& entry =
      placed.mutable_computation(placed.entry_computation().id());
  for (const InstructionId id : entry.PostOrder()) {
    hlo::Instruction& instruction = entry.mutable_instruction(id);
    auto attributes =
        std::make_shared<hlo::Attributes>(instruction.attributes());
    std::erase_if(attributes->others, [](const auto& attribute) {
      return attribute.first == kSharding;
    });
    attributes->others.emplace_back(
        kSharding,
        absl::StrCat("{maximal device=", of[static_cast<size_t>(id)], "}"));
    instruction.set_attributes(std::move(attributes));
  }
  return placed;
}

}  // namespace hone::tuning
