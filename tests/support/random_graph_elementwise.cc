#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

#include "tests/support/random_graph.h"

namespace hone::testing {

using hlo::BitWidth;
using hlo::IsFloat;
using hlo::IsIntegral;
using hlo::IsSigned;

void RandomGraph::AddUnary() {
  const Value v = PickFloat();
  switch (Below(5)) {
    case 0:
      Unary(OneOf({"negate", "abs", "copy"}), v, v.bound, v.exact);
      return;
    case 1:
      Unary(OneOf({"sine", "cosine", "tanh", "logistic", "erf"}), Tame(v, 8),
            1);
      return;
    case 2:
      Unary(OneOf({"atan", "asinh"}), v, std::min(v.bound, 8.0));
      return;
    case 3: {
      const Value tame = Tame(v, 2);
      Unary(OneOf({"exponential", "exponential-minus-one", "sinh", "cosh"}),
            tame, std::exp(tame.bound));
      return;
    }
    default:
      Unary("negate", v, v.bound, v.exact);
  }
}

void RandomGraph::AddGuardedUnary() {
  const Value v = PickFloat();
  if (Chance(0.5)) {
    const Value positive = Positive(v);
    Unary(OneOf({"log", "log-plus-one", "sqrt", "rsqrt", "cbrt"}), positive,
          std::max(2.0, positive.bound));
    return;
  }
  if (Chance(0.2)) {
    const Value positive = Positive(v);
    // acosh starts at 1.
    Unary("acosh", Binary("add", positive, Uniform(v, 1), positive.bound + 1),
          4);
    return;
  }
  Unary(OneOf({"asin", "acos", "atanh", "tan"}), Tame(v, 0.5), 3.2);
}

void RandomGraph::AddJumpingUnary() {
  const Value v = NeedExact(PickFloat().shape);
  switch (Below(3)) {
    case 0:
      Unary(OneOf({"sign", "floor", "ceil", "round-nearest-afz",
                   "round-nearest-even"}),
            v, v.bound + 1, true);
      return;
    case 1:
      Emit(Shape(ElementType::kPred, v.shape.dimensions()),
           absl::StrCat("is-finite(", v.name, ")"), 1, true);
      return;
    default:
      Emit(v.shape,
           absl::StrCat("reduce-precision(", v.name,
                        "), exponent_bits=5, mantissa_bits=", 3 + Below(7)),
           v.bound, true);
  }
}

void RandomGraph::AddIntegerUnary() {
  const Value v = PickInteger();
  if (IsSigned(v.shape.element_type()) && Chance(0.6)) {
    Unary(OneOf({"abs", "negate", "sign"}), v, 1, true);
  } else {
    Unary(OneOf({"not", "popcnt", "count-leading-zeros"}), v, 1, true);
  }
}

void RandomGraph::AddBinary() {
  const Value a = PickFloat();
  const Value b = Need(a.shape);
  switch (Below(6)) {
    case 0:
    case 1:
      Binary("add", Tame(a, 8), Tame(b, 8), 16);
      return;
    case 2:
      Binary("subtract", Tame(a, 8), Tame(b, 8), 16);
      return;
    case 3:
    case 4: {
      const Value x = Tame(a, 4);
      const Value y = Tame(b, 4);
      Binary("multiply", x, y, x.bound * y.bound);
      return;
    }
    default:
      Binary(OneOf({"maximum", "minimum"}), a, b, std::max(a.bound, b.bound),
             a.exact && b.exact);
  }
}

void RandomGraph::AddGuardedBinary() {
  const Value a = PickFloat();
  switch (Below(4)) {
    case 0: {
      const Value divisor = Positive(Need(a.shape));
      const Value dividend = Tame(a, 4);
      Binary("divide", dividend, divisor, 4 * dividend.bound);
      return;
    }
    case 1:
      Binary("power", Tame(Positive(a), 4), Tame(Need(a.shape), 2), 16);
      return;
    case 2:
      // The second argument is positive: away from the cut.
      Binary("atan2", Tame(a, 4), Positive(Need(a.shape)), 3.2);
      return;
    default: {
      const Value dividend = NeedExact(a.shape);
      Binary("remainder", dividend, Uniform(a, 0.25), 0.25, true);
    }
  }
}

void RandomGraph::AddIntegerBinary() {
  const Value a = PickInteger();
  const Value b = Need(a.shape);
  const auto with_constant = [&](absl::string_view opcode, const Value& v,
                                 double constant) {
    return Binary(opcode, v, Uniform(v, constant), 1, true);
  };
  switch (Below(5)) {
    case 0:
      Binary(OneOf({"add", "subtract", "multiply", "maximum", "minimum"}), a, b,
             1, true);
      return;
    case 1:
      Binary(OneOf({"and", "or", "xor"}), a, b, 1, true);
      return;
    case 2:
      Binary(OneOf({"shift-left", "shift-right-arithmetic",
                    "shift-right-logical"}),
             a, with_constant("and", b, static_cast<double>(Below(8))), 1,
             true);
      return;
    case 3:
      // An odd divisor is not zero.
      if (Chance(0.5)) {
        Binary(OneOf({"divide", "remainder"}), a, with_constant("or", b, 1), 1,
               true);
      } else {
        with_constant(OneOf({"divide", "remainder"}), a,
                      static_cast<double>(1 + Below(8)));
      }
      return;
    default:
      if (Chance(0.5)) {
        with_constant("power", a, static_cast<double>(Below(4)));
      } else if (!state_.options.established_only) {
        Binary("mulhi", a, b, 1, true);
      }
  }
}

void RandomGraph::AddLogic() {
  const Value a = PickPred();
  if (Chance(0.3)) {
    Unary("not", a, 1, true);
  } else {
    Binary(OneOf({"and", "or", "xor", "maximum", "minimum"}), a, Need(a.shape),
           1, true);
  }
}

void RandomGraph::AddCompare() {
  Value a;
  Value b;
  absl::string_view type;
  if (Chance(0.5)) {
    a = NeedExact(PickFloat().shape);
    b = NeedExact(a.shape);
    if (Chance(0.2)) type = ", type=TOTALORDER";
  } else {
    a = PickInteger();
    b = Chance(0.5) ? Need(a.shape) : a;
  }
  Emit(Shape(ElementType::kPred, a.shape.dimensions()),
       absl::StrCat("compare(", a.name, ", ", b.name, "), direction=",
                    OneOf({"EQ", "NE", "GE", "GT", "LE", "LT"}), type),
       1, true);
}

void RandomGraph::AddSelect() {
  const Value a = PickArray();
  const Value b = Need(a.shape);
  const Value pred =
      Chance(0.3) ? Need(Shape(ElementType::kPred, {}))
                  : Need(Shape(ElementType::kPred, a.shape.dimensions()));
  Emit(a.shape,
       absl::StrCat("select(", pred.name, ", ", a.name, ", ", b.name, ")"),
       std::max(a.bound, b.bound), a.exact && b.exact);
}

void RandomGraph::AddClamp() {
  const Value v = Chance(0.7) ? PickFloat() : PickInteger();
  const ElementType type = v.shape.element_type();
  const Value low = ScalarConstant(type, IsFloat(type) ? -0.25 : 1);
  const Value high = ScalarConstant(type, IsFloat(type) ? 1.5 : 5);
  Emit(v.shape,
       absl::StrCat("clamp(", low.name, ", ", v.name, ", ", high.name, ")"), 2,
       v.exact);
}

void RandomGraph::AddConvert() {
  const Value v = PickArray();
  const ElementType from = v.shape.element_type();
  const auto to = [&](const Value& x, ElementType type, double bound,
                      bool exact) {
    return Emit(Shape(type, x.shape.dimensions()),
                absl::StrCat("convert(", x.name, ")"), bound, exact);
  };
  if (IsFloat(from)) {
    if (Chance(0.25)) {
      to(NeedExact(v.shape), AnyInteger(), 1, true);
    } else if (Chance(0.3) && !WouldShowRounding(v, ElementType::kF64)) {
      // There and back.
      const Value wide = to(v, ElementType::kF64, v.bound, v.exact);
      to(wide, from, v.bound, v.exact);
    } else {
      const ElementType type = AnyFloat();
      if (!WouldShowRounding(v, type)) to(v, type, v.bound, false);
    }
  } else if (IsIntegral(from)) {
    if (Chance(0.5)) {
      to(v, AnyInteger(), 1, true);
      return;
    }
    to(Binary("and", v, Uniform(v, 7), 7, true), AnyFloat(), 8, true);
  } else {
    to(v, Chance(0.5) ? AnyInteger() : AnyFloat(), 1, true);
  }
}

void RandomGraph::AddComplex() {
  const auto is_complex = [](const Value& v) {
    return v.shape.element_type() == ElementType::kC64;
  };
  const std::optional<Value> c = Pick(is_complex);
  if (!c.has_value() || Chance(0.3)) {
    const Value re = Need(Shape(ElementType::kF32, AnyDimensions(3)));
    const Value a = Tame(re, 2);
    const Value b = Tame(Need(re.shape), 2);
    Emit(Shape(ElementType::kC64, re.shape.dimensions()),
         absl::StrCat("complex(", a.name, ", ", b.name, ")"), 4, false);
    return;
  }
  const Shape part(ElementType::kF32, c->shape.dimensions());
  switch (Below(4)) {
    case 0:
      Emit(part, absl::StrCat(OneOf({"real", "imag"}), "(", c->name, ")"),
           c->bound, false);
      return;
    case 1:
      Unary("negate", *c, c->bound);
      return;
    case 2:
      if (c->bound < 64) {
        Binary(OneOf({"add", "subtract"}), *c, *c, 2 * c->bound);
      }
      return;
    default:
      if (c->bound < 8) Binary("multiply", *c, *c, c->bound * c->bound);
  }
}

void RandomGraph::AddBitcastConvert() {
  const Value v = PickInteger();
  ElementType type = ElementType::kU32;
  switch (v.shape.element_type()) {
    case ElementType::kU32:
      type = ElementType::kS32;
      break;
    case ElementType::kS8:
      type = ElementType::kU8;
      break;
    case ElementType::kU8:
      type = ElementType::kS8;
      break;
    case ElementType::kS64:
      type = ElementType::kU64;
      break;
    case ElementType::kU16:
      type = ElementType::kS16;
      break;
    default:
      break;
  }
  if (BitWidth(type) != BitWidth(v.shape.element_type())) return;
  const Value other =
      Emit(Shape(type, v.shape.dimensions()),
           absl::StrCat("bitcast-convert(", v.name, ")"), 1, true);
  if (Chance(0.5)) Unary("bitcast-convert", v, 1, true);
  if (Chance(0.5)) {
    Emit(v.shape, absl::StrCat("bitcast-convert(", other.name, ")"), 1, true);
  }
}

void RandomGraph::AddNeutral() {
  const Value v = Chance(0.8) ? PickFloat() : PickInteger();
  const ElementType type = v.shape.element_type();
  const auto uniform = [&](double value) { return Uniform(v, value); };
  switch (Below(9)) {
    case 0:
      Binary(OneOf({"add", "subtract"}), v, uniform(0), v.bound, v.exact);
      return;
    case 1:
      Binary("multiply", v, uniform(1), v.bound, v.exact);
      return;
    case 2:
      Binary("multiply", v, uniform(0), v.bound, v.exact);
      return;
    case 3:
      Binary("divide", v, uniform(1), v.bound, v.exact);
      return;
    case 4:
      if (IsFloat(type) || IsSigned(type)) {
        Unary("negate", Unary("negate", v, v.bound, v.exact), v.bound, v.exact);
      }
      return;
    case 5:
      Binary(OneOf({"maximum", "minimum"}), v, v, v.bound, v.exact);
      return;
    case 6: {
      const Value pred =
          ScalarConstant(ElementType::kPred, static_cast<double>(Below(2)));
      const Value other = Need(v.shape);
      Emit(v.shape,
           absl::StrCat("select(", pred.name, ", ", v.name, ", ", other.name,
                        ")"),
           std::max(v.bound, other.bound), v.exact && other.exact);
      return;
    }
    case 7: {
      const Value tame = IsFloat(type) ? Tame(v, 4) : v;
      Binary("subtract", tame, tame, 1, tame.exact);
      Unary("negate", Binary("subtract", uniform(0), tame, 4, tame.exact), 4,
            tame.exact);
      return;
    }
    default: {
      // Two constants in a row.
      const double first = IsFloat(type) ? 0.5 : 3;
      const Value tame = IsFloat(type) ? Tame(v, 4) : v;
      const absl::string_view opcode = OneOf({"add", "multiply"});
      const bool exact = !IsFloat(type);
      Binary(opcode,
             Binary(opcode, tame, uniform(first), tame.bound + 1, exact),
             uniform(2), 2 * tame.bound + 4, exact);
    }
  }
}

void RandomGraph::AddDuplicate() {
  if (expressions_.empty()) return;
  const auto [expression, value] = expressions_[Below(expressions_.size())];
  if (!value.shape.IsArray()) return;
  Emit(value.shape, expression, value.bound, value.exact);
}

}  // namespace hone::testing
