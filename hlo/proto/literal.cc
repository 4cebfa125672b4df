#include "hlo/proto/literal.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/proto/shape.h"
#include "hlo/proto/xla_data.pb.h"

namespace hone::hlo {
namespace {

absl::Status CountError(size_t actual, const Shape& shape) {
  return absl::InvalidArgumentError(
      absl::StrCat("literal of ", shape.ToString(), " with ", actual,
                   " values or bytes of them, expected ", shape.num_elements(),
                   " elements"));
}

// The values of a repeated field into a literal's storage; `per_element` is 2
// for complex numbers. The count is checked before anything is allocated.
template <typename Stored, typename Field>
absl::StatusOr<Literal> ReadValues(const ShapePtr& shape, const Field& values,
                                   int64_t per_element = 1) {
  if (values.size() != shape->num_elements() * per_element) {
    return CountError(static_cast<size_t>(values.size()), *shape);
  }
  Literal literal(shape);
  std::byte* out = literal.MutableData();
  for (const auto value : values) {
    const Stored stored = static_cast<Stored>(value);
    std::memcpy(out, &stored, sizeof(stored));
    out += sizeof(stored);
  }
  return literal;
}

// Types of less than a byte take one byte each, unused high bits zero, where
// ours are sign-extended.
bool IsSubByteInteger(ElementType type) {
  return IsIntegral(type) && BitWidth(type) < 8;
}

absl::StatusOr<Literal> ReadBytes(const ShapePtr& shape,
                                  const std::string& bytes) {
  if (static_cast<int64_t>(bytes.size()) != shape->byte_size()) {
    return CountError(bytes.size(), *shape);
  }
  Literal literal(shape);
  std::memcpy(literal.MutableData(), bytes.data(), bytes.size());
  if (IsSubByteInteger(shape->element_type())) {
    for (int64_t i = 0; i < literal.num_elements(); ++i) {
      literal.SetInt(i, literal.AsInt(i));
    }
  }
  return literal;
}

std::string WriteBytes(const Literal& literal) {
  const ElementType type = literal.shape().element_type();
  std::string bytes(reinterpret_cast<const char*>(literal.data()),
                    static_cast<size_t>(literal.byte_size()));
  if (IsSubByteInteger(type)) {
    const int mask = (1 << BitWidth(type)) - 1;
    for (char& byte : bytes) byte = static_cast<char>(byte & mask);
  }
  return bytes;
}

// The bytes field of types that are kept so; null for others.
std::string* BytesField(xla::LiteralProto& proto, ElementType type) {
  switch (type) {
    case ElementType::kU8:
      return proto.mutable_u8s();
    case ElementType::kS8:
      return proto.mutable_s8s();
    case ElementType::kU16:
      return proto.mutable_u16s();
    case ElementType::kS16:
      return proto.mutable_s16s();
    case ElementType::kF16:
      return proto.mutable_f16s();
    case ElementType::kBf16:
      return proto.mutable_bf16s();
    case ElementType::kF8e5m2:
      return proto.mutable_f8e5m2s();
    case ElementType::kF8e4m3fn:
      return proto.mutable_f8e4m3fns();
    case ElementType::kS4:
      return proto.mutable_s4s();
    case ElementType::kU4:
      return proto.mutable_u4s();
    case ElementType::kF8e4m3b11fnuz:
      return proto.mutable_f8e4m3b11fnuzs();
    case ElementType::kF8e5m2fnuz:
      return proto.mutable_f8e5m2fnuzs();
    case ElementType::kF8e4m3fnuz:
      return proto.mutable_f8e4m3fnuzs();
    case ElementType::kS2:
      return proto.mutable_s2s();
    case ElementType::kU2:
      return proto.mutable_u2s();
    case ElementType::kF8e4m3:
      return proto.mutable_f8e4m3s();
    case ElementType::kF8e3m4:
      return proto.mutable_f8e3m4s();
    case ElementType::kS1:
      return proto.mutable_s1s();
    case ElementType::kU1:
      return proto.mutable_u1s();
    case ElementType::kF4e2m1fn:
      return proto.mutable_f4e2m1fns();
    case ElementType::kF8e8m0fnu:
      return proto.mutable_f8e8m0fnus();
    case ElementType::kF6e3m2fn:
      return proto.mutable_f6e3m2fns();
    case ElementType::kF6e2m3fn:
      return proto.mutable_f6e2m3fns();
    default:
      return nullptr;
  }
}

absl::StatusOr<Literal> ReadOf(const ShapePtr& shape,
                               xla::LiteralProto& proto) {
  if (shape->IsTuple()) {
    const size_t count = shape->tuple_elements().size();
    if (static_cast<size_t>(proto.tuple_literals_size()) != count) {
      return CountError(static_cast<size_t>(proto.tuple_literals_size()),
                        *shape);
    }
    std::vector<Literal> elements;
    for (size_t i = 0; i < count; ++i) {
      HONE_ASSIGN_OR_RETURN(
          Literal element,
          ReadOf(shape->tuple_elements()[i],
                 *proto.mutable_tuple_literals(static_cast<int>(i))));
      elements.push_back(std::move(element));
    }
    return Literal::Tuple(std::move(elements));
  }
  switch (shape->element_type()) {
    case ElementType::kPred:
      return ReadValues<uint8_t>(shape, proto.preds());
    case ElementType::kS32:
      return ReadValues<int32_t>(shape, proto.s32s());
    case ElementType::kS64:
      return ReadValues<int64_t>(shape, proto.s64s());
    case ElementType::kU32:
      return ReadValues<uint32_t>(shape, proto.u32s());
    case ElementType::kU64:
      return ReadValues<uint64_t>(shape, proto.u64s());
    case ElementType::kF32:
      return ReadValues<float>(shape, proto.f32s());
    case ElementType::kF64:
      return ReadValues<double>(shape, proto.f64s());
    case ElementType::kC64:
      return ReadValues<float>(shape, proto.c64s(), 2);
    case ElementType::kC128:
      return ReadValues<double>(shape, proto.c128s(), 2);
    default:
      break;
  }
  const std::string* bytes = BytesField(proto, shape->element_type());
  if (bytes == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("literal of ", shape->ToString(),
                     ", expected an array or a tuple of them"));
  }
  return ReadBytes(shape, *bytes);
}

template <typename T, typename Field>
void WriteValues(const Literal& literal, Field& field) {
  const absl::Span<const T> values(
      reinterpret_cast<const T*>(literal.data()),
      static_cast<size_t>(literal.byte_size()) / sizeof(T));
  field.Add(values.begin(), values.end());
}

}  // namespace

