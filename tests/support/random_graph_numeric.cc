#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "tests/support/random_graph.h"

namespace hone::testing {

using hlo::IsFloat;
using hlo::IsIntegral;
using hlo::IsSigned;

namespace {

std::string Braces(absl::Span<const int64_t> numbers) {
  return absl::StrCat("{", absl::StrJoin(numbers, ","), "}");
}

Shape WithDimensions(const Value& v, absl::Span<const int64_t> dimensions) {
  return Shape(v.shape.element_type(), dimensions);
}

Shape TupleOf(absl::Span<const Shape> shapes) {
  std::vector<hlo::ShapePtr> elements;
  for (const Shape& shape : shapes) {
    elements.push_back(std::make_shared<const Shape>(shape));
  }
  return *Shape::Tuple(elements);
}

// Twice the identity matrix.
std::string TwiceIdentity(int64_t n) {
  std::vector<std::string> rows;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int> row(static_cast<size_t>(n), 0);
    row[static_cast<size_t>(i)] = 2;
    rows.push_back(absl::StrCat("{", absl::StrJoin(row, ", "), "}"));
  }
  return absl::StrCat("constant({", absl::StrJoin(rows, ", "), "})");
}

}  // namespace

void RandomGraph::AddReduce() {
  const Value v = PickArray();
  const ElementType type = v.shape.element_type();
  DimensionVector kept;
  DimensionVector reduced;
  for (int64_t i = 0; i < v.shape.rank(); ++i) {
    if (Chance(0.5)) {
      reduced.push_back(i);
    } else {
      kept.push_back(v.shape.dimension(i));
    }
  }
  if (reduced.empty()) return;
  absl::string_view opcode = OneOf({"add", "add", "maximum", "minimum"});
  if (type == ElementType::kPred) opcode = OneOf({"and", "or"});
  if (IsIntegral(type)) {
    opcode = OneOf({"add", "maximum", "minimum", "and", "or", "multiply"});
  }
  const Value operand = IsFloat(type) ? Tame(v, 4) : v;
  double initial = 0;
  if (opcode == "multiply" || opcode == "and") initial = 1;
  if (opcode == "maximum") initial = IsFloat(type) || IsSigned(type) ? -8 : 0;
  if (opcode == "minimum") initial = 9;
  const Value init = ScalarConstant(type, initial);
  Emit(WithDimensions(v, kept),
       absl::StrCat("reduce(", operand.name, ", ", init.name, "), dimensions=",
                    Braces(reduced), ", to_apply=", Region(opcode, type)),
       std::max(9.0,
                operand.bound * static_cast<double>(v.shape.num_elements())),
       operand.exact && opcode != "add");
}

void RandomGraph::AddArgMax() {
  const Value v = PickRank(2, true);
  const ElementType type = v.shape.element_type();
  const std::string t(hlo::ElementTypeName(type));
  const std::string name = NewName("arg_max");
  state_.computations.push_back(absl::StrCat(
      name, " {\n  a = ", t,
      "[] parameter(0)\n  i = s32[] parameter(1)\n  b = ", t,
      "[] parameter(2)\n  j = s32[] parameter(3)\n",
      "  gt = pred[] compare(a, b), direction=GT\n",
      "  eq = pred[] compare(a, b), direction=EQ\n",
      "  lt = pred[] compare(i, j), direction=LT\n",
      "  tie = pred[] and(eq, lt)\n  keep = pred[] or(gt, tie)\n  v = ", t,
      "[] select(keep, a, b)\n  k = s32[] select(keep, i, j)\n  ROOT r = (", t,
      "[], s32[]) tuple(v, k)\n}\n"));
  const Value index = Emit(Shape(ElementType::kS32, v.shape.dimensions()),
                           "iota(), iota_dimension=1", 1, true);
  const Value low = ScalarConstant(type, -100);
  const Value zero = ScalarConstant(ElementType::kS32, 0);
  const Shape row = WithDimensions(v, {v.shape.dimension(0)});
  const Shape indices(ElementType::kS32, row.dimensions());
  const Value both =
      Emit(TupleOf({row, indices}),
           absl::StrCat("reduce(", v.name, ", ", index.name, ", ", low.name,
                        ", ", zero.name, "), dimensions={1}, to_apply=", name),
           1, false);
  if (Chance(0.7)) Element(both, 0, v.bound + 100, true);
  Element(both, 1, 1, true);
}

