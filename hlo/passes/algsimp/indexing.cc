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

// scatter(x, reshape(i), u) → scatter(x, i, u): as for gather
bool SimplifyScatter(Rewriter& r, InstructionId id) {
  const Attributes& attributes = r[id].attributes();
  if (attributes.scatter == nullptr) return false;
  const size_t position = r[id].operand_count() / 2;
  const InstructionId indices = WithoutVectorReshape(
      r, r.operand(id, position), attributes.scatter->index_vector_dim);
  if (indices == kNoInstruction) return false;
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
      return r.ReplaceWith(
          id, MakeBroadcast(r.computation(), r.operand(x, 0), sizes, mapping));
    }
  }
  const std::optional<DimensionVector> starts = ConstantStarts(r, id, 1, sizes);
  if (!starts.has_value()) return false;
  std::vector<SliceDimension> slice;
  for (size_t i = 0; i < sizes.size(); ++i) {
    slice.push_back({(*starts)[i], (*starts)[i] + sizes[i], 1});
  }
  return r.ReplaceWith(id, MakeSlice(r.computation(), x, slice));
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
