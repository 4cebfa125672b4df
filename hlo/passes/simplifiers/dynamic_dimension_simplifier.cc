// dynamic-dimension-simplifier: takes apart how frontends carry dimension sizes
// around, as vectors of scalars.
//
//   concatenate(concatenate(a, b), c) → concatenate(a, b, c)
//   slice(concatenate(a, b, c)) → b, for vectors, when it takes just that
//   reshape(broadcast(s)) → s, for scalars
//   reshape(reshape(a)) → a, when the shapes agree
//   convert(a), reshape(a) → a, when they change nothing
//
// Legal always. It never adds an instruction; a small part of algsimp.

#include <memory>
#include <utility>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/rewrite_each.h"

namespace hone::hlo {
namespace {

bool SimplifyConcatenate(Rewriter& r, InstructionId id) {
  // Concatenations of one value with itself, nested, double with every level.
  constexpr size_t kMostOperands = 4096;
  const Instruction& outer = r[id];
  InstructionIds parts;
  bool nested = false;
  for (InstructionId operand : outer.operands()) {
    const Instruction& inner = r[operand];
    if (inner.opcode() != Opcode::kConcatenate ||
        inner.dimensions() != outer.dimensions() || !MayRewrite(r, operand)) {
      parts.push_back(operand);
      continue;
    }
    nested = true;
    parts.insert(parts.end(), inner.operands().begin(), inner.operands().end());
    if (parts.size() > kMostOperands) return false;
  }
  return nested && r.ReplaceWith(id, outer.WithOperands(parts));
}

bool SimplifySlice(Rewriter& r, InstructionId id) {
  const Instruction& slice = r[id];
  const Instruction& concatenate = r[slice.operand(0)];
  if (concatenate.opcode() != Opcode::kConcatenate ||
      slice.shape().rank() != 1) {
    return false;
  }
  const SliceDimension& range = slice.attributes().slice[0];
  if (range.stride != 1) return false;
  int64_t start = 0;
  for (InstructionId operand : concatenate.operands()) {
    if (start > range.start) return false;
    const int64_t limit = start + r.shape(operand).dimension(0);
    if (start == range.start && limit == range.limit) {
      return r.Replace(id, operand);
    }
    start = limit;
  }
  return false;
}

bool SimplifyReshape(Rewriter& r, InstructionId id) {
  const InstructionId operand = r.operand(id, 0);
  if (Shape::Equal(r.shape(id), r.shape(operand))) {
    return r.Replace(id, operand);
  }
  const bool forwards =
      r.Is(operand, Opcode::kReshape) ||
      (r.Is(operand, Opcode::kBroadcast) && r.shape(id).rank() == 0);
  return forwards && MayRewrite(r, operand) &&
         Shape::Equal(r.shape(id), r.shape(r.operand(operand, 0))) &&
         r.Replace(id, r.operand(operand, 0));
}

bool Simplify(Rewriter& r, InstructionId id) {
  switch (r[id].opcode()) {
    case Opcode::kConcatenate:
      return MayRewrite(r, id) && SimplifyConcatenate(r, id);
    case Opcode::kSlice:
      return MayRewrite(r, id) && SimplifySlice(r, id);
    case Opcode::kReshape:
      return MayRewrite(r, id) && SimplifyReshape(r, id);
    case Opcode::kConvert:
      return MayRewrite(r, id) &&
             Shape::Equal(r.shape(id), r.shape(r.operand(id, 0))) &&
             r.Replace(id, r.operand(id, 0));
    default:
      return false;
  }
}

class DynamicDimensionSimplifier final : public Pass {
 public:
  absl::string_view name() const override {
    return "dynamic-dimension-simplifier";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    return RewriteToFixedPoint(module, Simplify);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeDynamicDimensionSimplifier() {
  return std::make_unique<DynamicDimensionSimplifier>();
}

}  // namespace hone::hlo
