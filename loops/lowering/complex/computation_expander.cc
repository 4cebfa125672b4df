#include "loops/lowering/complex/computation_expander.h"

#include <memory>

#include "base/status_macros.h"
#include "loops/lowering/complex/part_shapes.h"
#include "loops/lowering/graph/unsupported.h"

namespace hone::loops {

using hlo::Computation;
using hlo::DimensionVector;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::kNoInstruction;
using hlo::Opcode;
using hlo::Shape;
using hlo::ShapePtr;

InstructionId ComputationExpander::Tuple(
    const std::vector<InstructionId>& elements) {
  std::vector<ShapePtr> shapes;
  for (InstructionId element : elements) {
    shapes.push_back(to_[element].shape_ptr());
  }
  return Add(
      Instruction(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements));
}

InstructionId ComputationExpander::Whole(InstructionId id) {
  InstructionId& whole = wholes_[id];
  if (whole == kNoInstruction) {
    const ComplexParts& parts = parts_[id];
    whole = Tuple({parts.re, parts.im});
  }
  return whole;
}

ComplexParts ComputationExpander::Parts(InstructionId id) {
  ComplexParts& parts = parts_[id];
  if (parts.re == kNoInstruction) {
    parts = {Element(wholes_[id], 0), Element(wholes_[id], 1)};
  }
  return parts;
}

ComplexParts ComputationExpander::PartsOrBoth(InstructionId id) {
  if (IsComplex(id)) return Parts(id);
  return {wholes_[id], wholes_[id]};
}

ComplexParts ComputationExpander::FromBytes(InstructionId bytes) {
  const ShapePtr shape = to_[bytes].shape_ptr();
  DimensionVector sliced = shape->dimensions();
  sliced.back() = 1;
  const DimensionVector dimensions(shape->dimensions().begin(),
                                   shape->dimensions().end() - 1);
  const auto part = [&](int64_t i) {
    auto attributes = std::make_shared<hlo::Attributes>();
    for (int64_t size : dimensions) attributes->slice.push_back({0, size, 1});
    attributes->slice.push_back({i, i + 1, 1});
    const InstructionId slice = Add(
        Instruction(Opcode::kSlice, Shape::Array(shape->element_type(), sliced),
                    {bytes}, std::move(attributes)));
    return Add(Instruction(Opcode::kReshape,
                           Shape::Array(shape->element_type(), dimensions),
                           {slice}));
  };
  const InstructionId re = part(0);
  return {re, part(1)};
}

InstructionId ComputationExpander::ToBytes(ComplexParts parts) {
  const Shape shape = to_[parts.re].shape();
  DimensionVector dimensions = shape.dimensions();
  dimensions.push_back(1);
  const auto column = [&](InstructionId part) {
    return Add(Instruction(Opcode::kReshape,
                           Shape::Array(shape.element_type(), dimensions),
                           {part}));
  };
  const InstructionId re = column(parts.re);
  const InstructionId im = column(parts.im);
  auto attributes = std::make_shared<hlo::Attributes>();
  attributes->dimensions = {shape.rank()};
  dimensions.back() = 2;
  return Add(Instruction(Opcode::kConcatenate,
                         Shape::Array(shape.element_type(), dimensions),
                         {re, im}, std::move(attributes)));
}

InstructionId ComputationExpander::WholeFromBytes(const ShapePtr& shape,
                                                  InstructionId bytes) {
  if (!HasComplex(*shape)) return bytes;
  if (!shape->IsTuple()) {
    const ComplexParts parts = FromBytes(bytes);
    return Tuple({parts.re, parts.im});
  }
  std::vector<InstructionId> elements;
  for (int32_t i = 0; i < static_cast<int32_t>(shape->tuple_elements().size());
       ++i) {
    elements.push_back(
        WholeFromBytes(shape->tuple_element(i), Element(bytes, i)));
  }
  return Tuple(elements);
}

InstructionId ComputationExpander::WholeToBytes(const ShapePtr& shape,
                                                InstructionId whole) {
  if (!HasComplex(*shape)) return whole;
  if (!shape->IsTuple()) return ToBytes({Element(whole, 0), Element(whole, 1)});
  std::vector<InstructionId> elements;
  for (int32_t i = 0; i < static_cast<int32_t>(shape->tuple_elements().size());
       ++i) {
    elements.push_back(
        WholeToBytes(shape->tuple_element(i), Element(whole, i)));
  }
  return Tuple(elements);
}

std::vector<InstructionId> ComputationExpander::Flat(
    absl::Span<const InstructionId> ids) {
  std::vector<InstructionId> flat;
  for (InstructionId id : ids) {
    const ComplexParts parts = PartsOrBoth(id);
    flat.push_back(parts.re);
    if (IsComplex(id)) flat.push_back(parts.im);
  }
  return flat;
}

// `made` has an array for each real one and two for each complex one.
void ComputationExpander::SetFlatResult(const Instruction& instruction,
                                        InstructionId made) {
  if (!instruction.shape().IsTuple()) {
    if (IsComplex(instruction.id())) {
      parts_[instruction.id()] = {Element(made, 0), Element(made, 1)};
    } else {
      wholes_[instruction.id()] = made;
    }
    return;
  }
  std::vector<InstructionId> elements;
  int32_t next = 0;
  for (const ShapePtr& shape : instruction.shape().tuple_elements()) {
    if (HasComplex(*shape)) {
      const InstructionId re = Element(made, next++);
      elements.push_back(Tuple({re, Element(made, next++)}));
    } else {
      elements.push_back(Element(made, next++));
    }
  }
  wholes_[instruction.id()] = Tuple(elements);
}

void ComputationExpander::AddParameters() {
  const std::vector<InstructionId>& parameters = from_.parameters();
  std::vector<InstructionId> order;
  std::vector<ComplexParts> parts(parameters.size());
  int32_t number = 0;
  const auto add = [&](size_t i, ShapePtr shape) {
    name_ = from_[parameters[i]].name();
    return Add(Instruction::Parameter(number++, std::move(shape)));
  };
  const bool is_pairs = interface_ == Interface::kPairs;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const InstructionId id = parameters[i];
    const ShapePtr shape = from_[id].shape_ptr();
    if (interface_ == Interface::kEntry) {
      wholes_[id] = WholeFromBytes(shape, add(i, BytesShape(shape)));
    } else if (interface_ == Interface::kTuples || !HasComplex(*shape)) {
      wholes_[id] = add(i, TupleShape(shape));
    } else if (!is_pairs) {
      const InstructionId re = add(i, PartShape(*shape));
      parts_[id] = {re, add(i, PartShape(*shape))};
    } else if (i % 2 == 0) {
      // Both sides of the real parts, then both of the imaginary ones.
      const InstructionId other = parameters[i + 1];
      const ShapePtr part = PartShape(*shape);
      parts_[id].re = add(i, part);
      parts_[other].re = add(i + 1, part);
      parts_[id].im = add(i, part);
      parts_[other].im = add(i + 1, part);
    }
  }
}

absl::StatusOr<InstructionId> ComputationExpander::Root() {
  const InstructionId root = from_.root();
  const Instruction& instruction = from_[root];
  name_ = instruction.name();
  switch (interface_) {
    case Interface::kEntry:
      return WholeToBytes(instruction.shape_ptr(), Whole(root));
    case Interface::kTuples:
      return Whole(root);
    default:
      break;
  }
  if (!HasComplex(instruction.shape())) return Whole(root);
  if (!instruction.shape().IsTuple()) return Whole(root);
  if (instruction.opcode() != Opcode::kTuple) {
    return Unsupported(instruction, "complex results of a region");
  }
  return Tuple(Flat(instruction.operands()));
}

absl::StatusOr<Computation> ComputationExpander::Run() {
  AddParameters();
  for (InstructionId id : from_.PostOrder()) {
    if (from_[id].opcode() == Opcode::kParameter) continue;
    name_ = from_[id].name();
    HONE_RETURN_IF_ERROR(Write(from_[id]));
  }
  HONE_ASSIGN_OR_RETURN(const InstructionId root, Root());
  to_.set_root(root);
  return std::move(to_);
}

}  // namespace hone::loops
