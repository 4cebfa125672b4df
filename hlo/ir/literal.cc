#include "hlo/ir/literal.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "hlo/ir/float_formats.h"

namespace hone::hlo {
namespace {

template <typename T>
T Load(const std::byte* data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void Store(std::byte* data, int64_t i, T value) {
  std::memcpy(data + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

int64_t SaturatingTruncate(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

}  // namespace

Literal::Literal(ShapePtr shape) : shape_(std::move(shape)) {
  HONE_CHECK(shape_->IsArray());
  // At least one byte, so that data() identifies the object.
  const size_t bytes = static_cast<size_t>(shape_->byte_size());
  data_ = std::shared_ptr<std::byte[]>(new std::byte[bytes > 0 ? bytes : 1]);
}

Literal::Literal(ShapePtr shape, std::shared_ptr<std::byte[]> data)
    : shape_(std::move(shape)), data_(std::move(data)) {
  HONE_CHECK(shape_->IsArray());
}

Literal Literal::Tuple(std::vector<Literal> elements) {
  std::vector<ShapePtr> shapes;
  shapes.reserve(elements.size());
  for (const Literal& element : elements) shapes.push_back(element.shape_);
  Literal result;
  result.shape_ = Shape::Tuple(std::move(shapes));
  result.elements_ = std::move(elements);
  return result;
}

Literal Literal::Elided(ShapePtr shape) {
  Literal result;
  result.shape_ = std::move(shape);
  result.data_ = std::shared_ptr<std::byte[]>(new std::byte[1]);
  result.elided_ = true;
  return result;
}

Literal Literal::Scalar(ElementType type, double value) {
  Literal result(Shape::Scalar(type));
  result.SetDouble(0, value);
  return result;
}

Literal Literal::ScalarInt(ElementType type, int64_t value) {
  Literal result(Shape::Scalar(type));
  result.SetInt(0, value);
  return result;
}

double Literal::AsDouble(int64_t i) const {
  const std::byte* d = data_.get();
  switch (shape_->element_type()) {
    case ElementType::kF64:
      return Load<double>(d, i);
    case ElementType::kF32:
      return static_cast<double>(Load<float>(d, i));
    case ElementType::kF16:
      return static_cast<double>(F16ToFloat(Load<uint16_t>(d, i)));
    case ElementType::kBf16:
      return static_cast<double>(Bf16ToFloat(Load<uint16_t>(d, i)));
    case ElementType::kC64:
      return static_cast<double>(Load<float>(d, 2 * i));
    case ElementType::kC128:
      return Load<double>(d, 2 * i);
    case ElementType::kU64:
      return static_cast<double>(Load<uint64_t>(d, i));
    default:
      break;
  }
  if (IsFloat(shape_->element_type())) {
    return static_cast<double>(
        MiniFloatToFloat(shape_->element_type(), Load<uint8_t>(d, i)));
  }
  return static_cast<double>(AsInt(i));
}

int64_t Literal::AsInt(int64_t i) const {
  const std::byte* d = data_.get();
  switch (shape_->element_type()) {
    case ElementType::kPred:
    case ElementType::kU8:
    case ElementType::kU4:
    case ElementType::kU2:
    case ElementType::kU1:
      return Load<uint8_t>(d, i);
    case ElementType::kS8:
    case ElementType::kS4:
    case ElementType::kS2:
    case ElementType::kS1:
      return Load<int8_t>(d, i);
    case ElementType::kS16:
      return Load<int16_t>(d, i);
    case ElementType::kU16:
      return Load<uint16_t>(d, i);
    case ElementType::kS32:
      return Load<int32_t>(d, i);
    case ElementType::kU32:
      return Load<uint32_t>(d, i);
    case ElementType::kS64:
    case ElementType::kU64:
      return Load<int64_t>(d, i);
    default:
      return SaturatingTruncate(AsDouble(i));
  }
}

void Literal::SetDouble(int64_t i, double value) {
  std::byte* d = data_.get();
  const ElementType type = shape_->element_type();
  switch (type) {
    case ElementType::kF64:
      return Store<double>(d, i, value);
    case ElementType::kF32:
      return Store<float>(d, i, static_cast<float>(value));
    case ElementType::kF16:
      return Store<uint16_t>(d, i, FloatToF16(RoundToOdd(value)));
    case ElementType::kBf16:
      return Store<uint16_t>(d, i, FloatToBf16(RoundToOdd(value)));
    case ElementType::kC64:
      Store<float>(d, 2 * i, static_cast<float>(value));
      return Store<float>(d, 2 * i + 1, 0.0f);
    case ElementType::kC128:
      Store<double>(d, 2 * i, value);
      return Store<double>(d, 2 * i + 1, 0.0);
    case ElementType::kU64:
      if (value >= 0x1p63) {
        return Store<uint64_t>(d, i, static_cast<uint64_t>(value));
      }
      break;
    default:
      break;
  }
  if (IsFloat(type)) {
    return Store<uint8_t>(d, i, FloatToMiniFloat(type, RoundToOdd(value)));
  }
  SetInt(i, SaturatingTruncate(value));
}

void Literal::SetInt(int64_t i, int64_t value) {
  std::byte* d = data_.get();
  const ElementType type = shape_->element_type();
  if (type == ElementType::kPred) {
    return Store<uint8_t>(d, i, value != 0 ? 1 : 0);
  }
  if (!IsIntegral(type)) return SetDouble(i, static_cast<double>(value));
  switch (ByteWidth(type)) {
    case 1: {
      // Sub-byte values are kept sign- or zero-extended.
      const int unused = 8 - BitWidth(type);
      const auto shifted =
          static_cast<uint8_t>(static_cast<uint8_t>(value) << unused);
      if (IsSigned(type)) {
        return Store<int8_t>(
            d, i, static_cast<int8_t>(static_cast<int8_t>(shifted) >> unused));
      }
      return Store<uint8_t>(d, i, static_cast<uint8_t>(shifted >> unused));
    }
    case 2:
      return Store<int16_t>(d, i, static_cast<int16_t>(value));
    case 4:
      return Store<int32_t>(d, i, static_cast<int32_t>(value));
    default:
      return Store<int64_t>(d, i, value);
  }
}

Literal Literal::Reshaped(ShapePtr shape) const {
  HONE_CHECK(shape->byte_size() == byte_size());
  Literal result = *this;
  result.shape_ = std::move(shape);
  return result;
}

bool operator==(const Literal& a, const Literal& b) {
  if (a.shape_ == nullptr || b.shape_ == nullptr) {
    return a.shape_ == b.shape_;
  }
  if (!Shape::Equal(*a.shape_, *b.shape_)) return false;
  if (a.elided_ || b.elided_) return a.data_ == b.data_;
  if (a.shape_->IsTuple()) return a.elements_ == b.elements_;
  return a.data_ == b.data_ ||
         std::memcmp(a.data_.get(), b.data_.get(),
                     static_cast<size_t>(a.byte_size())) == 0;
}

std::vector<Literal> Leaves(const Literal& literal) {
  if (!literal.shape().IsTuple()) return {literal};
  std::vector<Literal> leaves;
  for (const Literal& element : literal.elements()) {
    for (Literal& leaf : Leaves(element)) leaves.push_back(std::move(leaf));
  }
  return leaves;
}

bool HasElidedValues(const Literal& literal) {
  return literal.is_elided() ||
         std::any_of(literal.elements().begin(), literal.elements().end(),
                     HasElidedValues);
}

}  // namespace hone::hlo