std::string RandomGraph::WindowText(const DimensionVector& input,
                                    DimensionVector& output, bool dilation) {
  std::vector<std::string> size;
  std::vector<std::string> stride;
  std::vector<std::string> pad;
  std::vector<std::string> base;
  std::vector<std::string> window;
  for (int64_t n : input) {
    const auto extent =
        1 + static_cast<int64_t>(
                Below(static_cast<uint64_t>(std::min<int64_t>(n, 3))));
    const auto step = 1 + static_cast<int64_t>(Below(2));
    const auto low = static_cast<int64_t>(
        extent > 1 && Chance(0.4) ? Below(static_cast<uint64_t>(extent)) : 0);
    const auto high = static_cast<int64_t>(
        extent > 1 && Chance(0.4) ? Below(static_cast<uint64_t>(extent)) : 0);
    const int64_t base_dilation = dilation && Chance(0.2) ? 2 : 1;
    const int64_t window_dilation = dilation && Chance(0.2) ? 2 : 1;
    const int64_t span = (extent - 1) * window_dilation + 1;
    const int64_t padded = (n - 1) * base_dilation + 1 + low + high;
    output.push_back(padded < span ? 0 : (padded - span) / step + 1);
    size.push_back(absl::StrCat(extent));
    stride.push_back(absl::StrCat(step));
    pad.push_back(absl::StrCat(low, "_", high));
    base.push_back(absl::StrCat(base_dilation));
    window.push_back(absl::StrCat(window_dilation));
  }
  return absl::StrCat("window={size=", absl::StrJoin(size, "x"),
                      " stride=", absl::StrJoin(stride, "x"),
                      " pad=", absl::StrJoin(pad, "x"),
                      " lhs_dilate=", absl::StrJoin(base, "x"),
                      " rhs_dilate=", absl::StrJoin(window, "x"), "}");
}

void RandomGraph::AddReduceWindow() {
  const Value v = Tame(PickRank(2 + static_cast<int64_t>(Below(2)), false), 4);
  const ElementType type = v.shape.element_type();
  const absl::string_view opcode = OneOf({"add", "maximum", "minimum"});
  const Value init = ScalarConstant(
      type, opcode == "add" ? 0 : (opcode == "maximum" ? -8 : 8));
  DimensionVector output;
  const std::string window = WindowText(v.shape.dimensions(), output, true);
  if (Shape(type, output).num_elements() == 0) return;
  Emit(WithDimensions(v, output),
       absl::StrCat("reduce-window(", v.name, ", ", init.name, "), ", window,
                    ", to_apply=", Region(opcode, type)),
       27 * v.bound + 8, false);
}

void RandomGraph::AddSelectAndScatter() {
  const Value v = PickRank(2, true);
  const ElementType type = v.shape.element_type();
  DimensionVector output;
  const std::string window = WindowText(v.shape.dimensions(), output, false);
  const Value source = Tame(Need(WithDimensions(v, output)), 4);
  if (source.shape.num_elements() == 0) return;
  const Value init = ScalarConstant(type, 0);
  // The grammar has no dilation here, though the text may name it as 1.
  Emit(v.shape,
       absl::StrCat("select-and-scatter(", v.name, ", ", source.name, ", ",
                    init.name, "), ", window.substr(0, window.find(" lhs_")),
                    "}, select=", CompareRegion("GE", {type}),
                    ", scatter=", Region("add", type)),
       9 * source.bound, false);
}

std::string RandomGraph::CompareRegion(absl::string_view direction,
                                       absl::Span<const ElementType> types) {
  const std::string name = NewName("order");
  std::string text = absl::StrCat(name, " {\n");
  int parameter = 0;
  for (ElementType type : types) {
    for (int side = 0; side < 2; ++side) {
      absl::StrAppend(&text, "  p", parameter, " = ",
                      hlo::ElementTypeName(type), "[] parameter(", parameter,
                      ")\n");
      ++parameter;
    }
  }
  absl::StrAppend(&text,
                  "  ROOT r = pred[] compare(p0, p1), direction=", direction,
                  "\n}\n");
  state_.computations.push_back(text);
  return name;
}

