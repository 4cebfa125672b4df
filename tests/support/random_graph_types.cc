// Complex numbers, f8, sub-byte integers and large integers.

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "tests/support/random_graph.h"

namespace hone::testing {

using hlo::IsComplex;
using hlo::IsFloat;
using hlo::IsSigned;

namespace {

Shape WithType(const Value& v, ElementType type) {
  return Shape(type, v.shape.dimensions());
}

std::string Converted(const Value& v) {
  return absl::StrCat("convert(", v.name, ")");
}

}  // namespace

bool RandomGraph::IsSpecial(const Shape& shape) {
  const ElementType type = shape.element_type();
  const bool is_number = IsFloat(type) || hlo::IsIntegral(type);
  return shape.is_dynamic() || type == ElementType::kC128 ||
         (is_number && hlo::BitWidth(type) < 8) ||
         (IsFloat(type) && hlo::BitWidth(type) < 16);
}

std::optional<Value> RandomGraph::PickSpecial(
    const std::function<bool(const Value&)>& condition) {
  std::vector<const Value*> fit;
  for (const Value& v : special_) {
    if (condition(v)) fit.push_back(&v);
  }
  if (fit.empty()) return std::nullopt;
  return *fit[std::max(Below(fit.size()), Below(fit.size()))];
}

Value RandomGraph::Repeated(const Value& like, ElementType type,
                            absl::string_view text) {
  const Value scalar =
      Emit(Shape(type, {}), absl::StrCat("constant(", text, ")"), 1, true);
  return like.shape.IsScalar() ? scalar
                               : Broadcast(scalar, WithType(like, type), {});
}

Value RandomGraph::Moved(const Value& v) {
  const int64_t rank = v.shape.rank();
  const ElementType type = v.shape.element_type();
  const auto emit = [&](const Shape& shape, const std::string& expression) {
    return Emit(shape, expression, v.bound, v.exact);
  };
  switch (Below(9)) {
    case 0:
      return emit(Shape(type, {v.shape.num_elements()}),
                  absl::StrCat("reshape(", v.name, ")"));
    case 1: {
      const DimensionVector permutation = AnyPermutation(rank);
      DimensionVector sizes;
      for (int64_t d : permutation) sizes.push_back(v.shape.dimension(d));
      return emit(Shape(type, sizes),
                  absl::StrCat("transpose(", v.name, "), dimensions={",
                               absl::StrJoin(permutation, ","), "}"));
    }
    case 2: {
      if (rank == 0 || v.shape.num_elements() > 64) return v;
      DimensionVector sizes = v.shape.dimensions();
      sizes[0] *= 2;
      return emit(Shape(type, sizes),
                  absl::StrCat("concatenate(", v.name, ", ", v.name,
                               "), dimensions={0}"));
    }
    case 3: {
      if (rank == 0 || v.shape.dimension(0) == 0) return v;
      std::vector<std::string> parts = {absl::StrCat("[0:1]")};
      DimensionVector sizes = v.shape.dimensions();
      sizes[0] = 1;
      for (int64_t i = 1; i < rank; ++i) {
        parts.push_back(absl::StrCat("[0:", v.shape.dimension(i), "]"));
      }
      return emit(Shape(type, sizes),
                  absl::StrCat("slice(", v.name, "), slice={",
                               absl::StrJoin(parts, ", "), "}"));
    }
    case 4: {
      if (rank == 0) return v;
      return emit(v.shape,
                  absl::StrCat("reverse(", v.name, "), dimensions={0}"));
    }
    case 5: {
      if (v.shape.num_elements() > 64) return v;
      DimensionVector sizes = v.shape.dimensions();
      DimensionVector mapping;
      sizes.insert(sizes.begin(), 2);
      for (int64_t i = 0; i < rank; ++i) mapping.push_back(i + 1);
      return Broadcast(v, Shape(type, sizes), mapping);
    }
    case 6:
      return emit(v.shape, absl::StrCat("copy(", v.name, ")"));
    case 7: {
      const Value tuple = MakeTuple({v, v});
      return Element(tuple, 1, v.bound, v.exact);
    }
    default: {
      const Value pred = Need(Shape(ElementType::kPred, v.shape.dimensions()));
      return emit(v.shape, absl::StrCat("select(", pred.name, ", ", v.name,
                                        ", ", v.name, ")"));
    }
  }
}

Value RandomGraph::SpecialArray(ElementType type, double bound, bool exact) {
  const auto fits = [&](const Value& v) {
    return v.shape.element_type() == type && !v.shape.is_dynamic() &&
           v.shape.num_elements() > 0 && v.bound <= bound &&
           (v.exact || !exact);
  };
  const std::optional<Value> old = Chance(0.5) ? PickSpecial(fits) : Pick(fits);
  if (old.has_value() && !Chance(0.2)) return *old;
  DimensionVector dimensions;
  for (uint64_t k = Below(3); k > 0; --k) {
    dimensions.push_back(OneOf(state_.sizes));
  }
  const Shape shape(type, dimensions);
  if (depth_ == 0) return Parameter(shape, 0.35);
  const Value like =
      Emit(Shape(ElementType::kPred, {}), "constant(true)", 1, true);
  const Value scalar =
      Repeated(like, type, IsComplex(type) ? "(0.5, -1)" : "1");
  return shape.IsScalar() ? scalar : Broadcast(scalar, shape, {});
}

Value RandomGraph::ComplexArray(ElementType type) {
  const ElementType part =
      type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
  if (Chance(0.6)) return SpecialArray(type, 2, false);
  const Value re = Tame(Need(Shape(part, AnyDimensions(3))), 1);
  const Value im = Tame(Need(re.shape), 1);
  return Emit(WithType(re, type),
              absl::StrCat("complex(", re.name, ", ", im.name, ")"), 2, false);
}

void RandomGraph::AddComplexNumbers() {
  const ElementType type = Chance(0.7) ? ElementType::kC64 : ElementType::kC128;
  const ElementType part =
      type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
  const Value z = ComplexArray(type);
  switch (Below(9)) {
    case 0:
      Moved(z);
      return;
    case 1:
      Emit(WithType(z, part),
           absl::StrCat(OneOf({"abs", "real", "imag"}), "(", z.name, ")"),
           1.5 * z.bound, false);
      return;
    case 2: {
      // |-z|, |conj z| and the parts of a number just made.
      Value w = Unary("negate", z, z.bound);
      if (Chance(0.5)) {
        const Value re =
            Emit(WithType(z, part), absl::StrCat("real(", z.name, ")"), z.bound,
                 z.exact);
        const Value im =
            Emit(WithType(z, part), absl::StrCat("imag(", z.name, ")"), z.bound,
                 z.exact);
        const Value minus = Unary("negate", im, z.bound, z.exact);
        w = Emit(
            z.shape,
            absl::StrCat("complex(", re.name, ", ",
                         OneOf({absl::string_view(minus.name), im.name}), ")"),
            z.bound, z.exact);
      }
      Emit(WithType(z, part),
           absl::StrCat(OneOf({"abs", "real", "imag"}), "(", w.name, ")"),
           1.5 * z.bound, false);
      return;
    }
    case 3: {
      const Value w = SpecialArray(type, 2, true);
      const Value u = Chance(0.5) ? w : Repeated(w, type, "(0.5, -1)");
      const Value same =
          Emit(WithType(w, ElementType::kPred),
               absl::StrCat("compare(", w.name, ", ", u.name,
                            "), direction=", OneOf({"EQ", "NE"})),
               1, true);
      Emit(w.shape,
           absl::StrCat("select(", same.name, ", ", w.name, ", ", u.name, ")"),
           2, true);
      return;
    }
    case 4: {
      if (z.shape.rank() == 0 || z.shape.num_elements() == 0) return;
      const Value zero = Emit(Shape(type, {}), "constant((0, 0))", 1, true);
      DimensionVector rest(z.shape.dimensions().begin() + 1,
                           z.shape.dimensions().end());
      const auto terms = static_cast<double>(z.shape.dimension(0));
      if (Chance(0.5)) {
        Emit(Shape(type, rest),
             absl::StrCat("reduce(", z.name, ", ", zero.name,
                          "), dimensions={0}, to_apply=", Region("add", type)),
             terms * z.bound, false);
      } else if (z.shape.rank() == 1) {
        Emit(Shape(type, {}),
             absl::StrCat("dot(", z.name, ", ", z.name,
                          "), lhs_contracting_dims={0}, "
                          "rhs_contracting_dims={0}"),
             terms * z.bound * z.bound, false);
      }
      return;
    }
    default:
      AddComplexArithmetic(z);
  }
}

void RandomGraph::AddComplexArithmetic(const Value& z) {
  const ElementType type = z.shape.element_type();
  // Away from poles and cuts.
  const auto shifted = [&] {
    return Binary("add", z, Repeated(z, type, "(4, 0.5)"), z.bound + 4.5);
  };
  switch (Below(7)) {
    case 0:
      Unary(OneOf({"exponential", "sine", "cosine", "exponential-minus-one"}),
            z, 2 * std::exp(z.bound));
      return;
    case 1:
      Unary(OneOf({"log", "sqrt", "rsqrt", "log-plus-one"}), shifted(), 3);
      return;
    case 2:
      Binary("divide", z, shifted(), z.bound);
      return;
    case 3:
      Binary("power", shifted(), Repeated(z, type, "(2, 0)"), 64);
      return;
    case 4:
      // Neutral operands.
      Binary(OneOf({"multiply", "divide"}), z, Repeated(z, type, "(1, 0)"),
             z.bound, z.exact);
      return;
    case 5:
      Binary(OneOf({"add", "subtract"}), z, Repeated(z, type, "(0, 0)"),
             z.bound, z.exact);
      return;
    default:
      Binary(OneOf({"add", "subtract", "multiply"}), z,
             Chance(0.5) ? z : Repeated(z, type, "(-0.5, 0.25)"),
             std::max(4.0, z.bound * z.bound));
  }
}

// One operation rounds; what follows it only moves: a tolerance would have to
// be that of the type.
void RandomGraph::AddNarrowFloats() {
  static constexpr ElementType kTypes[] = {
      ElementType::kF8e5m2,     ElementType::kF8e4m3fn,
      ElementType::kF8e4m3,     ElementType::kF8e4m3b11fnuz,
      ElementType::kF8e5m2fnuz, ElementType::kF8e4m3fnuz,
      ElementType::kF8e3m4};
  const ElementType type = kTypes[Below(std::size(kTypes))];
  Value v = SpecialArray(type, 2, true);
  if (Chance(0.4)) {
    const Value wide = NeedExact(PickFloat().shape);
    if (wide.bound > 2 || wide.shape.num_elements() == 0) return;
    v = Emit(WithType(wide, type), Converted(wide), wide.bound, true);
  }
  switch (Below(8)) {
    case 0:
    case 1:
      Moved(v);
      return;
    case 2:
      Unary(OneOf({"negate", "abs"}), v, v.bound, true);
      return;
    case 3:
      Binary(OneOf({"maximum", "minimum"}), v, Repeated(v, type, "0.5"),
             v.bound, true);
      return;
    case 4:
      // Beyond the bound of SpecialArray, so that nothing is computed of it.
      Binary(OneOf({"add", "multiply", "subtract"}), v,
             Chance(0.5) ? v : Repeated(v, type, "0.75"), 4, false);
      return;
    case 5:
      Emit(WithType(v, ElementType::kPred),
           absl::StrCat("compare(", v.name, ", ", Repeated(v, type, "0").name,
                        "), direction=", OneOf({"LT", "GE", "EQ"})),
           1, true);
      return;
    case 6: {
      if (v.shape.rank() == 0) return;
      const Value low = Emit(Shape(type, {}), "constant(-2)", 2, true);
      Emit(
          Shape(type, absl::MakeConstSpan(v.shape.dimensions()).subspan(1)),
          absl::StrCat("reduce(", v.name, ", ", low.name,
                       "), dimensions={0}, to_apply=", Region("maximum", type)),
          2, true);
      return;
    }
    default:
      Emit(WithType(v, Chance(0.5) ? ElementType::kF32 : ElementType::kBf16),
           Converted(v), v.bound, true);
  }
}

void RandomGraph::AddSubByteIntegers() {
  static constexpr ElementType kTypes[] = {ElementType::kS4, ElementType::kU4,
                                           ElementType::kS4, ElementType::kU4,
                                           ElementType::kS2, ElementType::kU2};
  const ElementType type = kTypes[Below(std::size(kTypes))];
  Value v = SpecialArray(type, 100, true);
  if (Chance(0.4)) {
    const Value wide = Chance(0.7) ? PickInteger() : PickPred();
    if (wide.shape.num_elements() == 0) return;
    v = Emit(WithType(wide, type), Converted(wide), 1, true);
  }
  switch (Below(9)) {
    case 0:
    case 1:
      Moved(v);
      return;
    case 2:
      Binary(OneOf({"add", "multiply", "subtract"}), v,
             Chance(0.5) ? v : Repeated(v, type, "1"), 1, true);
      return;
    case 3:
      Binary(OneOf({"and", "or", "xor", "maximum", "minimum"}), v,
             Repeated(v, type, OneOf({"0", "1"})), 1, true);
      return;
    case 4:
      if (IsSigned(type) && Chance(0.5)) {
        Unary(OneOf({"negate", "abs", "sign"}), v, 1, true);
      } else {
        Unary("not", v, 1, true);
      }
      return;
    case 5:
      Emit(WithType(v, ElementType::kPred),
           absl::StrCat("compare(", v.name, ", ", Repeated(v, type, "1").name,
                        "), direction=", OneOf({"LT", "GE", "EQ", "NE"})),
           1, true);
      return;
    case 6: {
      if (v.shape.rank() == 0) return;
      const absl::string_view opcode = OneOf({"maximum", "minimum", "add"});
      const Value init = Emit(Shape(type, {}), "constant(1)", 1, true);
      Emit(Shape(type, absl::MakeConstSpan(v.shape.dimensions()).subspan(1)),
           absl::StrCat("reduce(", v.name, ", ", init.name,
                        "), dimensions={0}, to_apply=", Region(opcode, type)),
           1, true);
      return;
    }
    case 7:
      Emit(Shape(type, {OneOf(state_.sizes)}), "iota(), iota_dimension=0", 1,
           true);
      return;
    default:
      Emit(WithType(v, Chance(0.5) ? ElementType::kS32 : ElementType::kF32),
           Converted(v), 16, true);
  }
}

void RandomGraph::AddWideIntegers() {
  const bool is_signed = Chance(0.3);
  const ElementType type = is_signed ? ElementType::kS64 : ElementType::kU64;
  Value v = SpecialArray(type, 1e30, true);
  const std::string large(
      is_signed ? OneOf({"9223372036854775807", "-9223372036854775808",
                         "9007199254740993", "-9007199254740993"})
                : OneOf({"18446744073709551615", "9223372036854775808",
                         "9007199254740993", "18446744073709551614"}));
  if (Chance(0.6)) v = Binary("add", v, Repeated(v, type, large), 1, true);
  const auto repeated = [&](absl::string_view text) {
    return Repeated(v, type, text);
  };
  switch (Below(9)) {
    case 0:
      Binary(OneOf({"divide", "remainder"}), v,
             repeated(OneOf({"3", "8", "4294967296", "1"})), 1, true);
      return;
    case 1:
      Binary(OneOf({"multiply", "subtract", "maximum", "minimum"}), v,
             repeated(Chance(0.5) ? absl::string_view("5") : large), 1, true);
      return;
    case 2:
      Binary(OneOf({"shift-left", "shift-right-logical",
                    "shift-right-arithmetic"}),
             v, repeated(OneOf({"0", "1", "63", "64"})), 1, true);
      return;
    case 3:
      Emit(WithType(v, ElementType::kPred),
           absl::StrCat(
               "compare(", v.name, ", ", repeated(large).name,
               "), direction=", OneOf({"LT", "GE", "EQ", "NE", "GT", "LE"})),
           1, true);
      return;
    case 4: {
      const Value low = Emit(Shape(type, {}), "constant(1)", 1, true);
      const Value high = Emit(
          Shape(type, {}),
          absl::StrCat(
              "constant(",
              is_signed ? "9223372036854775807" : "18446744073709551615", ")"),
          1, true);
      Emit(v.shape,
           absl::StrCat("clamp(", low.name, ", ", v.name, ", ", high.name, ")"),
           1, true);
      return;
    }
    case 5: {
      if (v.shape.rank() == 0) return;
      const Value init =
          Emit(Shape(type, {}), absl::StrCat("constant(", large, ")"), 1, true);
      Emit(Shape(type, absl::MakeConstSpan(v.shape.dimensions()).subspan(1)),
           absl::StrCat(
               "reduce(", v.name, ", ", init.name,
               "), dimensions={0}, to_apply=",
               Region(OneOf({"add", "minimum", "maximum", "xor"}), type)),
           1, true);
      return;
    }
    case 6: {
      // Narrower, and back.
      const Value narrow =
          Emit(WithType(v, Chance(0.5) ? ElementType::kU32 : ElementType::kS32),
               Converted(v), 1, true);
      Emit(v.shape, Converted(narrow), 1, true);
      return;
    }
    case 7: {
      const Value wide =
          Emit(WithType(v, ElementType::kF64), Converted(v), 1e20, true);
      values_.pop_back();
      Emit(WithType(v, ElementType::kPred),
           absl::StrCat("compare(", wide.name, ", ", wide.name,
                        "), direction=EQ"),
           1, true);
      return;
    }
    default:
      Moved(v);
  }
}

}  // namespace hone::testing
