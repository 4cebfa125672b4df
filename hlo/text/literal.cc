#include "hlo/text/literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "hlo/ir/float_formats.h"

namespace hone::hlo {
namespace {

// Mantissa bits of the formats whose NaNs carry a payload; 0 for the others.
int PayloadBits(ElementType type) {
  switch (type) {
    case ElementType::kF64:
    case ElementType::kC128:
    case ElementType::kF32:
    case ElementType::kC64:
    case ElementType::kF16:
    case ElementType::kBf16:
    case ElementType::kF8e3m4:
    case ElementType::kF8e4m3:
    case ElementType::kF8e5m2:
      return MantissaBits(type);
    default:
      return 0;
  }
}

// The type of each part of a complex number; the type itself for others.
ElementType PartType(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  if (type == ElementType::kC128) return ElementType::kF64;
  return type;
}

// Copies the low bytes of `bits`; hosts are little-endian.
void StoreBits(std::byte* data, int64_t i, int64_t width, uint64_t bits) {
  std::memcpy(data + i * width, &bits, static_cast<size_t>(width));
}

uint64_t LoadBits(const std::byte* data, int64_t i, int64_t width) {
  uint64_t bits = 0;
  std::memcpy(&bits, data + i * width, static_cast<size_t>(width));
  return bits;
}

// The bits of `value` in a float format; an overflow becomes an infinity. As
// XLA does, rounds twice for 16 bits (by way of f32) and once for fewer.
uint64_t FloatBits(ElementType type, double value) {
  uint64_t bits = 0;
  const float narrow = static_cast<float>(value);
  switch (type) {
    case ElementType::kF64:
      std::memcpy(&bits, &value, sizeof(value));
      return bits;
    case ElementType::kF32:
      std::memcpy(&bits, &narrow, sizeof(narrow));
      return bits;
    case ElementType::kF16:
      return FloatToF16(narrow);
    case ElementType::kBf16:
      return FloatToBf16(narrow);
    default:
      return FloatToMiniFloat(type, RoundToOdd(value));
  }
}

double FloatValue(ElementType type, uint64_t bits) {
  switch (type) {
    case ElementType::kF64: {
      double value;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    }
    case ElementType::kF32: {
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      return static_cast<double>(value);
    }
    case ElementType::kF16:
      return static_cast<double>(F16ToFloat(static_cast<uint16_t>(bits)));
    case ElementType::kBf16:
      return static_cast<double>(Bf16ToFloat(static_cast<uint16_t>(bits)));
    default:
      return static_cast<double>(
          MiniFloatToFloat(type, static_cast<uint8_t>(bits)));
  }
}

class LiteralReader {
 public:
  LiteralReader(TextLexer& lexer, ShapeReader& shapes, int max_depth)
      : lexer_(lexer), shapes_(shapes), max_depth_(max_depth) {}

  bool Read(const ShapePtr& shape, int depth, Literal& literal) {
    if (shape->IsTuple()) return ReadTuple(shape, depth, literal);
    if (!shape->IsArray()) {
      return lexer_.FailExpected("no constant of a shape without values");
    }
    return ReadArray(shape, literal);
  }

 private:
  bool ReadTuple(const ShapePtr& shape, int depth, Literal& literal) {
    if (depth > max_depth_) {
      return lexer_.Fail(lexer_.Position(),
                         absl::StrCat("the constant is nested too deeply, "
                                      "expected at most ",
                                      max_depth_, " levels"));
    }
    if (TakeElision()) {
      literal = Literal::Elided(shape);
      return true;
    }
    if (!lexer_.Expect('(')) return false;
    std::vector<Literal> elements;
    for (const ShapePtr& element : shape->tuple_elements()) {
      if (!elements.empty() && !lexer_.Expect(',')) return false;
      // Literals outside of instructions repeat the shape.
      ShapePtr unused;
      if (!element->IsTuple() && ShapeReader::IsNext(lexer_) &&
          lexer_.Peek() != '(' && !shapes_.Read(lexer_, unused)) {
        return false;
      }
      elements.emplace_back();
      if (!Read(element, depth + 1, elements.back())) return false;
    }
    literal = Literal::Tuple(std::move(elements));
    return lexer_.Expect(')');
  }

