#ifndef HONE_HLO_PASSES_MOVEMENT_GROUP_MOVE_H_
#define HONE_HLO_PASSES_MOVEMENT_GROUP_MOVE_H_

#include <optional>
#include <tuple>
#include <vector>

#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

// The change of form that a group of elementwise instructions could undergo:
// each of its arrays `a`, of sizes `from`, becomes an array `b` of sizes `to`
// with a = reshape(b), or a = transpose(b, permutation) if that is not empty.
struct GroupMove {
  DimensionVector from;
  DimensionVector to;
  DimensionVector permutation;

  bool transposes() const { return !permutation.empty(); }
  friend bool operator==(const GroupMove&, const GroupMove&) = default;
  friend bool operator<(const GroupMove& a, const GroupMove& b) {
    return std::tie(a.from, a.to, a.permutation) <
           std::tie(b.from, b.to, b.permutation);
  }
};

// Elementwise instructions of the same sizes, connected by operands, operands
// before users.
using Group = std::vector<InstructionId>;

// Returns true if `id` is a reshape or transpose that changes its operand and
// may go.
bool IsMover(const Rewriter& r, InstructionId id);

// Brings `id` from the form `to` back to the form `from`.
InstructionId MakeBack(Rewriter& r, const GroupMove& move, InstructionId id);
// Brings `id` from the form `from` to the form `to`.
InstructionId MakeForth(Rewriter& r, const GroupMove& move, InstructionId id);

// Returns true if the operand of `id`, a reshape or transpose, is the form `to`
// of `id`.
bool Undoes(const Rewriter& r, InstructionId id, const GroupMove& move);
// Returns true if `user`, of a value of the group, brings it to the form `to`.
bool IsForth(const Rewriter& r, InstructionId user, const GroupMove& move);

// The form `to` of a value outside the group that is cheap to make anew:
// broadcast, iota, constant. Nullopt when only a reshape or transpose of the
// value will do.
std::optional<Instruction> Remade(const Rewriter& r, InstructionId id,
                                  const GroupMove& move);
// An instruction of the same kind, operands and shape as `remade` that is there
// already; kNoInstruction if there is none.
InstructionId FindEqual(const Rewriter& r, const Instruction& remade);

// The number of instructions that moving the group adds, less those that it
// removes at once or that algsimp (for dots and convolutions,
// transpose-folding) removes afterwards. With `remade_are_free`, what is made
// anew outside the group does not count.
int MoveCost(const Rewriter& r, const Group& group, const GroupMove& move,
             bool remade_are_free = false);

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_MOVEMENT_GROUP_MOVE_H_
