#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/builder.h"

namespace hone::hlo {
namespace {

// The change of form that a group could undergo: each of its arrays `a`, of
// dimensions `from`, becomes an array `b` of dimensions `to` with
// a = reshape(b), or a = transpose(b, permutation) if that is not empty.
struct Move {
  DimensionVector from;
  DimensionVector to;
  DimensionVector permutation;

  bool transposes() const { return !permutation.empty(); }
  friend bool operator==(const Move&, const Move&) = default;
};

// The instruction that turns `id` (in the form `to`) back.
Instruction MakeBack(const Computation& c, const Move& move, InstructionId id) {
  return move.transposes() ? MakeTranspose(c, id, move.permutation)
                           : MakeReshape(c, id, move.from);
}
// The instruction that brings `id` (in the form `from`) to the form `to`.
Instruction MakeForth(const Computation& c, const Move& move,
                      InstructionId id) {
  return move.transposes()
             ? MakeTranspose(c, id, InversePermutation(move.permutation))
             : MakeReshape(c, id, move.to);
}

// Elementwise instructions of one shape's dimensions, connected by operands.
using Group = std::vector<InstructionId>;

class Mover {
 public:
  Mover(Module& module, ComputationId id)
      : r_(module, id, DefaultRewriteOptions()) {}

  bool Run() {
    if (!HasCandidate()) return false;
    FindGroups();
    bool changed = false;
    std::map<MoveKey, Group> shared;
    for (const Group& group : groups_) {
      changed |= MoveGroup(group, shared);
    }
    for (const auto& [key, groups] : shared) {
      const Move move{std::get<0>(key), std::get<1>(key), std::get<2>(key)};
      if (!IsLive(groups) || Cost(groups, move) >= 0) continue;
      Apply(groups, move);
      changed = true;
    }
    return changed;
  }

 private:
  using MoveKey = std::tuple<DimensionVector, DimensionVector, DimensionVector>;

  static bool IsMover(const Instruction& instruction) {
    return (instruction.opcode() == Opcode::kReshape ||
            instruction.opcode() == Opcode::kTranspose) &&
           !instruction.shape().is_dynamic() &&
           instruction.attributes().others.empty();
  }

  // Whether the instruction may be rebuilt on arrays of another form.
  bool IsMovable(InstructionId id) const {
    const Instruction& instruction = r_[id];
    const Opcode opcode = instruction.opcode();
    return instruction.is_live() && IsElementwise(opcode) &&
           !IsOpaque(opcode) && opcode != Opcode::kCopy &&
           opcode != Opcode::kBitcastConvert &&
           instruction.operand_count() > 0 && instruction.shape().rank() > 0 &&
           !instruction.shape().is_dynamic() &&
           instruction.attributes().others.empty() &&
           !(instruction.shape().layout() != nullptr && r_.LayoutIsSeen(id)) &&
           !r_.computation().HasControlDependency(id);
  }

  bool HasCandidate() const {
    const Computation& c = r_.computation();
    for (InstructionId id = 0; id < c.slot_count(); ++id) {
      if (!c[id].is_live() || !IsMover(c[id])) continue;
      for (InstructionId user : c[id].users()) {
        if (IsElementwise(c[user].opcode())) return true;
      }
      if (IsElementwise(c[c[id].operand(0)].opcode())) return true;
    }
    return false;
  }

  // Fills groups_, each in dependency order.
  void FindGroups() {
    const Computation& c = r_.computation();
    std::vector<int32_t> group_of(static_cast<size_t>(c.slot_count()), -1);
    // Union-find over groups: merged ones point at their successor.
    std::vector<int32_t> parent;
    const auto find = [&](int32_t g) {
      while (parent[static_cast<size_t>(g)] != g) {
        g = parent[static_cast<size_t>(g)] =
            parent[static_cast<size_t>(parent[static_cast<size_t>(g)])];
      }
      return g;
    };
    const std::vector<InstructionId> order = c.PostOrder();
    for (InstructionId id : order) {
      if (!IsMovable(id)) continue;
      int32_t group = -1;
      for (InstructionId operand : c[id].operands()) {
        const int32_t other = group_of[static_cast<size_t>(operand)];
        if (other < 0 ||
            c[operand].shape().dimensions() != c[id].shape().dimensions()) {
          continue;
        }
        const int32_t root = find(other);
        if (group >= 0) parent[static_cast<size_t>(find(group))] = root;
        group = root;
      }
      if (group < 0) {
        group = static_cast<int32_t>(parent.size());
        parent.push_back(group);
      }
      group_of[static_cast<size_t>(id)] = group;
    }
    std::vector<int32_t> index(parent.size(), -1);
    for (InstructionId id : order) {
      const int32_t group = group_of[static_cast<size_t>(id)];
      if (group < 0) continue;
      int32_t& i = index[static_cast<size_t>(find(group))];
      if (i < 0) {
        i = static_cast<int32_t>(groups_.size());
        groups_.emplace_back();
      }
      groups_[static_cast<size_t>(i)].push_back(id);
    }
  }

