// dot-strength-reduction: multiplies and sums where a dot has a vector.
//
//   d = f32[5] dot(f32[5,4] a, f32[4] b)
//   →
//   p = f32[5,4] multiply(a, f32[5,4] broadcast(b))
//   d = f32[5] reduce(p, 0), dimensions={1}, to_apply=add
//
// for dots of two vectors (batch dimensions aside), and of a matrix and a
// vector that are small: less than 10,000,000 contracted times left-over sizes,
// upstream's bound on GPUs. Reassociates: a dot leaves the order of its sum
// open. The operands are converted to the result's type, and floats narrower
// than f32 are multiplied and summed in f32, as dots are. Elementwise
// operations and reductions fuse with what is around them, where a library call
// does not: it trades one instruction for several. Not for pred. Upstream also
// rewrites some products of s32 matrices.

#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/regions/named_region.h"

namespace hone::hlo {
namespace {

constexpr double kSmallProduct = 1e7;

double Product(const Shape& shape, const DimensionVector& dimensions) {
  double product = 1;
  for (int64_t d : dimensions) {
    product *= static_cast<double>(shape.dimension(d));
  }
  return product;
}

// One operand of a dot. Every dimension is in one of the lists.
struct Operand {
  InstructionId id;
  DimensionVector batch;
  DimensionVector free;
  DimensionVector contracting;
};

Operand Describe(const Rewriter& r, InstructionId id,
                 const DimensionVector& batch,
                 const DimensionVector& contracting) {
  DimensionVector taken = batch;
  taken.insert(taken.end(), contracting.begin(), contracting.end());
  return {id, batch, OtherDimensions(taken, r.shape(id).rank()), contracting};
}

bool IsSmall(const Rewriter& r, const Operand& lhs, const Operand& rhs) {
  const Shape& left = r.shape(lhs.id);
  const Shape& right = r.shape(rhs.id);
  return (Product(left, lhs.free) + Product(right, rhs.free)) *
             Product(left, lhs.contracting) <
         kSmallProduct;
}

// The operand as an array of (batch, free of the left operand, free of the
// right one, contracted) dimensions, whose sizes are `sizes`.
InstructionId MakeAligned(Rewriter& r, const Operand& operand, bool is_left,
                          ElementType type, const DimensionVector& sizes) {
  DimensionVector permutation = operand.batch;
  for (const DimensionVector* part : {&operand.free, &operand.contracting}) {
    permutation.insert(permutation.end(), part->begin(), part->end());
  }
  const InstructionId sorted =
      MakeTranspose(r, MakeConvert(r, operand.id, type), permutation);
  if (permutation.size() == sizes.size()) return sorted;
  // The other operand's free dimensions are missing.
  const size_t missing = sizes.size() - permutation.size();
  const size_t front =
      operand.batch.size() + (is_left ? operand.free.size() : 0);
  DimensionVector mapping;
  for (size_t i = 0; i < permutation.size(); ++i) {
    mapping.push_back(static_cast<int64_t>(i < front ? i : i + missing));
  }
  return MakeBroadcast(r, sorted, sizes, mapping);
}

bool ReduceDot(Module& module, Rewriter& r, InstructionId id) {
  const Instruction& dot = r[id];
  if (dot.operand_count() != 2 || dot.attributes().dot == nullptr) {
    return false;
  }
  const DotDimensions& d = *dot.attributes().dot;
  const Operand lhs =
      Describe(r, dot.operand(0), d.lhs_batch, d.lhs_contracting);
  const Operand rhs =
      Describe(r, dot.operand(1), d.rhs_batch, d.rhs_contracting);
  const bool are_vectors = lhs.free.empty() && rhs.free.empty();
  const bool has_vector = lhs.free.empty() || rhs.free.empty();
  if (KindOf(dot.shape().element_type()) == ElementKind::kPred ||
      (!are_vectors && !(has_vector && IsSmall(r, lhs, rhs)))) {
    return false;
  }

  const ElementType result = dot.shape().element_type();
  const ElementType type =
      IsFloat(result) && BitWidth(result) < 32 ? ElementType::kF32 : result;
  // Operands that a conversion to `type` would narrow are not for this.
  for (InstructionId operand : dot.operands()) {
    if (BitWidth(r.shape(operand).element_type()) > BitWidth(type)) {
      return false;
    }
  }
  DimensionVector sizes = r.dimensions_of(id);
  DimensionVector summed;
  for (int64_t c : lhs.contracting) {
    summed.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(r.shape(lhs.id).dimension(c));
  }
  InstructionId value =
      MakeBinary(r, Opcode::kMultiply, MakeAligned(r, lhs, true, type, sizes),
                 MakeAligned(r, rhs, false, type, sizes));
  if (!summed.empty()) {
    value = MakeReduce(r, value, MakeConstant(r, Literal::Scalar(type, 0)),
                       summed, FindOrAddSumRegion(module, type));
  }
  return r.Replace(id, MakeConvert(r, value, result));
}

}  // namespace

std::unique_ptr<Pass> MakeDotStrengthReduction() {
  return MakeRulePass({.name = "dot-strength-reduction",
                       .numeric_class = NumericClass::kReassociates,
                       .opcodes = {Opcode::kDot}},
                      ReduceDot);
}

}  // namespace hone::hlo
