#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "tests/support/random_graph.h"

namespace hone::testing {
namespace {

std::string Braces(absl::Span<const int64_t> numbers) {
  return absl::StrCat("{", absl::StrJoin(numbers, ","), "}");
}

Shape WithDimensions(const Value& v, absl::Span<const int64_t> dimensions) {
  return Shape(v.shape.element_type(), dimensions);
}

DimensionVector Permuted(const Shape& shape,
                         const DimensionVector& permutation) {
  DimensionVector dimensions;
  for (int64_t i : permutation) dimensions.push_back(shape.dimension(i));
  return dimensions;
}

}  // namespace

void RandomGraph::AddBroadcast() {
  const Value v = PickArray();
  if (v.shape.rank() > 2 || v.shape.num_elements() > 64) return;
  // New dimensions go anywhere among the old ones.
  DimensionVector dimensions(v.shape.dimensions());
  DimensionVector mapping;
  for (int64_t i = 0; i < v.shape.rank(); ++i) mapping.push_back(i);
  const int64_t more = 1 + static_cast<int64_t>(Below(2));
  for (int64_t k = 0; k < more; ++k) {
    const auto at = static_cast<int64_t>(Below(dimensions.size() + 1));
    dimensions.insert(dimensions.begin() + at,
                      Chance(0.2) ? 1 : OneOf(state_.sizes));
    for (int64_t& d : mapping) d += d >= at ? 1 : 0;
  }
  if (Shape(ElementType::kF32, dimensions).num_elements() > 256) return;
  if (mapping.size() == 2 &&
      dimensions[static_cast<size_t>(mapping[0])] ==
          dimensions[static_cast<size_t>(mapping[1])] &&
      Chance(0.5)) {
    // Out of order.
    std::swap(mapping[0], mapping[1]);
  }
  Broadcast(v, WithDimensions(v, dimensions), mapping);
}

void RandomGraph::AddReshape() {
  const Value v = PickArray();
  DimensionVector dimensions(v.shape.dimensions());
  switch (Below(4)) {
    case 0:  // one dimension
      dimensions = {v.shape.num_elements()};
      break;
    case 1:  // a dimension of size 1 more
      dimensions.insert(dimensions.begin() +
                            static_cast<int64_t>(Below(dimensions.size() + 1)),
                        1);
      break;
    case 2:  // those of size 1 go
      dimensions.erase(std::remove(dimensions.begin(), dimensions.end(), 1),
                       dimensions.end());
      break;
    default: {  // two become one
      if (dimensions.size() < 2) return;
      const size_t at = Below(dimensions.size() - 1);
      dimensions[at] *= dimensions[at + 1];
      dimensions.erase(dimensions.begin() + static_cast<int64_t>(at) + 1);
    }
  }
  if (dimensions.size() > 5) return;
  Emit(WithDimensions(v, dimensions),
       absl::StrCat(Chance(0.05) ? "bitcast(" : "reshape(", v.name, ")"),
       v.bound, v.exact);
}

void RandomGraph::AddTranspose() {
  const Value v = PickArray();
  if (v.shape.rank() < 2) return;
  const DimensionVector permutation = AnyPermutation(v.shape.rank());
  Emit(
      WithDimensions(v, Permuted(v.shape, permutation)),
      absl::StrCat("transpose(", v.name, "), dimensions=", Braces(permutation)),
      v.bound, v.exact);
}

void RandomGraph::AddSlice() {
  const Value v = PickArray();
  DimensionVector dimensions;
  std::vector<std::string> parts;
  for (int64_t size : v.shape.dimensions()) {
    int64_t start = 0;
    int64_t limit = size;
    int64_t stride = 1;
    if (size > 0 && Chance(0.6)) {
      start = static_cast<int64_t>(Below(static_cast<uint64_t>(size)));
      limit = start + 1 +
              static_cast<int64_t>(Below(static_cast<uint64_t>(size - start)));
      if (Chance(0.2)) stride = 2;
    }
    dimensions.push_back((limit - start + stride - 1) / stride);
    parts.push_back(
        absl::StrCat("[", start, ":", limit, stride == 1 ? "" : ":2", "]"));
  }
  Emit(WithDimensions(v, dimensions),
       absl::StrCat("slice(", v.name, "), slice={", absl::StrJoin(parts, ", "),
                    "}"),
       v.bound, v.exact);
}

void RandomGraph::AddPad() {
  const Value v = PickArray();
  if (v.shape.rank() == 0) return;
  const Value padding = Need(Shape(v.shape.element_type(), {}));
  DimensionVector dimensions;
  std::vector<std::string> parts;
  for (int64_t size : v.shape.dimensions()) {
    int64_t low = 0;
    int64_t high = 0;
    int64_t interior = 0;
    if (Chance(0.6)) {
      low = static_cast<int64_t>(Below(3)) - (size > 1 ? 1 : 0);
      high = static_cast<int64_t>(Below(2));
      if (Chance(0.2)) interior = 1;
    }
    dimensions.push_back(size + low + high +
                         interior * std::max<int64_t>(size - 1, 0));
    parts.push_back(absl::StrCat(low, "_", high, "_", interior));
  }
  if (Shape(ElementType::kF32, dimensions).num_elements() > 400) return;
  Emit(WithDimensions(v, dimensions),
       absl::StrCat("pad(", v.name, ", ", padding.name,
                    "), padding=", absl::StrJoin(parts, "x")),
       std::max(v.bound, padding.bound), v.exact && padding.exact);
}

void RandomGraph::AddConcatenate() {
  const Value v = PickArray();
  if (v.shape.rank() == 0 || v.shape.num_elements() > 128) return;
  const auto at =
      static_cast<int64_t>(Below(static_cast<uint64_t>(v.shape.rank())));
  std::vector<std::string> names = {v.name};
  DimensionVector dimensions(v.shape.dimensions());
  double bound = v.bound;
  bool exact = v.exact;
  for (uint64_t k = Below(3); k > 0; --k) {
    const Value other = Chance(0.2) ? v : Need(v.shape);
    names.push_back(other.name);
    dimensions[static_cast<size_t>(at)] += v.shape.dimension(at);
    bound = std::max(bound, other.bound);
    exact &= other.exact;
  }
  Emit(WithDimensions(v, dimensions),
       absl::StrCat("concatenate(", absl::StrJoin(names, ", "),
                    "), dimensions={", at, "}"),
       bound, exact);
}

void RandomGraph::AddReverse() {
  const Value v = PickArray();
  DimensionVector reversed;
  for (int64_t i = 0; i < v.shape.rank(); ++i) {
    if (Chance(0.6)) reversed.push_back(i);
  }
  Emit(v.shape,
       absl::StrCat("reverse(", v.name, "), dimensions=", Braces(reversed)),
       v.bound, v.exact);
}

void RandomGraph::AddIota() {
  const DimensionVector dimensions = AnyDimensions(3);
  if (dimensions.empty()) {
    const Value v = PickArray();
    if (v.shape.rank() == 0) return;
    Emit(Shape(ElementType::kS32, {}),
         absl::StrCat("get-dimension-size(", v.name, "), dimensions={",
                      Below(static_cast<uint64_t>(v.shape.rank())), "}"),
         1, true);
    return;
  }
  Emit(Shape(Chance(0.6) ? AnyInteger() : AnyFloat(), dimensions),
       absl::StrCat("iota(), iota_dimension=", Below(dimensions.size())), 6,
       true);
}

void RandomGraph::AddDynamicSlice() {
  const Value v = PickArray();
  if (v.shape.rank() == 0) return;
  std::string text = absl::StrCat("dynamic-slice(", v.name);
  DimensionVector sizes;
  for (int64_t size : v.shape.dimensions()) {
    sizes.push_back(size == 0 ? 0
                              : 1 + static_cast<int64_t>(
                                        Below(static_cast<uint64_t>(size))));
    absl::StrAppend(&text, ", ", Need(Shape(ElementType::kS32, {})).name);
  }
  Emit(WithDimensions(v, sizes),
       absl::StrCat(text, "), dynamic_slice_sizes=", Braces(sizes)), v.bound,
       v.exact);
}

void RandomGraph::AddDynamicUpdateSlice() {
  const Value v = PickArray();
  if (v.shape.rank() == 0 || v.shape.num_elements() == 0) return;
  DimensionVector sizes;
  for (int64_t size : v.shape.dimensions()) {
    sizes.push_back(1 +
                    static_cast<int64_t>(Below(static_cast<uint64_t>(size))));
  }
  const Value update = Need(WithDimensions(v, sizes));
  std::string text =
      absl::StrCat("dynamic-update-slice(", v.name, ", ", update.name);
  for (int64_t i = 0; i < v.shape.rank(); ++i) {
    absl::StrAppend(&text, ", ", Need(Shape(ElementType::kS32, {})).name);
  }
  Emit(v.shape, absl::StrCat(text, ")"), std::max(v.bound, update.bound),
       v.exact && update.exact);
}

void RandomGraph::AddGather() {
  const Value v = PickRank(2, false);
  const int64_t rows = OneOf(state_.sizes);
  const int64_t columns = v.shape.dimension(1);
  if (Chance(0.2)) {
    // A row of indices for every row of the operand.
    const int64_t batch = v.shape.dimension(0);
    const Value indices = Need(Shape(ElementType::kS32, {batch, rows}));
    Emit(WithDimensions(v, {batch, rows}),
         absl::StrCat("gather(", v.name, ", ", indices.name,
                      "), offset_dims={}, collapsed_slice_dims={1}, "
                      "start_index_map={1}, operand_batching_dims={0}, "
                      "start_indices_batching_dims={0}, index_vector_dim=2, "
                      "slice_sizes={1,1}"),
         v.bound, v.exact);
    return;
  }
  if (Chance(0.6)) {
    const Value indices = Need(Shape(ElementType::kS32, {rows}));
    Emit(WithDimensions(v, {rows, columns}),
         absl::StrCat("gather(", v.name, ", ", indices.name,
                      "), offset_dims={1}, collapsed_slice_dims={0}, "
                      "start_index_map={0}, index_vector_dim=1, "
                      "slice_sizes={1,",
                      columns, "}"),
         v.bound, v.exact);
    return;
  }
  const Value indices = Need(Shape(ElementType::kS32, {rows, 2}));
  Emit(WithDimensions(v, {rows, 1, columns}),
       absl::StrCat("gather(", v.name, ", ", indices.name,
                    "), offset_dims={1,2}, collapsed_slice_dims={}, "
                    "start_index_map={",
                    OneOf({"0,1", "1,0"}),
                    "}, index_vector_dim=1, slice_sizes={1,", columns, "}"),
       v.bound, v.exact);
}

void RandomGraph::AddScatter() {
  const Value v = PickRank(2, false);
  const ElementType type = v.shape.element_type();
  const int64_t rows = Chance(0.2) ? 1 : OneOf(state_.sizes);
  const Value operand = Tame(v, 4);
  const Value updates =
      Tame(Need(WithDimensions(v, {rows, v.shape.dimension(1)})), 4);
  // If rows replace each other, each index comes once.
  const bool assign = Chance(0.2);
  const Value indices = assign ? Emit(Shape(ElementType::kS32, {rows}),
                                      "iota(), iota_dimension=0", 1, true)
                               : Need(Shape(ElementType::kS32, {rows}));
  const bool sum = Chance(0.5);
  std::string combiner =
      Region(sum ? "add" : OneOf({"maximum", "minimum"}), type);
  if (assign) {
    combiner = NewName("assign");
    const absl::string_view t = hlo::ElementTypeName(type);
    state_.computations.push_back(absl::StrCat(
        combiner, " {\n  a = ", t, "[] parameter(0)\n  ROOT b = ", t,
        "[] parameter(1)\n}\n"));
  }
  Emit(v.shape,
       absl::StrCat(
           "scatter(", operand.name, ", ", indices.name, ", ", updates.name,
           "), update_window_dims={1}, inserted_window_dims={0}, "
           "scatter_dims_to_operand_dims={0}, index_vector_dim=1, ",
           assign ? "unique_indices=true, " : "", "to_apply=", combiner),
       operand.bound + static_cast<double>(rows) * updates.bound, false);
}

void RandomGraph::AddNeutralMovement() {
  const Value v = PickArray();
  const int64_t rank = v.shape.rank();
  DimensionVector identity;
  for (int64_t i = 0; i < rank; ++i) identity.push_back(i);
  switch (Below(8)) {
    case 0:
      Emit(v.shape, absl::StrCat("reshape(", v.name, ")"), v.bound, v.exact);
      return;
    case 1:
      Emit(v.shape,
           absl::StrCat("transpose(", v.name,
                        "), dimensions=", Braces(identity)),
           v.bound, v.exact);
      return;
    case 2:
      Broadcast(v, v.shape, identity);
      return;
    case 3:
      if (rank == 0) return;
      Emit(v.shape, absl::StrCat("concatenate(", v.name, "), dimensions={0}"),
           v.bound, v.exact);
      return;
    case 4: {
      const Value once = Emit(
          v.shape,
          absl::StrCat("reverse(", v.name, "), dimensions=", Braces(identity)),
          v.bound, v.exact);
      Emit(v.shape,
           absl::StrCat("reverse(", once.name,
                        "), dimensions=", Braces(identity)),
           v.bound, v.exact);
      return;
    }
    case 5: {
      // A permutation and its inverse, or another one.
      if (rank < 2) return;
      const DimensionVector there = AnyPermutation(rank);
      DimensionVector back = there;
      for (int64_t i = 0; i < rank; ++i) {
        back[static_cast<size_t>(there[static_cast<size_t>(i)])] = i;
      }
      if (Chance(0.3)) back = AnyPermutation(rank);
      const Value moved = Emit(
          WithDimensions(v, Permuted(v.shape, there)),
          absl::StrCat("transpose(", v.name, "), dimensions=", Braces(there)),
          v.bound, v.exact);
      Emit(WithDimensions(v, Permuted(moved.shape, back)),
           absl::StrCat("transpose(", moved.name,
                        "), dimensions=", Braces(back)),
           v.bound, v.exact);
      return;
    }
    case 6: {
      // Cut in two and put together.
      if (rank == 0 || v.shape.dimension(0) < 2) return;
      const int64_t size = v.shape.dimension(0);
      const int64_t at =
          1 + static_cast<int64_t>(Below(static_cast<uint64_t>(size - 1)));
      const auto part = [&](int64_t start, int64_t limit) {
        DimensionVector dimensions(v.shape.dimensions());
        dimensions[0] = limit - start;
        std::string slice = absl::StrCat("[", start, ":", limit, "]");
        for (int64_t i = 1; i < rank; ++i) {
          absl::StrAppend(&slice, ", [0:", v.shape.dimension(i), "]");
        }
        return Emit(WithDimensions(v, dimensions),
                    absl::StrCat("slice(", v.name, "), slice={", slice, "}"),
                    v.bound, v.exact);
      };
      const Value first = part(0, at);
      const Value second = part(at, size);
      Emit(v.shape,
           absl::StrCat("concatenate(", first.name, ", ", second.name,
                        "), dimensions={0}"),
           v.bound, v.exact);
      return;
    }
    default:
      Emit(v.shape, absl::StrCat("opt-barrier(", v.name, ")"), v.bound,
           v.exact);
  }
}

void RandomGraph::AddMovedElementwise() {
  const Value a = PickFloat();
  if (a.shape.rank() < 2) return;
  const Value b = Need(a.shape);
  const bool transpose = Chance(0.5);
  const DimensionVector permutation = AnyPermutation(a.shape.rank());
  const Shape shape = transpose
                          ? WithDimensions(a, Permuted(a.shape, permutation))
                          : WithDimensions(a, {a.shape.num_elements()});
  const auto move = [&](const Value& v) {
    return Emit(shape,
                transpose ? absl::StrCat("transpose(", v.name,
                                         "), dimensions=", Braces(permutation))
                          : absl::StrCat("reshape(", v.name, ")"),
                v.bound, v.exact);
  };
  const Value x = move(Tame(a, 4));
  const Value y = move(Tame(b, 4));
  Binary(OneOf({"add", "multiply", "maximum"}), x, y,
         std::max(16.0, x.bound + y.bound));
}

void RandomGraph::AddMovedReduce() {
  static constexpr void (RandomGraph::*kMoves[])() = {
      &RandomGraph::AddBroadcast,   &RandomGraph::AddReshape,
      &RandomGraph::AddTranspose,   &RandomGraph::AddPad,
      &RandomGraph::AddConcatenate, &RandomGraph::AddReverse,
      &RandomGraph::AddSlice};
  (this->*kMoves[Below(std::size(kMoves))])();
  if (Chance(0.4)) {
    AddBinary();
  } else {
    AddReduce();
  }
}

}  // namespace hone::testing
