#include "loops/transforms/analysis/same_expression.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "loops/ir/rewrite.h"

namespace hone::loops {

bool LoopPairs::Add(const Loop& from, const Loop& to) {
  if (from.extent != to.extent ||
      from.bound.has_value() != to.bound.has_value() ||
      (from.bound.has_value() && Renamed(*from.bound) != *to.bound)) {
    return false;
  }
  return vars_.emplace(from.var, to.var).second;
}

Affine LoopPairs::Renamed(const Affine& affine) const {
  return loops::Renamed(affine, vars_);
}

bool SameAccess(const Access& a, const Access& b, const LoopPairs& pairs) {
  return a.buffer == b.buffer &&
         std::equal(a.indices.begin(), a.indices.end(), b.indices.begin(),
                    b.indices.end(), [&](const Index& x, const Index& y) {
                      if ((x.offset == nullptr) != (y.offset == nullptr)) {
                        return false;
                      }
                      return pairs.Renamed(x.affine) == y.affine &&
                             (x.offset == nullptr ||
                              SameExpression(*x.offset, *y.offset, pairs));
                    });
}

bool SameExpression(const Expression& a, const Expression& b,
                    const LoopPairs& pairs) {
  if (a.kind() != b.kind() || a.type() != b.type()) return false;
  switch (a.kind()) {
    case Expression::Kind::kConstant:
      return a.integer() == b.integer() &&
             std::bit_cast<uint64_t>(a.number()) ==
                 std::bit_cast<uint64_t>(b.number());
    case Expression::Kind::kLoad:
      return SameAccess(a.access(), b.access(), pairs);
    case Expression::Kind::kIndex:
      return pairs.Renamed(a.index()) == b.index();
    case Expression::Kind::kApply:
      if (a.opcode() != b.opcode() || a.direction() != b.direction() ||
          a.total_order() != b.total_order()) {
        return false;
      }
      break;
    case Expression::Kind::kWhere:
      if (!std::equal(a.ranges().begin(), a.ranges().end(), b.ranges().begin(),
                      b.ranges().end(), [&](const Range& x, const Range& y) {
                        return pairs.Renamed(x.value) == y.value &&
                               x.lo == y.lo && x.hi == y.hi;
                      })) {
        return false;
      }
      break;
  }
  return std::equal(a.operands().begin(), a.operands().end(),
                    b.operands().begin(), b.operands().end(),
                    [&](const ExpressionPtr& x, const ExpressionPtr& y) {
                      return SameExpression(*x, *y, pairs);
                    });
}

}  // namespace hone::loops
