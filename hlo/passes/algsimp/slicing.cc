// Slices, static and dynamic. All exact.
//
//   slice(x) → x                             everything
//   slice(slice(x)) → slice(x)
//   slice(concatenate(…, x, …)) → slice(x)   it lies within one operand
//   slice(pad(x)) → slice(x)                 it keeps clear of the padding, of
//                                            which none is interior
//   slice(broadcast(x)) → broadcast(x)       only dimensions that the broadcast
//     made are cut; likewise dynamic-slice
//   slice(iota) → iota                       the counted dimension is cut at
//                                            its end at most
//   dynamic-slice(x) → x                     all of it
//   dynamic-slice(x, constants) → slice(x)
//   dynamic-update-slice(x, u) → u           all of x replaced
//   dynamic-update-slice(x, u) → x           u has no elements, or is that very
//                                            slice
//   dynamic-update-slice(broadcast(v), u, constants) → pad(u, v)
//
// Start indices out of bounds are moved into them first, whatever their type.

#include <algorithm>
#include <optional>
#include <vector>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

using SliceDimensions = std::vector<SliceDimension>;

bool SliceOfSlice(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  SliceDimensions slice = r[id].attributes().slice;
  const SliceDimensions& inner = r[x].attributes().slice;
  for (size_t i = 0; i < slice.size(); ++i) {
    const int64_t size = r.dimensions_of(id)[i];
    if (size == 0) {
      slice[i] = {};
      continue;
    }
    slice[i].start = inner[i].start + slice[i].start * inner[i].stride;
    slice[i].stride = size == 1 ? 1 : slice[i].stride * inner[i].stride;
    slice[i].limit = slice[i].start + (size - 1) * slice[i].stride + 1;
  }
  return r.Replace(id, MakeSlice(r, r.operand(x, 0), slice));
}

bool SliceOfConcatenate(Rewriter& r, InstructionId id) {
  const InstructionId concatenate = r.operand(id, 0);
  const size_t d = static_cast<size_t>(r[concatenate].dimensions()[0]);
  SliceDimensions slice = r[id].attributes().slice;
  for (InstructionId operand : r[concatenate].operands()) {
    const int64_t size = r.dimensions_of(operand)[d];
    if (slice[d].start >= 0 && slice[d].limit <= size) {
      return r.Replace(id, MakeSlice(r, operand, slice));
    }
    slice[d].start -= size;
    slice[d].limit -= size;
  }
  return false;
}

bool SliceOfPad(Rewriter& r, InstructionId id) {
  const InstructionId pad = r.operand(id, 0);
  const InstructionId x = r.operand(pad, 0);
  const std::vector<PaddingDimension>& padding = r[pad].attributes().padding;
  SliceDimensions slice = r[id].attributes().slice;
  for (size_t i = 0; i < slice.size(); ++i) {
    slice[i].start -= padding[i].low;
    slice[i].limit -= padding[i].low;
    if (padding[i].interior != 0 || slice[i].start < 0 ||
        slice[i].limit > r.dimensions_of(x)[i]) {
      return false;
    }
  }
  return r.Replace(id, MakeSlice(r, x, slice));
}

// Of a slice or dynamic-slice.
bool SliceOfBroadcast(Rewriter& r, InstructionId id) {
  const InstructionId broadcast = r.operand(id, 0);
  const DimensionVector& mapping = r[broadcast].dimensions();
  const bool keeps_source =
      std::all_of(mapping.begin(), mapping.end(), [&](int64_t d) {
        return r.shape(broadcast).dimension(d) == r.shape(id).dimension(d);
      });
  return keeps_source &&
         r.Replace(id, MakeBroadcast(r, r.operand(broadcast, 0),
                                     r.dimensions_of(id), mapping));
}

bool SliceOfIota(Rewriter& r, InstructionId id) {
  const int64_t counted = r[r.operand(id, 0)].dimensions()[0];
  const SliceDimension& slice =
      r[id].attributes().slice[static_cast<size_t>(counted)];
  return slice.start == 0 && slice.stride == 1 &&
         r.Replace(id, MakeIota(r, r.shape(id).element_type(),
                                r.dimensions_of(id), counted));
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
    const Literal* literal;
    if (last == 0) {
      starts.push_back(0);
      continue;
    }
    if (!r.shape(index).IsScalar() || !r.Match(index, m::Uniform(&literal))) {
      return std::nullopt;
    }
    const int64_t start = literal->AsInt(0);
    const bool beyond =
        literal->shape().element_type() == ElementType::kU64 && start < 0;
    starts.push_back(beyond ? last : std::clamp<int64_t>(start, 0, last));
  }
  return starts;
}

}  // namespace

bool SimplifySlice(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  if (r.dimensions_of(x) == r.dimensions_of(id)) return r.Replace(id, x);
  switch (r[x].opcode()) {
    case Opcode::kSlice:
      return SliceOfSlice(r, id);
    case Opcode::kConcatenate:
      return SliceOfConcatenate(r, id);
    case Opcode::kPad:
      return SliceOfPad(r, id);
    case Opcode::kBroadcast:
      return SliceOfBroadcast(r, id);
    case Opcode::kIota:
      return SliceOfIota(r, id);
    default:
      return false;
  }
}

bool SimplifyDynamicSlice(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const DimensionVector& sizes = r.dimensions_of(id);
  if (r.dimensions_of(x) == sizes) return r.Replace(id, x);
  if (r.Is(x, Opcode::kBroadcast) && SliceOfBroadcast(r, id)) return true;
  const std::optional<DimensionVector> starts = ConstantStarts(r, id, 1, sizes);
  if (!starts.has_value()) return false;
  SliceDimensions slice;
  for (size_t i = 0; i < sizes.size(); ++i) {
    slice.push_back({(*starts)[i], (*starts)[i] + sizes[i], 1});
  }
  return r.Replace(id, MakeSlice(r, x, slice));
}

bool SimplifyDynamicUpdateSlice(Rewriter& r, InstructionId id) {
  const InstructionIds& operands = r[id].operands();
  const InstructionId x = operands[0];
  const InstructionId update = operands[1];
  const DimensionVector& sizes = r.dimensions_of(update);
  if (r.dimensions_of(x) == sizes) return r.Replace(id, update);
  const InstructionIds& slice = r[update].operands();
  if (r.shape(update).num_elements() == 0 ||
      (r.Is(update, Opcode::kDynamicSlice) && slice[0] == x &&
       std::equal(operands.begin() + 2, operands.end(), slice.begin() + 1,
                  slice.end()))) {
    return r.Replace(id, x);
  }
  const InstructionId value = ScalarSource(r.computation(), x);
  const std::optional<DimensionVector> starts = ConstantStarts(r, id, 2, sizes);
  if (value == kNoInstruction || !starts.has_value()) return false;
  std::vector<PaddingDimension> padding;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t low = (*starts)[i];
    padding.push_back({low, r.dimensions_of(id)[i] - sizes[i] - low, 0});
  }
  return r.Replace(id, MakePad(r, update, value, padding));
}

}  // namespace hone::hlo::algsimp