  // The moves that undo a reshape or transpose at the border of the group.
  std::vector<Move> CandidateMoves(const Group& group) const {
    constexpr size_t kMost = 4;
    std::vector<Move> moves;
    const auto add = [&](Move move) {
      if (moves.size() < kMost &&
          std::find(moves.begin(), moves.end(), move) == moves.end()) {
        moves.push_back(std::move(move));
      }
    };
    const DimensionVector& from = r_.dimensions_of(group[0]);
    for (InstructionId id : group) {
      for (InstructionId operand : r_[id].operands()) {
        if (!IsMover(r_[operand]) || r_.dimensions_of(operand) != from) {
          continue;
        }
        add({from, r_.dimensions_of(r_.operand(operand, 0)),
             r_[operand].dimensions()});
      }
      for (InstructionId user : r_[id].users()) {
        if (!IsMover(r_[user])) continue;
        const DimensionVector& permutation = r_[user].dimensions();
        add({from, r_.dimensions_of(user), InversePermutation(permutation)});
      }
    }
    return moves;
  }

  // The form `to` of a value outside the group that is cheap to make anew:
  // broadcast, iota, constant; null when it has to be moved by a reshape or
  // transpose.
  std::unique_ptr<Instruction> Remade(InstructionId id,
                                      const Move& move) const {
    const Instruction& instruction = r_[id];
    const Opcode opcode = instruction.opcode();
    if (opcode == Opcode::kConstant) {
      const Literal* literal = ConstantLiteral(r_.computation(), id);
      if (literal == nullptr || move.transposes()) return nullptr;
      return std::make_unique<Instruction>(
          Instruction::Constant(literal->Reshaped(
              Shape::Array(instruction.shape().element_type(), move.to))));
    }
    if (opcode != Opcode::kBroadcast && opcode != Opcode::kIota) {
      return nullptr;
    }
    DimensionVector mapping = instruction.dimensions();
    if (move.transposes()) {
      for (int64_t& d : mapping) d = move.permutation[static_cast<size_t>(d)];
    } else if (!mapping.empty()) {
      if (!std::is_sorted(mapping.begin(), mapping.end())) return nullptr;
      std::optional<DimensionVector> moved =
          UnmodifiedDimensions(move.from, move.to, mapping);
      if (!moved.has_value()) return nullptr;
      mapping = *std::move(moved);
    }
    if (!std::is_sorted(mapping.begin(), mapping.end())) return nullptr;
    const ElementType type = instruction.shape().element_type();
    return std::make_unique<Instruction>(opcode, Shape::Array(type, move.to),
                                         instruction.operands(),
                                         DimensionAttributes(mapping));
  }

  // An instruction of the same kind, operands and shape as `remade` that is
  // there already; kNoInstruction if there is none.
  InstructionId FindEqual(const Instruction& remade) const {
    if (remade.operand_count() == 0) return kNoInstruction;
    for (InstructionId user : r_[remade.operand(0)].users()) {
      const Instruction& other = r_[user];
      if (other.opcode() == remade.opcode() &&
          other.shape().dimensions() == remade.shape().dimensions() &&
          other.dimensions() == remade.dimensions() &&
          other.attributes().others.empty()) {
        return user;
      }
    }
    return kNoInstruction;
  }

  // Whether the operand of an elementwise instruction takes part in the move:
  // scalars (of select and clamp) do not.
  bool IsMovedOperand(InstructionId operand, const Move& move) const {
    return r_.dimensions_of(operand) == move.from;
  }

  // Instructions that come minus instructions that go for the operand.
  int OperandCost(InstructionId operand,
                  const absl::flat_hash_set<InstructionId>& members,
                  const Move& move, bool remade_are_free) const {
    const Instruction& instruction = r_[operand];
    const bool dies =
        operand != r_.computation().root() &&
        instruction.opcode() != Opcode::kParameter &&
        std::all_of(instruction.users().begin(), instruction.users().end(),
                    [&](InstructionId user) { return members.contains(user); });
    const int freed = dies ? 1 : 0;
    if (IsMover(instruction)) {
      const bool same_kind =
          (instruction.opcode() == Opcode::kTranspose) == move.transposes();
      if (same_kind) return (Undoes(operand, move) ? 0 : 1) - freed;
    }
    const std::unique_ptr<Instruction> remade = Remade(operand, move);
    if (remade == nullptr) return 1;
    const bool is_there =
        remade_are_free || FindEqual(*remade) != kNoInstruction;
    return (is_there ? 0 : 1) - freed;
  }

