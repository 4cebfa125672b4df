#include "tests/support/random_graph.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace hone::testing {
namespace {

using hlo::IsFloat;
using hlo::IsIntegral;

// Elements of an array at most; beyond, shapes are chosen again.
constexpr int64_t kMaxElements = 256;
// RandomArguments draws floats of magnitude below 0.35.
constexpr double kArgumentBound = 0.35;

}  // namespace

std::string RandomGraph::NewName(absl::string_view prefix) {
  return absl::StrCat(prefix, state_.next_name++);
}

ElementType RandomGraph::AnyFloat() {
  const uint64_t choice = Below(10);
  if (choice < 7) return ElementType::kF32;
  if (choice == 7) return ElementType::kF64;
  return choice == 8 ? ElementType::kBf16 : ElementType::kF16;
}

ElementType RandomGraph::AnyInteger() {
  static constexpr ElementType kTypes[] = {
      ElementType::kS32, ElementType::kS32, ElementType::kS32,
      ElementType::kU32, ElementType::kS64, ElementType::kU8,
      ElementType::kS8,  ElementType::kU16};
  return kTypes[Below(std::size(kTypes))];
}

DimensionVector RandomGraph::AnyDimensions(int64_t max_rank) {
  DimensionVector dimensions;
  const auto rank =
      static_cast<int64_t>(Below(static_cast<uint64_t>(max_rank) + 1));
  int64_t elements = 1;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t size = Chance(0.15) ? 1 : OneOf(state_.sizes);
    if (Chance(0.004)) size = 0;
    if (elements * size > kMaxElements) size = 1;
    elements *= size;
    dimensions.push_back(size);
  }
  return dimensions;
}

DimensionVector RandomGraph::AnyPermutation(int64_t rank) {
  DimensionVector permutation;
  for (int64_t i = 0; i < rank; ++i) permutation.push_back(i);
  for (size_t i = permutation.size(); i > 1; --i) {
    std::swap(permutation[i - 1], permutation[Below(i)]);
  }
  return permutation;
}

Value RandomGraph::Emit(Shape shape, absl::string_view expression, double bound,
                        bool exact) {
  Value value;
  value.name = NewName("v");
  value.shape = std::move(shape);
  value.bound = bound;
  value.exact = exact;
  lines_.push_back(absl::StrCat("  ", value.name, " = ", value.shape.ToString(),
                                " ", expression,
                                Decoration(value.shape, expression)));
  // Operands count as used: their names are words of the expression.
  for (absl::string_view word :
       absl::StrSplit(expression, absl::ByAnyChar("(), "))) {
    used_.insert(std::string(word));
  }
  expressions_.emplace_back(expression, value);
  instructions_.push_back(value.name);
  if (value.shape.IsArray()) {
    (IsSpecial(value.shape) ? special_ : values_).push_back(value);
  }
  return value;
}

bool RandomGraph::WouldShowRounding(const Value& v, ElementType type) {
  return !v.exact &&
         hlo::BitWidth(v.shape.element_type()) < hlo::BitWidth(type);
}

Value RandomGraph::Parameter(const Shape& shape, double bound) {
  const Value value =
      Emit(shape, absl::StrCat("parameter(", parameters_++, ")"), bound, true);
  expressions_.pop_back();
  return value;
}

Value RandomGraph::ScalarConstant(ElementType type, double value) {
  std::string text = absl::StrFormat("%.17g", value);
  if (type == ElementType::kPred) text = value != 0 ? "true" : "false";
  if (IsIntegral(type)) text = absl::StrCat(static_cast<int64_t>(value));
  if (hlo::IsComplex(type)) text = absl::StrCat("(", value, ", 0.5)");
  return Emit(Shape(type, {}), absl::StrCat("constant(", text, ")"),
              std::abs(value) + 0.5, true);
}

Value RandomGraph::AnyScalarConstant(ElementType type) {
  if (IsFloat(type)) {
    static constexpr double kValues[] = {0, -0.0, 1, -1, 2, 0.5, -0.375};
    return ScalarConstant(type, kValues[Below(std::size(kValues))]);
  }
  return ScalarConstant(type, static_cast<double>(Below(4)));
}

Value RandomGraph::ArrayConstant(const Shape& shape) {
  const ElementType type = shape.element_type();
  const auto number = [&] {
    if (type == ElementType::kPred) return std::string(OneOf({"0", "1"}));
    if (IsIntegral(type)) return absl::StrCat(Below(8));
    return std::string(
        OneOf({"0", "1", "-1", "0.5", "2", "-0.25", "0.375", "1.5"}));
  };
  const std::function<std::string(int64_t)> nested = [&](int64_t dimension) {
    if (dimension == shape.rank()) return number();
    std::vector<std::string> parts;
    for (int64_t i = 0; i < shape.dimension(dimension); ++i) {
      parts.push_back(nested(dimension + 1));
    }
    return absl::StrCat("{", absl::StrJoin(parts, ", "), "}");
  };
  return Emit(shape, absl::StrCat("constant(", nested(0), ")"), 2, true);
}

