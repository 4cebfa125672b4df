// reshape-group-mover: moves reshapes and transposes over connected groups of
// elementwise instructions, so that they meet and cancel:
//
//   op(reshape(a), reshape(b), broadcast(c)) → reshape(op(a, b, broadcast(c)))
//
// and, towards the operands, reshape(op(broadcast(a), reshape(b))) →
// op(broadcast(a), b). A whole group moves to one form or stays. Legal, because
// elementwise operations do not care how their operands are laid out in
// dimensions, as long as all change alike.
//
// Exact, but that a sum of floats may then add its elements in another order:
// that reassociates, and happens only where it is permitted.
//
// Groups move only when that leaves fewer instructions, counting those that
// users of the results absorb (reshapes, broadcasts, reductions, gather
// indices); groups that make the same move are weighed together where they
// share operands. reshape-mover instead sinks whatever it may, one instruction
// at a time, and leaves the rest to algsimp; it undoes upward moves. Hone's
// own: upstream has no such pass.

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/movement/elementwise_groups.h"
#include "hlo/passes/movement/group_move.h"
#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"

namespace hone::hlo {
namespace {

bool HasCandidate(const Rewriter& r) {
  const Computation& c = r.computation();
  const auto is_elementwise = [&](InstructionId id) {
    return IsElementwise(c[id].opcode());
  };
  return absl::c_any_of(c.instructions(), [&](const Instruction& i) {
    return IsMover(r, i.id()) && (absl::c_any_of(i.users(), is_elementwise) ||
                                  is_elementwise(i.operand(0)));
  });
}

// The moves that undo a reshape or transpose at the border of the group.
std::vector<GroupMove> CandidateMoves(const Rewriter& r, const Group& group) {
  constexpr size_t kMost = 4;
  std::vector<GroupMove> moves;
  const auto add = [&](GroupMove move) {
    if (moves.size() < kMost && !absl::c_linear_search(moves, move)) {
      moves.push_back(std::move(move));
    }
  };
  const DimensionVector& from = r.dimensions_of(group[0]);
  for (InstructionId id : group) {
    for (InstructionId operand : r[id].operands()) {
      if (!IsMover(r, operand) || r.dimensions_of(operand) != from) continue;
      add({from, r.dimensions_of(r.operand(operand, 0)),
           r[operand].dimensions()});
    }
    for (InstructionId user : r[id].users()) {
      if (!IsMover(r, user)) continue;
      add({from, r.dimensions_of(user),
           InversePermutation(r[user].dimensions())});
    }
  }
  return moves;
}

class Mover {
 public:
  explicit Mover(Rewriter& r) : r_(r) {}

  void Run() {
    if (!HasCandidate(r_)) return;
    for (const Group& group : FindElementwiseGroups(r_)) MoveGroup(group);
    for (const auto& [move, groups] : shared_) {
      if (IsLive(groups) && MoveCost(r_, groups, move) < 0) {
        Apply(groups, move);
      }
    }
  }

 private:
  bool IsLive(const Group& group) const {
    return absl::c_all_of(
        group, [&](InstructionId id) { return r_.computation().Contains(id); });
  }

  // Moves the group if that pays. If it would but for broadcasts and the like
  // that have to be made anew, adds it to the groups that may share these.
  void MoveGroup(const Group& group) {
    if (!IsLive(group)) return;
    const std::vector<GroupMove> moves = CandidateMoves(r_, group);
    const GroupMove* best = nullptr;
    int best_cost = 0;
    for (const GroupMove& move : moves) {
      const int cost = MoveCost(r_, group, move);
      if (cost >= best_cost) continue;
      best_cost = cost;
      best = &move;
    }
    if (best != nullptr) return Apply(group, *best);
    for (const GroupMove& move : moves) {
      if (MoveCost(r_, group, move, /*remade_are_free=*/true) >= 0) continue;
      Group& all = shared_[move];
      all.insert(all.end(), group.begin(), group.end());
      return;
    }
  }

  // The form `to` of a value outside the group.
  InstructionId Moved(InstructionId operand, const GroupMove& move) {
    if (Undoes(r_, operand, move)) return r_.operand(operand, 0);
    std::optional<Instruction> remade = Remade(r_, operand, move);
    if (!remade.has_value()) return MakeForth(r_, move, operand);
    const InstructionId equal = FindEqual(r_, *remade);
    return equal != kNoInstruction ? equal : r_.Add(*std::move(remade));
  }

  void Apply(const Group& group, const GroupMove& move) {
    absl::flat_hash_map<InstructionId, InstructionId> moved;
    for (InstructionId id : group) {
      InstructionIds operands = r_[id].operands();
      for (InstructionId& operand : operands) {
        if (r_.dimensions_of(operand) != move.from) continue;
        auto [it, inserted] = moved.try_emplace(operand, kNoInstruction);
        if (inserted) it->second = Moved(operand, move);
        operand = it->second;
      }
      moved[id] = MakeLike(r_, id, operands);
    }
    // Users first, so that what is replaced dies at once.
    for (size_t i = group.size(); i-- > 0 && r_.ok();) {
      if (!r_.computation().Contains(group[i]) ||
          // Went with a user that has to stay where it is.
          !r_.computation().Contains(moved[group[i]])) {
        continue;
      }
      for (InstructionId user : InstructionIds(r_[group[i]].users())) {
        if (r_.computation().Contains(user) && IsForth(r_, user, move)) {
          r_.Replace(user, moved[group[i]]);
        }
      }
      if (!r_.computation().Contains(group[i])) continue;
      const InstructionId back = MakeBack(r_, move, moved[group[i]]);
      if (r_.Replace(group[i], back)) {
        Absorb(back);
      } else {
        // It may use others of the group, which can still be moved.
        r_.RemoveDead(back);
      }
    }
    r_.EndRewrite();
  }

  // Lets the users of a new reshape or transpose read its operand, where a rule
  // of algsimp says how.
  void Absorb(InstructionId back) {
    for (InstructionId user : InstructionIds(r_[back].users())) {
      if (!r_.computation().Contains(user) || !r_.MayReplace(user)) continue;
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

  Rewriter& r_;
  std::map<GroupMove, Group> shared_;
};

}  // namespace

std::unique_ptr<Pass> MakeReshapeGroupMover() {
  return MakeRulePass({.name = "reshape-group-mover",
                       .opcodes = {Opcode::kReshape, Opcode::kTranspose}},
                      [](Rewriter& r) { Mover(r).Run(); });
}

}  // namespace hone::hlo
