#include "loops/lowering/complex/part_shapes.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace hone::loops {

using hlo::DimensionVector;
using hlo::ElementType;
using hlo::Shape;
using hlo::ShapePtr;

namespace {

ElementType PartType(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  return type == ElementType::kC128 ? ElementType::kF64 : type;
}

}  // namespace

bool HasComplex(const Shape& shape) {
  if (!shape.IsTuple()) return hlo::IsComplex(shape.element_type());
  return std::any_of(
      shape.tuple_elements().begin(), shape.tuple_elements().end(),
      [](const ShapePtr& element) { return HasComplex(*element); });
}

ShapePtr PartShape(const Shape& shape) {
  return Shape::Array(PartType(shape.element_type()), shape.dimensions());
}

ShapePtr TupleShape(const ShapePtr& shape) {
  if (!HasComplex(*shape)) return shape;
  if (!shape->IsTuple()) {
    return Shape::Tuple({PartShape(*shape), PartShape(*shape)});
  }
  std::vector<ShapePtr> elements;
  for (const ShapePtr& element : shape->tuple_elements()) {
    elements.push_back(TupleShape(element));
  }
  return Shape::Tuple(std::move(elements));
}

ShapePtr BytesShape(const ShapePtr& shape) {
  if (!HasComplex(*shape)) return shape;
  if (!shape->IsTuple()) {
    DimensionVector dimensions = shape->dimensions();
    dimensions.push_back(2);
    return Shape::Array(PartType(shape->element_type()), dimensions);
  }
  std::vector<ShapePtr> elements;
  for (const ShapePtr& element : shape->tuple_elements()) {
    elements.push_back(BytesShape(element));
  }
  return Shape::Tuple(std::move(elements));
}

hlo::Literal PartOf(const hlo::Literal& literal, size_t part) {
  hlo::Literal result(PartShape(literal.shape()));
  const size_t width =
      static_cast<size_t>(hlo::ByteWidth(result.shape().element_type()));
  for (int64_t i = 0; i < literal.num_elements(); ++i) {
    const size_t k = static_cast<size_t>(i);
    std::memcpy(result.MutableData() + k * width,
                literal.data() + (2 * k + part) * width, width);
  }
  return result;
}

}  // namespace hone::loops