void RandomGraph::AddSort() {
  // The first operand holds the keys; ties stay in order.
  const Value keys = Chance(0.5) ? PickRank(2, true) : PickInteger();
  if (keys.shape.rank() == 0) return;
  std::vector<Value> operands = {keys};
  for (uint64_t k = Below(3); k > 0; --k) {
    const ElementType type = Chance(0.5) ? AnyFloat() : AnyInteger();
    operands.push_back(Need(Shape(type, keys.shape.dimensions())));
  }
  std::vector<ElementType> types;
  std::vector<std::string> names;
  std::vector<Shape> shapes;
  for (const Value& operand : operands) {
    types.push_back(operand.shape.element_type());
    names.push_back(operand.name);
    shapes.push_back(operand.shape);
  }
  const Value sorted =
      Emit(operands.size() == 1 ? keys.shape : TupleOf(shapes),
           absl::StrCat("sort(", absl::StrJoin(names, ", "), "), dimensions={",
                        Below(static_cast<uint64_t>(keys.shape.rank())),
                        "}, is_stable=true, to_apply=",
                        CompareRegion(OneOf({"LT", "GT"}), types)),
           keys.bound, true);
  if (operands.size() == 1) return;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (Chance(0.6)) {
      Element(sorted, static_cast<int64_t>(i), operands[i].bound,
              operands[i].exact);
    }
  }
}

void RandomGraph::AddTopK() {
  // Equal elements would come in any order.
  const int64_t n = 4;
  const Value v = NeedExact(Shape(ElementType::kF32, {OneOf(state_.sizes), n}));
  const auto k = 1 + static_cast<int64_t>(Below(n));
  const Shape values(ElementType::kF32, {v.shape.dimension(0), k});
  const Shape indices(ElementType::kS32, values.dimensions());
  const Value top =
      Emit(TupleOf({values, indices}),
           !state_.options.established_only && Chance(0.5)
               ? absl::StrCat("topk(", v.name, "), k=", k, ", largest=true")
               : absl::StrCat("custom-call(", v.name,
                              "), custom_call_target=\"TopK\""),
           v.bound, true);
  Element(top, 0, v.bound, true);
}

void RandomGraph::AddDot() {
  const Value a = Tame(PickRank(1 + static_cast<int64_t>(Below(3)), false), 2);
  const ElementType type = a.shape.element_type();
  // Each dimension of the left side is batch, contracting or free; the right
  // side has the first two and free ones of its own, in any order.
  struct Dimension {
    char kind;
    int64_t size;
    int64_t lhs;
  };
  std::vector<Dimension> right;
  DimensionVector lhs_batch;
  DimensionVector lhs_contracting;
  DimensionVector batch_sizes;
  DimensionVector free_sizes;
  double terms = 1;
  for (int64_t i = 0; i < a.shape.rank(); ++i) {
    const int64_t size = a.shape.dimension(i);
    const uint64_t kind = Below(4);
    if (kind == 0) {
      lhs_batch.push_back(i);
      batch_sizes.push_back(size);
      right.push_back({'b', size, i});
    } else if (kind <= 2) {
      lhs_contracting.push_back(i);
      terms *= static_cast<double>(size);
      right.push_back({'c', size, i});
    } else {
      free_sizes.push_back(size);
    }
  }
  for (uint64_t k = Below(3); k > 0; --k) {
    right.push_back({'f', OneOf(state_.sizes), 0});
  }
  if (right.size() > 4) return;
  const DimensionVector order =
      AnyPermutation(static_cast<int64_t>(right.size()));
  DimensionVector rhs_dimensions;
  DimensionVector rhs_batch(lhs_batch.size(), 0);
  DimensionVector rhs_contracting(lhs_contracting.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    const Dimension& d = right[static_cast<size_t>(order[i])];
    rhs_dimensions.push_back(d.size);
    const auto at = static_cast<int64_t>(i);
    if (d.kind == 'b') {
      const auto place = std::find(lhs_batch.begin(), lhs_batch.end(), d.lhs);
      rhs_batch[static_cast<size_t>(place - lhs_batch.begin())] = at;
    } else if (d.kind == 'c') {
      const auto place =
          std::find(lhs_contracting.begin(), lhs_contracting.end(), d.lhs);
      rhs_contracting[static_cast<size_t>(place - lhs_contracting.begin())] =
          at;
    } else {
      free_sizes.push_back(d.size);
    }
  }
  DimensionVector result = batch_sizes;
  result.insert(result.end(), free_sizes.begin(), free_sizes.end());
  if (Shape(type, rhs_dimensions).num_elements() > 256 ||
      Shape(type, result).num_elements() > 256) {
    return;
  }
  const Value b = Tame(Need(Shape(type, rhs_dimensions)), 2);
  std::string text = absl::StrCat("dot(", a.name, ", ", b.name, ")");
  if (!lhs_batch.empty()) {
    absl::StrAppend(&text, ", lhs_batch_dims=", Braces(lhs_batch),
                    ", rhs_batch_dims=", Braces(rhs_batch));
  }
  absl::StrAppend(&text, ", lhs_contracting_dims=", Braces(lhs_contracting),
                  ", rhs_contracting_dims=", Braces(rhs_contracting));
  Emit(Shape(type, result), text, terms * a.bound * b.bound, false);
}

