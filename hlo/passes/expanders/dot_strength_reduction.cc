// dot-strength-reduction: multiplies and sums where a dot has a vector.
//
//   d = f32[5] dot(f32[5,4] a, f32[4] b)
//   →
//   p = f32[5,4] multiply(a, f32[5,4] broadcast(b))
//   d = f32[5] reduce(p, 0), dimensions={1}, to_apply=add
//
// for dots of two vectors (batch dimensions aside), and of a matrix and a
// vector that are small: less than 10,000,000 contracted times left-over sizes,
// upstream's bound on GPUs. Legal always; f16 and bf16 are multiplied and
// summed in f32. Elementwise operations and reductions fuse with what is around
// them, where a library call does not: it trades one instruction for several.
// Upstream also rewrites some products of s32 matrices.

#include <memory>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/named_region.h"
#include "hlo/rewrite/rewrite_each.h"

namespace hone::hlo {
namespace {

constexpr int64_t kSmallProduct = 10'000'000;

int64_t Product(const Shape& shape, const DimensionVector& dimensions) {
  int64_t product = 1;
  for (int64_t d : dimensions) product *= shape.dimension(d);
  return product;
}

// A region that adds scalars of that type: one that is there, or a new one.
ComputationId AddRegion(Module& module, ElementType type) {
  for (ComputationId id = 0; id < module.computation_slots(); ++id) {
    if (!module.has_computation(id)) continue;
    const Computation& region = module.computation(id);
    if (ReductionOpcode(region) == Opcode::kAdd &&
        region[region.root()].shape().element_type() == type) {
      return id;
    }
  }
  return AddSumRegion(module, type);
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
  Operand operand{id, batch, {}, contracting};
  for (int64_t d = 0; d < r.shape(id).rank(); ++d) {
    if (!Contains(batch, d) && !Contains(contracting, d)) {
      operand.free.push_back(d);
    }
  }
  return operand;
}

bool IsSmall(const Rewriter& r, const Operand& lhs, const Operand& rhs) {
  const Shape& left = r.shape(lhs.id);
  const Shape& right = r.shape(rhs.id);
  return (Product(left, lhs.free) + Product(right, rhs.free)) *
             Product(left, lhs.contracting) <
         kSmallProduct;
}

InstructionId AddConvert(Rewriter& r, InstructionId id, ElementType type) {
  if (r.shape(id).element_type() == type) return id;
  return r.Add(
      Instruction(Opcode::kConvert, WithElementType(r.shape(id), type), {id}));
}

// The operand as an array of (batch, free of the left operand, free of the
// right one, contracted) dimensions, whose sizes are `sizes`.
InstructionId AddAligned(Rewriter& r, const Operand& operand, bool is_left,
                         ElementType type, const DimensionVector& sizes) {
  DimensionVector permutation = operand.batch;
  for (const DimensionVector* part : {&operand.free, &operand.contracting}) {
    permutation.insert(permutation.end(), part->begin(), part->end());
  }
  const InstructionId sorted =
      AddTranspose(r, AddConvert(r, operand.id, type), permutation);
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
  if (!are_vectors && !(has_vector && IsSmall(r, lhs, rhs))) return false;

  const ElementType result = dot.shape().element_type();
  const ElementType type =
      result == ElementType::kF16 || result == ElementType::kBf16
          ? ElementType::kF32
          : result;
  DimensionVector sizes = dot.shape().dimensions();
  DimensionVector summed;
  for (int64_t c : lhs.contracting) {
    summed.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(r.shape(lhs.id).dimension(c));
  }
  const InstructionId left = AddAligned(r, lhs, true, type, sizes);
  const InstructionId right = AddAligned(r, rhs, false, type, sizes);
  InstructionId value = MakeBinary(r, Opcode::kMultiply, left, right);
  if (!summed.empty()) {
    const InstructionId zero =
        r.Add(Instruction::Constant(Literal::Scalar(type, 0)));
    Instruction reduce(Opcode::kReduce,
                       Shape::Array(type, dot.shape().dimensions()),
                       {value, zero}, DimensionAttributes(summed));
    reduce.set_called({AddRegion(module, type)});
    reduce.set_metadata(dot.metadata());
    value = r.Add(std::move(reduce));
  }
  return r.Replace(id, AddConvert(r, value, result));
}

class DotStrengthReduction final : public Pass {
 public:
  absl::string_view name() const override { return "dot-strength-reduction"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    return RewriteEach(module, IsOpcode(Opcode::kDot),
                       [&module](Rewriter& r, InstructionId id) {
                         return ReduceDot(module, r, id);
                       });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeDotStrengthReduction() {
  return std::make_unique<DotStrengthReduction>();
}

}  // namespace hone::hlo
