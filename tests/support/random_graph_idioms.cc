// Patterns that rewrites look for and that chance would rarely make.

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

#include "tests/support/random_graph.h"

namespace hone::testing {
namespace {

Shape WithDimensions(const Value& v, absl::Span<const int64_t> dimensions) {
  return Shape(v.shape.element_type(), dimensions);
}

}  // namespace

Value RandomGraph::Finite(const Value& v) {
  const Value finite =
      Emit(Shape(ElementType::kPred, v.shape.dimensions()),
           absl::StrCat("is-finite(", v.name, ")"), 1, v.exact);
  const Value zero = Uniform(v, 0);
  return Emit(
      v.shape,
      absl::StrCat("select(", finite.name, ", ", v.name, ", ", zero.name, ")"),
      v.bound, v.exact);
}

void RandomGraph::AddArithmeticIdiom() {
  const Value v = Tame(PickFloat(), 2);
  const auto negated = [&](const Value& x) {
    return Unary("negate", x, x.bound, x.exact);
  };
  switch (Below(8)) {
    case 0:
      Binary("multiply", negated(v), negated(Tame(Need(v.shape), 2)), 4);
      return;
    case 1:
      Binary("divide", negated(v), negated(Positive(Need(v.shape))), 8);
      return;
    case 2:
      Binary("divide", Uniform(v, 1),
             Unary(OneOf({"sqrt", "rsqrt"}), Positive(v), 4), 4);
      return;
    case 3: {
      const Value e = Unary("exponential", negated(v), std::exp(v.bound));
      Binary("divide", Uniform(v, 1),
             Binary("add", Uniform(v, 1), e, 1 + e.bound), 1);
      return;
    }
    case 4: {
      const Value low = Uniform(v, -0.25);
      const Value high = Uniform(v, 0.5);
      if (Chance(0.5)) {
        Binary("minimum", Binary("maximum", v, low, v.bound), high, 1);
      } else {
        Emit(v.shape,
             absl::StrCat("clamp(", low.name, ", ", v.name, ", ", high.name,
                          ")"),
             1, v.exact);
      }
      return;
    }
    case 5: {
      const absl::string_view opcode = OneOf({"maximum", "minimum"});
      Binary(opcode, Binary(opcode, v, Uniform(v, 0.25), v.bound + 1),
             Uniform(v, -0.5), v.bound + 1);
      return;
    }
    case 6: {
      const Value x = NeedExact(v.shape);
      const absl::string_view opcode =
          OneOf({"floor", "ceil", "sign", "round-nearest-even"});
      Unary(opcode, Unary(opcode, x, x.bound + 1, true), x.bound + 1, true);
      return;
    }
    default: {
      const Value x = PickInteger();
      const double divisor = Chance(0.3) ? 1 : 3;
      Binary("remainder", Binary("remainder", x, Uniform(x, divisor), 1, true),
             Uniform(x, divisor), 1, true);
      Binary(OneOf({"or", "xor", "and"}), x,
             Unary("not", Uniform(x, 0), 1, true), 1, true);
    }
  }
}

void RandomGraph::AddLogicIdiom() {
  const Value p = PickPred();
  const auto choose = [&](const Value& pred, const Value& a, const Value& b) {
    return Emit(
        a.shape,
        absl::StrCat("select(", pred.name, ", ", a.name, ", ", b.name, ")"),
        std::max(a.bound, b.bound), a.exact && b.exact);
  };
  const auto constant = [&] {
    return Uniform(p, static_cast<double>(Below(2)));
  };
  switch (Below(5)) {
    case 0: {
      const Value c = constant();
      Emit(p.shape,
           absl::StrCat("compare(", p.name, ", ", c.name,
                        "), direction=", OneOf({"EQ", "NE"})),
           1, true);
      return;
    }
    case 1: {
      const Value c = constant();
      choose(p, c, Chance(0.5) ? constant() : Need(p.shape));
      return;
    }
    case 2:
      choose(p, Need(p.shape), constant());
      return;
    case 3: {
      const Shape shape(AnyFloat(), p.shape.dimensions());
      choose(Unary("not", p, 1, true), Need(shape), Need(shape));
      return;
    }
    default: {
      const Shape shape(AnyFloat(), p.shape.dimensions());
      const Value inner = choose(p, Need(shape), Need(shape));
      const Value other = Need(shape);
      if (Chance(0.5)) {
        choose(p, inner, other);
      } else {
        choose(p, other, inner);
      }
    }
  }
}

void RandomGraph::AddIndexingIdiom() {
  const Value v = Tame(PickRank(2, false), 4);
  const ElementType type = v.shape.element_type();
  const int64_t columns = v.shape.dimension(1);
  const int64_t rows = OneOf(state_.sizes);
  const auto reshaped = [&](const Value& x, const Shape& shape) {
    return Emit(shape, absl::StrCat("reshape(", x.name, ")"), x.bound, x.exact);
  };
  const auto indices = [&] {
    const Value column = Need(Shape(ElementType::kS32, {rows, 1}));
    return reshaped(column, Shape(ElementType::kS32, {rows}));
  };
  switch (Below(4)) {
    case 0: {
      const Value gathered =
          Emit(WithDimensions(v, {rows, columns}),
               absl::StrCat("gather(", v.name, ", ", indices().name,
                            "), offset_dims={1}, collapsed_slice_dims={0}, "
                            "start_index_map={0}, index_vector_dim=1, "
                            "slice_sizes={1,",
                            columns, "}"),
               v.bound, v.exact);
      reshaped(gathered, WithDimensions(v, {rows, 1, columns}));
      return;
    }
    case 1: {
      const Value updates =
          Tame(reshaped(Need(WithDimensions(v, {rows, 1, columns})),
                        WithDimensions(v, {rows, columns})),
               2);
      const Value zero = Uniform(v, 0);
      const Value sum = Emit(
          v.shape,
          absl::StrCat("scatter(", zero.name, ", ", indices().name, ", ",
                       updates.name,
                       "), update_window_dims={1}, inserted_window_dims={0}, "
                       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
                       "to_apply=",
                       Region("add", type)),
          2 * static_cast<double>(rows), false);
      Binary("add", v, sum, v.bound + sum.bound);
      return;
    }
    case 2: {
      const Value row = Need(Shape(ElementType::kS32, {}));
      const Value column = ScalarConstant(ElementType::kS32, 0);
      const std::string at = absl::StrCat(", ", row.name, ", ", column.name);
      const Value part =
          Emit(WithDimensions(v, {1, columns}),
               absl::StrCat("dynamic-slice(", v.name, at,
                            "), dynamic_slice_sizes={1,", columns, "}"),
               v.bound, v.exact);
      Emit(v.shape,
           absl::StrCat("dynamic-update-slice(", v.name, ", ", part.name, at,
                        ")"),
           v.bound, v.exact);
      return;
    }
    default: {
      const Value filling = Uniform(v, 0.5);
      const Value part = Need(WithDimensions(v, {1, columns}));
      const Value row =
          ScalarConstant(ElementType::kS32, static_cast<double>(Below(6)));
      const Value column = ScalarConstant(ElementType::kS32, 0);
      Emit(v.shape,
           absl::StrCat("dynamic-update-slice(", filling.name, ", ", part.name,
                        ", ", row.name, ", ", column.name, ")"),
           std::max(1.0, part.bound), false);
    }
  }
}

void RandomGraph::AddReductionIdiom() {
  const Value v = Tame(PickRank(2 + static_cast<int64_t>(Below(2)), false), 2);
  const ElementType type = v.shape.element_type();
  const Value zero = ScalarConstant(type, 0);
  const std::string sum = Region("add", type);
  const auto reduce_first = [&](const Value& x) {
    DimensionVector rest(x.shape.dimensions());
    rest.erase(rest.begin());
    return Emit(WithDimensions(x, rest),
                absl::StrCat("reduce(", x.name, ", ", zero.name,
                             "), dimensions={0}, to_apply=", sum),
                static_cast<double>(x.shape.dimension(0)) * x.bound, false);
  };
  switch (Below(6)) {
    case 0:
      reduce_first(reduce_first(v));
      return;
    case 4: {
      // Longer than the others.
      if (type != ElementType::kF32 && type != ElementType::kF64) return;
      const Value row = Tame(Need(Shape(type, {v.shape.dimension(0)})), 2);
      reduce_first(
          Broadcast(row, Shape(type, {40, row.shape.dimension(0)}), {1}));
      return;
    }
    case 5: {
      // Into another layout, which only a copy uses.
      if (v.shape.rank() != 3) return;
      const Shape plain = WithDimensions(
          v, absl::MakeConstSpan(v.shape.dimensions()).subspan(1));
      Shape turned = plain;
      turned.set_layout(hlo::Layout{{0, 1}, ""});
      const double bound = static_cast<double>(v.shape.dimension(0)) * v.bound;
      const Value sums = Emit(turned,
                              absl::StrCat("reduce(", v.name, ", ", zero.name,
                                           "), dimensions={0}, to_apply=", sum),
                              bound, false);
      values_.pop_back();
      Emit(plain, absl::StrCat("copy(", sums.name, ")"), bound, false);
      return;
    }
    case 1:
      reduce_first(Unary("negate", v, v.bound, v.exact));
      return;
    case 2: {
      std::string size = "1";
      for (int64_t i = 1; i < v.shape.rank(); ++i) size += "x1";
      Emit(v.shape,
           absl::StrCat("reduce-window(", v.name, ", ", zero.name,
                        "), window={size=", size, "}, to_apply=", sum),
           v.bound, false);
      return;
    }
    default: {
      DimensionVector padded;
      std::string padding;
      for (int64_t size : v.shape.dimensions()) {
        const auto low = static_cast<int64_t>(Below(2));
        padded.push_back(size + low + 1);
        absl::StrAppend(&padding, padding.empty() ? "" : "x", low, "_1");
      }
      if (Shape(type, padded).num_elements() > 256) return;
      const Value wide = Emit(
          WithDimensions(v, padded),
          absl::StrCat("pad(", v.name, ", ", zero.name, "), padding=", padding),
          v.bound, v.exact);
      DimensionVector output;
      const std::string window = WindowText(padded, output, true);
      if (Shape(type, output).num_elements() == 0) return;
      Emit(WithDimensions(v, output),
           absl::StrCat("reduce-window(", wide.name, ", ", zero.name, "), ",
                        window, ", to_apply=", sum),
           27 * v.bound, false);
    }
  }
}

void RandomGraph::AddContractionIdiom() {
  const Value a = Tame(PickRank(2, false), 2);
  const ElementType type = a.shape.element_type();
  const int64_t rows = a.shape.dimension(0);
  const int64_t columns = a.shape.dimension(1);
  if (Chance(0.3)) {
    const Value b = Tame(Need(WithDimensions(a, {columns, rows})), 2);
    const Value minus_a = Unary("negate", a, a.bound, a.exact);
    const Value right = Chance(0.5) ? Unary("negate", b, b.bound, b.exact) : b;
    Emit(WithDimensions(a, {rows, rows}),
         absl::StrCat("dot(", minus_a.name, ", ", right.name,
                      "), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
         static_cast<double>(columns) * a.bound * b.bound, false);
    return;
  }
  if (Chance(0.2)) {
    // A batch of one.
    const Value one =
        Emit(WithDimensions(a, {1, rows, columns}),
             absl::StrCat("reshape(", a.name, ")"), a.bound, a.exact);
    const Value b = Tame(Need(WithDimensions(a, {1, columns, rows})), 2);
    Emit(WithDimensions(a, {1, rows, rows}),
         absl::StrCat("dot(", one.name, ", ", b.name,
                      "), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                      "lhs_contracting_dims={2}, rhs_contracting_dims={1}"),
         static_cast<double>(columns) * a.bound * b.bound, false);
    return;
  }
  // A convolution of one spatial dimension, its input or kernel padded, or its
  // kernel reversed. Padding that is folded no longer makes NaN of infinities,
  // so there are none.
  const int64_t n = 3 + static_cast<int64_t>(Below(3));
  Value x = Finite(Tame(Need(Shape(type, {2, n, 2})), 2));
  Value k = Finite(Tame(Need(Shape(type, {2, 2, 3})), 2));
  const Value zero = ScalarConstant(type, 0);
  int64_t length = n;
  int64_t taps = 2;
  if (Chance(0.5)) {
    const auto low = static_cast<int64_t>(Below(3));
    const auto interior = static_cast<int64_t>(Below(2));
    length = low + 1 + n + interior * (n - 1);
    x = Emit(Shape(type, {2, length, 2}),
             absl::StrCat("pad(", x.name, ", ", zero.name, "), padding=0_0x",
                          low, "_1_", interior, "x0_0"),
             x.bound, x.exact);
  }
  if (Chance(0.5)) {
    taps = 3;
    k = Emit(Shape(type, {3, 2, 3}),
             absl::StrCat("pad(", k.name, ", ", zero.name,
                          "), padding=0_0_1x0_0x0_0"),
             k.bound, k.exact);
  } else {
    k = Emit(k.shape, absl::StrCat("reverse(", k.name, "), dimensions={0}"),
             k.bound, k.exact);
  }
  if (Chance(0.2)) {
    const Value turned =
        Emit(Shape(type, {2, 2, length}),
             absl::StrCat("transpose(", x.name, "), dimensions={0,2,1}"),
             x.bound, x.exact);
    x = Emit(x.shape,
             absl::StrCat("transpose(", turned.name, "), dimensions={0,2,1}"),
             x.bound, x.exact);
  }
  const auto base = 1 + static_cast<int64_t>(Below(2));
  const auto stride = 1 + static_cast<int64_t>(Below(2));
  const int64_t span = (length - 1) * base + 1 + 1;
  Emit(Shape(type, {2, (span - taps) / stride + 1, 3}),
       absl::StrCat("convolution(", x.name, ", ", k.name,
                    "), window={size=", taps, " stride=", stride,
                    " pad=1_0 lhs_dilate=", base, "}, dim_labels=b0f_0io->b0f"),
       6 * x.bound * k.bound, false);
}

void RandomGraph::AddMovementIdiom() {
  const Value v = PickRank(1 + static_cast<int64_t>(Below(2)), false);
  const ElementType type = v.shape.element_type();
  const Value c = ScalarConstant(type, 0.5);
  DimensionVector longer(v.shape.dimensions());
  longer[0] += 2;
  switch (Below(6)) {
    case 4: {
      // Flattened out of another layout.
      if (v.shape.rank() != 2) return;
      Shape turned = v.shape;
      turned.set_layout(hlo::Layout{{0, 1}, ""});
      const Value copy =
          Emit(turned, absl::StrCat("copy(", v.name, ")"), v.bound, v.exact);
      values_.pop_back();
      Emit(Shape(type, {v.shape.num_elements()}),
           absl::StrCat("reshape(", copy.name, ")"), v.bound, v.exact);
      return;
    }
    case 0: {
      DimensionVector two(v.shape.dimensions());
      two[0] = 2;
      const Value filling = Broadcast(c, WithDimensions(v, two), {});
      const bool front = Chance(0.5);
      Emit(WithDimensions(v, longer),
           absl::StrCat("concatenate(", front ? filling.name : v.name, ", ",
                        front ? v.name : filling.name, "), dimensions={0}"),
           std::max(1.0, v.bound), v.exact);
      return;
    }
    case 1: {
      const std::string rest = v.shape.rank() == 2 ? "x0_0" : "";
      DimensionVector dimensions(v.shape.dimensions());
      Value padded = v;
      for (int i = 0; i < 2; ++i) {
        const auto low = static_cast<int64_t>(Below(3));
        dimensions[0] += low + 1;
        padded = Emit(WithDimensions(v, dimensions),
                      absl::StrCat("pad(", padded.name, ", ", c.name,
                                   "), padding=", low, "_1", rest),
                      std::max(1.0, v.bound), v.exact);
      }
      return;
    }
    case 2: {
      // A part of something padded.
      const auto interior = static_cast<int64_t>(Below(2));
      const std::string rest = v.shape.rank() == 2 ? "x0_0" : "";
      const int64_t size = v.shape.dimension(0);
      DimensionVector dimensions(v.shape.dimensions());
      dimensions[0] = 1 + size + interior * (size - 1);
      const Value padded = Emit(WithDimensions(v, dimensions),
                                absl::StrCat("pad(", v.name, ", ", c.name,
                                             "), padding=1_0_", interior, rest),
                                std::max(1.0, v.bound), v.exact);
      dimensions[0] =
          1 + static_cast<int64_t>(Below(static_cast<uint64_t>(size)));
      std::string slice = absl::StrCat("[1:", 1 + dimensions[0], "]");
      if (v.shape.rank() == 2) {
        absl::StrAppend(&slice, ", [0:", v.shape.dimension(1), "]");
      }
      Emit(WithDimensions(v, dimensions),
           absl::StrCat("slice(", padded.name, "), slice={", slice, "}"),
           padded.bound, v.exact);
      return;
    }
    case 3: {
      // One element a row.
      DimensionVector one(v.shape.dimensions());
      one.push_back(1);
      const Value thin =
          Emit(WithDimensions(v, one), absl::StrCat("reshape(", v.name, ")"),
               v.bound, v.exact);
      Emit(thin.shape,
           absl::StrCat(
               "sort(", thin.name, "), dimensions={", one.size() - 1,
               "}, is_stable=true, to_apply=", CompareRegion("LT", {type})),
           v.bound, v.exact);
      return;
    }
    default: {
      const Value re = Tame(Need(Shape(ElementType::kF32, longer)), 2);
      const Value z =
          Emit(Shape(ElementType::kC64, longer),
               absl::StrCat("complex(", re.name, ", ", re.name, ")"), 4, false);
      const Value moved = Unary("negate", z, 4);
      const Value real =
          Emit(re.shape, absl::StrCat("real(", moved.name, ")"), 4, false);
      const Value imag =
          Emit(re.shape, absl::StrCat("imag(", moved.name, ")"), 4, false);
      Emit(z.shape, absl::StrCat("complex(", real.name, ", ", imag.name, ")"),
           4, false);
    }
  }
}

}  // namespace hone::testing
