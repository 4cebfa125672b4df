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
//     dimension, and the inner one has no other user
//   concatenate(…, slice(x)[a:b], slice(x)[b:c], …) → concatenate(…,
//     slice(x)[a:c], …): adjacent parts of one array, cut alike elsewhere; one
//     of the slices has no other user
//   concatenate(broadcast(v), x) → pad(x, v), the filling on either side: it
//     has no other user

#include <algorithm>
#include <vector>

#include "hlo/passes/algsimp/rules.h"

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

// The first such pair.
bool MergeAdjacentSlices(Rewriter& r, InstructionId id) {
  const int64_t dimension = r[id].dimensions()[0];
  const size_t d = static_cast<size_t>(dimension);
  InstructionIds operands = r[id].operands();
  for (size_t i = 0; i + 1 < operands.size(); ++i) {
    InstructionId x;
    if (!r.Match(operands[i], m::Slice(m::Op(&x))) ||
        !r.Match(operands[i + 1], m::Slice(m::Same(x))) ||
        !(r.DiesWith(operands[i], id) || r.DiesWith(operands[i + 1], id))) {
      continue;
    }
    std::vector<SliceDimension> a = r[operands[i]].attributes().slice;
    std::vector<SliceDimension> b = r[operands[i + 1]].attributes().slice;
    if (a[d].stride != 1 || b[d].stride != 1 || a[d].limit != b[d].start) {
      continue;
    }
    a[d].limit = b[d].limit;
    b[d] = a[d];
    if (a != b) continue;
    operands[i] = MakeSlice(r, x, a);
    operands.erase(operands.begin() + static_cast<int64_t>(i) + 1);
    return r.Replace(id, MakeConcatenate(r, operands, dimension));
  }
  return false;
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
  InstructionIds flat;
  for (InstructionId operand : operands) {
    if (r.shape(operand).num_elements() == 0) continue;
    if (r.Is(operand, Opcode::kConcatenate) &&
        r[operand].dimensions() == r[id].dimensions() &&
        r.DiesWith(operand, id)) {
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
