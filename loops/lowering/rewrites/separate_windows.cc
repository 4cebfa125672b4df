#include "loops/lowering/rewrites/separate_windows.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/rewrite/regions/reductions.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {
namespace {

using hlo::InstructionId;
using hlo::Opcode;

// How many times fewer steps are worth an array in between.
constexpr int64_t kWorthSteps = 3;

bool IsTrivial(const hlo::WindowDimension& w) {
  return w == hlo::WindowDimension();
}

bool IsWorthSeparating(const hlo::Module& module,
                       const hlo::Computation& computation,
                       const hlo::Instruction& instruction) {
  if (instruction.opcode() != Opcode::kReduceWindow ||
      !instruction.shape().IsArray() || instruction.operand_count() != 2) {
    return false;
  }
  const hlo::Instruction& init = computation[instruction.operand(1)];
  const std::optional<Opcode> opcode =
      hlo::ReductionOpcode(module.computation(instruction.called()[0]));
  if (!opcode.has_value() || !init.IsConstant() ||
      init.literal()->is_elided() ||
      !hlo::IsReductionIdentity(*opcode, *init.literal())) {
    return false;
  }
  int64_t together = 1;
  int64_t separate = 0;
  int64_t dimensions = 0;
  for (const hlo::WindowDimension& w : *instruction.attributes().window) {
    if (IsTrivial(w)) continue;
    together *= w.size;
    separate += w.size;
    ++dimensions;
  }
  return dimensions > 1 && together >= kWorthSteps * separate;
}

void Separate(hlo::Computation& computation, InstructionId id) {
  const hlo::Instruction& whole = computation[id];
  const hlo::Window window = *whole.attributes().window;
  const InstructionId init = whole.operand(1);
  InstructionId current = whole.operand(0);
  for (size_t d = 0; d < window.size(); ++d) {
    if (IsTrivial(window[d])) continue;
    hlo::DimensionVector sizes = computation[current].shape().dimensions();
    sizes[d] = computation[id].shape().dimensions()[d];
    auto attributes =
        std::make_shared<hlo::Attributes>(computation[id].attributes());
    hlo::Window along(window.size());
    along[d] = window[d];
    attributes->window = std::make_shared<const hlo::Window>(std::move(along));
    hlo::Instruction part(
        Opcode::kReduceWindow,
        hlo::Shape::Array(computation[id].shape().element_type(), sizes),
        {current, init}, std::move(attributes));
    part.set_called({computation[id].called()[0]});
    current = computation.AddInstruction(std::move(part));
  }
  computation.ReplaceAllUses(id, current);
  computation.Remove(id);
}

}  // namespace

void SeparateWindows(hlo::Module& module) {
  for (hlo::ComputationId id : module.ComputationIds()) {
    std::vector<InstructionId> windows;
    const hlo::Computation& computation = module.computation(id);
    for (const hlo::Instruction& i : computation.instructions()) {
      if (IsWorthSeparating(module, computation, i)) windows.push_back(i.id());
    }
    for (InstructionId window : windows) {
      Separate(module.mutable_computation(id), window);
    }
  }
}

}  // namespace hone::loops
