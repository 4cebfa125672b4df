// Reductions of one array.
//
//   reduce(empty) → broadcast(init)
//   reduce(x) → reshape(x)                   only dimensions of size 1 reduced,
//                                            from the identity element
//   reduce(transpose(x)) → reduce(x)         what is kept stays in order
//   reduce(reshape(x)) → reduce(x), or reshape(reduce(x)): the kept dimensions,
//     or those of them that have not size 1, have the same size and stride in x
//   reshape(reduce(x)) → reduce(x)           the reshape drops ones that the
//     reduction, from its identity, may as well reduce
//   reduce(reduce(x)) → reduce(x)            the same operation, the inner one
//                                            from its identity
//   reduce(broadcast(x)) → broadcast(x)      only dimensions that the broadcast
//     made are reduced, by maximum, minimum, and, or from the identity; the sum
//     of a constant c over n elements is c · n
//   sum(-x) → -sum(x)                        signs move towards the root
//
// Exact for operations that are exactly associative. Sums and products of
// floats reassociate, as HLO leaves the order to each compiler; regions of more
// than one operation keep the order of their elements. reduce(reduce(x)) of
// floats changes range: partial sums across what the inner one summed apart may
// overflow, where those sums cancel. Upstream merges them always.

#include <algorithm>
#include <optional>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/algsimp/scalars.h"

