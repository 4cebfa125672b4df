#ifndef HONE_HLO_PASSES_CONTROL_FLOW_LOOP_INVARIANTS_H_
#define HONE_HLO_PASSES_CONTROL_FLOW_LOOP_INVARIANTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hlo/ir/id_map.h"
#include "hlo/rewrite/tuples/loop_rewriter.h"

namespace hone::hlo {

// The placement of an instruction of a loop's body: inside the loop, or in
// front of it if it computes the same in every iteration.
enum class Placement : uint8_t {
  kStays,
  // The same in every iteration, and copied outside if something moved uses it:
  // an element that is handed on, a constant, or an operation of little cost.
  kAvailable,
  kMoves,
};

// The placements of a body's instructions, by their ids.
class LoopInvariants {
 public:
  // `loop`, which outlives this, takes its state apart.
  explicit LoopInvariants(LoopRewriter& loop);

  // Returns true if something moves.
  bool any() const { return any_; }
  // Returns true if `id`, without annotations, reads an array that the body
  // hands on unchanged.
  bool IsElement(InstructionId id) const;
  // The instructions to copy outside, operands before users: those that move
  // and all that they need.
  std::vector<InstructionId> Copied() const;
  // The moving instructions that something staying for good uses: not only what
  // is copied outside and then dead here.
  InstructionIds StillUsed() const;

 private:
  const Computation& body() const { return loop_.body().computation(); }
  Placement PlacementOf(InstructionId id) const;

  LoopRewriter& loop_;
  std::vector<InstructionId> order_;
  IdMap<Placement> placements_;
  bool any_ = false;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_CONTROL_FLOW_LOOP_INVARIANTS_H_