  bool TakeElision() {
    const char* start = lexer_.Position();
    if (lexer_.Take('{') && lexer_.Take("...") && lexer_.Take('}')) return true;
    lexer_.set_position(start);
    return false;
  }

  bool ReadArray(const ShapePtr& shape, Literal& literal) {
    const char* start = lexer_.Position();
    for (int64_t size : shape->dimensions()) {
      if (size == Shape::kUnbounded) {
        return lexer_.Fail(start,
                           "a constant of unbounded size, expected "
                           "known dimensions");
      }
    }
    const auto& sizes = shape->dimensions();
    const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
    if (TakeElision()) {
      // Nothing was left out of an array without elements.
      literal = empty ? Literal(shape) : Literal::Elided(shape);
      return true;
    }
    if (!empty && shape->num_elements() > lexer_.remaining()) {
      return lexer_.Fail(
          start, absl::StrCat("the text is too short for this constant, "
                              "expected ",
                              shape->num_elements(), " values"));
    }
    literal = Literal(shape);
    data_ = literal.MutableData();
    next_ = 0;
    type_ = shape->element_type();
    return ReadDimension(*shape, 0);
  }

  // The braces of dimension `i`, or one element behind the last dimension.
  bool ReadDimension(const Shape& shape, int64_t i) {
    if (i == shape.rank()) return ReadElement();
    if (!lexer_.Expect('{')) return false;
    int64_t count = 0;
    while (lexer_.Peek() != '}') {
      if (count == shape.dimension(i)) {
        return lexer_.FailExpected(
            absl::StrCat("'}' behind ", count, " values of dimension ", i));
      }
      if (count > 0 && !lexer_.Expect(',')) return false;
      if (!ReadDimension(shape, i + 1)) return false;
      ++count;
    }
    // XLA writes `{}` for any array whose later dimensions are empty, too.
    if (count != shape.dimension(i) && !(count == 0 && IsEmpty(shape))) {
      return lexer_.FailExpected(absl::StrCat(
          shape.dimension(i), " values of dimension ", i, ", not ", count));
    }
    return lexer_.Expect('}');
  }

  static bool IsEmpty(const Shape& shape) {
    const auto& sizes = shape.dimensions();
    return std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  }

  bool ReadElement() {
    const int64_t i = next_++;
    if (type_ == ElementType::kPred) {
      bool value = false;
      if (!lexer_.Bool(value)) return false;
      StoreBits(data_, i, 1, value ? 1 : 0);
      return true;
    }
    if (IsIntegral(type_)) return ReadInteger(i);
    if (!IsComplex(type_)) return ReadFloat(type_, i);
    const ElementType part = PartType(type_);
    // A real number stands for itself plus 0i.
    if (!lexer_.Take('(')) {
      StoreBits(data_, 2 * i + 1, ByteWidth(part), 0);
      return ReadFloat(part, 2 * i);
    }
    return ReadFloat(part, 2 * i) && lexer_.Expect(',') &&
           ReadFloat(part, 2 * i + 1) && lexer_.Expect(')');
  }

  // The text of one number.
  absl::string_view NumberText() {
    const char* start = lexer_.Position();
    const char* p = start;
    const char* end = start + lexer_.remaining();
    while (p < end && (IsNameCharacter(*p) || *p == '+')) ++p;
    return {start, static_cast<size_t>(p - start)};
  }

  template <typename T>
  bool ParseInteger(int64_t i) {
    T value = 0;
    const absl::string_view text = NumberText();
    const char* stop = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), stop, value);
    const int bits = BitWidth(type_);
    bool fits = error == std::errc();
    if (bits < 64 && fits) {
      constexpr bool kSigned = std::is_signed_v<T>;
      const T limit = static_cast<T>(T{1} << (kSigned ? bits - 1 : bits));
      fits = value < limit && (!kSigned || value >= static_cast<T>(-limit));
    }
    if (error == std::errc::invalid_argument || end != stop) {
      return FailNumber("an integer");
    }
    if (!fits) {
      return lexer_.Fail(
          text.data(),
          absl::StrCat("the value ", text, " is out of range, expected ",
                       ElementTypeName(type_)));
    }
    StoreBits(data_, i, ByteWidth(type_), static_cast<uint64_t>(value));
    lexer_.set_position(stop);
    return true;
  }

