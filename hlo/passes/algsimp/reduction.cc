#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/algsimp/scalars.h"

namespace hone::hlo::algsimp {
namespace {

// A reduction of one array.
struct Reduction {
  InstructionId x;
  InstructionId init;
  // Of the region, if it is one operation.
  std::optional<Opcode> opcode;
  // Whether init is known to be that operation's identity.
  bool init_is_identity;
};

Reduction MatchReduction(const Rewriter& r, InstructionId id) {
  Reduction result;
  result.x = r.operand(id, 0);
  result.init = r.operand(id, 1);
  result.opcode = ReductionOpcode(r.module().computation(r[id].called()[0]));
  const Literal* init = UniformLiteral(r.computation(), result.init);
  result.init_is_identity = result.opcode.has_value() && init != nullptr &&
                            IsReductionIdentity(*result.opcode, *init);
  return result;
}

std::vector<bool> Mask(int64_t rank, absl::Span<const int64_t> dimensions) {
  std::vector<bool> mask(static_cast<size_t>(rank), false);
  for (int64_t d : dimensions) mask[static_cast<size_t>(d)] = true;
  return mask;
}

// The dimensions not in `dimensions`, ascending.
DimensionVector Complement(int64_t rank, absl::Span<const int64_t> dimensions) {
  const std::vector<bool> mask = Mask(rank, dimensions);
  DimensionVector rest;
  for (int64_t d = 0; d < rank; ++d) {
    if (!mask[static_cast<size_t>(d)]) rest.push_back(d);
  }
  return rest;
}

// The reduction `id` of another array over other dimensions.
Instruction MakeReduce(const Rewriter& r, InstructionId id, InstructionId x,
                       absl::Span<const int64_t> dimensions) {
  DimensionVector result;
  for (int64_t d : Complement(r.shape(x).rank(), dimensions)) {
    result.push_back(r.shape(x).dimension(d));
  }
  auto attributes = std::make_shared<Attributes>(r[id].attributes());
  attributes->dimensions.assign(dimensions.begin(), dimensions.end());
  Instruction reduce(Opcode::kReduce,
                     Shape::Array(r.shape(id).element_type(), result),
                     {x, r.operand(id, 1)}, std::move(attributes));
  reduce.set_called(r[id].called());
  return reduce;
}

// reduce(transpose(x)) → reduce(x): what is kept stays in order.
bool ReduceOfTranspose(Rewriter& r, InstructionId id, const Reduction& m) {
  const DimensionVector& permutation = r[m.x].dimensions();
  const DimensionVector kept =
      Complement(r.shape(m.x).rank(), r[id].dimensions());
  int64_t last = -1;
  for (int64_t d : kept) {
    const int64_t source = permutation[static_cast<size_t>(d)];
    if (source < last) return false;
    last = source;
  }
  DimensionVector dimensions;
  for (int64_t d : r[id].dimensions()) {
    dimensions.push_back(permutation[static_cast<size_t>(d)]);
  }
  std::sort(dimensions.begin(), dimensions.end());
  return r.ReplaceWith(id, MakeReduce(r, id, r.operand(m.x, 0), dimensions));
}

// reduce(reshape(x)) → reduce(x): the kept dimensions have the same size and
// stride in x; or → reshape(reduce(x)) if that holds of those of size other
// than 1 and the first reshape has no other user.
bool ReduceOfReshape(Rewriter& r, InstructionId id, const Reduction& m) {
  const InstructionId x = r.operand(m.x, 0);
  const DimensionVector& from = r.dimensions_of(m.x);
  const DimensionVector& to = r.dimensions_of(x);
  DimensionVector kept = Complement(r.shape(m.x).rank(), r[id].dimensions());
  std::optional<DimensionVector> moved = UnmodifiedDimensions(from, to, kept);
  if (!moved.has_value()) {
    if (!r.DiesWith(m.x, id)) return false;
    kept.erase(std::remove_if(kept.begin(), kept.end(),
                              [&](int64_t d) {
                                return from[static_cast<size_t>(d)] == 1;
                              }),
               kept.end());
    moved = UnmodifiedDimensions(from, to, kept);
    if (!moved.has_value()) return false;
  }
  const DimensionVector dimensions = Complement(r.shape(x).rank(), *moved);
  if (dimensions.empty()) return false;
  const DimensionVector wanted = r.dimensions_of(id);
  const InstructionId reduce = r.Add(MakeReduce(r, id, x, dimensions));
  return r.Replace(id, MakeReshape(r, reduce, wanted));
}

// reduce(reduce(x)) → reduce(x): same operation, and the inner one starts from
// its identity and has no other user. Reassociates, as every reduction may.
bool ReduceOfReduce(Rewriter& r, InstructionId id, const Reduction& m) {
  if (r[m.x].operand_count() != 2 || !m.opcode.has_value() ||
      !r.DiesWith(m.x, id)) {
    return false;
  }
  const Reduction inner = MatchReduction(r, m.x);
  if (inner.opcode != m.opcode || !inner.init_is_identity) return false;
  const int64_t rank = r.shape(inner.x).rank();
  const DimensionVector kept = Complement(rank, r[m.x].dimensions());
  DimensionVector dimensions = r[m.x].dimensions();
  for (int64_t d : r[id].dimensions()) {
    dimensions.push_back(kept[static_cast<size_t>(d)]);
  }
  std::sort(dimensions.begin(), dimensions.end());
  return r.ReplaceWith(id, MakeReduce(r, id, inner.x, dimensions));
}

// reduce(broadcast(x)) → broadcast(x): only dimensions that the broadcast made
// are reduced, by maximum, minimum, and, or from the identity.
// The same sum of a constant c over n elements → broadcast(c · n).
bool ReduceOfBroadcast(Rewriter& r, InstructionId id, const Reduction& m) {
  if (!m.init_is_identity) return false;
  const Shape& wide = r.shape(m.x);
  const std::vector<bool> reduced = Mask(wide.rank(), r[id].dimensions());
  const InstructionId x = r.operand(m.x, 0);
  DimensionVector mapping;
  for (int64_t d : r[m.x].dimensions()) {
    if (reduced[static_cast<size_t>(d)]) return false;
    mapping.push_back(std::count(reduced.begin(), reduced.begin() + d, false));
  }
  if (wide.num_elements() == 0) return false;
  switch (*m.opcode) {
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
      return r.Replace(id, MakeBroadcast(r, x, r.dimensions_of(id), mapping));
    case Opcode::kAdd: {
      const Literal* summand = ConstantLiteral(r.computation(), x);
      if (summand == nullptr || !r.shape(x).IsScalar()) return false;
      const int64_t count = wide.num_elements() / r.shape(id).num_elements();
      std::optional<Literal> sum =
          FoldScalars(Opcode::kMultiply, *summand,
                      Literal::ScalarInt(wide.element_type(), count));
      if (!sum.has_value()) return false;
      return r.Replace(id,
                       MakeUniform(r, *std::move(sum), r.dimensions_of(id)));
    }
    default:
      return false;
  }
}

// sum(-x) → -sum(x): when the negation has no other user. Does less work, and
// signs move towards the root.
bool SumOfNegation(Rewriter& r, InstructionId id, const Reduction& m) {
  if (m.opcode != Opcode::kAdd || !m.init_is_identity || !r.DiesWith(m.x, id)) {
    return false;
  }
  const DimensionVector dimensions = r[id].dimensions();
  const InstructionId sum =
      r.Add(MakeReduce(r, id, r.operand(m.x, 0), dimensions));
  return r.Replace(id, MakeUnary(r, Opcode::kNegate, sum));
}

}  // namespace

// reduce(empty) → broadcast(init)
// reduce(x) → reshape(x): only dimensions of size 1 reduced, from the identity
// ReduceOfTranspose, ReduceOfReshape, ReduceOfReduce, ReduceOfBroadcast,
// SumOfNegation: reductions of one array.
bool SimplifyReduce(Rewriter& r, InstructionId id) {
  if (r[id].operand_count() != 2) return false;
  const Reduction m = MatchReduction(r, id);
  if (r.shape(m.x).num_elements() == 0) {
    return r.Replace(id, MakeBroadcast(r, m.init, r.dimensions_of(id), {}));
  }
  if (m.init_is_identity &&
      r.shape(m.x).num_elements() == r.shape(id).num_elements()) {
    return r.Replace(id, MakeReshape(r, m.x, r.dimensions_of(id)));
  }
  switch (r[m.x].opcode()) {
    case Opcode::kTranspose:
      return ReduceOfTranspose(r, id, m);
    case Opcode::kReshape:
      return ReduceOfReshape(r, id, m);
    case Opcode::kReduce:
      return ReduceOfReduce(r, id, m);
    case Opcode::kBroadcast:
      return ReduceOfBroadcast(r, id, m);
    case Opcode::kNegate:
      return SumOfNegation(r, id, m);
    default:
      return false;
  }
}

// reduce-window(x) → x: windows of one element, from the identity
// reduce-window(pad(x, init), init) → reduce-window(x) with more padding: the
// padding is neither negative nor interior
bool SimplifyReduceWindow(Rewriter& r, InstructionId id) {
  if (r[id].operand_count() != 2) return false;
  const Reduction m = MatchReduction(r, id);
  const Window& window = *r[id].attributes().window;
  const auto is_trivial = [](const WindowDimension& w) {
    return w.size == 1 && w.stride == 1 && w.padding_low == 0 &&
           w.padding_high == 0 && w.base_dilation == 1;
  };
  if (m.init_is_identity &&
      std::all_of(window.begin(), window.end(), is_trivial)) {
    return r.Replace(id, m.x);
  }
  if (!r.Is(m.x, Opcode::kPad)) return false;
  const Literal* init = ConstantLiteral(r.computation(), m.init);
  const Literal* value = ConstantLiteral(r.computation(), r.operand(m.x, 1));
  if (r.operand(m.x, 1) != m.init &&
      (init == nullptr || value == nullptr || !(*init == *value))) {
    return false;
  }
  auto wider = std::make_shared<Window>(window);
  for (size_t i = 0; i < window.size(); ++i) {
    const PaddingDimension& p = r[m.x].attributes().padding[i];
    if (p.interior != 0 || p.low < 0 || p.high < 0) return false;
    (*wider)[i].padding_low += p.low * window[i].base_dilation;
    (*wider)[i].padding_high += p.high * window[i].base_dilation;
  }
  auto attributes = std::make_shared<Attributes>(r[id].attributes());
  attributes->window = std::move(wider);
  Instruction result(Opcode::kReduceWindow, r[id].shape_ptr(),
                     {r.operand(m.x, 0), m.init}, std::move(attributes));
  result.set_called(r[id].called());
  return r.ReplaceWith(id, std::move(result));
}

}  // namespace hone::hlo::algsimp