void RandomGraph::AddTransposedDot() {
  Value a = Tame(PickRank(2, false), 2);
  const auto transposed = [&](const Value& v) {
    return Emit(WithDimensions(v, {v.shape.dimension(1), v.shape.dimension(0)}),
                absl::StrCat("transpose(", v.name, "), dimensions={1,0}"),
                v.bound, v.exact);
  };
  if (Chance(0.7)) a = transposed(a);
  const auto lhs = static_cast<int64_t>(Below(2));
  const auto rhs = static_cast<int64_t>(Below(2));
  const int64_t terms = a.shape.dimension(lhs);
  const int64_t columns = OneOf(state_.sizes);
  const bool transpose = Chance(0.7);
  Value b = Tame(Need(WithDimensions(a, (rhs == 0) != transpose
                                            ? DimensionVector{terms, columns}
                                            : DimensionVector{columns, terms})),
                 2);
  if (transpose) b = transposed(b);
  Emit(WithDimensions(a, {a.shape.dimension(1 - lhs), columns}),
       absl::StrCat("dot(", a.name, ", ", b.name, "), lhs_contracting_dims={",
                    lhs, "}, rhs_contracting_dims={", rhs, "}"),
       static_cast<double>(terms) * a.bound * b.bound, false);
}

void RandomGraph::AddConvolution() {
  const auto small = [&] { return 1 + static_cast<int64_t>(Below(3)); };
  const int64_t groups = Chance(0.3) ? 2 : 1;
  const bool batch_groups = groups == 2 && Chance(0.4);
  const int64_t batch = small() * (batch_groups ? groups : 1);
  const int64_t in = small();
  const int64_t out = small() * groups;
  DimensionVector spatial = {2 + small(), 1 + small()};
  DimensionVector output;
  const std::string window = WindowText(spatial, output, true);
  DimensionVector kernel;
  // "window={size=AxB …": sizes are one digit.
  kernel.push_back(window[13] - '0');
  kernel.push_back(window[15] - '0');
  const ElementType type = Chance(0.2) ? ElementType::kS32 : AnyFloat();
  const int64_t input_features = batch_groups ? in : in * groups;
  if (Shape(type, {batch, output[0], output[1], out}).num_elements() == 0) {
    return;
  }
  DimensionVector input_dimensions = {batch, spatial[0], spatial[1],
                                      input_features};
  DimensionVector kernel_dimensions = {kernel[0], kernel[1], in, out};
  DimensionVector result = {batch / (batch_groups ? groups : 1), output[0],
                            output[1], out};
  absl::string_view labels = "b01f_01io->b01f";
  if (Chance(0.3)) {
    labels = "bf01_oi01->bf01";
    input_dimensions = {batch, input_features, spatial[0], spatial[1]};
    kernel_dimensions = {out, in, kernel[0], kernel[1]};
    result = {result[0], out, output[0], output[1]};
  }
  // Groups become zeros in a kernel, of which infinities make NaN.
  const auto operand = [&](const DimensionVector& dimensions) {
    const Value value = Need(Shape(type, dimensions));
    return IsFloat(type) ? Finite(Tame(value, 2)) : value;
  };
  const Value x = operand(input_dimensions);
  const Value k = operand(kernel_dimensions);
  std::string text = absl::StrCat("convolution(", x.name, ", ", k.name, "), ",
                                  window, ", dim_labels=", labels);
  if (groups > 1) {
    absl::StrAppend(
        &text, batch_groups ? ", batch_group_count=" : ", feature_group_count=",
        groups);
  }
  Emit(Shape(type, result), text,
       static_cast<double>(kernel[0] * kernel[1] * in) * x.bound * k.bound,
       false);
}

Value RandomGraph::Clamped(const Value& v, double bound) {
  const Value finite = Finite(v);
  const Value low = ScalarConstant(v.shape.element_type(), -bound);
  const Value high = ScalarConstant(v.shape.element_type(), bound);
  return Emit(
      v.shape,
      absl::StrCat("clamp(", low.name, ", ", finite.name, ", ", high.name, ")"),
      bound, v.exact);
}

