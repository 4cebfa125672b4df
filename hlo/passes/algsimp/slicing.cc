#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/passes/algsimp/rules.h"

namespace hone::hlo::algsimp {
namespace {

using SliceDimensions = std::vector<SliceDimension>;

// slice(concatenate(…, x, …)) → slice(x): the slice lies within one operand.
bool SliceOfConcatenate(Rewriter& r, InstructionId id) {
  const InstructionId concatenate = r.operand(id, 0);
  const size_t d = static_cast<size_t>(r[concatenate].dimensions()[0]);
  SliceDimensions slice = r[id].attributes().slice;
  int64_t offset = 0;
  for (InstructionId operand : r[concatenate].operands()) {
    const int64_t size = r.dimensions_of(operand)[d];
    if (slice[d].start >= offset && slice[d].limit <= offset + size) {
      slice[d].start -= offset;
      slice[d].limit -= offset;
      return r.Replace(id, MakeSlice(r, operand, slice));
    }
    offset += size;
  }
  return false;
}

// slice(pad(x)) → slice(x): the slice keeps clear of the padding and the
// padding has no interior.
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

// slice(broadcast(x)) → broadcast(x): only dimensions that the broadcast made
// are cut.
bool SliceOfBroadcast(Rewriter& r, InstructionId id) {
  const InstructionId broadcast = r.operand(id, 0);
  const DimensionVector& mapping = r[broadcast].dimensions();
  for (int64_t d : mapping) {
    if (r.shape(broadcast).dimension(d) != r.shape(id).dimension(d)) {
      return false;
    }
  }
  return r.Replace(id, MakeBroadcast(r, r.operand(broadcast, 0),
                                     r.dimensions_of(id), mapping));
}

// slice(iota) → iota: the counted dimension is cut at its end at most.
bool SliceOfIota(Rewriter& r, InstructionId id) {
  const InstructionId iota = r.operand(id, 0);
  const SliceDimension& counted =
      r[id].attributes().slice[static_cast<size_t>(r[iota].dimensions()[0])];
  if (counted.start != 0 || counted.stride != 1) return false;
  return r.ReplaceWith(id, Instruction(Opcode::kIota, r[id].shape_ptr(), {},
                                       r[iota].attributes_ptr()));
}

// Whether `id` is filled with the scalar `value` (the same instruction, or an
// equal constant).
bool IsFilledWith(const Rewriter& r, InstructionId id, InstructionId value) {
  if (!r.Is(id, Opcode::kBroadcast)) return false;
  const InstructionId source = r.operand(id, 0);
  if (source == value) return true;
  const Literal* a = ConstantLiteral(r.computation(), source);
  const Literal* b = ConstantLiteral(r.computation(), value);
  return a != nullptr && b != nullptr && *a == *b;
}

// concatenate(…, slice(x)[a:b], slice(x)[b:c], …) → concatenate(…,
// slice(x)[a:c], …): adjacent parts of one array, cut alike elsewhere. The
// first such pair; when one of the slices goes with it.
bool MergeAdjacentSlices(Rewriter& r, InstructionId id) {
  const size_t d = static_cast<size_t>(r[id].dimensions()[0]);
  const InstructionIds operands = r[id].operands();
  for (size_t i = 0; i + 1 < operands.size(); ++i) {
    const InstructionId first = operands[i];
    const InstructionId second = operands[i + 1];
    if (!r.Is(first, Opcode::kSlice) || !r.Is(second, Opcode::kSlice) ||
        r.operand(first, 0) != r.operand(second, 0) ||
        !(r.DiesWith(first, id) || r.DiesWith(second, id))) {
      continue;
    }
    SliceDimensions a = r[first].attributes().slice;
    SliceDimensions b = r[second].attributes().slice;
    if (a[d].stride != 1 || b[d].stride != 1 || a[d].limit != b[d].start) {
      continue;
    }
    const int64_t limit = b[d].limit;
    b[d] = a[d];
    if (a != b) continue;
    a[d].limit = limit;
    InstructionIds merged(operands.begin(), operands.end());
    merged[i] = MakeSlice(r, r.operand(first, 0), a);
    merged.erase(merged.begin() + static_cast<int64_t>(i) + 1);
    return r.ReplaceWith(
        id, Instruction(Opcode::kConcatenate, r[id].shape_ptr(), merged,
                        r[id].attributes_ptr()));
  }
  return false;
}

// concatenate(broadcast(value), x) → pad(x, value), the filling on either side:
// when the filling goes with it.
bool ConcatenateToPad(Rewriter& r, InstructionId id) {
  if (r[id].operand_count() != 2) return false;
  const size_t d = static_cast<size_t>(r[id].dimensions()[0]);
  for (size_t i = 0; i < 2; ++i) {
    const InstructionId filling = r.operand(id, i);
    const InstructionId x = r.operand(id, 1 - i);
    const InstructionId value = ScalarSource(r.computation(), filling);
    if (value == kNoInstruction || !r.DiesWith(filling, id)) continue;
    auto attributes = std::make_shared<Attributes>();
    attributes->padding.resize(r.dimensions_of(id).size());
    const int64_t size = r.dimensions_of(filling)[d];
    (i == 0 ? attributes->padding[d].low : attributes->padding[d].high) = size;
    return r.ReplaceWith(id, Instruction(Opcode::kPad, r[id].shape_ptr(),
                                         {x, value}, std::move(attributes)));
  }
  return false;
}

}  // namespace

// slice(x) → x: everything
// slice(slice(x)) → slice(x)
// SliceOfConcatenate, SliceOfPad, SliceOfBroadcast, SliceOfIota
bool SimplifySlice(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  if (r.dimensions_of(x) == r.dimensions_of(id)) return r.Replace(id, x);
  switch (r[x].opcode()) {
    case Opcode::kSlice: {
      SliceDimensions slice = r[id].attributes().slice;
      const SliceDimensions& inner = r[x].attributes().slice;
      for (size_t i = 0; i < slice.size(); ++i) {
        const int64_t size = r.dimensions_of(id)[i];
        slice[i].start = inner[i].start + slice[i].start * inner[i].stride;
        slice[i].stride *= inner[i].stride;
        slice[i].limit =
            size == 0 ? slice[i].start
                      : slice[i].start + (size - 1) * slice[i].stride + 1;
      }
      return r.Replace(id, MakeSlice(r, r.operand(x, 0), slice));
    }
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

// pad(x, v) → x: no padding
// pad(x, v) → broadcast(v): x is filled with v, or has no elements
// pad(pad(x, v), v) → pad(x, v): neither has negative or interior padding
bool SimplifyPad(Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const InstructionId value = r.operand(id, 1);
  const std::vector<PaddingDimension>& padding = r[id].attributes().padding;
  const auto is_none = [](const PaddingDimension& p) {
    return p == PaddingDimension{};
  };
  if (std::all_of(padding.begin(), padding.end(), is_none)) {
    return r.Replace(id, x);
  }
  if (IsFilledWith(r, x, value) || r.shape(x).num_elements() == 0) {
    return r.Replace(id, MakeBroadcast(r, value, r.dimensions_of(id), {}));
  }
  if (!r.Is(x, Opcode::kPad) || r.operand(x, 1) != value) return false;
  auto attributes = std::make_shared<Attributes>();
  attributes->padding = padding;
  for (size_t i = 0; i < padding.size(); ++i) {
    const PaddingDimension& inner = r[x].attributes().padding[i];
    PaddingDimension& merged = attributes->padding[i];
    if (inner.interior != 0 || merged.interior != 0 || inner.low < 0 ||
        inner.high < 0 || merged.low < 0 || merged.high < 0) {
      return false;
    }
    merged.low += inner.low;
    merged.high += inner.high;
  }
  return r.ReplaceWith(
      id, Instruction(Opcode::kPad, r[id].shape_ptr(), {r.operand(x, 0), value},
                      std::move(attributes)));
}

// concatenate(x) → x
// concatenate(…, empty, …) → concatenate(…, …)
// concatenate(…, concatenate(x, y), …) → concatenate(…, x, y, …): same
// dimension, and the inner one has no other user
// MergeAdjacentSlices, ConcatenateToPad
bool SimplifyConcatenate(Rewriter& r, InstructionId id) {
  const Instruction& instruction = r[id];
  if (instruction.operand_count() == 1) {
    return r.Replace(id, instruction.operand(0));
  }
  InstructionIds flat;
  bool changed = false;
  for (InstructionId operand : instruction.operands()) {
    if (r.shape(operand).num_elements() == 0) {
      changed = true;
    } else if (r.Is(operand, Opcode::kConcatenate) &&
               r[operand].dimensions() == instruction.dimensions() &&
               r.DiesWith(operand, id)) {
      flat.insert(flat.end(), r[operand].operands().begin(),
                  r[operand].operands().end());
      changed = true;
    } else {
      flat.push_back(operand);
    }
  }
  if (changed && !flat.empty()) {
    return r.ReplaceWith(
        id, Instruction(Opcode::kConcatenate, instruction.shape_ptr(), flat,
                        instruction.attributes_ptr()));
  }
  return MergeAdjacentSlices(r, id) || ConcatenateToPad(r, id);
}

}  // namespace hone::hlo::algsimp