  bool FailNumber(absl::string_view expected) {
    return lexer_.FailExpected(
        absl::StrCat(expected, " (", ElementTypeName(type_), ")"));
  }

  bool ReadInteger(int64_t i) {
    if (IsSigned(type_)) return ParseInteger<int64_t>(i);
    return ParseInteger<uint64_t>(i);
  }

  bool ReadFloat(ElementType type, int64_t i) {
    const absl::string_view text = NumberText();
    const bool negative = !text.empty() && text[0] == '-';
    absl::string_view digits = text.substr(negative ? 1 : 0);
    const char* stop = text.data() + text.size();
    if (digits == "nan") return ReadNan(type, i, negative, stop);
    auto format = std::chars_format::general;
    if (digits.size() > 2 && digits[0] == '0' && digits[1] == 'x') {
      digits.remove_prefix(2);
      format = std::chars_format::hex;
    }
    double value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), stop, value, format);
    const bool parsed = !digits.empty() && digits[0] != '-' && end == stop;
    if (!parsed || error == std::errc::invalid_argument) {
      return FailNumber("a number");
    }
    // from_chars reports underflow like overflow and leaves the value alone.
    if (error == std::errc::result_out_of_range) {
      value = std::strtod(std::string(text).c_str(), nullptr);
    }
    const uint64_t bits = FloatBits(type, negative ? -std::fabs(value) : value);
    if (digits != "inf" && !std::isfinite(FloatValue(type, bits))) {
      return lexer_.Fail(
          text.data(),
          absl::StrCat("the value ", text, " is out of range, expected ",
                       ElementTypeName(type)));
    }
    StoreBits(data_, i, ByteWidth(type), bits);
    lexer_.set_position(stop);
    return true;
  }

  // `nan`, or `nan(0x7f)` with the mantissa's bits.
  bool ReadNan(ElementType type, int64_t i, bool negative, const char* stop) {
    lexer_.set_position(stop);
    uint64_t bits =
        FloatBits(type, negative ? -std::numeric_limits<double>::quiet_NaN()
                                 : std::numeric_limits<double>::quiet_NaN());
    const int payload_bits = PayloadBits(type);
    if (lexer_.PeekRaw() == '(') {
      lexer_.Take('(');
      if (!lexer_.Expect("0x")) return false;
      const absl::string_view digits = NumberText();
      uint64_t payload = 0;
      const auto [end, error] = std::from_chars(
          digits.data(), digits.data() + digits.size(), payload, 16);
      // The others have no payload to keep: any will do.
      const bool fits = payload_bits == 0 || payload >> payload_bits == 0;
      if (error != std::errc() || end != digits.data() + digits.size() ||
          payload == 0 || !fits) {
        return FailNumber("a NaN payload that fits");
      }
      lexer_.set_position(end);
      if (!lexer_.Expect(')')) return false;
      if (payload_bits > 0) {
        bits = (bits >> payload_bits << payload_bits) | payload;
      }
    }
    StoreBits(data_, i, ByteWidth(type), bits);
    return true;
  }

  TextLexer& lexer_;
  ShapeReader& shapes_;
  const int max_depth_;
  std::byte* data_ = nullptr;
  int64_t next_ = 0;
  ElementType type_ = ElementType::kInvalid;
};

