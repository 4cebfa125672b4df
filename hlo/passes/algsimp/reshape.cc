// Reshapes. All exact.
//
//   reshape(x) → x                           same sizes
//   reshape(reshape(x)) → reshape(x)
//   reshape(constant) → constant             when nothing else uses it
//   reshape(broadcast(x)) → broadcast(x)     those of x keep size and stride;
//     the dimensions that the broadcast made may be split and merged
//   reshape(iota) → iota                     the counted dimension keeps both
//
// and ReshapeOfGather and ReshapeOfReduce.

#include <algorithm>
#include <optional>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

bool ReshapeOfBroadcast(Rewriter& r, InstructionId id) {
  const InstructionId broadcast = r.operand(id, 0);
  const DimensionVector& mapping = r[broadcast].dimensions();
  if (!std::is_sorted(mapping.begin(), mapping.end())) return false;
  const std::optional<DimensionVector> moved = UnmodifiedDimensions(
      r.dimensions_of(broadcast), r.dimensions_of(id), mapping);
  return moved.has_value() && r.shape(id).num_elements() > 0 &&
         r.Replace(id, MakeBroadcast(r, r.operand(broadcast, 0),
                                     r.dimensions_of(id), *moved));
}

bool ReshapeOfIota(Rewriter& r, InstructionId id) {
  const InstructionId iota = r.operand(id, 0);
  const std::optional<DimensionVector> moved = UnmodifiedDimensions(
      r.dimensions_of(iota), r.dimensions_of(id), r[iota].dimensions());
  return moved.has_value() &&
         r.Replace(id, MakeIota(r, r.shape(id).element_type(),
                                r.dimensions_of(id), (*moved)[0]));
}

}  // namespace

bool SimplifyReshape(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const DimensionVector& sizes = r.dimensions_of(id);
  if (r.dimensions_of(x) == sizes) return r.Replace(id, x);
  switch (r[x].opcode()) {
    case Opcode::kReshape:
      return r.Replace(id, MakeReshape(r, r.operand(x, 0), sizes));
    case Opcode::kConstant: {
      const Literal* literal = ConstantLiteral(r.computation(), x);
      return literal != nullptr && r.DiesWith(x, id) &&
             r.Replace(
                 id, MakeConstant(r, literal->Reshaped(Shape::Array(
                                         r.shape(id).element_type(), sizes))));
    }
    case Opcode::kBroadcast:
      return ReshapeOfBroadcast(r, id);
    case Opcode::kIota:
      return ReshapeOfIota(r, id);
    case Opcode::kGather:
      return ReshapeOfGather(r, id);
    case Opcode::kReduce:
      return ReshapeOfReduce(r, id);
    default:
      return false;
  }
}

}  // namespace hone::hlo::algsimp
