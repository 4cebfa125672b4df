// gemv-rewriter: makes products of a matrix and a vector products of matrices.
//
//   d = f32[5] dot(f32[5,4] a, f32[4] b)
//   →
//   d = f32[5] reshape(f32[5,1] dot(a, f32[4,1] reshape(b)))
//
// Likewise when the left operand is the vector, and with batch dimensions.
// Legal always. For code generators that know matrix products only: it adds
// reshapes. Dots with more than one dimension left over are dot_decomposer's
// matter, and so is the order of dimensions.

#include <memory>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/rewrite_each.h"

namespace hone::hlo {
namespace {

// The operand with a last dimension of size 1.
InstructionId AddColumn(Rewriter& r, InstructionId id) {
  DimensionVector dimensions = r.dimensions_of(id);
  dimensions.push_back(1);
  return MakeReshape(r, id, dimensions);
}

bool RewriteGemv(Rewriter& r, InstructionId id) {
  const Instruction& dot = r[id];
  if (dot.operand_count() != 2 || dot.attributes().dot == nullptr) return false;
  const DotDimensions& d = *dot.attributes().dot;
  const int64_t used =
      static_cast<int64_t>(d.lhs_batch.size() + d.lhs_contracting.size());
  const int64_t lhs_free = r.shape(dot.operand(0)).rank() - used;
  const int64_t rhs_free = r.shape(dot.operand(1)).rank() - used;
  if (lhs_free + rhs_free != 1) return false;

  InstructionIds operands = dot.operands();
  DimensionVector dimensions = dot.shape().dimensions();
  if (lhs_free == 0) {
    operands[0] = AddColumn(r, operands[0]);
    dimensions.insert(dimensions.end() - 1, 1);
  } else {
    operands[1] = AddColumn(r, operands[1]);
    dimensions.push_back(1);
  }
  Instruction product(Opcode::kDot,
                      Shape::Array(dot.shape().element_type(), dimensions),
                      operands, dot.attributes_ptr());
  product.set_metadata(dot.metadata());
  const InstructionId added = r.Add(std::move(product));
  return r.Replace(id, MakeReshape(r, added, r.dimensions_of(id)));
}

class GemvRewriter final : public Pass {
 public:
  absl::string_view name() const override { return "gemv-rewriter"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    return RewriteEach(module, IsOpcode(Opcode::kDot), RewriteGemv);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeGemvRewriter() {
  return std::make_unique<GemvRewriter>();
}

}  // namespace hone::hlo
