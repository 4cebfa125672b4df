#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "loops/analysis/integer_system.h"
#include "loops/analysis/simplify_ranges.h"
#include "loops/analysis/verifier_internal.h"
#include "loops/ir/affine_text.h"

namespace hone::loops {
namespace {

// Walks a program with the known constraints on loop variables at each place:
// the extents and bounds of the loops around it, and the ranges of kWhere.
class BoundsVerifier {
 public:
  explicit BoundsVerifier(const Program& program) : program_(program) {}

  std::optional<Defect> Find() {
    if (BodyIsInBounds(program_.body())) return std::nullopt;
    return Defect{path_, what_};
  }

 private:
  // These return false, with the reason in what_ and the place in path_, if an
  // access may be out of bounds.
  bool BodyIsInBounds(const std::vector<Node>& body) {
    for (size_t i = 0; i < body.size(); ++i) {
      path_.push_back(static_cast<int32_t>(i));
      const bool good = body[i].loop() != nullptr
                            ? LoopIsInBounds(*body[i].loop())
                            : StatementIsInBounds(*body[i].statement());
      if (!good) return false;
      path_.pop_back();
    }
    return true;
  }

  bool LoopIsInBounds(const Loop& loop) {
    if (loop.extent == 0) return true;
    loops_.push_back(&loop);
    const bool good = BodyIsInBounds(loop.body);
    loops_.pop_back();
    return good;
  }

  bool StatementIsInBounds(const Statement& statement) {
    return (statement.predicate == nullptr ||
            ExpressionIsInBounds(*statement.predicate)) &&
           ExpressionIsInBounds(*statement.value) &&
           AccessIsInBounds(statement.target);
  }

  bool ExpressionIsInBounds(const Expression& e) {
    if (e.kind() == Expression::Kind::kLoad) {
      return AccessIsInBounds(e.access());
    }
    if (e.kind() == Expression::Kind::kWhere) return WhereIsInBounds(e);
    return std::all_of(e.operands().begin(), e.operands().end(),
                       [this](const ExpressionPtr& operand) {
                         return ExpressionIsInBounds(*operand);
                       });
  }

  bool WhereIsInBounds(const Expression& e) {
    const size_t known = known_.size();
    std::vector<Affine> otherwise;
    for (const Range& range : e.ranges()) {
      known_.push_back(range.value - range.lo);
      known_.push_back(Affine(range.hi - 1) - range.value);
      otherwise.push_back(Affine(range.lo - 1) - range.value);
      otherwise.push_back(range.value - range.hi);
    }
    const bool inside = ExpressionIsInBounds(*e.operands()[0]);
    known_.resize(known);
    if (!inside) return false;
    alternatives_.push_back(std::move(otherwise));
    const bool outside = ExpressionIsInBounds(*e.operands()[1]);
    alternatives_.pop_back();
    return outside;
  }

  bool AccessIsInBounds(const Access& access) {
    const Buffer& buffer = program_.buffer(access.buffer);
    const bool flat = access.indices.size() != buffer.dimensions.size();
    for (size_t i = 0; i < access.indices.size(); ++i) {
      const Index& index = access.indices[i];
      // Bounds of data-dependent indices are not decidable here.
      if (index.offset != nullptr) {
        if (!ExpressionIsInBounds(*index.offset)) return false;
        continue;
      }
      const int64_t size =
          flat ? hlo::Shape(buffer.type, buffer.dimensions).num_elements()
               : buffer.dimensions[i];
      if (!MayBeNegative(index.affine) &&
          !MayBeNegative(Affine(size - 1) - index.affine)) {
        continue;
      }
      std::vector<VarId> vars;
      vars.reserve(loops_.size());
      for (const Loop* loop : loops_) vars.push_back(loop->var);
      what_ = absl::StrCat("index ", i, " of ", buffer.name, ", ",
                           AffineText(index.affine, vars),
                           ", may be out of bounds, expected 0 to ", size - 1);
      return false;
    }
    return true;
  }

  bool MayBeNegative(const Affine& value) {
    // Extents alone tell in most cases.
    if (ValueRanges(loops_).Of(value).lo >= 0) return false;
    known_.push_back(Affine(-1) - value);
    const bool may_be = MayHold(0);
    known_.pop_back();
    return may_be;
  }

  // Returns true if there may be an iteration where all known constraints hold,
  // and one of each list of alternatives from the given one on.
  bool MayHold(size_t next) {
    if (!KnownMayHold()) return false;
    if (next == alternatives_.size()) return true;
    return std::any_of(alternatives_[next].begin(), alternatives_[next].end(),
                       [this, next](const Affine& alternative) {
                         known_.push_back(alternative);
                         const bool may_hold = MayHold(next + 1);
                         known_.pop_back();
                         return may_hold;
                       });
  }

  bool KnownMayHold() {
    IntegerSystem system;
    for (const Loop* loop : loops_) {
      system.AddUnknown(0, loop->extent - 1);
    }
    const auto require = [&](const Affine& at_least_zero) {
      std::vector<IntegerSystem::Term> terms;
      for (size_t i = 0; i < loops_.size(); ++i) {
        const int64_t coefficient = at_least_zero.coefficient(loops_[i]->var);
        if (coefficient == 0) continue;
        terms.push_back({static_cast<int32_t>(i), coefficient});
      }
      system.AddAtLeastZero(terms, at_least_zero.constant());
    };
    for (const Loop* loop : loops_) {
      if (loop->bound) {
        require(*loop->bound - Affine::Var(loop->var) - Affine(1));
      }
    }
    for (const Affine& affine : known_) require(affine);
    return system.IsFeasible().value_or(true);
  }

  const Program& program_;
  Path path_;
  std::string what_;
  std::vector<const Loop*> loops_;  // above the node at path_
  // At least zero each.
  std::vector<Affine> known_;
  // In each list at least one is at least zero: the negation of a kWhere.
  std::vector<std::vector<Affine>> alternatives_;
};

}  // namespace

std::optional<Defect> FindBoundsDefect(const Program& program) {
  return BoundsVerifier(program).Find();
}

}  // namespace hone::loops
