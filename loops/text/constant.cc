#include "loops/text/constant.h"

#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "hlo/text/literal.h"
#include "hlo/text/shape.h"

namespace hone::loops {
namespace {

using hlo::ElementType;

// Complex constants are real here, as in Expression.
ElementType TypeInText(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  if (type == ElementType::kC128) return ElementType::kF64;
  return type;
}

bool IsDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c));
}

// Returns the length of the number at the start of `text`: a sign, digits, a
// fraction and an exponent, or a word (`nan`, `inf`, `true`) with an optional
// suffix in parentheses.
size_t NumberLength(absl::string_view text) {
  const auto at = [text](size_t i) { return i < text.size() ? text[i] : '\0'; };
  size_t n = at(0) == '-' ? 1 : 0;
  if (!IsDigit(at(n))) {
    while (absl::ascii_isalpha(static_cast<unsigned char>(at(n)))) ++n;
    if (at(n) == '(') {
      while (at(n) != ')' && at(n) != '\n' && at(n) != '\0') ++n;
      if (at(n) == ')') ++n;
    }
    return n;
  }
  const bool hex = at(n) == '0' && at(n + 1) == 'x';
  if (hex) n += 2;
  const auto is_digit = [hex](char c) {
    return IsDigit(c) ||
           (hex && absl::ascii_isxdigit(static_cast<unsigned char>(c)));
  };
  while (is_digit(at(n)) || at(n) == '.') ++n;
  const bool exponent = hex ? at(n) == 'p' : at(n) == 'e' || at(n) == 'E';
  if (!exponent) return n;
  ++n;
  if (at(n) == '-' || at(n) == '+') ++n;
  while (IsDigit(at(n))) ++n;
  return n;
}

bool ReadNumber(LineLexer& lexer, ElementType type, ExpressionPtr& constant) {
  const char* start = lexer.Position();
  const absl::string_view number =
      lexer.Rest().substr(0, NumberLength(lexer.Rest()));
  hlo::TextError error;
  hlo::TextLexer number_lexer(number, &error);
  hlo::ShapeReader shapes(1);
  hlo::Literal literal;
  if (!hlo::ReadLiteral(number_lexer, shapes,
                        hlo::Shape::Scalar(TypeInText(type)), 1, literal) ||
      !number_lexer.AtEnd()) {
    return error.position != nullptr && !number.empty()
               ? lexer.Fail(start, error.message)
               : lexer.FailExpected(absl::StrCat("a number of type ",
                                                 hlo::ElementTypeName(type)));
  }
  constant = hlo::IsFloat(literal.shape().element_type())
                 ? Expression::Constant(type, literal.AsDouble(0))
                 : Expression::ConstantInt(type, literal.AsInt(0));
  lexer.set_position(start + number.size());
  return true;
}

}  // namespace

void AppendConstant(const Expression& constant, std::string& out) {
  const ElementType type = constant.type();
  const ElementType in_text = TypeInText(type);
  const hlo::Literal literal =
      hlo::IsFloat(in_text)
          ? hlo::Literal::Scalar(in_text, constant.number())
          : hlo::Literal::ScalarInt(in_text, constant.integer());
  std::string number;
  hlo::AppendLiteral(literal, number);
  if (type == ElementType::kPred) {
    out += number;
  } else if (type == ElementType::kF32) {
    // A decimal point distinguishes it from an index for readers.
    const bool plain = number.find_first_of(".einx") == std::string::npos;
    absl::StrAppend(&out, number, plain ? ".0" : "");
  } else {
    absl::StrAppend(&out, hlo::ElementTypeName(type), "(", number, ")");
  }
}

bool IsConstantNext(LineLexer& lexer) {
  const char* start = lexer.Position();
  const bool negative = lexer.Take("-");
  bool next = lexer.IsNumberNext();
  if (!next) {
    const absl::string_view word = lexer.Word();
    // Buffers may have such names.
    next = (word == "nan" || word == "inf" ||
            (!negative && (word == "true" || word == "false"))) &&
           !lexer.IsNext('[') && !lexer.IsNext('@');
  }
  lexer.set_position(start);
  return next;
}

bool ReadConstant(LineLexer& lexer, ExpressionPtr& constant) {
  const char* start = lexer.Position();
  const absl::string_view word = lexer.Word();
  lexer.set_position(start);
  const bool pred = word == "true" || word == "false";
  return ReadNumber(lexer, pred ? ElementType::kPred : ElementType::kF32,
                    constant);
}

bool ReadConstantOfType(LineLexer& lexer, ElementType type,
                        ExpressionPtr& constant) {
  return lexer.Expect("(") && ReadNumber(lexer, type, constant) &&
         lexer.Expect(")");
}

bool ReadValues(LineLexer& lexer, const hlo::ShapePtr& shape,
                hlo::TextError* error, hlo::LiteralPtr& literal) {
  lexer.Position();
  const absl::string_view rest = lexer.Rest();
  hlo::TextLexer values(rest, error);
  hlo::ShapeReader shapes(1);
  auto read = std::make_shared<hlo::Literal>();
  if (!hlo::ReadLiteral(values, shapes, shape, 1, *read)) return false;
  lexer.set_position(values.token_end());
  literal = std::move(read);
  return true;
}

}  // namespace hone::loops