absl::StatusOr<Literal> ReadLiteralProto(xla::LiteralProto& proto) {
  HONE_ASSIGN_OR_RETURN(const ShapePtr shape, ReadShapeProto(proto.shape()));
  return ReadOf(shape, proto);
}

absl::Status WriteLiteralProto(const Literal& literal,
                               xla::LiteralProto& proto) {
  if (literal.is_elided()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the values of constant ", literal.shape().ToString(),
                     " were left out of the text, expected them"));
  }
  HONE_RETURN_IF_ERROR(
      WriteShapeProto(literal.shape(), *proto.mutable_shape()));
  if (literal.shape().IsTuple()) {
    for (const Literal& element : literal.elements()) {
      HONE_RETURN_IF_ERROR(
          WriteLiteralProto(element, *proto.add_tuple_literals()));
    }
    return absl::OkStatus();
  }
  switch (literal.shape().element_type()) {
    case ElementType::kPred:
      WriteValues<uint8_t>(literal, *proto.mutable_preds());
      break;
    case ElementType::kS32:
      WriteValues<int32_t>(literal, *proto.mutable_s32s());
      break;
    case ElementType::kS64:
      WriteValues<int64_t>(literal, *proto.mutable_s64s());
      break;
    case ElementType::kU32:
      WriteValues<uint32_t>(literal, *proto.mutable_u32s());
      break;
    case ElementType::kU64:
      WriteValues<uint64_t>(literal, *proto.mutable_u64s());
      break;
    case ElementType::kF32:
      WriteValues<float>(literal, *proto.mutable_f32s());
      break;
    case ElementType::kF64:
      WriteValues<double>(literal, *proto.mutable_f64s());
      break;
    case ElementType::kC64:
      WriteValues<float>(literal, *proto.mutable_c64s());
      break;
    case ElementType::kC128:
      WriteValues<double>(literal, *proto.mutable_c128s());
      break;
    default:
      *BytesField(proto, literal.shape().element_type()) = WriteBytes(literal);
      break;
  }
  return absl::OkStatus();
}

}  // namespace hone::hlo
