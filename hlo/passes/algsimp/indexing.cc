#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

// If `indices` is a reshape that appends or drops a last dimension of size 1
// which stands for the index vector, what it reshapes: an index_vector_dim
// behind the last dimension means the same. kNoInstruction otherwise.
InstructionId WithoutVectorReshape(const Rewriter& r, InstructionId indices,
                                   int64_t index_vector_dim) {
  if (!r.Is(indices, Opcode::kReshape)) return kNoInstruction;
  const InstructionId source = r.operand(indices, 0);
  const DimensionVector& a = r.dimensions_of(source);
  const DimensionVector& b = r.dimensions_of(indices);
  DimensionVector shorter = a.size() < b.size() ? a : b;
  if (index_vector_dim != static_cast<int64_t>(shorter.size())) {
    return kNoInstruction;
  }
  shorter.push_back(1);
  return shorter == (a.size() < b.size() ? b : a) ? source : kNoInstruction;
}

// A dimension of size 1 that a reshape inserts into the result of a gather (or,
// read backwards, drops from the updates of a scatter), and the window
// dimension of the operand that it can stand for.
struct Insertion {
  // Where the dimension is in the longer shape.
  int64_t position;
  // A collapsed dimension of the operand.
  int64_t window_dim;
};

// `offset_dims` are the window's dimensions within `shorter`, `collapsed` and
// `batching` the dimensions of the operand that are not among them. Window
// dimensions keep the operand's order, which decides what may go where.
std::optional<Insertion> FindInsertion(const DimensionVector& shorter,
                                       const DimensionVector& longer,
                                       const DimensionVector& offset_dims,
                                       const DimensionVector& collapsed,
                                       const DimensionVector& batching) {
  if (longer.size() != shorter.size() + 1) return std::nullopt;
  for (size_t p = 0; p < longer.size(); ++p) {
    DimensionVector without = longer;
    without.erase(without.begin() + static_cast<int64_t>(p));
    if (longer[p] != 1 || without != shorter) continue;
    const int64_t position = static_cast<int64_t>(p);
    // Window dimensions in front of the new one, in the result and, for each
    // choice, in the operand.
    const int64_t in_front =
        std::count_if(offset_dims.begin(), offset_dims.end(),
                      [&](int64_t offset) { return offset < position; });
    for (int64_t window_dim : collapsed) {
      const auto is_before = [&](int64_t d) { return d < window_dim; };
      const int64_t kept_in_front =
          window_dim -
          std::count_if(collapsed.begin(), collapsed.end(), is_before) -
          std::count_if(batching.begin(), batching.end(), is_before);
      if (kept_in_front == in_front) return Insertion{position, window_dim};
    }
  }
  return std::nullopt;
}

void Insert(const Insertion& insertion, DimensionVector& offset_dims,
            DimensionVector& collapsed) {
  for (int64_t& offset : offset_dims) {
    if (offset >= insertion.position) ++offset;
  }
  offset_dims.insert(std::upper_bound(offset_dims.begin(), offset_dims.end(),
                                      insertion.position),
                     insertion.position);
  collapsed.erase(
      std::find(collapsed.begin(), collapsed.end(), insertion.window_dim));
}

// The constant start indices of a dynamic-slice or dynamic-update-slice, whose
// index operands start at `first`, moved into bounds for a window of
// `window_sizes`; nullopt when one is not constant.
std::optional<DimensionVector> ConstantStarts(
    const Rewriter& r, InstructionId id, size_t first,
    absl::Span<const int64_t> window_sizes) {
  const DimensionVector& bounds = r.dimensions_of(r.operand(id, 0));
  if (r[id].operand_count() != first + bounds.size()) return std::nullopt;
  DimensionVector starts;
  for (size_t i = 0; i < bounds.size(); ++i) {
    const InstructionId index = r.operand(id, first + i);
    const int64_t last = bounds[i] - window_sizes[i];
    if (last == 0) {
      starts.push_back(0);
      continue;
    }
    const Literal* literal = UniformLiteral(r.computation(), index);
    if (literal == nullptr || !r.shape(index).IsScalar()) return std::nullopt;
    const int64_t start = literal->AsInt(0);
    const bool beyond =
        literal->shape().element_type() == ElementType::kU64 && start < 0;
    starts.push_back(beyond ? last : std::clamp<int64_t>(start, 0, last));
  }
  return starts;
}

// Whether two instructions have the same index operands from these on.
bool SameIndices(const Rewriter& r, InstructionId a, size_t first_a,
                 InstructionId b, size_t first_b) {
  const InstructionIds& x = r[a].operands();
  const InstructionIds& y = r[b].operands();
  return std::equal(x.begin() + static_cast<int64_t>(first_a), x.end(),
                    y.begin() + static_cast<int64_t>(first_b), y.end());
}

}  // namespace

// reshape(gather(x, i)) → gather(x, i): the reshape inserts one dimension of
// size 1, which is one that the gather collapsed and now keeps. When the gather
// has no other user.
bool ReshapeOfGather(Rewriter& r, InstructionId id) {
  const InstructionId gather = r.operand(id, 0);
  if (r[gather].attributes().gather == nullptr || !r.DiesWith(gather, id)) {
    return false;
  }
  GatherDimensions d = *r[gather].attributes().gather;
  const std::optional<Insertion> insertion =
      FindInsertion(r.dimensions_of(gather), r.dimensions_of(id), d.offset_dims,
                    d.collapsed_slice_dims, d.operand_batching_dims);
  if (!insertion.has_value()) return false;
  Insert(*insertion, d.offset_dims, d.collapsed_slice_dims);
  auto attributes = std::make_shared<Attributes>(r[gather].attributes());
  attributes->gather = std::make_shared<GatherDimensions>(std::move(d));
  return r.ReplaceWith(
      id, Instruction(Opcode::kGather, r[id].shape_ptr(), r[gather].operands(),
                      std::move(attributes)));
}