std::optional<Value> RandomGraph::Pick(
    const std::function<bool(const Value&)>& condition) {
  std::vector<size_t> fit;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (condition(values_[i])) fit.push_back(i);
  }
  if (fit.empty()) return std::nullopt;
  // Recent values make deep graphs, old ones shared ones.
  size_t at = Below(fit.size());
  if (Chance(0.5)) at = std::max(at, Below(fit.size()));
  if (Chance(0.25)) at = fit.size() - 1;
  return values_[fit[at]];
}

Value RandomGraph::PickFloat() {
  const auto is_float = [](const Value& v) {
    return IsFloat(v.shape.element_type());
  };
  if (const auto v = Pick(is_float); v.has_value() && !Chance(0.08)) return *v;
  return Need(Shape(AnyFloat(), AnyDimensions(4)));
}

Value RandomGraph::PickInteger() {
  const auto is_integer = [](const Value& v) {
    return IsIntegral(v.shape.element_type());
  };
  if (const auto v = Pick(is_integer); v.has_value() && !Chance(0.1)) {
    return *v;
  }
  return Need(Shape(AnyInteger(), AnyDimensions(3)));
}

Value RandomGraph::PickPred() {
  const auto is_pred = [](const Value& v) {
    return v.shape.element_type() == ElementType::kPred;
  };
  if (const auto v = Pick(is_pred); v.has_value()) return *v;
  AddCompare();
  if (const auto v = Pick(is_pred); v.has_value()) return *v;
  return ScalarConstant(ElementType::kPred, 1);
}

Value RandomGraph::PickArray() {
  const auto any = [](const Value& v) {
    return v.shape.element_type() != ElementType::kC64;
  };
  if (const auto v = Pick(any); v.has_value() && !Chance(0.05)) return *v;
  return Need(Shape(AnyFloat(), AnyDimensions(4)));
}

// A float array of that rank without empty dimensions.
Value RandomGraph::PickRank(int64_t rank, bool exact) {
  const auto fits = [&](const Value& v) {
    return IsFloat(v.shape.element_type()) && v.shape.rank() == rank &&
           v.shape.num_elements() > 0 && (v.exact || !exact);
  };
  if (const auto v = Pick(fits); v.has_value() && !Chance(0.2)) return *v;
  DimensionVector dimensions;
  int64_t elements = 1;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t size = OneOf(state_.sizes);
    if (elements * size > kMaxElements) size = 1;
    elements *= size;
    dimensions.push_back(size);
  }
  const Shape shape(AnyFloat(), dimensions);
  return exact ? NeedExact(shape) : Need(shape);
}

Value RandomGraph::Broadcast(const Value& v, const Shape& shape,
                             absl::Span<const int64_t> dimensions) {
  return Emit(shape,
              absl::StrCat("broadcast(", v.name, "), dimensions={",
                           absl::StrJoin(dimensions, ","), "}"),
              v.bound, v.exact);
}

Value RandomGraph::Need(const Shape& shape) {
  const ElementType type = shape.element_type();
  const auto same = [&](const Value& v) {
    return Shape::Equal(v.shape, shape);
  };
  if (const auto v = Pick(same); v.has_value() && !Chance(0.1)) return *v;
  const uint64_t choice = Below(10);
  // A value of another type converted.
  if (choice == 0 && type != ElementType::kPred && type != ElementType::kC64) {
    const auto v = Pick([&](const Value& x) {
      return x.shape.IsArray() &&
             Shape::Equal(*WithElementType(x.shape, type), shape) &&
             (x.shape.element_type() == ElementType::kPred ||
              (IsFloat(type) && IsFloat(x.shape.element_type()) &&
               !WouldShowRounding(x, type)));
    });
    if (v.has_value()) {
      return Emit(shape, absl::StrCat("convert(", v->name, ")"), v->bound,
                  !IsFloat(v->shape.element_type()));
    }
  }
  // The elements of another array.
  if (choice == 1) {
    const auto v = Pick([&](const Value& x) {
      return x.shape.element_type() == type &&
             x.shape.num_elements() == shape.num_elements();
    });
    if (v.has_value()) {
      return Emit(shape, absl::StrCat("reshape(", v->name, ")"), v->bound,
                  v->exact);
    }
  }
  // A row, column or scalar that is repeated.
  if (choice <= 4 && shape.rank() > 0) {
    const int64_t kept =
        static_cast<int64_t>(Below(static_cast<uint64_t>(shape.rank()) + 1)) -
        1;
    const auto fits = [&](const Value& v) {
      return v.shape.element_type() == type &&
             (kept < 0 ? v.shape.IsScalar()
                       : v.shape.rank() == 1 &&
                             v.shape.dimension(0) == shape.dimension(kept));
    };
    std::optional<Value> v = Pick(fits);
    if (!v.has_value()) {
      v = AnyScalarConstant(type);
    }
    DimensionVector dimensions;
    if (!v->shape.IsScalar()) dimensions.push_back(kept);
    return Broadcast(*v, shape, dimensions);
  }
  if (choice == 5 && shape.rank() > 0 && type != ElementType::kPred) {
    return Emit(shape,
                absl::StrCat("iota(), iota_dimension=",
                             Below(static_cast<uint64_t>(shape.rank()))),
                6, true);
  }
  if (choice <= 6 && type != ElementType::kC64) return ArrayConstant(shape);
  if (depth_ == 0) return Parameter(shape, kArgumentBound);
  const Value scalar = AnyScalarConstant(type);
  return shape.IsScalar() ? scalar : Broadcast(scalar, shape, {});
}