  // Whether `id`, a reshape or transpose, has as operand its form `to`.
  bool Undoes(InstructionId id, const Move& move) const {
    return move.transposes() ? r_[id].dimensions() == move.permutation
                             : r_.dimensions_of(r_.operand(id, 0)) == move.to;
  }

  // Whether `user` of a group's value can read reshape or transpose of the
  // moved value without an instruction more, once algsimp (or, for dots and
  // convolutions, transpose-folding) has seen it.
  bool Absorbs(InstructionId user, InstructionId value,
               const Move& move) const {
    const Instruction& instruction = r_[user];
    if (IsMover(instruction)) {
      return (instruction.opcode() == Opcode::kTranspose) == move.transposes();
    }
    switch (instruction.opcode()) {
      case Opcode::kBroadcast:
        return !move.transposes() && move.to.size() <= move.from.size() &&
               OnlyDegenerateDimensionsDiffer(move.from, move.to) &&
               std::is_sorted(instruction.dimensions().begin(),
                              instruction.dimensions().end());
      case Opcode::kReduce: {
        if (instruction.operand_count() != 2 ||
            instruction.operand(1) == value) {
          return false;
        }
        DimensionVector kept;
        for (int64_t d = 0; d < static_cast<int64_t>(move.from.size()); ++d) {
          if (std::find(instruction.dimensions().begin(),
                        instruction.dimensions().end(),
                        d) == instruction.dimensions().end()) {
            kept.push_back(d);
          }
        }
        if (!move.transposes()) {
          return UnmodifiedDimensions(move.from, move.to, kept).has_value();
        }
        for (int64_t& d : kept) d = move.permutation[static_cast<size_t>(d)];
        return std::is_sorted(kept.begin(), kept.end());
      }
      case Opcode::kGather:
      case Opcode::kScatter:
        return !move.transposes() && AbsorbsIndices(user, value, move);
      default:
        return false;
    }
  }

