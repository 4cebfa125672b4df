#include "loops/lowering/rewrites/loop_dot.h"

#include <memory>
#include <utility>

#include "hlo/rewrite/makers.h"

namespace hone::loops {

using hlo::InstructionId;
using hlo::Opcode;
using hlo::Rewriter;

std::vector<InstructionId> DotsIn(const Rewriter& r) {
  std::vector<InstructionId> dots;
  for (InstructionId id : r.computation().PostOrder()) {
    const auto is_empty = [&](InstructionId array) {
      return r.shape(array).num_elements() == 0;
    };
    if (r.Is(id, Opcode::kDot) && !is_empty(id) &&
        !is_empty(r.operand(id, 0)) && !is_empty(r.operand(id, 1))) {
      dots.push_back(id);
    }
  }
  return dots;
}

bool HasBatch(const hlo::Instruction& dot) {
  return !dot.attributes().dot->lhs_batch.empty();
}

const hlo::DimensionVector& Contracting(const hlo::Instruction& dot,
                                        size_t side) {
  const hlo::DotDimensions& dimensions = *dot.attributes().dot;
  return side == 0 ? dimensions.lhs_contracting : dimensions.rhs_contracting;
}

int64_t SumsOf(const Rewriter& r, InstructionId dot) {
  int64_t sums = 1;
  for (int64_t d : Contracting(r[dot], 0)) {
    sums *= r.dimensions_of(r.operand(dot, 0))[static_cast<size_t>(d)];
  }
  return sums;
}

bool MayReassociate(const hlo::Shape& shape) {
  return shape.element_type() != hlo::ElementType::kF16 &&
         shape.element_type() != hlo::ElementType::kBf16;
}

InstructionId AddDotLike(Rewriter& r, const hlo::Instruction& prototype,
                         InstructionId lhs, InstructionId rhs,
                         hlo::DotDimensions dimensions) {
  auto attributes = std::make_shared<hlo::Attributes>(prototype.attributes());
  attributes->dot =
      std::make_shared<const hlo::DotDimensions>(std::move(dimensions));
  return r.AddOfType(hlo::Instruction(Opcode::kDot, nullptr, {lhs, rhs},
                                      std::move(attributes)),
                     prototype.shape().element_type());
}

InstructionId SliceAlong(Rewriter& r, InstructionId operand, int64_t d,
                         int64_t start, int64_t limit) {
  std::vector<hlo::SliceDimension> slice;
  for (int64_t size : r.dimensions_of(operand)) {
    slice.push_back({.start = 0, .limit = size, .stride = 1});
  }
  slice[static_cast<size_t>(d)] = {.start = start, .limit = limit, .stride = 1};
  return MakeSlice(r, operand, slice);
}

}  // namespace hone::loops
