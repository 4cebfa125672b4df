#include "loops/text/expression.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "loops/analysis/verifier_internal.h"
#include "loops/ir/operation_types.h"
#include "loops/text/constant.h"

namespace hone::loops {
namespace {

using hlo::ComparisonDirection;
using hlo::ElementType;
using hlo::Opcode;

constexpr int kMaxDepth = 1000;

struct ComparisonName {
  ComparisonDirection direction;
  absl::string_view symbol;
  absl::string_view total;
};
// Symbols in the order in which to try them.
constexpr ComparisonName kComparisons[] = {
    {ComparisonDirection::kEq, "==", "total_eq"},
    {ComparisonDirection::kNe, "!=", "total_ne"},
    {ComparisonDirection::kGe, ">=", "total_ge"},
    {ComparisonDirection::kLe, "<=", "total_le"},
    {ComparisonDirection::kGt, ">", "total_gt"},
    {ComparisonDirection::kLt, "<", "total_lt"},
};

std::string TypesText(const std::vector<ExpressionPtr>& operands) {
  std::string text;
  for (const ExpressionPtr& operand : operands) {
    absl::StrAppend(&text, text.empty() ? "" : ", ",
                    hlo::ElementTypeName(operand->type()));
  }
  return text;
}

}  // namespace

absl::string_view ComparisonText(ComparisonDirection direction,
                                 bool total_order) {
  const auto* name = std::find_if(
      std::begin(kComparisons), std::end(kComparisons),
      [&](const ComparisonName& c) { return c.direction == direction; });
  return total_order ? name->total : name->symbol;
}

bool ExpressionReader::EnterBracket() {
  if (++depth_ <= kMaxDepth) return true;
  return lexer_.Fail(lexer_.Position(),
                     absl::StrCat("brackets are nested too deeply, expected at "
                                  "most ",
                                  kMaxDepth, " levels"));
}

bool ExpressionReader::IsInRange(const char* at, const Affine& affine) {
  bool good = std::abs(affine.constant()) <= kMaxIndexNumber;
  for (const Affine::Term& term : affine.terms()) {
    good &= std::abs(term.coefficient) <= kMaxIndexNumber;
  }
  return good ||
         lexer_.Fail(at, "the number is too large, expected at most 2^56");
}

bool ExpressionReader::ReadAffineFactor(Affine& factor) {
  factor *= 0;
  if (lexer_.IsNumberNext()) {
    int64_t number = 0;
    if (!lexer_.Integer(number)) return false;
    factor += number;
    return true;
  }
  if (lexer_.Take("(")) {
    if (!EnterBracket() || !ReadSum(factor, nullptr)) return false;
    --depth_;
    return lexer_.Expect(")");
  }
  const char* start = lexer_.Position();
  absl::string_view name;
  if (!lexer_.Name(name, "an affine expression")) return false;
  for (const Names::Variable& variable : names_.variables) {
    if (variable.name != name) continue;
    factor += Affine::Var(variable.var);
    return true;
  }
  return lexer_.Fail(start, absl::StrCat("found '", name,
                                         "', expected a variable of a loop "
                                         "around this line"));
}

bool ExpressionReader::ReadProduct(Affine& product) {
  const char* start = lexer_.Position();
  if (!ReadAffineFactor(product)) return false;
  while (lexer_.Take("*")) {
    Affine factor;
    if (!ReadAffineFactor(factor)) return false;
    if (!product.IsConstant() && !factor.IsConstant()) {
      return lexer_.Fail(start,
                         "a product of variables, expected a number as one of "
                         "the factors");
    }
    if (product.IsConstant()) std::swap(product, factor);
    // Both are below 2^56, so the product may overflow 64 bits.
    int64_t unused = 0;
    bool overflows =
        __builtin_mul_overflow(product.constant(), factor.constant(), &unused);
    for (const Affine::Term& term : product.terms()) {
      overflows |=
          __builtin_mul_overflow(term.coefficient, factor.constant(), &unused);
    }
    if (overflows) {
      return lexer_.Fail(start,
                         "the number is too large, expected at most 2^56");
    }
    product *= factor.constant();
    if (!IsInRange(start, product)) return false;
  }
  return true;
}

bool ExpressionReader::ReadSum(Affine& sum, ExpressionPtr* offset) {
  const char* start = lexer_.Position();
  sum *= 0;
  bool negative = lexer_.Take("-");
  do {
    if (offset != nullptr && *offset == nullptr && !negative &&
        lexer_.Take("{")) {
      if (!EnterBracket() || !ReadExpression(*offset)) return false;
      --depth_;
      if (!lexer_.Expect("}")) return false;
    } else {
      Affine product;
      if (!ReadProduct(product)) return false;
      if (negative) product *= -1;
      sum += product;
      if (!IsInRange(start, sum)) return false;
    }
    negative = lexer_.Take("-");
  } while (negative || lexer_.Take("+"));
  return true;
}

bool ExpressionReader::ReadAccess(Access& access) {
  const char* start = lexer_.Position();
  absl::string_view name;
  if (!lexer_.Name(name, "the name of a buffer")) return false;
  const auto buffer = names_.buffers.find(name);
  if (buffer == names_.buffers.end()) {
    return lexer_.Fail(start, absl::StrCat("found '", name,
                                           "', expected the name of a buffer"));
  }
  access.buffer = buffer->second;
  const size_t rank = program_.buffer(access.buffer).dimensions.size();
  const bool flat = lexer_.Take("@");
  if (flat && rank == 1) {
    return lexer_.Fail(start, absl::StrCat("flat access to ", name,
                                           " of rank 1, expected '['"));
  }
  if (!lexer_.Expect("[")) return false;
  if (!EnterBracket()) return false;
  if (!lexer_.Take("]")) {
    do {
      Index index;
      if (!ReadSum(index.affine, &index.offset)) return false;
      access.indices.push_back(std::move(index));
    } while (lexer_.Take(","));
    if (!lexer_.Expect("]")) return false;
  }
  --depth_;
  if (access.indices.size() == (flat ? 1 : rank)) return true;
  return lexer_.Fail(start, absl::StrCat(access.indices.size(), " indices for ",
                                         name, ", expected ", flat ? 1 : rank));
}

bool ExpressionReader::ReadExpression(ExpressionPtr& e) {
  if (!EnterBracket() || !ReadAdditive(e)) return false;
  --depth_;
  const char* at = lexer_.Position();
  for (const ComparisonName& comparison : kComparisons) {
    if (!lexer_.Take(comparison.symbol)) continue;
    ExpressionPtr right;
    return ReadAdditive(right) &&
           MakeCompare(at, comparison.direction, false, {e, right}, e);
  }
  return true;
}

bool ExpressionReader::ReadAdditive(ExpressionPtr& e) {
  if (!ReadMultiplicative(e)) return false;
  while (true) {
    const char* at = lexer_.Position();
    const bool adds = lexer_.Take("+");
    if (!adds && !lexer_.Take("-")) return true;
    ExpressionPtr right;
    if (!ReadMultiplicative(right) ||
        !MakeApply(at, adds ? Opcode::kAdd : Opcode::kSubtract, {e, right},
                   e)) {
      return false;
    }
  }
}

bool ExpressionReader::ReadMultiplicative(ExpressionPtr& e) {
  if (!ReadPrimary(e)) return false;
  while (true) {
    const char* at = lexer_.Position();
    const bool multiplies = lexer_.Take("*");
    if (!multiplies && !lexer_.Take("/")) return true;
    ExpressionPtr right;
    if (!ReadPrimary(right) ||
        !MakeApply(at, multiplies ? Opcode::kMultiply : Opcode::kDivide,
                   {e, right}, e)) {
      return false;
    }
  }
}

bool ExpressionReader::ReadPrimary(ExpressionPtr& e) {
  if (lexer_.Take("(")) return ReadExpression(e) && lexer_.Expect(")");
  if (IsConstantNext(lexer_)) return ReadConstant(lexer_, e);
  const char* start = lexer_.Position();
  absl::string_view name;
  if (!lexer_.Name(name, "an expression")) return false;
  if (lexer_.IsNext('(')) return ReadCall(start, name, e);
  lexer_.set_position(start);
  Access access;
  if (!ReadAccess(access)) return false;
  const ElementType type = program_.buffer(access.buffer).type;
  e = Expression::Load(type, std::move(access));
  return true;
}

bool ExpressionReader::ReadCall(const char* start, absl::string_view name,
                                ExpressionPtr& e) {
  const std::optional<ElementType> type = hlo::ParseElementType(name);
  if (type && hlo::KindOf(*type) != hlo::ElementKind::kNone) {
    return ReadConstantOfType(lexer_, *type, e);
  }
  if (!lexer_.Expect("(")) return false;
  if (name == "where") return ReadWhere(e);
  if (name == "index") {
    ElementType index_type = ElementType::kInvalid;
    Affine value;
    if (!ReadType(index_type) || !lexer_.Expect(",") || !ReadAffine(value)) {
      return false;
    }
    e = Expression::OfIndex(index_type, std::move(value));
    return lexer_.Expect(")");
  }
  std::vector<ExpressionPtr> operands;
  for (const ComparisonName& comparison : kComparisons) {
    if (name != comparison.total) continue;
    return ReadOperands(2, operands) && lexer_.Expect(")") &&
           MakeCompare(start, comparison.direction, true, std::move(operands),
                       e);
  }
  const std::optional<Opcode> opcode =
      hlo::ParseOpcode(absl::StrReplaceAll(name, {{"_", "-"}}));
  if (!opcode || !hlo::IsElementwise(*opcode) || *opcode == Opcode::kCompare) {
    return lexer_.Fail(start,
                       absl::StrCat("found '", name,
                                    "', expected where, index, a type or an "
                                    "elementwise opcode"));
  }
  if (*opcode == Opcode::kConvert || *opcode == Opcode::kBitcastConvert) {
    ElementType to = ElementType::kInvalid;
    if (!ReadType(to) || !lexer_.Expect(",") || !ReadOperands(1, operands)) {
      return false;
    }
    e = Expression::Apply(*opcode, to, std::move(operands));
    return lexer_.Expect(")");
  }
  return ReadOperands(hlo::OpcodeArity(*opcode), operands) &&
         lexer_.Expect(")") &&
         MakeApply(start, *opcode, std::move(operands), e);
}

bool ExpressionReader::ReadWhere(ExpressionPtr& e) {
  std::vector<Range> ranges;
  if (!lexer_.TakeWord("true")) {
    do {
      ranges.emplace_back();
      if (!ReadRange(ranges.back())) return false;
    } while (lexer_.TakeWord("and"));
  }
  const char* at = lexer_.Position();
  std::vector<ExpressionPtr> operands;
  if (!lexer_.Expect(",") || !ReadOperands(2, operands) ||
      !lexer_.Expect(")")) {
    return false;
  }
  if (operands[0]->type() != operands[1]->type()) {
    return lexer_.Fail(at, absl::StrCat("where of ", TypesText(operands),
                                        ", expected one type"));
  }
  e = Expression::Where(std::move(ranges), operands[0], operands[1]);
  return true;
}

bool ExpressionReader::ReadRange(Range& range) {
  return lexer_.SignedInteger(range.lo) && lexer_.Expect("<=") &&
         ReadAffine(range.value) && lexer_.Expect("<") &&
         lexer_.SignedInteger(range.hi);
}

bool ExpressionReader::ReadType(ElementType& type) {
  const char* start = lexer_.Position();
  const std::optional<ElementType> found = hlo::ParseElementType(lexer_.Word());
  if (!found || hlo::KindOf(*found) == hlo::ElementKind::kNone) {
    lexer_.set_position(start);
    return lexer_.FailExpected("an element type");
  }
  type = *found;
  return true;
}

bool ExpressionReader::ReadOperands(int count,
                                    std::vector<ExpressionPtr>& operands) {
  for (int i = 0; i < count; ++i) {
    if (i > 0 && !lexer_.Expect(",")) return false;
    operands.emplace_back();
    if (!ReadExpression(operands.back())) return false;
  }
  return true;
}

bool ExpressionReader::MakeApply(const char* at, Opcode opcode,
                                 std::vector<ExpressionPtr> operands,
                                 ExpressionPtr& e) {
  std::vector<ElementType> types;
  for (const ExpressionPtr& operand : operands) {
    types.push_back(operand->type());
  }
  const ElementType type = ResultType(opcode, types);
  if (type == ElementType::kInvalid) {
    return lexer_.Fail(
        at, absl::StrCat(hlo::OpcodeName(opcode), " of ", TypesText(operands),
                         ", expected types that it is defined on"));
  }
  e = Expression::Apply(opcode, type, std::move(operands));
  return true;
}

bool ExpressionReader::MakeCompare(const char* at,
                                   ComparisonDirection direction,
                                   bool total_order,
                                   std::vector<ExpressionPtr> operands,
                                   ExpressionPtr& e) {
  ExpressionPtr compare =
      Expression::Compare(direction, total_order, operands[0], operands[1]);
  if (!IsWellTyped(*compare)) {
    return lexer_.Fail(at,
                       absl::StrCat("compare of ", TypesText(operands),
                                    ", expected two of one type with order"));
  }
  e = std::move(compare);
  return true;
}

}  // namespace hone::loops
