#include "hlo/passes/movement/group_move.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"

#include "hlo/passes/algsimp/rules.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {
namespace {

bool IsTranspose(const Rewriter& r, InstructionId id) {
  return r.Is(id, Opcode::kTranspose);
}

// Returns true if a reduction of an array of the form `from` can take the form
// `to` instead: the dimensions that it keeps stay as they are, in order, and it
// may meet its elements in another one.
bool ReduceAbsorbs(const Rewriter& r, const Instruction& reduce,
                   InstructionId value, const GroupMove& move) {
  if (reduce.operand_count() != 2 || reduce.operand(1) == value ||
      !algsimp::MayReorder(r, reduce.id())) {
    return false;
  }
  DimensionVector kept = OtherDimensions(
      reduce.dimensions(), static_cast<int64_t>(move.from.size()));
  if (!move.transposes()) {
    return UnmodifiedDimensions(move.from, move.to, kept).has_value();
  }
  for (int64_t& d : kept) d = move.permutation[static_cast<size_t>(d)];
  return absl::c_is_sorted(kept);
}

// Returns true if `value` is nothing but the indices of a gather or scatter,
// and the move adds or drops the dimension of a one-element index vector.
bool IndicesAbsorb(const Instruction& user, InstructionId value,
                   const GroupMove& move) {
  const Attributes& attributes = user.attributes();
  const InstructionIds& operands = user.operands();
  if (absl::c_count(operands, value) != 1 ||
      operands[operands.size() / 2] != value) {
    return false;
  }
  const int64_t vector_dim = attributes.gather != nullptr
                                 ? attributes.gather->index_vector_dim
                                 : attributes.scatter->index_vector_dim;
  const bool drops = move.to.size() < move.from.size();
  DimensionVector expected = drops ? move.to : move.from;
  if (vector_dim != static_cast<int64_t>(expected.size())) return false;
  expected.push_back(1);
  return expected == (drops ? move.from : move.to);
}

// Returns true if `user` of a value of the group can read the reshape or
// transpose of the moved value without one instruction more, once algsimp or
// transpose-folding has seen it.
bool Absorbs(const Rewriter& r, InstructionId user, InstructionId value,
             const GroupMove& move) {
  const Instruction& instruction = r[user];
  if (IsMover(r, user)) return IsTranspose(r, user) == move.transposes();
  switch (instruction.opcode()) {
    case Opcode::kBroadcast:
      return !move.transposes() && move.to.size() <= move.from.size() &&
             OnlyDegenerateDimensionsDiffer(move.from, move.to) &&
             absl::c_is_sorted(instruction.dimensions());
    case Opcode::kReduce:
      return ReduceAbsorbs(r, instruction, value, move);
    case Opcode::kGather:
    case Opcode::kScatter:
      return !move.transposes() && IndicesAbsorb(instruction, value, move);
    default:
      return false;
  }
}

// The group as a set, and what moving it costs at its border.
class Border {
 public:
  Border(const Rewriter& r, const Group& group, const GroupMove& move,
         bool remade_are_free)
      : r_(r),
        move_(move),
        remade_are_free_(remade_are_free),
        members_(group.begin(), group.end()) {}

  bool Contains(InstructionId id) const { return members_.contains(id); }

  // Instructions that come minus instructions that go for the operand.
  int OperandCost(InstructionId operand) const {
    const Instruction& instruction = r_[operand];
    const bool dies =
        operand != r_.computation().root() &&
        instruction.opcode() != Opcode::kParameter &&
        absl::c_all_of(instruction.users(),
                       [&](InstructionId user) { return Contains(user); });
    const int freed = dies ? 1 : 0;
    if (IsMover(r_, operand) &&
        IsTranspose(r_, operand) == move_.transposes()) {
      return (Undoes(r_, operand, move_) ? 0 : 1) - freed;
    }
    const std::optional<Instruction> remade = Remade(r_, operand, move_);
    if (!remade.has_value()) return 1;
    const bool is_there =
        remade_are_free_ || FindEqual(r_, *remade) != kNoInstruction;
    return (is_there ? 0 : 1) - freed;
  }

  // Likewise for what reads the group's value `id` from outside.
  int UserCost(InstructionId id) const {
    int cost = 0;
    bool needs_back = id == r_.computation().root();
    for (InstructionId user : r_[id].users()) {
      if (Contains(user)) continue;
      if (IsForth(r_, user, move_)) {
        --cost;
      } else {
        needs_back |= !Absorbs(r_, user, id, move_);
      }
    }
    return cost + (needs_back ? 1 : 0);
  }

