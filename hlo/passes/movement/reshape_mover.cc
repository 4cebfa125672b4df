// reshape-mover: sinks reshapes and transposes below elementwise instructions.
//
//   op(reshape(a), reshape(b), broadcast(s))  →
//   reshape(op(a, b, reshape'(broadcast(s))))
//
// and likewise for transposes. Legal where all rearranged operands are
// rearranged alike, since elementwise instructions do not care how their
// operands are laid out in dimensions. The other operands must be of a kind
// that takes any form: constants, broadcasts of scalars, and under a transpose
// broadcasts whose dimensions stay in order. They get the inverse
// rearrangement, which algsimp and constant_folding fold.
//
// An instruction moves only when no rearrangement that it reads keeps a user
// that does not move as well. Moves one level a run and raises the count until
// algsimp has run, so it belongs in a loop with that. Upstream also moves over
// random numbers, which its pipelines expand long before. Exact.

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

class Mover {
 public:
  explicit Mover(Rewriter& r) : r_(r) {}

  void Run() {
    std::vector<InstructionId> candidates;
    for (const Instruction& i : r_.computation().instructions()) {
      if (IsCandidate(i.id())) candidates.push_back(i.id());
    }
    RemoveThoseThatShare(candidates);
    for (InstructionId id : candidates) Sink(id);
  }

 private:
  bool IsRearrangement(InstructionId id) const {
    return (r_.Is(id, Opcode::kReshape) || r_.Is(id, Opcode::kTranspose)) &&
           r_.MayReplace(id);
  }

  bool AreAlike(InstructionId a, InstructionId b) const {
    if (r_[a].opcode() != r_[b].opcode() ||
        r_.dimensions_of(a) != r_.dimensions_of(b)) {
      return false;
    }
    return r_.Is(a, Opcode::kTranspose)
               ? r_[a].dimensions() == r_[b].dimensions()
               : r_.dimensions_of(r_.operand(a, 0)) ==
                     r_.dimensions_of(r_.operand(b, 0));
  }

  // Returns true if the value takes the form that `rearrangement`, of its
  // dimensions, has as operand, at no cost.
  bool TakesAnyForm(InstructionId id, InstructionId rearrangement) const {
    if (r_.dimensions_of(rearrangement) ==
            r_.dimensions_of(r_.operand(rearrangement, 0)) &&
        (r_.Is(rearrangement, Opcode::kReshape) ||
         IsIdentityPermutation(r_[rearrangement].dimensions()))) {
      return true;
    }
    if (r_.Is(id, Opcode::kConstant)) return true;
    if (!r_.Is(id, Opcode::kBroadcast)) return false;
    DimensionVector mapping = r_[id].dimensions();
    if (!std::is_sorted(mapping.begin(), mapping.end())) return false;
    if (r_.Is(rearrangement, Opcode::kReshape)) {
      return r_.shape(r_.operand(id, 0)).IsScalar();
    }
    const DimensionVector& permutation = r_[rearrangement].dimensions();
    for (int64_t& d : mapping) d = permutation[static_cast<size_t>(d)];
    return std::is_sorted(mapping.begin(), mapping.end());
  }

  // The first operand that is a rearrangement worth moving; kNoInstruction if
  // there is none.
  InstructionId Rearrangement(InstructionId id) const {
    for (InstructionId operand : r_[id].operands()) {
      if (IsRearrangement(operand) &&
          !TakesAnyForm(r_.operand(operand, 0), operand)) {
        return operand;
      }
    }
    return kNoInstruction;
  }

  bool IsCandidate(InstructionId id) const {
    const Opcode opcode = r_[id].opcode();
    if (!IsElementwise(opcode) || IsOpaque(opcode) || !r_.MayReplace(id)) {
      return false;
    }
    const InstructionId rearrangement = Rearrangement(id);
    if (rearrangement == kNoInstruction) return false;
    const InstructionIds& operands = r_[id].operands();
    return std::all_of(operands.begin(), operands.end(),
                       [&](InstructionId operand) {
                         // Scalars, of select and clamp, have no other form.
                         if (r_.dimensions_of(operand) != r_.dimensions_of(id))
                           return false;
                         return IsRearrangement(operand)
                                    ? AreAlike(operand, rearrangement)
                                    : TakesAnyForm(operand, rearrangement);
                       });
  }

  // Removes candidates until no rearrangement that one of them reads has a
  // user besides them.
  void RemoveThoseThatShare(std::vector<InstructionId>& candidates) const {
    absl::flat_hash_set<InstructionId> left(candidates.begin(),
                                            candidates.end());
    // Rearrangements that stay, whose users have to stay as well.
    std::vector<InstructionId> worklist;
    absl::flat_hash_set<InstructionId> staying;
    const auto stays = [&](InstructionId id) {
      if (IsRearrangement(id) && staying.insert(id).second) {
        worklist.push_back(id);
      }
    };
    absl::flat_hash_set<InstructionId> seen;
    for (InstructionId id : candidates) {
      for (InstructionId operand : r_[id].operands()) {
        const InstructionIds& users = r_[operand].users();
        if (seen.insert(operand).second &&
            std::any_of(users.begin(), users.end(), [&](InstructionId user) {
              return !left.contains(user);
            })) {
          stays(operand);
        }
      }
    }
    while (!worklist.empty()) {
      const InstructionId rearrangement = worklist.back();
      worklist.pop_back();
      for (InstructionId user : r_[rearrangement].users()) {
        if (left.erase(user) == 0) continue;
        for (InstructionId operand : r_[user].operands()) stays(operand);
      }
    }
    candidates.erase(
        std::remove_if(candidates.begin(), candidates.end(),
                       [&](InstructionId id) { return !left.contains(id); }),
        candidates.end());
  }

  // `id` in the form that `rearrangement` has as operand.
  InstructionId Undone(InstructionId id, InstructionId rearrangement) {
    if (IsRearrangement(id)) return r_.operand(id, 0);
    if (r_.Is(rearrangement, Opcode::kReshape)) {
      return MakeReshape(r_, id,
                         r_.dimensions_of(r_.operand(rearrangement, 0)));
    }
    return MakeTranspose(r_, id,
                         InversePermutation(r_[rearrangement].dimensions()));
  }

  void Sink(InstructionId id) {
    const InstructionId rearrangement = Rearrangement(id);
    InstructionIds operands = r_[id].operands();
    for (InstructionId& operand : operands) {
      operand = Undone(operand, rearrangement);
    }
    const InstructionId sunk = MakeLike(r_, id, operands);
    r_.Replace(id,
               r_.Is(rearrangement, Opcode::kReshape)
                   ? MakeReshape(r_, sunk, r_.dimensions_of(id))
                   : MakeTranspose(r_, sunk, r_[rearrangement].dimensions()));
    r_.EndRewrite();
  }

  Rewriter& r_;
};

}  // namespace

std::unique_ptr<Pass> MakeReshapeMover() {
  return MakeRulePass({.name = "reshape-mover",
                       .opcodes = {Opcode::kReshape, Opcode::kTranspose}},
                      [](Rewriter& r) { Mover(r).Run(); });
}

}  // namespace hone::hlo
