// convert-mover: moves conversions so that data is moved in the smaller type.
//
//   op(convert(x), convert(y), constant), x and y of one narrower type
//     →  convert(op(x, y, constant converted))
//   convert(op(x, y)) to a narrower type
//     →  op(convert(x), convert(y))
//
// for op one of concatenate, pad, reshape, slice and transpose. Legal because
// these only move elements; a constant must come back unchanged from the
// narrower type. Exact. Only where the conversion (first rule) or op (second
// rule) has no other user, for otherwise both would be done; not for types
// narrower than a byte. The second rule makes a conversion for each operand.

#include <memory>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {
namespace {

const OpcodeSet& MovingOpcodes() {
  static const OpcodeSet opcodes = {Opcode::kConcatenate, Opcode::kPad,
                                    Opcode::kReshape, Opcode::kSlice,
                                    Opcode::kTranspose};
  return opcodes;
}

bool IsSubByte(ElementType type) {
  return KindOf(type) != ElementKind::kPred && BitWidth(type) < 8;
}

ElementType TypeOf(const Rewriter& r, InstructionId id) {
  return r.shape(id).element_type();
}

// The value converted to another type; nullopt when that is not known.
std::optional<Literal> Converted(const Module& module, const Literal& value,
                                 ElementType type) {
  Computation computation;
  const InstructionId from =
      computation.AddInstruction(Instruction::Parameter(0, value.shape_ptr()));
  const InstructionId to = computation.AddInstruction(Instruction(
      Opcode::kConvert, WithElementType(value.shape(), type), {from}));
  absl::StatusOr<Literal> result =
      EvaluateInstruction(module, computation, to, {value});
  if (!result.ok()) return std::nullopt;
  return *std::move(result);
}

// The constant converted to another type, if it comes back unchanged.
std::optional<Literal> LosslesslyConverted(const Rewriter& r, InstructionId id,
                                           ElementType type) {
  const Literal* value = ConstantLiteral(r.computation(), id);
  if (value == nullptr) return std::nullopt;
  std::optional<Literal> there = Converted(r.module(), *value, type);
  if (!there.has_value()) return std::nullopt;
  const std::optional<Literal> back =
      Converted(r.module(), *there, value->shape().element_type());
  if (!back.has_value() || !(*back == *value)) return std::nullopt;
  return there;
}

// The type in which `id` could do its work, if it widens all its operands but
// constants.
std::optional<ElementType> NarrowSource(const Rewriter& r, InstructionId id) {
  std::optional<ElementType> source;
  for (InstructionId operand : r[id].operands()) {
    if (r[operand].IsConstant()) continue;
    if (!r.Is(operand, Opcode::kConvert) || !r.DiesWith(operand, id) ||
        !r.MayReplace(operand)) {
      return std::nullopt;
    }
    const ElementType type = TypeOf(r, r.operand(operand, 0));
    if (source.value_or(type) != type) return std::nullopt;
    source = type;
  }
  if (!source.has_value() || IsSubByte(*source) ||
      BitWidth(*source) >= BitWidth(TypeOf(r, id))) {
    return std::nullopt;
  }
  return source;
}

bool WidenLater(Rewriter& r, InstructionId id) {
  const std::optional<ElementType> type = NarrowSource(r, id);
  if (!type.has_value()) return false;
  InstructionIds operands = r[id].operands();
  for (InstructionId& operand : operands) {
    if (!r[operand].IsConstant()) {
      operand = r.operand(operand, 0);
      continue;
    }
    std::optional<Literal> value = LosslesslyConverted(r, operand, *type);
    if (!value.has_value()) return false;
    operand = MakeConstant(r, *std::move(value));
  }
  const InstructionId narrow = MakeLike(r, id, operands, *type);
  return r.Replace(id, MakeConvert(r, narrow, TypeOf(r, id)));
}

bool NarrowEarlier(Rewriter& r, InstructionId id) {
  const InstructionId op = r.operand(id, 0);
  const ElementType type = TypeOf(r, id);
  if (!MovingOpcodes().Contains(r[op].opcode()) || !r.DiesWith(op, id) ||
      !r.MayReplace(op) || IsSubByte(type) ||
      BitWidth(TypeOf(r, op)) <= BitWidth(type)) {
    return false;
  }
  InstructionIds operands = r[op].operands();
  for (InstructionId& operand : operands) {
    operand = MakeConvert(r, operand, type);
  }
  return r.Replace(id, MakeLike(r, op, operands, type));
}

class ConvertMover final : public Pass {
 public:
  absl::string_view name() const override { return "convert-mover"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    HONE_ASSIGN_OR_RETURN(const bool widened,
                          RewriteModule(module,
                                        {.name = name(),
                                         .opcodes = MovingOpcodes(),
                                         .visit = Visit::kPostOrder},
                                        options, WidenLater));
    HONE_ASSIGN_OR_RETURN(const bool narrowed,
                          RewriteModule(module,
                                        {.name = name(),
                                         .opcodes = {Opcode::kConvert},
                                         .visit = Visit::kFixedPoint},
                                        options, NarrowEarlier));
    return widened || narrowed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeConvertMover() {
  return std::make_unique<ConvertMover>();
}

}  // namespace hone::hlo
