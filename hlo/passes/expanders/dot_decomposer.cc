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
// Legal always: terms of a sum stay in their order. It adds transposes and
// reshapes, which transpose-folding and algsimp take back in part: for what
// needs the form, not for the operation count.

#include <memory>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/rewrite_each.h"

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
  // The sizes of the dimensions left over: at most one.
  DimensionVector free;
};

Operand Canonicalize(Rewriter& r, InstructionId id,
                     const DimensionVector& batch,
                     const DimensionVector& contracting,
                     bool contracting_last) {
  const DimensionVector sizes = r.dimensions_of(id);
  DimensionVector permutation = batch;
  DimensionVector dimensions;
  for (int64_t d : batch) {
    dimensions.push_back(sizes[static_cast<size_t>(d)]);
  }
  int64_t contracting_size = 1;
  for (int64_t d : contracting) {
    contracting_size *= sizes[static_cast<size_t>(d)];
  }
  DimensionVector free;
  int64_t free_size = 1;
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    if (Contains(batch, d) || Contains(contracting, d)) continue;
    free.push_back(d);
    free_size *= sizes[static_cast<size_t>(d)];
  }
  const DimensionVector& first = contracting_last ? free : contracting;
  const DimensionVector& second = contracting_last ? contracting : free;
  permutation.insert(permutation.end(), first.begin(), first.end());
  permutation.insert(permutation.end(), second.begin(), second.end());

  Operand result;
  if (free_size != 1) result.free.push_back(free_size);
  if (contracting_last) {
    dimensions.insert(dimensions.end(), result.free.begin(), result.free.end());
  }
  result.contracting = static_cast<int64_t>(dimensions.size());
  dimensions.push_back(contracting_size);
  if (!contracting_last) {
    dimensions.insert(dimensions.end(), result.free.begin(), result.free.end());
  }
  result.id = MakeReshape(r, AddTranspose(r, id, permutation), dimensions);
  return result;
}

bool Decompose(Rewriter& r, InstructionId id) {
  const Instruction& dot = r[id];
  if (dot.operand_count() != 2 || dot.attributes().dot == nullptr) return false;
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

  DimensionVector dimensions(dot.shape().dimensions().begin(),
                             dot.shape().dimensions().begin() +
                                 static_cast<int64_t>(old.lhs_batch.size()));
  dimensions.insert(dimensions.end(), lhs.free.begin(), lhs.free.end());
  dimensions.insert(dimensions.end(), rhs.free.begin(), rhs.free.end());
  const bool same_shape = dimensions == dot.shape().dimensions();
  Attributes attributes = dot.attributes();
  attributes.dot = std::make_shared<DotDimensions>(std::move(canonical));
  Instruction replacement(
      Opcode::kDot,
      same_shape ? dot.shape_ptr()
                 : Shape::Array(dot.shape().element_type(), dimensions),
      {lhs.id, rhs.id},
      std::make_shared<const Attributes>(std::move(attributes)));
  replacement.set_metadata(dot.metadata());
  const InstructionId added = r.Add(std::move(replacement));
  return r.Replace(id, MakeReshape(r, added, r.dimensions_of(id)));
}

class DotDecomposer final : public Pass {
 public:
  absl::string_view name() const override { return "dot_decomposer"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    return RewriteEach(module, IsOpcode(Opcode::kDot), Decompose);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeDotDecomposer() {
  return std::make_unique<DotDecomposer>();
}

}  // namespace hone::hlo