  // Whether `value` is nothing but the indices of a gather or scatter, and the
  // move adds or drops the dimension of a one-element index vector.
  bool AbsorbsIndices(InstructionId user, InstructionId value,
                      const Move& move) const {
    const Instruction& instruction = r_[user];
    const Attributes& attributes = instruction.attributes();
    const InstructionIds& operands = instruction.operands();
    if (std::count(operands.begin(), operands.end(), value) != 1 ||
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

  // Instructions that moving the group adds, less those that it removes.
  int Cost(const Group& group, const Move& move,
           bool remade_are_free = false) const {
    const absl::flat_hash_set<InstructionId> members(group.begin(),
                                                     group.end());
    absl::flat_hash_set<InstructionId> seen;
    int cost = 0;
    for (InstructionId id : group) {
      for (InstructionId operand : r_[id].operands()) {
        if (members.contains(operand) || !IsMovedOperand(operand, move) ||
            !seen.insert(operand).second) {
          continue;
        }
        cost += OperandCost(operand, members, move, remade_are_free);
      }
      bool needs_back = id == r_.computation().root();
      for (InstructionId user : r_[id].users()) {
        if (members.contains(user)) continue;
        if (IsForth(user, move)) {
          --cost;
        } else {
          needs_back |= !Absorbs(user, id, move);
        }
      }
      if (needs_back) ++cost;
    }
    return cost;
  }

  // Whether `user`, of a group's value, brings it to the form `to`.
  bool IsForth(InstructionId user, const Move& move) const {
    const Instruction& instruction = r_[user];
    if (!IsMover(instruction) || user == r_.computation().root() ||
        r_.computation().HasControlDependency(user)) {
      return false;
    }
    if (move.transposes()) {
      return instruction.opcode() == Opcode::kTranspose &&
             instruction.dimensions() == InversePermutation(move.permutation);
    }
    return instruction.opcode() == Opcode::kReshape &&
           instruction.shape().dimensions() == move.to;
  }

  bool IsLive(const Group& group) const {
    return std::all_of(group.begin(), group.end(),
                       [&](InstructionId id) { return r_[id].is_live(); });
  }

  // Moves the group if that pays. If it would but for broadcasts and the like
  // that have to be made anew, adds it to the groups that may share these.
  bool MoveGroup(const Group& group, std::map<MoveKey, Group>& shared) {
    if (!IsLive(group)) return false;
    const std::vector<Move> moves = CandidateMoves(group);
    const Move* best = nullptr;
    int best_cost = 0;
    for (const Move& move : moves) {
      const int cost = Cost(group, move);
      if (cost >= best_cost) continue;
      best_cost = cost;
      best = &move;
    }
    if (best != nullptr) {
      Apply(group, *best);
      return true;
    }
    for (const Move& move : moves) {
      if (Cost(group, move, /*remade_are_free=*/true) >= 0) continue;
      Group& all = shared[{move.from, move.to, move.permutation}];
      all.insert(all.end(), group.begin(), group.end());
      break;
    }
    return false;
  }

  // The form `to` of a value outside the group.
  InstructionId Moved(InstructionId operand, const Move& move) {
    if (IsMover(r_[operand]) && Undoes(operand, move) &&
        (r_.Is(operand, Opcode::kTranspose) == move.transposes())) {
      return r_.operand(operand, 0);
    }
    std::unique_ptr<Instruction> remade = Remade(operand, move);
    if (remade == nullptr) {
      return r_.Add(MakeForth(r_.computation(), move, operand));
    }
    const InstructionId equal = FindEqual(*remade);
    return equal != kNoInstruction ? equal : r_.Add(std::move(*remade));
  }

  void Apply(const Group& group, const Move& move) {
    absl::flat_hash_map<InstructionId, InstructionId> moved;
    for (InstructionId id : group) {
      InstructionIds operands = r_[id].operands();
      for (InstructionId& operand : operands) {
        if (!IsMovedOperand(operand, move)) continue;
        auto [it, inserted] = moved.try_emplace(operand, kNoInstruction);
        if (inserted) it->second = Moved(operand, move);
        operand = it->second;
      }
      Instruction rebuilt(r_[id].opcode(),
                          Shape::Array(r_.shape(id).element_type(), move.to),
                          operands, r_[id].attributes_ptr());
      rebuilt.set_metadata(r_[id].metadata());
      moved[id] = r_.Add(std::move(rebuilt));
    }
    // Users first, so that what is replaced dies at once.
    for (size_t i = group.size(); i-- > 0;) {
      const InstructionId id = group[i];
      if (!r_[id].is_live()) continue;
      const InstructionId replacement = moved[id];
      const InstructionIds users = r_[id].users();
      for (InstructionId user : users) {
        if (r_[user].is_live() && IsForth(user, move)) {
          r_.Replace(user, replacement);
        }
      }
      if (!r_[id].is_live()) continue;
      const InstructionId back =
          r_.Add(MakeBack(r_.computation(), move, replacement));
      r_.Replace(id, back);
      Absorb(back);
    }
  }

  // Lets the users of a new reshape or transpose read its operand, where a rule
  // of algsimp says how.
  void Absorb(InstructionId back) {
    const InstructionIds users = r_[back].users();
    for (InstructionId user : users) {
      if (!r_[user].is_live() || r_.computation().HasControlDependency(user) ||
          !r_[user].attributes().others.empty()) {
        continue;
      }
      switch (r_[user].opcode()) {
        case Opcode::kReshape:
          algsimp::SimplifyReshape(r_, user);
          break;
        case Opcode::kTranspose:
          algsimp::SimplifyTranspose(r_, user);
          break;
        case Opcode::kBroadcast:
          algsimp::SimplifyBroadcast(r_, user);
          break;
        case Opcode::kReduce:
          algsimp::SimplifyReduce(r_, user);
          break;
        case Opcode::kGather:
          algsimp::SimplifyGather(r_, user);
          break;
        case Opcode::kScatter:
          algsimp::SimplifyScatter(r_, user);
          break;
        default:
          break;
      }
    }
  }

  Rewriter r_;
  std::vector<Group> groups_;
};

// Moves reshapes and transposes over connected groups of elementwise
// instructions, so that they meet and cancel:
//
//   op(reshape(a), reshape(b), broadcast(c)) → reshape(op(a, b, broadcast(c)))
//
// and, towards the operands, reshape(op(broadcast(a), reshape(b))) →
// op(broadcast(a), b). A whole group moves to one form or stays. Legality:
// elementwise operations do not care how their operands are laid out in
// dimensions, as long as all change alike.
//
// Groups move only when that leaves fewer instructions, counting those that
// users of the results absorb (reshapes, broadcasts, reductions, gather
// indices); groups that make the same move are weighed together where they
// share operands. reshape-mover instead sinks whatever it may, one instruction
// at a time, and leaves the rest to algsimp; it undoes upward moves. Hone's
// own: upstream has no such pass. Scheduled modules are left as they are.
class ReshapeGroupMover final : public Pass {
 public:
  absl::string_view name() const override { return "reshape-group-mover"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    for (ComputationId id = 0; id < module.computation_slots(); ++id) {
      if (module.has_computation(id)) changed |= Mover(module, id).Run();
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeReshapeGroupMover() {
  return std::make_unique<ReshapeGroupMover>();
}

}  // namespace hone::hlo
