// Properties that rewrites like to take for granted: identities, stability,
// magnitudes, layouts.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "tests/support/random_graph.h"

namespace hone::testing {

using hlo::IsFloat;

void RandomGraph::AddInit() {
  const Value v = Tame(PickRank(1 + static_cast<int64_t>(Below(2)), false), 2);
  const ElementType type = v.shape.element_type();
  const Value init = ScalarConstant(type, Chance(0.5) ? 5 : -0.5);
  const absl::string_view opcode =
      OneOf({"add", "add", "maximum", "minimum", "multiply"});
  const double bound =
      opcode == "multiply"
          ? 1e3
          : 5 + 64 * static_cast<double>(v.shape.num_elements());
  if (Chance(0.4)) {
    // A product of many elements would leave the bounds.
    const absl::string_view reducer = opcode == "multiply" ? "add" : opcode;
    Emit(Shape(type, absl::MakeConstSpan(v.shape.dimensions()).subspan(1)),
         absl::StrCat("reduce(", v.name, ", ", init.name,
                      "), dimensions={0}, to_apply=", Region(reducer, type)),
         bound, false);
    return;
  }
  // Sometimes padded with the initial value, or with another one.
  Value x = v;
  if (Chance(0.5)) {
    const Value padding = Chance(0.6) ? init : ScalarConstant(type, 0);
    DimensionVector sizes(v.shape.dimensions());
    std::vector<std::string> text;
    for (int64_t& size : sizes) {
      size += 2;
      text.push_back("1_1");
    }
    x = Emit(Shape(type, sizes),
             absl::StrCat("pad(", v.name, ", ", padding.name,
                          "), padding=", absl::StrJoin(text, "x")),
             5, v.exact);
  }
  std::vector<std::string> size;
  std::vector<std::string> pad;
  DimensionVector output;
  for (int64_t d : x.shape.dimensions()) {
    const int64_t window = 1 + static_cast<int64_t>(Below(2));
    const auto low = static_cast<int64_t>(Below(2));
    size.push_back(absl::StrCat(window));
    pad.push_back(absl::StrCat(low, "_1"));
    output.push_back(d + low + 1 - window + 1);
  }
  Emit(Shape(type, output),
       absl::StrCat("reduce-window(", x.name, ", ", init.name,
                    "), window={size=", absl::StrJoin(size, "x"),
                    " pad=", absl::StrJoin(pad, "x"),
                    "}, to_apply=", Region(opcode, type)),
       3200, false);
}

void RandomGraph::AddUnstableSort() {
  // Few distinct keys: s32 in [0, 8) as arguments, or their last bit.
  const int64_t n = OneOf(state_.sizes);
  Value keys = Need(Shape(ElementType::kS32, {n}));
  if (Chance(0.5)) keys = Binary("and", keys, Uniform(keys, 1), 1, true);
  if (Chance(0.4)) {
    Emit(keys.shape,
         absl::StrCat("sort(", keys.name, "), dimensions={0}, to_apply=",
                      CompareRegion("LT", {ElementType::kS32})),
         1, true);
    return;
  }
  const Value payload = Need(Shape(AnyFloat(), {n}));
  const Value sorted = Emit(
      TupleShape({keys, payload}),
      absl::StrCat(
          "sort(", keys.name, ", ", payload.name,
          "), dimensions={0}, is_stable=false, to_apply=",
          CompareRegion(OneOf({"LT", "GT"}),
                        {ElementType::kS32, payload.shape.element_type()})),
      1, true);
  Element(sorted, 0, 1, true);
  if (Chance(0.5)) Element(sorted, 1, payload.bound, payload.exact);
}

void RandomGraph::AddVariadicScatter() {
  const Value first = Tame(PickRank(1, false), 4);
  const int64_t n = first.shape.dimension(0);
  const ElementType type = first.shape.element_type();
  const Value second = Need(Shape(ElementType::kS32, {n}));
  const int64_t rows = OneOf(state_.sizes);
  // Assignments need distinct indices to be of one result.
  const Value indices = Emit(Shape(ElementType::kS32, {rows, 1}),
                             "iota(), iota_dimension=0", 6, true);
  const Value updates = Tame(Need(Shape(type, {rows})), 4);
  const Value more = Need(Shape(ElementType::kS32, {rows}));
  const std::string t(hlo::ElementTypeName(type));
  const std::string region = NewName("scatter_both");
  const absl::string_view opcode = OneOf({"add", "maximum"});
  state_.computations.push_back(absl::StrCat(
      region, " {\n  a = ", t, "[] parameter(0)\n  b = s32[] parameter(1)\n",
      "  c = ", t, "[] parameter(2)\n  d = s32[] parameter(3)\n  e = ", t,
      "[] ", opcode, "(a, c)\n",
      Chance(0.5) ? absl::StrCat("  ROOT r = (", t, "[], s32[]) tuple(e, d)\n")
                  : absl::StrCat("  f = s32[] add(b, d)\n  ROOT r = (", t,
                                 "[], s32[]) tuple(e, f)\n"),
      "}\n"));
  const Value result =
      Emit(TupleShape({first, second}),
           absl::StrCat(
               "scatter(", first.name, ", ", second.name, ", ", indices.name,
               ", ", updates.name, ", ", more.name,
               "), update_window_dims={}, inserted_window_dims={0}, "
               "scatter_dims_to_operand_dims={0}, index_vector_dim=1, ",
               Chance(0.5) ? "unique_indices=true, " : "", "to_apply=", region),
           first.bound + updates.bound, false);
  if (Chance(0.8)) Element(result, 0, first.bound + updates.bound, false);
  if (Chance(0.6)) Element(result, 1, 1, false);
}

// Factors whose products with each other leave the type's range although the
// whole stays within it.
void RandomGraph::AddMagnitudes() {
  const Value v = Tame(PickRank(static_cast<int64_t>(Below(3)), false), 2);
  const ElementType type = v.shape.element_type();
  if (type == ElementType::kF16) return;
  static constexpr double kFactors[] = {1e30,  1e25,  1e38,  1e20, 3e38,
                                        1e-20, 1e-25, 1e-30, 1e-38};
  // XLA:CPU flushes denormal numbers to zero; the last factor is one.
  const size_t factors =
      std::size(kFactors) - (state_.options.established_only ? 1 : 0);
  const auto factor = [&] {
    const Value scalar = depth_ == 0 && Chance(0.4)
                             ? Parameter(Shape(type, {}), 0.35)
                             : ScalarConstant(type, kFactors[Below(factors)]);
    const Value hidden =
        Chance(0.3) ? Unary("opt-barrier", scalar, scalar.bound, true) : scalar;
    return v.shape.IsScalar() ? hidden : Broadcast(hidden, v.shape, {});
  };
  Value x = v;
  for (uint64_t k = 2 + Below(2); k > 0; --k) {
    const absl::string_view opcode =
        OneOf({"multiply", "multiply", "divide", "add"});
    x = Binary(opcode, x, factor(), 3e38);
  }
  switch (Below(4)) {
    case 0: {
      if (v.shape.rank() == 0) return;
      const Value zero = ScalarConstant(type, 0);
      Emit(Shape(type, absl::MakeConstSpan(v.shape.dimensions()).subspan(1)),
           absl::StrCat("reduce(", x.name, ", ", zero.name,
                        "), dimensions={0}, to_apply=",
                        Region(OneOf({"add", "maximum"}), type)),
           3e38, false);
      return;
    }
    case 1:
      // Masked: 0 stays 0 whatever the factors are.
      Binary("multiply", Binary("maximum", x, Uniform(x, 0), 3e38), factor(),
             3e38);
      return;
    case 2:
      Unary("negate", x, 3e38);
      return;
    default:
      return;
  }
}

void RandomGraph::AddLayout() {
  const Value v = PickRank(2 + static_cast<int64_t>(Below(2)), false);
  Shape turned = v.shape;
  hlo::Layout layout;
  for (int64_t d : AnyPermutation(v.shape.rank())) {
    layout.minor_to_major.push_back(d);
  }
  turned.set_layout(layout);
  const Value x =
      Chance(0.5) && depth_ == 0
          ? Parameter(turned, 0.35)
          : Emit(turned, absl::StrCat("copy(", v.name, ")"), v.bound, v.exact);
  switch (Below(4)) {
    case 0: {
      // The memory of x in row-major order, or in another.
      Shape plain(v.shape.element_type(), {v.shape.num_elements()});
      Emit(plain, absl::StrCat("bitcast(", x.name, ")"), x.bound, x.exact);
      return;
    }
    case 1:
      Emit(v.shape, absl::StrCat("bitcast(", x.name, ")"), x.bound, x.exact);
      return;
    case 2:
      Emit(turned, absl::StrCat("negate(", x.name, ")"), x.bound, x.exact);
      return;
    default:
      Emit(v.shape,
           absl::StrCat(OneOf({"copy", "reshape", "negate"}), "(", x.name, ")"),
           x.bound, x.exact);
  }
}

void RandomGraph::AddBarrier() {
  if (Chance(0.4)) {
    const Value v = PickArray();
    Emit(v.shape, absl::StrCat("opt-barrier(", v.name, ")"), v.bound, v.exact);
    return;
  }
  std::vector<Value> elements;
  for (uint64_t k = 1 + Below(3); k > 0; --k) elements.push_back(PickArray());
  const Value tuple = MakeTuple(elements);
  const Value held = Emit(
      tuple.shape, absl::StrCat("opt-barrier(", tuple.name, ")"), 1, false);
  for (size_t i = 0; i < elements.size(); ++i) {
    if (Chance(0.6)) {
      Element(held, static_cast<int64_t>(i), elements[i].bound,
              elements[i].exact);
    }
  }
}

}  // namespace hone::testing
