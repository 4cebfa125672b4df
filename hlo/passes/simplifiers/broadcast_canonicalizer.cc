// broadcast_canonicalizer: leaves only broadcasts whose dimensions ascend.
//
//   b = f32[4,3,2] broadcast(f32[2,4] p), dimensions={2,0}
//   →
//   b' = f32[2,3,4] broadcast(p), dimensions={0,2}
//   b  = f32[4,3,2] transpose(b'), dimensions={2,1,0}
//
// Legal always; dynamic shapes and scheduled modules are left alone. It adds an
// instruction, for code generators and passes that know ascending dimensions
// only: not for the operation count.

#include <algorithm>
#include <memory>
#include <utility>

#include "hlo/passes/registry.h"

namespace hone::hlo {
namespace {

bool IsDescending(const Instruction& instruction) {
  return instruction.is_live() && instruction.opcode() == Opcode::kBroadcast &&
         !instruction.shape().is_dynamic() &&
         !std::is_sorted(instruction.dimensions().begin(),
                         instruction.dimensions().end());
}

std::shared_ptr<const Attributes> WithDimensions(Attributes attributes,
                                                 DimensionVector dimensions) {
  attributes.dimensions = std::move(dimensions);
  return std::make_shared<const Attributes>(std::move(attributes));
}

void Canonicalize(Computation& computation, InstructionId id) {
  const Instruction& broadcast = computation[id];
  const Shape& shape = broadcast.shape();
  const DimensionVector& mapping = broadcast.dimensions();
  DimensionVector ascending = mapping;
  std::sort(ascending.begin(), ascending.end());
  // Operand dimension i moves from result dimension mapping[i] to ascending[i].
  DimensionVector sizes = shape.dimensions();
  DimensionVector permutation(sizes.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    permutation[i] = static_cast<int64_t>(i);
  }
  for (size_t i = 0; i < mapping.size(); ++i) {
    sizes[static_cast<size_t>(ascending[i])] = shape.dimension(mapping[i]);
    permutation[static_cast<size_t>(mapping[i])] = ascending[i];
  }
  Instruction sorted(
      Opcode::kBroadcast, Shape::Array(shape.element_type(), sizes),
      broadcast.operands(), WithDimensions(broadcast.attributes(), ascending));
  sorted.set_metadata(broadcast.metadata());
  const InstructionId operand = computation.AddInstruction(std::move(sorted));
  computation.ReplaceWithNew(
      id, Instruction(Opcode::kTranspose, broadcast.shape_ptr(), {operand},
                      WithDimensions(Attributes(), permutation)));
}

class BroadcastCanonicalizer final : public Pass {
 public:
  absl::string_view name() const override { return "broadcast_canonicalizer"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    for (ComputationId c = 0; c < module.computation_slots(); ++c) {
      if (!module.has_computation(c)) continue;
      const InstructionId slots = module.computation(c).slot_count();
      for (InstructionId id = 0; id < slots; ++id) {
        if (!IsDescending(module.computation(c)[id])) continue;
        Canonicalize(module.mutable_computation(c), id);
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeBroadcastCanonicalizer() {
  return std::make_unique<BroadcastCanonicalizer>();
}

}  // namespace hone::hlo