void AppendFloat(ElementType type, uint64_t bits, std::string& out) {
  const double value = FloatValue(type, bits);
  if (std::isnan(value)) {
    const bool negative =
        type != ElementType::kF8e8m0fnu && (bits >> (BitWidth(type) - 1)) != 0;
    out += negative ? "-nan" : "nan";
    const int payload_bits = PayloadBits(type);
    if (payload_bits == 0) return;
    const uint64_t payload = bits & ((uint64_t{1} << payload_bits) - 1);
    if (payload == uint64_t{1} << (payload_bits - 1)) return;
    absl::StrAppend(&out, "(0x", absl::Hex(payload), ")");
    return;
  }
  if (value == 0) {
    // XLA reads `-0` as the integer.
    out += std::signbit(value) ? "-0.0" : "0";
    return;
  }
  char buffer[40];
  char* const end = buffer + sizeof(buffer);
  std::to_chars_result result{};
  if (type == ElementType::kF64) {
    result = std::to_chars(buffer, end, value);
  } else if (type == ElementType::kF32) {
    result = std::to_chars(buffer, end, static_cast<float>(value));
  } else if (type == ElementType::kF8e8m0fnu && bits == 0) {
    // XLA rounds up if the digits say a little more than 2^-127.
    result = std::to_chars(buffer, end, value);
  } else {
    // Enough digits to tell neighbors apart in any narrower format.
    const int precision = type == ElementType::kF16    ? 5
                          : type == ElementType::kBf16 ? 4
                                                       : 3;
    result = std::to_chars(buffer, end, value, std::chars_format::general,
                           precision);
  }
  const absl::string_view digits(buffer,
                                 static_cast<size_t>(result.ptr - buffer));
  out.append(digits.data(), digits.size());
  // XLA takes what looks like an integer for an int64_t.
  if (std::fabs(value) >= 0x1p63 && std::isfinite(value) &&
      digits.find_first_of(".e") == digits.npos) {
    out += ".0";
  }
}

void AppendElement(const Literal& literal, int64_t i, std::string& out) {
  const ElementType type = literal.shape().element_type();
  if (IsComplex(type)) {
    const ElementType part = PartType(type);
    const int64_t width = ByteWidth(part);
    out += '(';
    AppendFloat(part, LoadBits(literal.data(), 2 * i, width), out);
    out += ", ";
    AppendFloat(part, LoadBits(literal.data(), 2 * i + 1, width), out);
    out += ')';
    return;
  }
  if (IsFloat(type)) {
    return AppendFloat(type, LoadBits(literal.data(), i, ByteWidth(type)), out);
  }
  if (type == ElementType::kPred) {
    // XLA writes arrays of 1 and 0, and scalars as words.
    const bool value = literal.AsInt(i) != 0;
    out += literal.shape().rank() == 0 ? (value ? "true" : "false")
                                       : (value ? "1" : "0");
    return;
  }
  if (type == ElementType::kU64) {
    absl::StrAppend(&out, static_cast<uint64_t>(literal.AsInt(i)));
    return;
  }
  absl::StrAppend(&out, literal.AsInt(i));
}

void AppendDimension(const Literal& literal, int64_t dimension, int64_t& next,
                     std::string& out) {
  const Shape& shape = literal.shape();
  if (dimension == shape.rank()) return AppendElement(literal, next++, out);
  const bool last = dimension + 1 == shape.rank();
  out += last ? "{" : "{ ";
  for (int64_t i = 0; i < shape.dimension(dimension); ++i) {
    if (i > 0) out += ", ";
    AppendDimension(literal, dimension + 1, next, out);
  }
  out += last ? "}" : " }";
}

}  // namespace

bool ReadLiteral(TextLexer& lexer, ShapeReader& shapes, const ShapePtr& shape,
                 int max_depth, Literal& literal) {
  return LiteralReader(lexer, shapes, max_depth).Read(shape, 0, literal);
}

void AppendLiteral(const Literal& literal, std::string& out) {
  const Shape& shape = literal.shape();
  if (literal.is_elided()) {
    out += "{...}";
    return;
  }
  if (shape.IsTuple()) {
    out += '(';
    for (size_t i = 0; i < literal.elements().size(); ++i) {
      if (i > 0) out += ", ";
      AppendLiteral(literal.elements()[i], out);
    }
    out += ')';
    return;
  }
  // Without elements there is nothing to lose, and the braces of the other
  // dimensions may be many.
  if (shape.rank() > 0 && literal.num_elements() == 0) {
    out += "{...}";
    return;
  }
  int64_t next = 0;
  AppendDimension(literal, 0, next, out);
}

}  // namespace hone::hlo
