// Padding and concatenation. All exact.
//
//   pad(x, v) → x                            no padding
//   pad(x, v) → broadcast(v)                 x is filled with v, or has no
//                                            elements
//   pad(pad(x, v), v) → pad(x, v)            neither has negative or interior
//                                            padding
//   concatenate(x) → x
//   concatenate(…, empty, …) → concatenate(…, …)
//   concatenate(…, concatenate(x, y), …) → concatenate(…, x, y, …): the same
//     dimension, the inner one has no other user, and the result at most
//     kMaxJoinedOperands operands
//   concatenate(…, slice(x)[a:b], slice(x)[b:c], …) → concatenate(…,
//     slice(x)[a:c], …): adjacent parts of one array, two or more, cut alike
//     elsewhere; one of the slices has no other user
//   concatenate(broadcast(v), x) → pad(x, v), the filling on either side: it
//     has no other user

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/joined_operands.h"

namespace hone::hlo::algsimp {
namespace {

// Returns true if `id` is filled with the scalar `value` (the same instruction,
// or an equal constant).
bool IsFilledWith(const Rewriter& r, InstructionId id, InstructionId value) {
  InstructionId source;
  if (!r.Match(id, m::Broadcast(m::Op(&source)))) return false;
  if (source == value) return true;
  const Literal* a = ConstantLiteral(r.computation(), source);
  const Literal* b = ConstantLiteral(r.computation(), value);
  return a != nullptr && b != nullptr && *a == *b;
}

// Returns the slice that `a` and, behind it along `dimension`, `b` are parts
// of; nullopt if there is none.
std::optional<std::vector<SliceDimension>> Joined(std::vector<SliceDimension> a,
                                                  std::vector<SliceDimension> b,
                                                  size_t dimension) {
  SliceDimension& front = a[dimension];
  SliceDimension& back = b[dimension];
  if (front.stride != 1 || back.stride != 1 || front.limit != back.start) {
    return std::nullopt;
  }
  front.limit = back.limit;
  back = front;
  if (a != b) return std::nullopt;
  return a;
}

// Every run of such slices at once.
bool MergeAdjacentSlices(Rewriter& r, InstructionId id) {
  const int64_t dimension = r[id].dimensions()[0];
  const InstructionIds operands = r[id].operands();
  InstructionIds merged;
  for (size_t begin = 0, end; begin < operands.size(); begin = end) {
    end = begin + 1;
    InstructionId x;
    if (!r.Match(operands[begin], m::Slice(m::Op(&x)))) {
      merged.push_back(operands[begin]);
      continue;
    }
    std::vector<SliceDimension> slice = r[operands[begin]].attributes().slice;
    for (; end < operands.size(); ++end) {
      if (!r.Match(operands[end], m::Slice(m::Same(x)))) break;
      std::optional<std::vector<SliceDimension>> longer =
          Joined(slice, r[operands[end]].attributes().slice,
                 static_cast<size_t>(dimension));
      if (!longer.has_value()) break;
      slice = *std::move(longer);
    }
    const auto first = operands.begin() + static_cast<int64_t>(begin);
    const auto last = operands.begin() + static_cast<int64_t>(end);
    if (end - begin > 1 && std::any_of(first, last, [&](InstructionId part) {
          return r.DiesWith(part, id);
        })) {
      merged.push_back(MakeSlice(r, x, slice));
    } else {
      merged.insert(merged.end(), first, last);
    }
  }
  return merged.size() < operands.size() &&
         r.Replace(id, MakeConcatenate(r, merged, dimension));
}

bool ConcatenateToPad(Rewriter& r, InstructionId id) {
  if (r[id].operand_count() != 2) return false;
  const size_t d = static_cast<size_t>(r[id].dimensions()[0]);
  for (size_t i = 0; i < 2; ++i) {
    const InstructionId filling = r.operand(id, i);
    const InstructionId value = ScalarSource(r.computation(), filling);
    if (value == kNoInstruction || !r.DiesWith(filling, id)) continue;
    std::vector<PaddingDimension> padding(r.dimensions_of(id).size());
    const int64_t size = r.dimensions_of(filling)[d];
    (i == 0 ? padding[d].low : padding[d].high) = size;
    return r.Replace(id, MakePad(r, r.operand(id, 1 - i), value, padding));
  }
  return false;
}

}  // namespace

bool SimplifyPad(Rewriter& r, InstructionId id) {
  InstructionId x = r.operand(id, 0);
  const InstructionId value = r.operand(id, 1);
  std::vector<PaddingDimension> padding = r[id].attributes().padding;
  if (padding == std::vector<PaddingDimension>(padding.size())) {
    return r.Replace(id, x);
  }
  if (IsFilledWith(r, x, value) || r.shape(x).num_elements() == 0) {
    return r.Replace(id, MakeBroadcast(r, value, r.dimensions_of(id), {}));
  }
  const std::vector<PaddingDimension>& inner = r[x].attributes().padding;
  if (!r.Match(x, m::Pad(m::Op(&x), m::Same(value)))) return false;
  for (size_t i = 0; i < padding.size(); ++i) {
    for (const PaddingDimension& p : {inner[i], padding[i]}) {
      if (p.interior != 0 || p.low < 0 || p.high < 0) return false;
    }
    padding[i].low += inner[i].low;
    padding[i].high += inner[i].high;
  }
  return r.Replace(id, MakePad(r, x, value, padding));
}

bool SimplifyConcatenate(Rewriter& r, InstructionId id) {
  const InstructionIds& operands = r[id].operands();
  if (operands.size() == 1) return r.Replace(id, operands[0]);
  const auto joins = [&](InstructionId operand) {
    return r.Is(operand, Opcode::kConcatenate) &&
           r[operand].dimensions() == r[id].dimensions() &&
           r.DiesWith(operand, id);
  };
  InstructionIds full;  // those that are not empty
  size_t joined = 0;
  for (InstructionId operand : operands) {
    if (r.shape(operand).num_elements() == 0) continue;
    full.push_back(operand);
    joined += joins(operand) ? r[operand].operand_count() : 1;
  }
  InstructionIds flat;
  for (InstructionId operand : full) {
    if (joined <= kMaxJoinedOperands && joins(operand)) {
      const InstructionIds& inner = r[operand].operands();
      flat.insert(flat.end(), inner.begin(), inner.end());
    } else {
      flat.push_back(operand);
    }
  }
  if (!flat.empty() && flat != operands) {
    return r.Replace(id, MakeConcatenate(r, flat, r[id].dimensions()[0]));
  }
  return MergeAdjacentSlices(r, id) || ConcatenateToPad(r, id);
}

}  // namespace hone::hlo::algsimp
