#include "hlo/analysis/structural_equality.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/types/span.h"

namespace hone::hlo {
namespace {

size_t HashLiteral(const Literal& literal) {
  if (literal.is_elided() || !literal.shape().IsArray()) return 0;
  constexpr int64_t kMaxBytes = 1024;
  const int64_t size = std::min(literal.byte_size(), kMaxBytes);
  return absl::HashOf(
      absl::MakeConstSpan(literal.data(), static_cast<size_t>(size)));
}

// A computation with its instructions numbered in post order.
struct Numbered {
  const Computation* computation;
  std::vector<InstructionId> order;
  // The position in `order` of each slot.
  std::vector<int32_t> position;

  explicit Numbered(const Computation& c)
      : computation(&c),
        order(c.PostOrder()),
        position(static_cast<size_t>(c.slot_count()), -1) {
    for (size_t i = 0; i < order.size(); ++i) {
      position[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
    }
  }

  int32_t PositionOf(InstructionId id) const {
    return position[static_cast<size_t>(id)];
  }
};

bool SamePositions(const Numbered& a, absl::Span<const InstructionId> a_ids,
                   const Numbered& b, absl::Span<const InstructionId> b_ids) {
  return std::equal(a_ids.begin(), a_ids.end(), b_ids.begin(), b_ids.end(),
                    [&](InstructionId x, InstructionId y) {
                      return a.PositionOf(x) == b.PositionOf(y);
                    });
}

}  // namespace

bool SameOperation(const Instruction& a, const Instruction& b,
                   bool ignore_layout) {
  if (a.opcode() != b.opcode() || a.index() != b.index() ||
      a.operand_count() != b.operand_count() ||
      !Shape::Equal(a.shape(), b.shape(), ignore_layout) ||
      a.attributes() != b.attributes()) {
    return false;
  }
  const auto same_value = [](const auto& x, const auto& y) {
    return x == y || (x != nullptr && y != nullptr && *x == *y);
  };
  return same_value(a.literal(), b.literal()) &&
         same_value(a.unknown_opcode(), b.unknown_opcode());
}

size_t HashOperation(const Instruction& instruction) {
  const Attributes& attributes = instruction.attributes();
  size_t slice = 0;
  for (const SliceDimension& d : attributes.slice) {
    slice = absl::HashOf(slice, d.start, d.limit, d.stride);
  }
  const Shape& shape = instruction.shape();
  return absl::HashOf(
      instruction.opcode(), instruction.index(), shape.element_type(),
      shape.dimensions(), attributes.dimensions, attributes.direction, slice,
      instruction.literal() == nullptr ? 0
                                       : HashLiteral(*instruction.literal()));
}

ComputationClasses::ComputationClasses(const Module& module)
    : classes_(static_cast<size_t>(module.computation_slots()),
               kNoComputation) {
  const auto hash = [&](const Numbered& numbered) {
    size_t h = numbered.order.size();
    for (InstructionId id : numbered.order) {
      const Instruction& instruction = (*numbered.computation)[id];
      h = absl::HashOf(h, HashOperation(instruction));
      for (InstructionId operand : instruction.operands()) {
        h = absl::HashOf(h, numbered.PositionOf(operand));
      }
      for (ComputationId callee : instruction.called()) {
        h = absl::HashOf(h, ClassOf(callee));
      }
    }
    return h;
  };
  const auto equal = [&](const Numbered& a, const Numbered& b) {
    const Computation& x = *a.computation;
    const Computation& y = *b.computation;
    if (a.order.size() != b.order.size() || x.suffix() != y.suffix() ||
        a.PositionOf(x.root()) != b.PositionOf(y.root())) {
      return false;
    }
    for (size_t i = 0; i < a.order.size(); ++i) {
      const InstructionId p = a.order[i];
      const InstructionId q = b.order[i];
      if (!SameOperation(x[p], y[q], /*ignore_layout=*/false) ||
          !SamePositions(a, x[p].operands(), b, y[q].operands()) ||
          !SamePositions(a, x.control_predecessors(p), b,
                         y.control_predecessors(q)) ||
          !SameCalled(x[p], y[q])) {
        return false;
      }
    }
    return true;
  };
  // Representatives of the classes found so far, by hash.
  absl::flat_hash_map<size_t, std::vector<std::pair<ComputationId, Numbered>>>
      found;
  for (ComputationId id : module.ComputationPostOrder()) {
    Numbered numbered(module.computation(id));
    auto& candidates = found[hash(numbered)];
    auto it = std::find_if(
        candidates.begin(), candidates.end(),
        [&](const auto& other) { return equal(other.second, numbered); });
    if (it != candidates.end()) {
      classes_[static_cast<size_t>(id)] = it->first;
    } else {
      classes_[static_cast<size_t>(id)] = id;
      candidates.emplace_back(id, std::move(numbered));
    }
  }
}

bool ComputationClasses::SameCalled(const Instruction& a,
                                    const Instruction& b) const {
  return std::equal(a.called().begin(), a.called().end(), b.called().begin(),
                    b.called().end(), [&](ComputationId x, ComputationId y) {
                      return ClassOf(x) == ClassOf(y);
                    });
}

}  // namespace hone::hlo
