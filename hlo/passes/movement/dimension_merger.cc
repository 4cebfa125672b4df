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

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "hlo/ir/id_map.h"
#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/movement/group_move.h"
#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {
namespace {

// The sizes of consecutive dimensions that become one.
using DimensionRun = DimensionVector;

// A position in an array: of the first dimension of a run.
constexpr int64_t kNone = -1;

// `sizes` with the run at `position` merged.
DimensionVector Merged(const DimensionVector& sizes, const DimensionRun& run,
                       int64_t position) {
  DimensionVector merged(sizes.begin(), sizes.begin() + position);
  int64_t product = 1;
  for (int64_t size : run) product *= size;
  merged.push_back(product);
  merged.insert(merged.end(),
                sizes.begin() + position + static_cast<int64_t>(run.size()),
                sizes.end());
  return merged;
}

// Where dimension `d` is after the run at `position` was merged.
int64_t MergedIndex(int64_t d, const DimensionRun& run, int64_t position) {
  const auto last = position + static_cast<int64_t>(run.size()) - 1;
  return d <= position ? d : std::max(d, last) - (last - position);
}

// `dimensions`, numbers of dimensions of an array with a run at `position`,
// after the merge; the run is all among them, in order, or none of it.
DimensionVector MergedIndices(const DimensionVector& dimensions,
                              const DimensionRun& run, int64_t position) {
  DimensionVector merged;
  for (int64_t d : dimensions) {
    const bool goes =
        d > position && d < position + static_cast<int64_t>(run.size());
    if (!goes) merged.push_back(MergedIndex(d, run, position));
  }
  return merged;
}

// The dimensions that `wide` has where `narrow` has their product, and their
// position; nullopt unless that is all the difference.
std::optional<std::pair<DimensionRun, int64_t>> FindMerge(
    const DimensionVector& wide, const DimensionVector& narrow) {
  if (wide.size() <= narrow.size() || narrow.empty()) return std::nullopt;
  const size_t length = wide.size() - narrow.size() + 1;
  for (size_t p = 0; p < narrow.size(); ++p) {
    const DimensionRun run(wide.begin() + static_cast<int64_t>(p),
                           wide.begin() + static_cast<int64_t>(p + length));
    const auto position = static_cast<int64_t>(p);
    if (absl::c_all_of(run, [](int64_t size) { return size > 1; }) &&
        Merged(wide, run, position) == narrow) {
      return std::make_pair(run, position);
    }
  }
  return std::nullopt;
}

// The position at which `numbers` lists the run at `position` in order: `kNone`
// if it lists none of it, nullopt if a part or in another order.
std::optional<int64_t> PositionIn(const DimensionVector& numbers,
                                  const DimensionRun& run, int64_t position) {
  const auto length = static_cast<int64_t>(run.size());
  int64_t found = kNone;
  int64_t count = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int64_t offset = numbers[i] - position;
    if (offset < 0 || offset >= length) continue;
    if (found == kNone) found = static_cast<int64_t>(i);
    if (static_cast<int64_t>(i) != found + offset) return std::nullopt;
    ++count;
  }
  if (count == 0) return kNone;
  if (count != length) return std::nullopt;
  return found;
}

// How the dimensions of an instruction's result are numbered in its operand.
DimensionVector ResultInOperand(const Rewriter& r, InstructionId id) {
  const Instruction& instruction = r[id];
  return instruction.opcode() == Opcode::kReduce
             ? OtherDimensions(instruction.dimensions(),
                               r.shape(instruction.operand(0)).rank())
             : instruction.dimensions();
}

// The arrays that are connected by operations that hand a run on.
class Component {
 public:
  Component(const Rewriter& r, const DimensionRun& run)
      : r_(r), run_(run), positions_(kNone), members_(false) {}

