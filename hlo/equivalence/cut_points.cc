#include "hlo/equivalence/cut_points.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hone::hlo {
namespace {

// Elements of a cheap value.
constexpr int64_t kMaxElements = 4096;
// Values of either module that are paired, the last ones first: what arrays are
// made of comes last in a chain of scalars.
constexpr size_t kMaxValues = 128;

bool IsSmall(const Shape& shape) {
  if (shape.IsTuple()) {
    return std::all_of(shape.tuple_elements().begin(),
                       shape.tuple_elements().end(),
                       [](const auto& element) { return IsSmall(*element); });
  }
  return shape.IsArray() && shape.num_elements() <= kMaxElements;
}

bool IsPaired(const Shape& shape) {
  return shape.IsArray() && shape.num_elements() > 0 &&
         !IsComplex(shape.element_type());
}

// Returns true if the values are equal but for rounding.
bool AreClose(const Literal& a, const Literal& b) {
  const ElementType type = a.shape().element_type();
  double tolerance = 0;
  if (IsFloat(type)) tolerance = BitWidth(type) <= 16 ? 0.05 : 1e-3;
  double scale = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    for (double value : {a.AsDouble(i), b.AsDouble(i)}) {
      if (std::isfinite(value)) scale = std::max(scale, std::fabs(value));
    }
  }
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const double x = a.AsDouble(i);
    const double y = b.AsDouble(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!(std::fabs(x - y) <= tolerance * scale)) return false;
  }
  return true;
}

}  // namespace

std::vector<bool> FindCheap(const Module& module) {
  const Computation& entry = module.entry_computation();
  std::vector<bool> cheap(static_cast<size_t>(entry.slot_count()));
  for (InstructionId id : entry.PostOrder()) {
    const Instruction& instruction = entry[id];
    cheap[static_cast<size_t>(id)] =
        IsSmall(instruction.shape()) &&
        std::all_of(instruction.operands().begin(),
                    instruction.operands().end(), [&](InstructionId operand) {
                      return cheap[static_cast<size_t>(operand)];
                    });
  }
  return cheap;
}

CutPoints::CutPoints(const Module& merged, const Influence& influence,
                     const Sharing& sharing, const std::vector<bool>& cheap) {
  const Computation& entry = merged.entry_computation();
  const auto is_cheap = [&](InstructionId id) {
    return cheap[static_cast<size_t>(id)];
  };
  std::vector<InstructionId> of_a;
  std::vector<InstructionId> of_b;
  const std::vector<InstructionId> order = entry.PostOrder();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const InstructionId id = *it;
    const Instruction& instruction = entry[id];
    if (!is_cheap(id) || !IsPaired(instruction.shape()) ||
        influence.Of(merged.entry(), id) == 0) {
      continue;
    }
    // Of small arrays those that something else is made of.
    if (instruction.shape().num_elements() > 1 &&
        std::all_of(instruction.users().begin(), instruction.users().end(),
                    [&](InstructionId user) {
                      return user != entry.root() && is_cheap(user);
                    })) {
      continue;
    }
    if (sharing.IsOfAAlone(id) && of_a.size() < kMaxValues) of_a.push_back(id);
    if (sharing.IsOfBAlone(id) && of_b.size() < kMaxValues) of_b.push_back(id);
  }
  for (const auto& [a, b] : sharing.differing()) {
    if (is_cheap(a) && is_cheap(b) && IsPaired(entry[a].shape())) {
      pairs_.emplace_back(a, b);
    }
  }
  for (InstructionId a : of_a) {
    for (InstructionId b : of_b) {
      if (Shape::Equal(entry[a].shape(), entry[b].shape())) {
        pairs_.emplace_back(a, b);
      }
    }
  }
}

std::vector<InstructionId> CutPoints::instructions() const {
  std::vector<InstructionId> ids;
  for (const auto& [a, b] : pairs_) {
    ids.push_back(a);
    ids.push_back(b);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

void CutPoints::Learn(const Values& values) {
  std::erase_if(pairs_, [&](const auto& pair) {
    return !AreClose(values(pair.first), values(pair.second));
  });
}

std::vector<bool> CutPoints::Differing(const Values& values) const {
  std::vector<bool> differing;
  differing.reserve(pairs_.size());
  for (const auto& [a, b] : pairs_) {
    differing.push_back(!AreClose(values(a), values(b)));
  }
  return differing;
}

}  // namespace hone::hlo