 private:
  const Rewriter& r_;
  const GroupMove& move_;
  const bool remade_are_free_;
  const absl::flat_hash_set<InstructionId> members_;
};

}  // namespace

bool IsMover(const Rewriter& r, InstructionId id) {
  // One that changes nothing goes by itself (algsimp), without a move.
  const bool moves =
      IsTranspose(r, id)
          ? !IsIdentityPermutation(r[id].dimensions())
          : r.Is(id, Opcode::kReshape) &&
                r.dimensions_of(id) != r.dimensions_of(r.operand(id, 0));
  return moves && r.MayReplace(id);
}

InstructionId MakeBack(Rewriter& r, const GroupMove& move, InstructionId id) {
  return move.transposes() ? MakeTranspose(r, id, move.permutation)
                           : MakeReshape(r, id, move.from);
}

InstructionId MakeForth(Rewriter& r, const GroupMove& move, InstructionId id) {
  return move.transposes()
             ? MakeTranspose(r, id, InversePermutation(move.permutation))
             : MakeReshape(r, id, move.to);
}

bool Undoes(const Rewriter& r, InstructionId id, const GroupMove& move) {
  if (!IsMover(r, id) || IsTranspose(r, id) != move.transposes()) return false;
  return move.transposes() ? r[id].dimensions() == move.permutation
                           : r.dimensions_of(r.operand(id, 0)) == move.to;
}

bool IsForth(const Rewriter& r, InstructionId user, const GroupMove& move) {
  if (!IsMover(r, user) || user == r.computation().root() ||
      IsTranspose(r, user) != move.transposes()) {
    return false;
  }
  return move.transposes()
             ? r[user].dimensions() == InversePermutation(move.permutation)
             : r.dimensions_of(user) == move.to;
}

std::optional<Instruction> Remade(const Rewriter& r, InstructionId id,
                                  const GroupMove& move) {
  const Instruction& instruction = r[id];
  const ElementType type = instruction.shape().element_type();
  if (instruction.IsConstant()) {
    const Literal* literal = ConstantLiteral(r.computation(), id);
    if (literal == nullptr || move.transposes()) return std::nullopt;
    return Instruction::Constant(
        literal->Reshaped(Shape::Array(type, move.to)));
  }
  if ((instruction.opcode() != Opcode::kBroadcast &&
       instruction.opcode() != Opcode::kIota) ||
      instruction.shape().is_dynamic()) {
    return std::nullopt;
  }
  DimensionVector mapping = instruction.dimensions();
  if (move.transposes()) {
    for (int64_t& d : mapping) d = move.permutation[static_cast<size_t>(d)];
  } else if (!mapping.empty()) {
    if (!absl::c_is_sorted(mapping)) return std::nullopt;
    std::optional<DimensionVector> moved =
        UnmodifiedDimensions(move.from, move.to, mapping);
    if (!moved.has_value()) return std::nullopt;
    mapping = *std::move(moved);
  }
  if (!absl::c_is_sorted(mapping)) return std::nullopt;
  return Instruction(instruction.opcode(), Shape::Array(type, move.to),
                     instruction.operands(), DimensionAttributes(mapping));
}

InstructionId FindEqual(const Rewriter& r, const Instruction& remade) {
  if (remade.operand_count() == 0) return kNoInstruction;
  for (InstructionId user : r[remade.operand(0)].users()) {
    const Instruction& other = r[user];
    if (other.opcode() == remade.opcode() &&
        Shape::Equal(other.shape(), remade.shape()) &&
        other.attributes() == remade.attributes()) {
      return user;
    }
  }
  return kNoInstruction;
}

int MoveCost(const Rewriter& r, const Group& group, const GroupMove& move,
             bool remade_are_free) {
  const Border border(r, group, move, remade_are_free);
  absl::flat_hash_set<InstructionId> seen;
  int cost = 0;
  for (InstructionId id : group) {
    for (InstructionId operand : r[id].operands()) {
      // Scalars, of select and clamp, do not take part.
      if (!border.Contains(operand) && r.dimensions_of(operand) == move.from &&
          seen.insert(operand).second) {
        cost += border.OperandCost(operand);
      }
    }
    cost += border.UserCost(id);
  }
  return cost;
}

}  // namespace hone::hlo
