// dot-transpose-folding: renumbers the dimensions of dots instead of moving
// them.
//
//   dot(transpose(a), b)  →  dot(a, b) with other dimension numbers, likewise b
//
// Legal where the transpose keeps the order of the free dimensions, which make
// up the result; batch and contracting dimensions may come in any order. A
// transpose with other users stays for them. Numeric class: reassociates, as
// the order in which a kernel adds depends on how the operands lie. Hone's own:
// upstream's transpose-folding only swaps rows and columns on the CPU. Undoes
// the canonical form of dot_decomposer, with which it must not share a loop.

#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/passes/simplifiers/fold_transposes.h"
#include "hlo/rewrite/dimensions.h"

namespace hone::hlo {
namespace {

// Returns true if the dimensions of an operand that are neither batch nor
// contracting stay in ascending order when renamed by `permutation`.
bool KeepsFreeOrder(const DimensionVector& permutation,
                    const DimensionVector& batch,
                    const DimensionVector& contracting) {
  int64_t last = -1;
  for (int64_t d = 0; d < static_cast<int64_t>(permutation.size()); ++d) {
    if (Contains(batch, d) || Contains(contracting, d)) continue;
    const int64_t source = permutation[static_cast<size_t>(d)];
    if (source < last) return false;
    last = source;
  }
  return true;
}

bool Fold(Rewriter& r, InstructionId id) {
  return FoldTransposesIntoDot(r, id, KeepsFreeOrder);
}

}  // namespace

std::unique_ptr<Pass> MakeDotTransposeFolding() {
  // A fold may uncover a transpose of a transpose.
  return MakeRulePass({.name = "dot-transpose-folding",
                       .numeric_class = NumericClass::kReassociates,
                       .opcodes = {Opcode::kDot},
                       .visit = Visit::kFixedPoint},
                      Fold);
}

}  // namespace hone::hlo