// gather(x, reshape(i)) → gather(x, i): the reshape only appends or drops the
// dimension of a one-element index vector
bool SimplifyGather(Rewriter& r, InstructionId id) {
  const Attributes& attributes = r[id].attributes();
  if (attributes.gather == nullptr) return false;
  const InstructionId indices = WithoutVectorReshape(
      r, r.operand(id, 1), attributes.gather->index_vector_dim);
  if (indices == kNoInstruction) return false;
  return r.ReplaceWith(
      id, Instruction(Opcode::kGather, r[id].shape_ptr(),
                      {r.operand(id, 0), indices}, r[id].attributes_ptr()));
}

namespace {

// scatter(x, i, reshape(u)) → scatter(x, i, u): the reshape drops one dimension
// of size 1, in whose place the scatter inserted one.
bool ScatterOfReshape(Rewriter& r, InstructionId id) {
  if (r[id].operand_count() != 3) return false;
  const InstructionId reshape = r.operand(id, 2);
  if (!r.Is(reshape, Opcode::kReshape)) return false;
  const InstructionId updates = r.operand(reshape, 0);
  ScatterDimensions d = *r[id].attributes().scatter;
  const std::optional<Insertion> insertion = FindInsertion(
      r.dimensions_of(reshape), r.dimensions_of(updates), d.update_window_dims,
      d.inserted_window_dims, d.input_batching_dims);
  if (!insertion.has_value()) return false;
  Insert(*insertion, d.update_window_dims, d.inserted_window_dims);
  auto attributes = std::make_shared<Attributes>(r[id].attributes());
  attributes->scatter = std::make_shared<ScatterDimensions>(std::move(d));
  Instruction scatter(Opcode::kScatter, r[id].shape_ptr(),
                      {r.operand(id, 0), r.operand(id, 1), updates},
                      std::move(attributes));
  scatter.set_called(r[id].called());
  return r.ReplaceWith(id, std::move(scatter));
}

}  // namespace

// scatter(x, reshape(i), u) → scatter(x, i, u): as for gather
// ScatterOfReshape
bool SimplifyScatter(Rewriter& r, InstructionId id) {
  const Attributes& attributes = r[id].attributes();
  if (attributes.scatter == nullptr) return false;
  const size_t position = r[id].operand_count() / 2;
  const InstructionId indices = WithoutVectorReshape(
      r, r.operand(id, position), attributes.scatter->index_vector_dim);
  if (indices == kNoInstruction) return ScatterOfReshape(r, id);
  InstructionIds operands = r[id].operands();
  operands[position] = indices;
  Instruction scatter(Opcode::kScatter, r[id].shape_ptr(), operands,
                      r[id].attributes_ptr());
  scatter.set_called(r[id].called());
  return r.ReplaceWith(id, std::move(scatter));
}

// dynamic-slice(x) → x: all of it
// dynamic-slice(broadcast(x)) → broadcast(x): only dimensions that the
// broadcast made are cut
// dynamic-slice(x, constants) → slice(x)
bool SimplifyDynamicSlice(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const DimensionVector& sizes = r.dimensions_of(id);
  if (r.dimensions_of(x) == sizes) return r.Replace(id, x);
  if (r.Is(x, Opcode::kBroadcast)) {
    const DimensionVector& mapping = r[x].dimensions();
    const bool keeps_source =
        std::all_of(mapping.begin(), mapping.end(), [&](int64_t d) {
          return r.shape(x).dimension(d) == r.shape(id).dimension(d);
        });
    if (keeps_source) {
      return r.Replace(id, MakeBroadcast(r, r.operand(x, 0), sizes, mapping));
    }
  }
  const std::optional<DimensionVector> starts = ConstantStarts(r, id, 1, sizes);
  if (!starts.has_value()) return false;
  std::vector<SliceDimension> slice;
  for (size_t i = 0; i < sizes.size(); ++i) {
    slice.push_back({(*starts)[i], (*starts)[i] + sizes[i], 1});
  }
  return r.Replace(id, MakeSlice(r, x, slice));
}

// dynamic-update-slice(x, u) → u: all of x replaced
// dynamic-update-slice(x, u) → x: u has no elements, or is that very slice
// dynamic-update-slice(broadcast(v), u, constants) → pad(u, v)
bool SimplifyDynamicUpdateSlice(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const InstructionId update = r.operand(id, 1);
  const DimensionVector& sizes = r.dimensions_of(update);
  if (r.dimensions_of(x) == sizes) return r.Replace(id, update);
  if (r.shape(update).num_elements() == 0 ||
      (r.Is(update, Opcode::kDynamicSlice) && r.operand(update, 0) == x &&
       SameIndices(r, id, 2, update, 1))) {
    return r.Replace(id, x);
  }
  const InstructionId value = ScalarSource(r.computation(), x);
  if (value == kNoInstruction) return false;
  const std::optional<DimensionVector> starts = ConstantStarts(r, id, 2, sizes);
  if (!starts.has_value()) return false;
  auto attributes = std::make_shared<Attributes>();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t low = (*starts)[i];
    attributes->padding.push_back(
        {low, r.dimensions_of(id)[i] - sizes[i] - low, 0});
  }
  return r.ReplaceWith(id, Instruction(Opcode::kPad, r[id].shape_ptr(),
                                       {update, value}, std::move(attributes)));
}

}  // namespace hone::hlo::algsimp
