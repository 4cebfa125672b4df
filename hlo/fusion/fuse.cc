#include "hlo/fusion/fuse.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/fusion/kernel_module.h"
#include "hlo/ir/id_map.h"
#include "hlo/rewrite/carried_attributes.h"

namespace hone::hlo {
namespace {

ExtractedComputation Extract(const FusionSpace& space,
                             absl::Span<const FusionIndex> members,
                             absl::Span<const uint8_t> layouts,
                             bool annotations) {
  const ComputationId id = space.node(members.back()).computation;
  const Computation& computation = space.module().computation(id);
  std::vector<InstructionId> instructions;
  for (const FusionIndex member : members) {
    instructions.push_back(space.node(member).instruction);
  }
  return ExtractInstructions(
      computation, instructions,
      [&](InstructionId i) {
        const FusionIndex node = space.IndexOf(id, i);
        return node < 0 ? computation[i].shape_ptr()
                        : space.ShapeInMemory(node, layouts);
      },
      annotations);
}

absl::Status CheckLayouts(const FusionSpace& space,
                          absl::Span<const uint8_t> layouts) {
  for (size_t i = 0; i < space.size(); ++i) {
    const auto node = static_cast<FusionIndex>(i);
    if (layouts[i] == 0 || (layouts[i] == 1 && space.node(node).may_swap)) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat(space.NameOf(node), ": layout ", layouts[i], ", expected ",
                     space.node(node).may_swap ? "0 or 1" : "0"));
  }
  return absl::OkStatus();
}

// Names for computations that no other has.
class FreshNames {
 public:
  explicit FreshNames(const Module& module) {
    for (const Computation& c : module.computations()) names_.insert(c.name());
  }
  std::string Next() {
    std::string name;
    do {
      name = absl::StrCat("fused_computation");
      if (next_ > 0) absl::StrAppend(&name, ".", next_);
      ++next_;
    } while (names_.contains(name));
    return name;
  }

 private:
  absl::flat_hash_set<std::string> names_;
  int64_t next_ = 0;
};

struct KernelToFuse {
  FusionIndex root;
  ExtractedComputation extracted;
};

const std::shared_ptr<const Attributes>& LoopFusion() {
  static const auto* const attributes = [] {
    auto loop = std::make_shared<Attributes>();
    loop->fusion_kind = "kLoop";
    return new std::shared_ptr<const Attributes>(std::move(loop));
  }();
  return *attributes;
}

}  // namespace

absl::StatusOr<Module> Fuse(const FusionSpace& space,
                            absl::Span<const uint8_t> fused,
                            absl::Span<const uint8_t> layouts) {
  if (fused.size() != space.size() || layouts.size() != space.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("decision of ", fused.size(), " nodes and ",
                     layouts.size(), " layouts, expected ", space.size()));
  }
  KernelRules rules(space);
  HONE_RETURN_IF_ERROR(rules.Check(fused));
  HONE_RETURN_IF_ERROR(CheckLayouts(space, layouts));
  std::vector<KernelToFuse> kernels;
  for (size_t i = 0; i < space.size(); ++i) {
    const auto root = static_cast<FusionIndex>(i);
    if (fused[i] != kOwnKernel ||
        space.node(root).role == FusionRole::kSource) {
      continue;
    }
    const std::vector<FusionIndex>& members =
        rules.MembersOf(root, fused).nodes;
    if (members.size() == 1) continue;
    kernels.push_back({root, Extract(space, members, layouts, true)});
  }
  Module module = space.module();
  FreshNames names(module);
  // The fusions in place of roots, by region.
  std::vector<IdMap<InstructionId>> fusion_of(
      static_cast<size_t>(module.computation_slots()),
      IdMap<InstructionId>(kNoInstruction));
  for (KernelToFuse& kernel : kernels) {
    const FusionNode& node = space.node(kernel.root);
    IdMap<InstructionId>& fusions =
        fusion_of[static_cast<size_t>(node.computation)];
    kernel.extracted.computation.set_name(names.Next());
    const ComputationId callee =
        module.AddComputation(std::move(kernel.extracted.computation));
    Computation& region = module.mutable_computation(node.computation);
    std::vector<InstructionId> operands;
    for (const InstructionId operand : kernel.extracted.operands) {
      const InstructionId fusion = fusions.at(operand);
      operands.push_back(fusion == kNoInstruction ? operand : fusion);
    }
    Instruction fusion(Opcode::kFusion,
                       space.ShapeInMemory(kernel.root, layouts), operands,
                       LoopFusion());
    fusion.set_called({callee});
    fusion.set_name(region[node.instruction].name());
    const InstructionId id = region.AddInstruction(std::move(fusion));
    CarryAttributes(region, node.instruction, id, /*is_new=*/true);
    region.ReplaceAllUses(node.instruction, id);
    region.Remove(node.instruction);
    fusions[node.instruction] = id;
  }
  for (size_t i = space.size(); i-- > 0;) {
    const FusionNode& node = space.node(static_cast<FusionIndex>(i));
    if (fused[i] != kFused && layouts[i] == 0) continue;
    Computation& region = module.mutable_computation(node.computation);
    if (!region.Contains(node.instruction)) continue;
    if (fused[i] == kOwnKernel) {
      region.mutable_instruction(node.instruction)
          .set_shape(space.ShapeInMemory(static_cast<FusionIndex>(i), layouts));
    } else if (region[node.instruction].users().empty()) {
      region.Remove(node.instruction);
    }
  }
  return module;
}

absl::StatusOr<Module> MakeKernel(const FusionSpace& space,
                                  absl::Span<const FusionIndex> members,
                                  absl::Span<const uint8_t> layouts) {
  const FusionNode& root = space.node(members.back());
  if (space.instruction(members.back()).opcode() == Opcode::kFusion) {
    return MakeFusionKernel(space.module(),
                            space.module().computation(root.computation),
                            root.instruction);
  }
  return MakeKernelModule(space.module(),
                          Extract(space, members, layouts, false).computation);
}

}  // namespace hone::hlo
