// dot-merger: computes dots that share an operand together.
//
//   d = f32[8,3] dot(f32[8,4] a, f32[4,3] b)
//   e = f32[8,5] dot(a, f32[4,5] c)
//   →
//   m = f32[8,8] dot(a, f32[4,8] concatenate(b, c))
//   d = f32[8,3] slice(m), e = f32[8,5] slice(m)
//
// Likewise for a shared right operand. Legal when none of the dots depends on
// another one, they are alike in types, dimension numbers and precision, and
// the operand that differs has one dimension that is neither batch nor
// contracted. Of any two that come together one must be small (64 MiB with its
// operands, upstream's limit on GPUs): large ones keep the machine busy alone.
// Numeric class: reassociates, as the order in which a kernel adds depends on
// the sizes of the dot. Trades dots for a concatenation and slices: not for the
// operation count.
//
// Upstream joins pairs and pairs of pairs; this joins a group at once. Dots
// that share an operand but for a transpose stay apart.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/passes/simplifiers/dot_dependences.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

constexpr int64_t kSmallBytes = int64_t{64} << 20;
// The most dots of which any two are compared; of more that share an operand,
// those are joined that are near each other.
constexpr size_t kMaxCompared = 1024;

class Merger {
 public:
  explicit Merger(Rewriter& r) : r_(r) {}

  void Run() {
    std::vector<InstructionId> shared;
    for (const Instruction& instruction : r_.computation().instructions()) {
      if (instruction.users().size() < 2) continue;
      shared.push_back(instruction.id());
    }
    for (InstructionId id : shared) {
      for (size_t side : {size_t{0}, size_t{1}}) {
        if (r_.computation().Contains(id)) MergeUsers(id, side);
      }
    }
  }

 private:
  // Merges the dots of which `shared` is operand `side`.
  void MergeUsers(InstructionId shared, size_t side) {
    std::vector<InstructionId> dots;
    for (InstructionId user : r_[shared].users()) {
      if (IsMergeable(user, side) && r_.operand(user, side) == shared) {
        dots.push_back(user);
      }
    }
    std::sort(dots.begin(), dots.end());
    for (size_t i = 0; i < dots.size(); i += kMaxCompared) {
      MergeSome(absl::MakeSpan(dots).subspan(i, kMaxCompared), side);
    }
  }

  void MergeSome(absl::Span<const InstructionId> dots, size_t side) {
    std::optional<DotDependences> dependences;
    std::vector<size_t> left(dots.size());
    std::iota(left.begin(), left.end(), size_t{0});
    while (left.size() > 1) {
      const InstructionId first = dots[left[0]];
      std::vector<InstructionId> group = {first};
      DotSet members;
      DotSet needed;  // by the members
      std::vector<size_t> rest;
      int64_t bytes = Bytes(first);
      for (size_t i : absl::MakeSpan(left).subspan(1)) {
        const int64_t added = Bytes(dots[i]);
        rest.push_back(i);
        if ((bytes > kSmallBytes && added > kSmallBytes) ||
            !AreAlike(first, dots[i], side)) {
          continue;
        }
        if (!dependences.has_value()) {
          dependences.emplace(r_.computation(), Order(), dots);
        }
        if (members.empty()) {
          members = dependences->Only(left[0]);
          needed = dependences->NeededBy(left[0]);
        }
        const DotSet only = dependences->Only(i);
        if (Intersect(needed, only) ||
            Intersect(members, dependences->NeededBy(i))) {
          continue;
        }
        rest.pop_back();
        group.push_back(dots[i]);
        bytes += added - r_.shape(r_.operand(first, side)).byte_size();
        Unite(members, only);
        Unite(needed, dependences->NeededBy(i));
      }
      if (group.size() > 1) {
        Merge(group, side);
        dependences->Join(members, needed);
      }
      left = std::move(rest);
    }
  }

  bool IsMergeable(InstructionId id, size_t side) const {
    const Instruction& dot = r_[id];
    if (dot.opcode() != Opcode::kDot || dot.operand_count() != 2 ||
        dot.attributes().dot == nullptr || !r_.MayReplace(id)) {
      return false;
    }
    const DotDimensions& d = *dot.attributes().dot;
    return r_.shape(dot.operand(1 - side)).rank() ==
           static_cast<int64_t>(d.lhs_batch.size() + d.lhs_contracting.size()) +
               1;
  }

  bool AreAlike(InstructionId a, InstructionId b, size_t side) const {
    return r_.shape(a).element_type() == r_.shape(b).element_type() &&
           r_.shape(r_.operand(a, 1 - side)).element_type() ==
               r_.shape(r_.operand(b, 1 - side)).element_type() &&
           r_[a].attributes() == r_[b].attributes();
  }

  int64_t Bytes(InstructionId id) const {
    int64_t bytes = r_.shape(id).byte_size();
    for (InstructionId operand : r_[id].operands()) {
      bytes += r_.shape(operand).byte_size();
    }
    return bytes;
  }

  // A topological order.
  const std::vector<InstructionId>& Order() {
    if (order_.empty()) order_ = r_.computation().PostOrder();
    return order_;
  }

  void Merge(const std::vector<InstructionId>& group, size_t side) {
    const Instruction& first = r_[group[0]];
    const DotDimensions& d = *first.attributes().dot;
    const size_t other = 1 - side;
    // The free dimension of the operand that differs.
    const DimensionVector& batch = other == 0 ? d.lhs_batch : d.rhs_batch;
    const DimensionVector& contracting =
        other == 0 ? d.lhs_contracting : d.rhs_contracting;
    int64_t free = 0;
    while (Contains(batch, free) || Contains(contracting, free)) ++free;
    // In the result it comes behind the batch and, for the right operand, what
    // is free of the left one.
    const int64_t result_dim = side == 0
                                   ? first.shape().rank() - 1
                                   : static_cast<int64_t>(d.lhs_batch.size());

    InstructionIds parts;
    for (InstructionId dot : group) parts.push_back(r_.operand(dot, other));
    InstructionIds operands = first.operands();
    operands[other] = MakeConcatenate(r_, parts, free);
    const InstructionId product = MakeLike(r_, group[0], operands);

    std::vector<SliceDimension> slice;
    for (int64_t limit : r_.dimensions_of(product)) {
      slice.push_back({0, limit, 1});
    }
    SliceDimension& range = slice[static_cast<size_t>(result_dim)];
    range.limit = 0;
    for (InstructionId dot : group) {
      range.start = range.limit;
      range.limit += r_.shape(dot).dimension(result_dim);
      r_.Replace(dot, MakeSlice(r_, product, slice));
    }
    r_.EndRewrite();
    order_.clear();
  }

  Rewriter& r_;
  // Of every instruction; empty when something changed since.
  std::vector<InstructionId> order_;
};

}  // namespace

std::unique_ptr<Pass> MakeDotMerger() {
  return MakeRulePass({.name = "dot-merger",
                       .numeric_class = NumericClass::kReassociates,
                       .opcodes = {Opcode::kDot}},
                      [](Rewriter& r) { Merger(r).Run(); });
}

}  // namespace hone::hlo