  // Adds everything that is connected to `seed`, with the run at `position`.
  // Returns false if an array would have the run at two places.
  bool Grow(InstructionId seed, int64_t position) {
    bool consistent = Reach(seed, position);
    while (!pending_.empty() && consistent) {
      const InstructionId id = pending_.back();
      pending_.pop_back();
      const int64_t at = positions_.at(id);
      if (const auto operand = OperandPosition(id, at)) {
        members_[id] = true;
        if (*operand != kNone) {
          for (InstructionId o : r_[id].operands()) {
            if (IsCarriedTo(id, o)) consistent &= Reach(o, *operand);
          }
        }
      }
      for (InstructionId user : r_[id].users()) {
        const int64_t result = ResultPosition(user, id, at);
        if (result != kNone && OperandPosition(user, result) == at) {
          consistent &= Reach(user, result);
        }
      }
    }
    return consistent;
  }

  const std::vector<InstructionId>& values() const { return values_; }
  bool IsMember(InstructionId id) const { return members_.at(id); }
  int64_t PositionOf(InstructionId id) const { return positions_.at(id); }

  // Returns true if `operand` of the member `id` carries the run.
  bool IsCarriedTo(InstructionId id, InstructionId operand) const {
    switch (r_[id].opcode()) {
      case Opcode::kBroadcast:
      case Opcode::kTranspose:
        return true;
      case Opcode::kReduce:
        return operand == r_.operand(id, 0);
      default:
        return r_.dimensions_of(operand) == r_.dimensions_of(id);
    }
  }

  // Returns true if `user` merges the run of `id`.
  bool IsMerge(InstructionId user, InstructionId id) const {
    return r_.Is(user, Opcode::kReshape) && IsMover(r_, user) &&
           r_.dimensions_of(user) ==
               Merged(r_.dimensions_of(id), run_, PositionOf(id));
  }
  // Returns true if `id` is what splits the run.
  bool IsSplit(InstructionId id) const {
    return r_.Is(id, Opcode::kReshape) && IsMover(r_, id) &&
           r_.dimensions_of(r_.operand(id, 0)) ==
               Merged(r_.dimensions_of(id), run_, PositionOf(id));
  }
  // What merges the run of `id` already; kNoInstruction if there is nothing.
  InstructionId ExistingMerge(InstructionId id) const {
    for (InstructionId user : r_[id].users()) {
      if (IsMerge(user, id)) return user;
    }
    if (!r_.Is(id, Opcode::kReshape)) return kNoInstruction;
    const DimensionVector merged =
        Merged(r_.dimensions_of(id), run_, PositionOf(id));
    for (InstructionId other : r_[r_.operand(id, 0)].users()) {
      if (r_.Is(other, Opcode::kReshape) && r_.dimensions_of(other) == merged) {
        return other;
      }
    }
    return kNoInstruction;
  }

  // The number of instructions that the merge adds less those that it removes,
  // at once or through algsimp.
  int Cost() const {
    int cost = 0;
    for (InstructionId id : values_) {
      cost += IsMember(id) ? UserCost(id) : OutsideCost(id);
    }
    return cost;
  }

 private:
  bool Reach(InstructionId id, int64_t position) {
    if (positions_.at(id) == position) return true;
    if (positions_.at(id) != kNone) return false;
    positions_[id] = position;
    values_.push_back(id);
    pending_.push_back(id);
    return true;
  }

  // If `id` can be made anew with the run at `position` merged: the position of
  // the run in its operands, kNone if they do not carry it.
  std::optional<int64_t> OperandPosition(InstructionId id,
                                         int64_t position) const {
    const Instruction& instruction = r_[id];
    if (!instruction.shape().IsArray() || instruction.shape().is_dynamic() ||
        !r_.MayReplace(id)) {
      return std::nullopt;
    }
    switch (instruction.opcode()) {
      case Opcode::kBroadcast:
        return PositionIn(instruction.dimensions(), run_, position);
      case Opcode::kIota:
        return PositionIn(instruction.dimensions(), run_, position) == kNone
                   ? std::optional<int64_t>(kNone)
                   : std::nullopt;
      case Opcode::kReduce:
        if (instruction.operand_count() != 2) return std::nullopt;
        [[fallthrough]];
      case Opcode::kTranspose: {
        const DimensionVector numbers = ResultInOperand(r_, id);
        for (size_t i = 1; i < run_.size(); ++i) {
          const auto p = static_cast<size_t>(position);
          if (numbers[p + i] != numbers[p] + static_cast<int64_t>(i)) {
            return std::nullopt;
          }
        }
        return numbers[static_cast<size_t>(position)];
      }
      default:
        if (!IsElementwise(instruction.opcode()) ||
            IsOpaque(instruction.opcode()) ||
            instruction.opcode() == Opcode::kCopy ||
            instruction.opcode() == Opcode::kBitcastConvert ||
            instruction.operand_count() == 0) {
          return std::nullopt;
        }
        return position;
    }
  }