Value RandomGraph::NeedExact(const Shape& shape) {
  const auto v = Pick(
      [&](const Value& x) { return x.exact && Shape::Equal(x.shape, shape); });
  if (v.has_value()) return *v;
  if (depth_ == 0) return Parameter(shape, kArgumentBound);
  return ArrayConstant(shape);
}

Value RandomGraph::Unary(absl::string_view opcode, const Value& v, double bound,
                         bool exact) {
  // XLA:CPU has opcodes for these and no code.
  static const auto* const kUncommon = new std::set<absl::string_view>(
      {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh"});
  if (state_.options.established_only && kUncommon->contains(opcode)) {
    opcode = "tanh";
  }
  return Emit(v.shape, absl::StrCat(opcode, "(", v.name, ")"), bound, exact);
}

Value RandomGraph::Binary(absl::string_view opcode, const Value& a,
                          const Value& b, double bound, bool exact) {
  return Emit(a.shape, absl::StrCat(opcode, "(", a.name, ", ", b.name, ")"),
              bound, exact);
}

Value RandomGraph::Uniform(const Value& like, double value) {
  const Value scalar = ScalarConstant(like.shape.element_type(), value);
  return like.shape.IsScalar() ? scalar : Broadcast(scalar, like.shape, {});
}

Value RandomGraph::Tame(const Value& v, double bound) {
  if (v.bound <= bound) return v;
  if (bound >= 1 && Chance(0.4)) return Unary("tanh", v, 1);
  const ElementType type = v.shape.element_type();
  if (Chance(0.4)) {
    const Value low = ScalarConstant(type, -bound);
    const Value high = ScalarConstant(type, bound);
    return Emit(
        v.shape,
        absl::StrCat("clamp(", low.name, ", ", v.name, ", ", high.name, ")"),
        bound, false);
  }
  // A power of two: exact, so that it may be moved about.
  const double factor = std::exp2(std::floor(std::log2(bound / v.bound)));
  return Binary("multiply", v, Uniform(v, factor), v.bound * factor);
}

Value RandomGraph::Positive(const Value& v) {
  const Value tame = Tame(v, 4);
  const Value offset = Uniform(v, 0.5);
  switch (Below(3)) {
    case 0:
      return Binary("add", Unary("abs", tame, tame.bound), offset,
                    tame.bound + 0.5);
    case 1:
      return Binary("add",
                    Binary("multiply", tame, tame, tame.bound * tame.bound),
                    offset, tame.bound * tame.bound + 0.5);
    default:
      return Binary("maximum", tame, offset, tame.bound + 0.5);
  }
}

std::string RandomGraph::Region(absl::string_view opcode, ElementType type) {
  const absl::string_view name = hlo::ElementTypeName(type);
  // Sometimes once more, for passes that merge computations.
  std::string region =
      absl::StrCat("region_", opcode, "_", name, Chance(0.3) ? "_again" : "");
  const std::string text = absl::StrCat(
      region, " {\n  a = ", name, "[] parameter(0)\n  b = ", name,
      "[] parameter(1)\n  ROOT r = ", name, "[] ", opcode, "(a, b)\n}\n");
  auto& computations = state_.computations;
  if (std::find(computations.begin(), computations.end(), text) ==
      computations.end()) {
    computations.push_back(text);
  }
  return region;
}

Value RandomGraph::ChooseRoot() {
  // Most of what nothing uses; the rest is dead code.
  std::vector<Value> roots;
  for (const Value& v : values_) {
    if (!used_.contains(v.name) && Chance(0.9)) roots.push_back(v);
  }
  for (const Value& v : special_) {
    if (!used_.contains(v.name) && Chance(0.9)) roots.push_back(v);
  }
  if (roots.empty() || Chance(0.2)) roots.push_back(PickArray());
  if (roots.size() == 1) return roots[0];
  std::vector<hlo::ShapePtr> shapes;
  std::vector<std::string> names;
  for (const Value& v : roots) {
    shapes.push_back(std::make_shared<const Shape>(v.shape));
    names.push_back(v.name);
  }
  return Emit(*Shape::Tuple(shapes),
              absl::StrCat("tuple(", absl::StrJoin(names, ", "), ")"), 1,
              false);
}

std::string RandomGraph::Finish(absl::string_view name,
                                const Value& root) const {
  std::string text = absl::StrCat(name, " {\n");
  const std::string prefix = absl::StrCat("  ", root.name, " = ");
  for (const std::string& line : lines_) {
    if (line.compare(0, prefix.size(), prefix) == 0) {
      absl::StrAppend(&text, "  ROOT ", line.substr(2), "\n");
    } else {
      absl::StrAppend(&text, line, "\n");
    }
  }
  absl::StrAppend(&text, "}\n");
  return text;
}

}  // namespace hone::testing
