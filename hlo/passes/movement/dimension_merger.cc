// dimension-merger: merges consecutive dimensions of all the arrays that carry
// them, so that reshapes that merge or split these dimensions go:
//
//   x = reshape(a) [128,8] → [2,64,8], m = broadcast(reduce(x)), y = x - m
//   reshape(y) [2,64,8] → [128,8]
//
// becomes a - broadcast(reduce(a)) on [128,8] throughout. In a transformer,
// dots work on [batch·sequence, features] and all between them on [batch,
// sequence, features]. Unlike reshape-group-mover it follows the dimensions
// through broadcasts, reductions and transposes, into arrays of other ranks.
//
// Exact. Arrays that are connected move together or stay, and move only when
// that leaves fewer instructions. Hone's own: upstream has no such pass.

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "hlo/ir/id_map.h"
#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/movement/group_move.h"
#include "hlo/passes/movement/run_component.h"
#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {
namespace {

class Merger {
 public:
  explicit Merger(Rewriter& r) : r_(r) {}

  void Run() {
    std::map<DimensionRun, std::vector<Seed>> seeds;
    for (const Instruction& i : r_.computation().instructions()) {
      if (i.opcode() != Opcode::kReshape || !IsMover(r_, i.id())) continue;
      const DimensionVector& from = r_.dimensions_of(i.operand(0));
      const DimensionVector& to = i.shape().dimensions();
      if (const auto merge = FindMerge(from, to)) {
        seeds[merge->first].push_back({i.operand(0), merge->second});
      } else if (const auto split = FindMerge(to, from)) {
        seeds[split->first].push_back({i.id(), split->second});
      }
    }
    for (const auto& [run, values] : seeds) {
      IdMap<bool> seen(false);
      for (const Seed& seed : values) {
        if (!r_.computation().Contains(seed.id) || seen.at(seed.id)) continue;
        RunComponent component(r_, run);
        const bool consistent = component.Grow(seed.id, seed.position);
        for (InstructionId id : component.values()) seen[id] = true;
        if (consistent && component.Cost() < 0) Apply(component, run);
      }
    }
  }

 private:
  struct Seed {
    InstructionId id;
    int64_t position;
  };

  void Apply(const RunComponent& component, const DimensionRun& run) {
    IdMap<InstructionId> merged(kNoInstruction);
    std::vector<InstructionId> members;
    for (InstructionId id : r_.computation().PostOrder()) {
      if (!component.IsMember(id)) continue;
      members.push_back(id);
      InstructionIds operands = r_[id].operands();
      for (InstructionId& operand : operands) {
        if (component.PositionOf(operand) == kNoPosition ||
            !component.IsCarriedTo(id, operand)) {
          continue;
        }
        InstructionId& form = merged[operand];
        if (form == kNoInstruction) form = MakeMerged(component, run, operand);
        operand = form;
      }
      const InstructionId made =
          Rebuild(id, operands, component.PositionOf(id), run);
      merged[id] = made;
    }
    // Users first, so that what is replaced dies at once.
    for (size_t i = members.size(); i-- > 0 && r_.ok();) {
      Replace(component, members[i], merged.at(members[i]));
    }
    r_.EndRewrite();
  }

  void Replace(const RunComponent& component, InstructionId id,
               InstructionId merged) {
    if (!r_.computation().Contains(id) ||
        // Went with a user that has to stay where it is.
        !r_.computation().Contains(merged)) {
      return;
    }
    for (InstructionId user : InstructionIds(r_[id].users())) {
      if (r_.computation().Contains(user) && component.IsMerge(user, id)) {
        r_.Replace(user, merged);
      }
    }
    if (!r_.computation().Contains(id)) return;
    const InstructionId split = MakeReshape(r_, merged, r_.dimensions_of(id));
    if (!r_.Replace(id, split)) {
      // It may use other members, which can still be merged.
      r_.RemoveDead(split);
      return;
    }
    for (InstructionId user : InstructionIds(r_[split].users())) {
      if (!r_.computation().Contains(user) || !r_.MayReplace(user)) continue;
      if (r_.Is(user, Opcode::kReshape)) algsimp::SimplifyReshape(r_, user);
      if (r_.Is(user, Opcode::kReduce)) algsimp::SimplifyReduce(r_, user);
    }
  }

  // The merged form of a value outside.
  InstructionId MakeMerged(const RunComponent& component,
                           const DimensionRun& run, InstructionId id) {
    if (component.IsSplit(id)) return r_.operand(id, 0);
    const InstructionId existing = component.ExistingMerge(id);
    if (existing != kNoInstruction) return existing;
    const DimensionVector sizes =
        Merged(r_.dimensions_of(id), run, component.PositionOf(id));
    const Literal* literal = ConstantLiteral(r_.computation(), id);
    if (literal != nullptr) {
      return MakeConstant(r_, literal->Reshaped(Shape::Array(
                                  r_.shape(id).element_type(), sizes)));
    }
    return MakeReshape(r_, r_.Is(id, Opcode::kReshape) ? r_.operand(id, 0) : id,
                       sizes);
  }

  // The member `id`, with the run at `position`, on merged operands.
  InstructionId Rebuild(InstructionId id,
                        absl::Span<const InstructionId> operands,
                        int64_t position, const DimensionRun& run) {
    const Instruction& instruction = r_[id];
    const DimensionVector sizes = Merged(r_.dimensions_of(id), run, position);
    switch (instruction.opcode()) {
      case Opcode::kBroadcast: {
        const DimensionVector mapping =
            MergedIndices(instruction.dimensions(), run, position);
        const Instruction remade(
            Opcode::kBroadcast,
            Shape::Array(r_.shape(id).element_type(), sizes), {operands[0]},
            DimensionAttributes(mapping));
        const InstructionId equal = FindEqual(r_, remade);
        return equal != kNoInstruction
                   ? equal
                   : MakeBroadcast(r_, operands[0], sizes, mapping);
      }
      case Opcode::kIota:
        return MakeIota(
            r_, r_.shape(id).element_type(), sizes,
            MergedIndex(instruction.dimensions()[0], run, position));
      case Opcode::kReduce: {
        const DimensionVector kept = ResultInOperand(r_, id);
        return MakeReduce(r_, operands[0], operands[1],
                          MergedIndices(instruction.dimensions(), run,
                                        kept[static_cast<size_t>(position)]),
                          instruction.called()[0]);
      }
      case Opcode::kTranspose:
        return MakeTranspose(
            r_, operands[0],
            MergedIndices(
                instruction.dimensions(), run,
                instruction.dimensions()[static_cast<size_t>(position)]));
      default:
        return MakeLike(r_, id, operands);
    }
  }

  Rewriter& r_;
};

}  // namespace

std::unique_ptr<Pass> MakeDimensionMerger() {
  return MakeRulePass(
      {.name = "dimension-merger", .opcodes = {Opcode::kReshape}},
      [](Rewriter& r) { Merger(r).Run(); });
}

}  // namespace hone::hlo
