// dot_decomposer: brings dots into the form that libraries multiply.
//
//   d = f32[7,5,6] dot(f32[4,7,5] a, f32[6,4] b), contracting {0} and {1}
//   →
//   a' = f32[35,4] reshape(f32[7,5,4] transpose(a))
//   d' = f32[35,6] dot(a', f32[4,6] transpose(b)), contracting {1} and {0}
//   d  = f32[7,5,6] reshape(d')
//
// The batch dimensions lead, one dimension is contracted (the last of the left
// operand, the one behind the batch of the right) and at most one is left over.
// Dots that have this form but for which of the two comes first stay.
//
// Stronger than upstream's: no transpose that moves nothing and no reshape to
// the same sizes, which upstream leaves to algsimp.
//
// Legal always. Numeric class: reassociates, as the order in which a kernel
// adds depends on how the operands lie. It adds transposes and reshapes, which
// transpose-folding and algsimp take back in part: for what needs the form, not
// for the operation count. Sharded dots stay: a reshape behind them would hide
// from partitioning what they contract.

#include <memory>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

bool IsCanonical(const Shape& shape, const DimensionVector& batch,
                 const DimensionVector& contracting) {
  return contracting.size() == 1 &&
         static_cast<int64_t>(batch.size()) + 2 >= shape.rank() &&
         IsIdentityPermutation(batch);
}

struct Operand {
  InstructionId id;
  int64_t contracting;
};

int64_t Product(const DimensionVector& sizes,
                const DimensionVector& dimensions) {
  int64_t product = 1;
  for (int64_t d : dimensions) product *= sizes[static_cast<size_t>(d)];
  return product;
}

// The operand as (batch, left over, contracting) dimensions or, unless
// `contracting_last`, (batch, contracting, left over); what is left over is at
// most one dimension, and none of size 1.
Operand Canonicalize(Rewriter& r, InstructionId id,
                     const DimensionVector& batch,
                     const DimensionVector& contracting,
                     bool contracting_last) {
  const DimensionVector sizes = r.dimensions_of(id);
  DimensionVector taken = batch;
  taken.insert(taken.end(), contracting.begin(), contracting.end());
  const DimensionVector free =
      OtherDimensions(taken, static_cast<int64_t>(sizes.size()));
  DimensionVector permutation = batch;
  DimensionVector merged;
  for (int64_t d : batch) merged.push_back(sizes[static_cast<size_t>(d)]);
  Operand result = {};
  for (const bool contracts : {!contracting_last, contracting_last}) {
    const DimensionVector& part = contracts ? contracting : free;
    permutation.insert(permutation.end(), part.begin(), part.end());
    const int64_t size = Product(sizes, part);
    if (contracts) result.contracting = static_cast<int64_t>(merged.size());
    if (contracts || size != 1) merged.push_back(size);
  }
  result.id = MakeReshape(r, MakeTranspose(r, id, permutation), merged);
  return result;
}

bool Decompose(Rewriter& r, InstructionId id) {
  const Instruction& dot = r[id];
  if (dot.operand_count() != 2 || dot.attributes().dot == nullptr ||
      FindAttribute(dot, "sharding") != nullptr) {
    return false;
  }
  const DotDimensions& old = *dot.attributes().dot;
  if (IsCanonical(r.shape(dot.operand(0)), old.lhs_batch,
                  old.lhs_contracting) &&
      IsCanonical(r.shape(dot.operand(1)), old.rhs_batch,
                  old.rhs_contracting)) {
    return false;
  }
  const Operand lhs =
      Canonicalize(r, dot.operand(0), old.lhs_batch, old.lhs_contracting, true);
  const Operand rhs = Canonicalize(r, dot.operand(1), old.rhs_batch,
                                   old.rhs_contracting, false);
  DotDimensions canonical;
  canonical.lhs_batch = canonical.rhs_batch =
      IdentityPermutation(static_cast<int64_t>(old.lhs_batch.size()));
  canonical.lhs_contracting = {lhs.contracting};
  canonical.rhs_contracting = {rhs.contracting};
  const InstructionId product =
      MakeDot(r, lhs.id, rhs.id, canonical, dot.shape().element_type(), id);
  return r.Replace(id, MakeReshape(r, product, r.dimensions_of(id)));
}

}  // namespace

std::unique_ptr<Pass> MakeDotDecomposer() {
  return MakeRulePass({.name = "dot_decomposer",
                       .numeric_class = NumericClass::kReassociates,
                       .opcodes = {Opcode::kDot}},
                      Decompose);
}

}  // namespace hone::hlo
