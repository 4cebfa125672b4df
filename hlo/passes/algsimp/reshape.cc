#include <memory>
#include <optional>
#include <utility>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

// reshape(broadcast(x)) → broadcast(x): the dimensions that come from x keep
// size and stride; those that the broadcast made may be split and merged.
bool ReshapeOfBroadcast(Rewriter& r, InstructionId id) {
  const InstructionId broadcast = r.operand(id, 0);
  const DimensionVector& mapping = r[broadcast].dimensions();
  for (size_t i = 1; i < mapping.size(); ++i) {
    if (mapping[i] <= mapping[i - 1]) return false;
  }
  const InstructionId x = r.operand(broadcast, 0);
  if (r.shape(id).num_elements() == 0) return false;
  const std::optional<DimensionVector> moved = UnmodifiedDimensions(
      r.dimensions_of(broadcast), r.dimensions_of(id), mapping);
  if (!moved.has_value()) return false;
  return r.Replace(id, MakeBroadcast(r, x, r.dimensions_of(id), *moved));
}

// reshape(iota) → iota: the counted dimension keeps size and stride.
bool ReshapeOfIota(Rewriter& r, InstructionId id) {
  const InstructionId iota = r.operand(id, 0);
  const std::optional<DimensionVector> moved = UnmodifiedDimensions(
      r.dimensions_of(iota), r.dimensions_of(id), r[iota].dimensions());
  if (!moved.has_value()) return false;
  return r.ReplaceWith(id, Instruction(Opcode::kIota, r[id].shape_ptr(), {},
                                       DimensionAttributes(*moved)));
}

// reshape(reduce(x)) → reduce(x): the reshape drops dimensions of size 1 that
// the reduction kept; it may as well reduce them. When the reduction has no
// other user.
bool ReshapeOfReduce(Rewriter& r, InstructionId id) {
  const InstructionId reduce = r.operand(id, 0);
  if (r[reduce].operand_count() != 2 || !r.DiesWith(reduce, id)) return false;
  const Computation& region = r.module().computation(r[reduce].called()[0]);
  const std::optional<Opcode> opcode = ReductionOpcode(region);
  const Literal* init = UniformLiteral(r.computation(), r.operand(reduce, 1));
  // Reducing one element by an identity gives that element.
  if (!opcode.has_value() || init == nullptr ||
      !IsReductionIdentity(*opcode, *init)) {
    return false;
  }
  const DimensionVector& kept = r.dimensions_of(reduce);
  const DimensionVector& wanted = r.dimensions_of(id);
  if (wanted.size() >= kept.size() ||
      !OnlyDegenerateDimensionsDiffer(kept, wanted)) {
    return false;
  }
  const InstructionId x = r.operand(reduce, 0);
  std::vector<bool> reduced(r.dimensions_of(x).size(), false);
  for (int64_t d : r[reduce].dimensions()) {
    reduced[static_cast<size_t>(d)] = true;
  }
  // Walk the kept dimensions; those of size 1 with no partner are reduced.
  size_t surplus = kept.size() - wanted.size();
  for (size_t i = 0; i < reduced.size() && surplus > 0; ++i) {
    if (reduced[i] || r.dimensions_of(x)[i] != 1) continue;
    reduced[i] = true;
    --surplus;
  }
  if (surplus > 0) return false;
  DimensionVector dimensions;
  DimensionVector result;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (reduced[i]) {
      dimensions.push_back(static_cast<int64_t>(i));
    } else {
      result.push_back(r.dimensions_of(x)[i]);
    }
  }
  if (result != wanted) return false;
  auto attributes = std::make_shared<Attributes>(r[reduce].attributes());
  attributes->dimensions = dimensions;
  Instruction merged(Opcode::kReduce, r[id].shape_ptr(), r[reduce].operands(),
                     std::move(attributes));
  merged.set_called(r[reduce].called());
  return r.ReplaceWith(id, std::move(merged));
}

}  // namespace

// reshape(x) → x: same dimensions
// reshape(reshape(x)) → reshape(x)
// reshape(constant) → constant: when nothing else uses it
// ReshapeOfBroadcast, ReshapeOfIota, ReshapeOfGather, ReshapeOfReduce
bool SimplifyReshape(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  if (r.dimensions_of(x) == r.dimensions_of(id)) return r.Replace(id, x);
  switch (r[x].opcode()) {
    case Opcode::kReshape:
      return r.Replace(id,
                       MakeReshape(r, r.operand(x, 0), r.dimensions_of(id)));
    case Opcode::kConstant: {
      const Literal* literal = ConstantLiteral(r.computation(), x);
      if (literal == nullptr || !r.DiesWith(x, id)) return false;
      return r.ReplaceWith(
          id, Instruction::Constant(literal->Reshaped(r[id].shape_ptr())));
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