namespace hone::hlo::algsimp {
namespace {

struct Reduction {
  InstructionId x;
  InstructionId init;
  ComputationId region;
  const DimensionVector& reduced;
  // The dimensions of x that are left, ascending.
  DimensionVector kept;
  // The opcode of the region, if it is one operation.
  std::optional<Opcode> opcode;
  // True if init is known to be that operation's identity element.
  bool init_is_identity;
};

Reduction MatchReduction(const Rewriter& r, InstructionId id) {
  const InstructionId x = r.operand(id, 0);
  const InstructionId init = r.operand(id, 1);
  const ComputationId region = r[id].called()[0];
  const std::optional<Opcode> opcode =
      ReductionOpcode(r.module().computation(region));
  return {x,
          init,
          region,
          r[id].dimensions(),
          OtherDimensions(r[id].dimensions(), r.shape(x).rank()),
          opcode,
          IsIdentityElement(r, init, opcode)};
}

// Returns true if the result of a reduction `id` by the operation `opcode`
// depends on its order.
bool Rounds(const Rewriter& r, InstructionId id, std::optional<Opcode> opcode) {
  const ElementType type = r.shape(id).element_type();
  return (IsFloat(type) || IsComplex(type)) &&
         (opcode == Opcode::kAdd || opcode == Opcode::kMultiply);
}

bool ReduceOfTranspose(Rewriter& r, InstructionId id,
                       const Reduction& reduction) {
  const DimensionVector& permutation = r[reduction.x].dimensions();
  const auto sources = [&](const DimensionVector& dimensions) {
    DimensionVector result;
    for (int64_t d : dimensions) {
      result.push_back(permutation[static_cast<size_t>(d)]);
    }
    return result;
  };
  const DimensionVector kept = sources(reduction.kept);
  DimensionVector dimensions = sources(reduction.reduced);
  if (!std::is_sorted(kept.begin(), kept.end()) ||
      !(reduction.opcode.has_value() ||
        std::is_sorted(dimensions.begin(), dimensions.end()))) {
    return false;
  }
  std::sort(dimensions.begin(), dimensions.end());
  return r.Replace(id, MakeReduce(r, r.operand(reduction.x, 0), reduction.init,
                                  dimensions, reduction.region));
}

bool ReduceOfReshape(Rewriter& r, InstructionId id,
                     const Reduction& reduction) {
  const InstructionId x = r.operand(reduction.x, 0);
  const DimensionVector& from = r.dimensions_of(reduction.x);
  const DimensionVector& to = r.dimensions_of(x);
  std::optional<DimensionVector> moved =
      UnmodifiedDimensions(from, to, reduction.kept);
  if (!moved.has_value() && r.DiesWith(reduction.x, id)) {
    DimensionVector larger;
    for (int64_t d : reduction.kept) {
      if (from[static_cast<size_t>(d)] != 1) larger.push_back(d);
    }
    moved = UnmodifiedDimensions(from, to, larger);
  }
  if (!moved.has_value()) return false;
  const DimensionVector dimensions = OtherDimensions(*moved, r.shape(x).rank());
  if (dimensions.empty()) return false;
  const InstructionId reduce =
      MakeReduce(r, x, reduction.init, dimensions, reduction.region);
  return r.Replace(id, MakeReshape(r, reduce, r.dimensions_of(id)));
}

bool ReduceOfReduce(Rewriter& r, InstructionId id, const Reduction& reduction) {
  if (r[reduction.x].operand_count() != 2 || !reduction.opcode.has_value() ||
      !MayAbsorb(r, reduction.x, id) ||
      (Rounds(r, id, reduction.opcode) &&
       !r.Permits(NumericClass::kChangesRange))) {
    return false;
  }
  const Reduction inner = MatchReduction(r, reduction.x);
  if (inner.opcode != reduction.opcode || !inner.init_is_identity) return false;
  DimensionVector dimensions = inner.reduced;
  for (int64_t d : reduction.reduced) {
    dimensions.push_back(inner.kept[static_cast<size_t>(d)]);
  }
  std::sort(dimensions.begin(), dimensions.end());
  return r.Replace(
      id, MakeReduce(r, inner.x, reduction.init, dimensions, reduction.region));
}

bool ReduceOfBroadcast(Rewriter& r, InstructionId id,
                       const Reduction& reduction) {
  const InstructionId x = r.operand(reduction.x, 0);
  DimensionVector mapping;
  for (int64_t d : r[reduction.x].dimensions()) {
    const auto at = std::find(reduction.kept.begin(), reduction.kept.end(), d);
    if (at == reduction.kept.end()) return false;
    mapping.push_back(at - reduction.kept.begin());
  }
  if (!reduction.init_is_identity) return false;
  switch (*reduction.opcode) {
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
      return r.Replace(id, MakeBroadcast(r, x, r.dimensions_of(id), mapping));
    case Opcode::kAdd: {
      const Literal* summand = ConstantLiteral(r.computation(), x);
      if (summand == nullptr || !r.shape(x).IsScalar()) return false;
      std::optional<Literal> sum =
          FoldMultiple(*summand, r.shape(reduction.x).num_elements() /
                                     r.shape(id).num_elements());
      return sum.has_value() && r.Replace(id, MakeUniform(r, *std::move(sum),
                                                          r.dimensions_of(id)));
    }
    default:
      return false;
  }
}

// Exact, as negation and rounding commute.
bool SumOfNegation(Rewriter& r, InstructionId id, const Reduction& reduction) {
  const InstructionId x = NegatedOperand(r, reduction.x, id);
  if (x == kNoInstruction || reduction.opcode != Opcode::kAdd ||
      !reduction.init_is_identity) {
    return false;
  }
  const InstructionId sum = MakeLike(r, id, {x, reduction.init});
  return r.Replace(id, MakeUnary(r, Opcode::kNegate, sum));
}

}  // namespace

bool MayReorder(const Rewriter& r, InstructionId id) {
  const Computation& region = r.module().computation(r[id].called()[0]);
  return !Rounds(r, id, ReductionOpcode(region)) || MayRound(r, id);
}

bool SimplifyReduce(Rewriter& r, InstructionId id) {
  if (r[id].operand_count() != 2) return false;
  const Reduction reduction = MatchReduction(r, id);
  const InstructionId x = reduction.x;
  if (r.shape(x).num_elements() == 0) {
    return r.Replace(id,
                     MakeBroadcast(r, reduction.init, r.dimensions_of(id), {}));
  }
  if (reduction.init_is_identity &&
      r.shape(x).num_elements() == r.shape(id).num_elements()) {
    return r.Replace(id, MakeReshape(r, x, r.dimensions_of(id)));
  }
  if (r.Is(x, Opcode::kNegate)) return SumOfNegation(r, id, reduction);
  if (Rounds(r, id, reduction.opcode) && !MayRound(r, id)) return false;
  switch (r[x].opcode()) {
    case Opcode::kTranspose:
      return ReduceOfTranspose(r, id, reduction);
    case Opcode::kReshape:
      return ReduceOfReshape(r, id, reduction);
    case Opcode::kReduce:
      return ReduceOfReduce(r, id, reduction);
    case Opcode::kBroadcast:
      return ReduceOfBroadcast(r, id, reduction);
    default:
      return false;
  }
}

bool ReshapeOfReduce(Rewriter& r, InstructionId id) {
  const InstructionId reduce = r.operand(id, 0);
  if (r[reduce].operand_count() != 2 || !MayAbsorb(r, reduce, id)) return false;
  const Reduction reduction = MatchReduction(r, reduce);
  if (!reduction.init_is_identity ||
      !OnlyDegenerateDimensionsDiffer(r.dimensions_of(reduce),
                                      r.dimensions_of(id))) {
    return false;
  }
  const DimensionVector& sizes = r.dimensions_of(reduction.x);
  const int64_t surplus = r.shape(reduce).rank() - r.shape(id).rank();
  DimensionVector dimensions = reduction.reduced;
  for (int64_t d : reduction.kept) {
    const int64_t more =
        static_cast<int64_t>(dimensions.size() - reduction.reduced.size());
    if (more < surplus && sizes[static_cast<size_t>(d)] == 1) {
      dimensions.push_back(d);
    }
  }
  std::sort(dimensions.begin(), dimensions.end());
  if (surplus <= 0 ||
      WithoutDimensions(sizes, dimensions) != r.dimensions_of(id)) {
    return false;
  }
  return r.Replace(id, MakeReduce(r, reduction.x, reduction.init, dimensions,
                                  reduction.region));
}

}  // namespace hone::hlo::algsimp
