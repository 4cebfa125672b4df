#ifndef HONE_HLO_PASSES_MOVEMENT_RUN_COMPONENT_H_
#define HONE_HLO_PASSES_MOVEMENT_RUN_COMPONENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/id_map.h"
#include "hlo/passes/movement/dimension_run.h"
#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

// The numbers that the dimensions of the result of `id`, a broadcast, transpose
// or reduction, have in its operand (of a broadcast, the other way round).
DimensionVector ResultInOperand(const Rewriter& r, InstructionId id);

// The arrays that are connected by operations that hand a run on. Members are
// instructions that can be made anew with the run merged; the others are where
// the component ends.
class RunComponent {
 public:
  // Both outlive this.
  RunComponent(const Rewriter& r, const DimensionRun& run)
      : r_(r), run_(run), positions_(kNoPosition), members_(false) {}

  // Adds everything that is connected to `seed`, with the run at `position`.
  // Returns false if an array would have the run at two places.
  bool Grow(InstructionId seed, int64_t position);

  const std::vector<InstructionId>& values() const { return values_; }
  bool IsMember(InstructionId id) const { return members_.at(id); }
  int64_t PositionOf(InstructionId id) const { return positions_.at(id); }

  // Returns true if `operand` of the member `id` carries the run.
  bool IsCarriedTo(InstructionId id, InstructionId operand) const;
  // Returns true if `user` merges the run of `id`.
  bool IsMerge(InstructionId user, InstructionId id) const;
  // Returns true if `id` is what splits the run.
  bool IsSplit(InstructionId id) const;
  // Returns an instruction that merges the run of `id` already; kNoInstruction
  // if there is none.
  InstructionId ExistingMerge(InstructionId id) const;

  // The number of instructions that the merge adds less those that it removes,
  // at once or through algsimp.
  int Cost() const;

 private:
  bool Reach(InstructionId id, int64_t position);
  // If `id` can be made anew with the run at `position` merged: the position of
  // the run in its operands, kNoPosition if they do not carry it.
  std::optional<int64_t> OperandPosition(InstructionId id,
                                         int64_t position) const;
  // The position in the result of `user` of the run at `position` in `operand`;
  // kNoPosition if it hands the run on to nothing.
  int64_t ResultPosition(InstructionId user, InstructionId operand,
                         int64_t position) const;
  // For what reads the member `id` from outside.
  int UserCost(InstructionId id) const;
  // Returns true if `user` can read the split of the merged value without one
  // instruction more, once algsimp has seen it.
  bool Absorbs(InstructionId user, InstructionId id) const;
  // For the merged form of `id`, which is made outside of the component.
  int OutsideCost(InstructionId id) const;

  const Rewriter& r_;
  const DimensionRun& run_;
  IdMap<int64_t> positions_;
  IdMap<bool> members_;
  std::vector<InstructionId> values_;
  std::vector<InstructionId> pending_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_MOVEMENT_RUN_COMPONENT_H_