  // The position in the result of `user` of the run at `position` in `operand`;
  // kNone if it hands the run on to nothing.
  int64_t ResultPosition(InstructionId user, InstructionId operand,
                         int64_t position) const {
    const Instruction& instruction = r_[user];
    switch (instruction.opcode()) {
      case Opcode::kBroadcast: {
        const DimensionVector& mapping = instruction.dimensions();
        return mapping[static_cast<size_t>(position)];
      }
      case Opcode::kReduce:
        if (instruction.operand(0) != operand) return kNone;
        [[fallthrough]];
      case Opcode::kTranspose:
        return PositionIn(ResultInOperand(r_, user), run_, position)
            .value_or(kNone);
      default:
        return IsElementwise(instruction.opcode()) &&
                       r_.dimensions_of(user) == r_.dimensions_of(operand)
                   ? position
                   : kNone;
    }
  }

  // For what reads the member `id` from outside.
  int UserCost(InstructionId id) const {
    int cost = 0;
    bool splits = id == r_.computation().root();
    for (InstructionId user : r_[id].users()) {
      if (IsMember(user)) continue;
      if (IsMerge(user, id)) {
        cost -= user == r_.computation().root() ? 0 : 1;
      } else {
        splits |= !Absorbs(user, id);
      }
    }
    return cost + (splits ? 1 : 0);
  }

  // Returns true if `user` can read the split of the merged value without one
  // instruction more, once algsimp has seen it.
  bool Absorbs(InstructionId user, InstructionId id) const {
    const Instruction& instruction = r_[user];
    if (instruction.opcode() == Opcode::kReshape) return IsMover(r_, user);
    if (instruction.opcode() != Opcode::kReduce ||
        instruction.operand_count() != 2 || instruction.operand(0) != id ||
        !algsimp::MayReorder(r_, user)) {
      return false;
    }
    // The whole run is reduced, or none of it.
    return PositionIn(ResultInOperand(r_, user), run_, PositionOf(id)) == kNone;
  }

  // For the merged form of `id`, which is made outside of the component.
  int OutsideCost(InstructionId id) const {
    const auto reads = [&](InstructionId user) { return IsMember(user); };
    if (absl::c_none_of(r_[id].users(), reads)) return 0;
    const bool dies = id != r_.computation().root() &&
                      !r_.Is(id, Opcode::kParameter) &&
                      absl::c_all_of(r_[id].users(), reads);
    if (IsSplit(id)) return dies ? -1 : 0;
    if (ConstantLiteral(r_.computation(), id) != nullptr ||
        r_.Is(id, Opcode::kReshape)) {
      const bool is_there = ExistingMerge(id) != kNoInstruction;
      return (is_there ? 0 : 1) - (dies ? 1 : 0);
    }
    return ExistingMerge(id) != kNoInstruction ? 0 : 1;
  }

  const Rewriter& r_;
  const DimensionRun& run_;
  IdMap<int64_t> positions_;
  IdMap<bool> members_;
  std::vector<InstructionId> values_;
  std::vector<InstructionId> pending_;
};

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
        Component component(r_, run);
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

  void Apply(const Component& component, const DimensionRun& run) {
    IdMap<InstructionId> merged(kNoInstruction);
    std::vector<InstructionId> members;
    for (InstructionId id : r_.computation().PostOrder()) {
      if (!component.IsMember(id)) continue;
      members.push_back(id);
      InstructionIds operands = r_[id].operands();
      for (InstructionId& operand : operands) {
        if (component.PositionOf(operand) == kNone ||
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

  void Replace(const Component& component, InstructionId id,
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
  InstructionId MakeMerged(const Component& component, const DimensionRun& run,
                           InstructionId id) {
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