void RandomGraph::AddBatchNorm() {
  const Value x =
      Clamped(PickRank(2 + static_cast<int64_t>(Below(2)), false), 1);
  const ElementType type = x.shape.element_type();
  if (hlo::BitWidth(type) < 32) return;
  const auto feature =
      static_cast<int64_t>(Below(static_cast<uint64_t>(x.shape.rank())));
  const Shape row = WithDimensions(x, {x.shape.dimension(feature)});
  const Value scale = Clamped(Need(row), 1);
  const Value offset = Clamped(Need(row), 1);
  // A large epsilon: the variance of few elements may be next to nothing.
  const std::string end =
      absl::StrCat("), epsilon=0.5, feature_index=", feature);
  const Shape all = TupleOf({x.shape, row, row});
  // Differences of nearly equal numbers are rounding alone, so they are seen
  // only as parts of something larger.
  const auto show = [&](const Value& result, int64_t index, double bound) {
    const Value part = Element(result, index, bound, false);
    values_.pop_back();
    Binary("add", part, Uniform(part, 2 * bound), 3 * bound);
  };
  const uint64_t kind = Below(3);
  if (kind == 0) {
    const Value result = Emit(all,
                              absl::StrCat("batch-norm-training(", x.name, ", ",
                                           scale.name, ", ", offset.name, end),
                              1, false);
    show(result, 0, 4);
    if (Chance(0.5)) show(result, 1, 1);
    if (Chance(0.5)) show(result, 2, 1);
    return;
  }
  const Value mean = Clamped(Need(row), 1);
  const Value variance = Positive(Need(row));
  if (kind == 1) {
    Emit(x.shape,
         absl::StrCat("batch-norm-inference(", x.name, ", ", scale.name, ", ",
                      offset.name, ", ", mean.name, ", ", variance.name, end),
         4, false);
    return;
  }
  const Value gradient = Clamped(Need(x.shape), 1);
  const Value result = Emit(
      all,
      absl::StrCat("batch-norm-grad(", x.name, ", ", scale.name, ", ",
                   mean.name, ", ", variance.name, ", ", gradient.name, end),
      1, false);
  const auto elements = static_cast<double>(x.shape.num_elements());
  show(result, 0, 16);
  if (Chance(0.5)) show(result, 1, 4 * elements);
  if (Chance(0.5)) show(result, 2, elements);
}

void RandomGraph::AddLinearAlgebra() {
  // 2 I plus something small is well-conditioned, and positive definite where
  // that is symmetric.
  const ElementType type = ElementType::kF32;
  const auto n = 2 + static_cast<int64_t>(Below(3));
  const Shape square(type, {n, n});
  const Value small = Tame(Need(square), 0.25);
  const Value identity = Emit(square, TwiceIdentity(n), 2, true);
  if (Chance(0.5)) {
    const Value product =
        Emit(square,
             absl::StrCat("dot(", small.name, ", ", small.name,
                          "), lhs_contracting_dims={1}, "
                          "rhs_contracting_dims={1}"),
             1, false);
    const Value definite = Binary("add", product, identity, 3);
    Emit(square,
         absl::StrCat("cholesky(", definite.name,
                      "), lower=", OneOf({"true", "false"})),
         3, false);
    return;
  }
  const Value matrix = Binary("add", small, identity, 3);
  const Value right = Tame(Need(Shape(type, {n, OneOf(state_.sizes)})), 4);
  Emit(right.shape,
       absl::StrCat("triangular-solve(", matrix.name, ", ", right.name,
                    "), left_side=true, lower=", OneOf({"true", "false"}),
                    ", unit_diagonal=", OneOf({"true", "false"}),
                    ", transpose_a=", OneOf({"NO_TRANSPOSE", "TRANSPOSE"})),
       64, false);
}

void RandomGraph::AddFft() {
  const int64_t n = Chance(0.5) ? 4 : 6;
  const int64_t rows = OneOf(state_.sizes);
  const std::string length = absl::StrCat("fft_length={", n, "}");
  const Value real = Tame(Need(Shape(ElementType::kF32, {rows, n})), 4);
  const Value spectrum =
      Emit(Shape(ElementType::kC64, {rows, n / 2 + 1}),
           absl::StrCat("fft(", real.name, "), fft_type=RFFT, ", length),
           static_cast<double>(n) * real.bound, false);
  Emit(real.shape,
       absl::StrCat("fft(", spectrum.name, "), fft_type=IRFFT, ", length),
       2 * real.bound, false);
}

void RandomGraph::AddRandomBits() {
  const Shape state(ElementType::kU64, {2});
  const Shape bits(ElementType::kU32, {OneOf(state_.sizes)});
  const Value key = NeedExact(state);
  const Value both = Emit(TupleOf({state, bits}),
                          absl::StrCat("rng-bit-generator(", key.name,
                                       "), algorithm=rng_three_fry"),
                          1, true);
  Element(both, 1, 1, true);
}

}  // namespace hone::testing
