#ifndef HONE_HLO_IR_ELEMENT_TYPE_H_
#define HONE_HLO_IR_ELEMENT_TYPE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace hone::hlo {

// Element types with XLA's PrimitiveType numbers (xla_data.proto), so that the
// value is also the wire value.
enum class ElementType : uint8_t {
  kInvalid = 0,
#define HONE_ELEMENT_TYPE(enumerator, name, number, bits, kind) \
  enumerator = number,
#include "hlo/ir/element_types.def"
#undef HONE_ELEMENT_TYPE
};

// The kind of arithmetic of an element type.
enum class ElementKind : uint8_t {
  kNone,  // tuple, token, opaque, buffer
  kPred,
  kSigned,
  kUnsigned,
  kFloat,
  kComplex,
};

// The lower-case name of HLO text (`f32`); "invalid" for kInvalid.
absl::string_view ElementTypeName(ElementType type);

// The type of that name; nullopt when there is none.
std::optional<ElementType> ParseElementType(absl::string_view name);

// Returns the type with that PrimitiveType number; nullopt if Hone does not
// know it.
std::optional<ElementType> ElementTypeFromNumber(int64_t number);

ElementKind KindOf(ElementType type);
// Bits of one element; 0 for types without elements.
int BitWidth(ElementType type);
// Bytes of one element in a Literal: sub-byte types take one byte each.
int64_t ByteWidth(ElementType type);

inline bool IsFloat(ElementType t) { return KindOf(t) == ElementKind::kFloat; }
inline bool IsComplex(ElementType t) {
  return KindOf(t) == ElementKind::kComplex;
}
inline bool IsSigned(ElementType t) {
  return KindOf(t) == ElementKind::kSigned;
}
inline bool IsUnsigned(ElementType t) {
  return KindOf(t) == ElementKind::kUnsigned;
}
inline bool IsIntegral(ElementType t) { return IsSigned(t) || IsUnsigned(t); }

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_ELEMENT_TYPE_H_
