#include "tests/loops/random_expression.h"

#include <algorithm>
#include <utility>

namespace hone::testing {

using hlo::ElementType;
using hlo::Opcode;
using loops::Access;
using loops::Affine;
using loops::Buffer;
using loops::BufferId;
using loops::Expression;
using loops::ExpressionPtr;
using loops::Index;
using loops::Memory;
using loops::Range;

ExpressionPtr RandomExpressions::Number(ElementType type, double value) {
  return hlo::IsFloat(type)
             ? Expression::Constant(type, value)
             : Expression::ConstantInt(type, static_cast<int64_t>(value));
}

ExpressionPtr RandomExpressions::Converted(ElementType type, ExpressionPtr e) {
  if (e->type() == type) return e;
  return Expression::Apply(Opcode::kConvert, type, {std::move(e)});
}

ExpressionPtr RandomExpressions::Value(ElementType type,
                                       const std::vector<Axis>& axes,
                                       int depth) {
  if (depth == 0) return Leaf(type, axes);
  switch (Below(6)) {
    case 0:
      return Expression::Apply(Opcode::kSelect, type,
                               {Condition(axes), Value(type, axes, depth - 1),
                                Value(type, axes, depth - 1)});
    case 1: {
      if (axes.empty()) return Leaf(type, axes);
      const Axis& axis = OneOf(axes);
      const auto lo = static_cast<int64_t>(Below(3)) - 1;
      const auto hi =
          static_cast<int64_t>(Below(static_cast<uint64_t>(axis.size) + 2));
      return Expression::Where({Range{axis.index, lo, hi}},
                               Value(type, axes, depth - 1),
                               Value(type, axes, depth - 1));
    }
    case 2:
      return Concatenation(type, axes);
    default:
      return type == ElementType::kS32 ? IntegerValue(axes, depth)
                                       : FloatValue(type, axes, depth);
  }
}

ExpressionPtr RandomExpressions::FloatValue(ElementType type,
                                            const std::vector<Axis>& axes,
                                            int depth) {
  const auto apply = [type](Opcode opcode,
                            std::vector<ExpressionPtr> operands) {
    return Expression::Apply(opcode, type, std::move(operands));
  };
  ExpressionPtr a = Value(type, axes, depth - 1);
  switch (Below(9)) {
    case 0:
      return apply(Opcode::kTanh, {a});
    case 1:
      return apply(Opcode::kNegate, {a});
    case 2:
      return apply(Opcode::kLogistic, {a});
    case 3:
      return apply(Opcode::kExponential,
                   {apply(Opcode::kNegate, {apply(Opcode::kAbs, {a})})});
    case 4:
      return apply(Opcode::kMaximum, {a, Value(type, axes, depth - 1)});
    case 5:
      return apply(Opcode::kMultiply,
                   {a, apply(Opcode::kTanh, {Value(type, axes, depth - 1)})});
    case 6:
      return apply(Opcode::kDivide, {a, Number(type, 3)});
    case 7:
      return apply(Opcode::kSubtract, {a, Value(type, axes, depth - 1)});
    default:
      return apply(Opcode::kAdd, {a, Value(type, axes, depth - 1)});
  }
}

ExpressionPtr RandomExpressions::IntegerValue(const std::vector<Axis>& axes,
                                              int depth) {
  static constexpr Opcode kOpcodes[] = {
      Opcode::kAdd,     Opcode::kSubtract, Opcode::kMultiply,
      Opcode::kMaximum, Opcode::kMinimum,  Opcode::kAnd,
      Opcode::kOr,      Opcode::kXor,      Opcode::kRemainder,
      Opcode::kDivide,
  };
  return Expression::Apply(kOpcodes[Below(std::size(kOpcodes))],
                           ElementType::kS32,
                           {Value(ElementType::kS32, axes, depth - 1),
                            Value(ElementType::kS32, axes, depth - 1)});
}

ExpressionPtr RandomExpressions::Condition(const std::vector<Axis>& axes) {
  static constexpr hlo::ComparisonDirection kDirections[] = {
      hlo::ComparisonDirection::kEq,
      hlo::ComparisonDirection::kNe,
      hlo::ComparisonDirection::kLt,
      hlo::ComparisonDirection::kGe,
  };
  const ElementType type = Chance(0.5) ? ElementType::kS32 : ElementType::kF32;
  ExpressionPtr a = Chance(0.3) && !axes.empty()
                        ? Expression::OfIndex(type, OneOf(axes).index)
                        : Load(type, axes, true);
  ExpressionPtr b = Chance(0.5) ? Number(type, 1) : Load(type, axes, true);
  return Expression::Compare(kDirections[Below(std::size(kDirections))],
                             type == ElementType::kF32 && Chance(0.2), a, b);
}

ExpressionPtr RandomExpressions::Leaf(ElementType type,
                                      const std::vector<Axis>& axes) {
  if (Chance(0.1)) {
    return Number(type, static_cast<double>(Below(9)) / 4 - 1);
  }
  if (Chance(0.1) && !axes.empty()) {
    const Affine index = OneOf(axes).index * 2 - Affine(3);
    return Expression::OfIndex(type, index);
  }
  // A rounded float as an integer would jump.
  return Load(type, axes, type == ElementType::kS32);
}

std::optional<BufferId> RandomExpressions::PickBuffer(bool exact) {
  std::vector<BufferId> choices;
  for (BufferId id : readable_) {
    const Buffer& buffer = program_.buffer(id);
    if (!exact || !hlo::IsFloat(buffer.type) ||
        buffer.memory == Memory::kArgument) {
      choices.push_back(id);
    }
  }
  if (choices.empty()) return std::nullopt;
  return OneOf(choices);
}

ExpressionPtr RandomExpressions::Load(ElementType type,
                                      const std::vector<Axis>& axes,
                                      bool exact) {
  const std::optional<BufferId> id = PickBuffer(exact);
  if (!id) return Number(type, 1);
  const Buffer& buffer = program_.buffer(*id);
  Access access;
  access.buffer = *id;
  std::vector<Range> ranges;
  if (buffer.dimensions.size() != 1 && buffer.IsDense() && Chance(0.2)) {
    access.indices.push_back(
        PickIndex(buffer.allocated_elements(), axes, ranges));
  } else {
    for (int64_t size : buffer.dimensions) {
      access.indices.push_back(PickIndex(size, axes, ranges));
    }
  }
  ExpressionPtr load =
      Converted(type, Expression::Load(buffer.type, std::move(access)));
  if (ranges.empty()) return load;
  return Expression::Where(std::move(ranges), std::move(load), Number(type, 1));
}

Index RandomExpressions::PickIndex(int64_t size, const std::vector<Axis>& axes,
                                   std::vector<Range>& ranges) {
  Index index;
  if (Chance(0.1)) index.offset = DataIndex(size, axes);
  if (index.offset != nullptr) return index;
  const auto constant =
      static_cast<int64_t>(Below(static_cast<uint64_t>(size)));
  if (axes.empty() || Chance(0.1)) {
    index.affine += constant;
    return index;
  }
  const Axis& axis = OneOf(axes);
  if (axis.size > size || Chance(0.1)) {
    index.affine += axis.index;
    index.affine += constant - size / 2;
    ranges.emplace_back();
    ranges.back().value += index.affine;
    ranges.back().hi = size;
  } else if (Chance(0.2)) {
    index.affine += size - 1;
    index.affine -= axis.index;
  } else {
    index.affine += axis.index;
    index.affine += static_cast<int64_t>(
        Below(static_cast<uint64_t>(size - axis.size) + 1));
  }
  return index;
}

ExpressionPtr RandomExpressions::DataIndex(int64_t size,
                                           const std::vector<Axis>& axes) {
  for (BufferId id : readable_) {
    const Buffer& buffer = program_.buffer(id);
    if (buffer.memory != Memory::kArgument || buffer.dimensions.size() != 1 ||
        !hlo::IsIntegral(buffer.type)) {
      continue;
    }
    Affine index;
    for (const Axis& axis : axes) {
      if (axis.size <= buffer.dimensions[0]) index = axis.index;
    }
    Access access;
    access.buffer = id;
    access.indices.push_back(std::move(index));
    return Expression::Apply(Opcode::kClamp, buffer.type,
                             {Expression::ConstantInt(buffer.type, 0),
                              Expression::Load(buffer.type, std::move(access)),
                              Expression::ConstantInt(buffer.type, size - 1)});
  }
  return nullptr;
}

ExpressionPtr RandomExpressions::Concatenation(ElementType type,
                                               const std::vector<Axis>& axes) {
  const std::optional<BufferId> first = PickBuffer(type == ElementType::kS32);
  const std::optional<BufferId> second = PickBuffer(type == ElementType::kS32);
  if (axes.empty() || !first || !second) return Leaf(type, axes);
  const Axis& axis = OneOf(axes);
  const auto part = [&](BufferId id, const Affine& index, int64_t size) {
    const Buffer& buffer = program_.buffer(id);
    Access access;
    access.buffer = id;
    bool done = false;
    for (int64_t dimension : buffer.dimensions) {
      const bool fits = !done && dimension >= size;
      access.indices.push_back(fits ? index : Affine(dimension - 1));
      done |= fits;
    }
    return Converted(type, Expression::Load(buffer.type, std::move(access)));
  };
  const auto split =
      static_cast<int64_t>(Below(static_cast<uint64_t>(axis.size) + 1));
  return Expression::Where(
      {Range{axis.index, 0, split}}, part(*first, axis.index, split),
      part(*second, axis.index - Affine(split), axis.size - split));
}

}  // namespace hone::testing
