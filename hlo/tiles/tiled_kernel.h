#ifndef HONE_HLO_TILES_TILED_KERNEL_H_
#define HONE_HLO_TILES_TILED_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "hlo/ir/id_map.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// Returns the array whose dimensions tiles of an instruction have: its shape,
// or, of a tuple of arrays that are computed side by side (variadic reductions,
// sorts), that of one. Null for tokens and other tuples, which are computed as
// a whole.
const Shape* TiledShape(const Instruction& instruction);

// A kernel as it is tiled: a module whose entry computation is the fused
// computation.
//
// The hero is the dot or convolution with the most work, else the largest
// reduction. The dimensions that it contracts or reduces can be tiled, too
// (of a convolution the input features of a group; the window is always
// whole): the kernel then accumulates over these tiles, and what depends on the
// hero runs after the last one. Reductions of equal dimensions and independent
// of the hero are tiled with it.
//
// The primary result is the one that is tiled. Of several results it is the
// largest of those that depend on the hero, or, without a hero, the largest.
class TiledKernel {
 public:
  // `module` verifies, outlives the kernel and does not change. Control flow
  // and calls are taken for unknown instructions.
  explicit TiledKernel(const Module& module);

  const Module& module() const { return module_; }
  const Computation& computation() const { return module_.entry_computation(); }

  // The instructions that the root depends on, operands before users.
  const std::vector<InstructionId>& instructions() const {
    return instructions_;
  }
  // The instructions of which the root consists: itself, or the operands of a
  // tuple.
  const std::vector<InstructionId>& results() const { return results_; }

  InstructionId primary() const { return primary_; }
  InstructionId hero() const { return hero_; }

  // The sizes of the dimensions that are tiled: those of the primary result
  // (none if it is not an array), and those that the hero reduces.
  absl::Span<const int64_t> output_dimensions() const;
  absl::Span<const int64_t> reduction_dimensions() const {
    return reduction_dimensions_;
  }

  // Returns true if this is the hero or a reduction that is tiled with it.
  bool IsReducedByTiles(InstructionId id) const { return heroes_.at(id); }
  // Returns true if the instruction depends on one of these, so that it runs
  // after the last tile of the reduction.
  bool IsEpilogue(InstructionId id) const { return epilogue_.at(id); }
  // Returns true if this is a reduction that no tile of the primary result
  // needs, and whose operand has the dimensions of what is tiled: it
  // accumulates over all tiles.
  bool IsSideReduction(InstructionId id) const { return side_.at(id); }
  // The instruction whose region a side reduction takes its operand's from: the
  // operand of a reduction as the hero, or the primary result.
  InstructionId domain() const { return domain_; }

 private:
  void FindResults();
  void FindHero();
  void FindSideReductions();

  const Module& module_;
  std::vector<InstructionId> instructions_;
  std::vector<InstructionId> results_;
  InstructionId primary_ = kNoInstruction;
  InstructionId hero_ = kNoInstruction;
  InstructionId domain_ = kNoInstruction;
  DimensionVector reduction_dimensions_;
  IdMap<bool> heroes_;
  IdMap<bool> epilogue_;
  IdMap<bool> side_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_TILED_KERNEL_H_
