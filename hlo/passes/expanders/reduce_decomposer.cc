// reduce-decomposer: lets reductions keep the layout of their operands.
//
//   reduce(x) into another layout than x without the reduced dimensions has
//     →  copy(reduce(x)), the copy changes the layout
//   reduce(x, y), layouts of x and y differ  →  reduce(x, copy(y))
//
// A convert that alone uses a reduction stays beside it, in front of the copy.
// For code generators that walk the operand in memory order. Legal always; it
// finds nothing to do before layouts are assigned. Not for tiled layouts,
// dynamic shapes, ends of control dependencies and scheduled modules.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "hlo/passes/registry.h"

namespace hone::hlo {
namespace {

bool SameLayout(const Shape& a, const Shape& b) {
  return a.layout() == b.layout() ||
         (a.layout() != nullptr && b.layout() != nullptr &&
          *a.layout() == *b.layout());
}

bool IsPlain(const Shape& shape) {
  return shape.IsArray() && !shape.is_dynamic() &&
         (shape.layout() == nullptr || shape.layout()->suffix.empty());
}

// The shape with the order of dimensions in memory that `like`, of the same
// dimensions, has.
ShapePtr WithLayoutOf(const Shape& shape, const Shape& like) {
  auto result = std::make_shared<Shape>(shape);
  result->clear_layout();
  if (like.layout() != nullptr) result->set_layout(*like.layout());
  return result;
}

// `result` with the layout that is left of the operand's when the reduced
// dimensions are gone.
ShapePtr WithReducedLayout(const Shape& result, const Shape& operand,
                           const DimensionVector& reduced) {
  auto shape = std::make_shared<Shape>(result);
  shape->clear_layout();
  if (operand.layout() == nullptr) return shape;
  const auto is_reduced = [&](int64_t d) {
    return std::find(reduced.begin(), reduced.end(), d) != reduced.end();
  };
  DimensionVector place(static_cast<size_t>(operand.rank()));
  int64_t kept = 0;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    place[static_cast<size_t>(d)] = kept;
    if (!is_reduced(d)) ++kept;
  }
  DimensionVector order;
  for (int64_t d : operand.layout()->minor_to_major) {
    if (!is_reduced(d)) {
      order.push_back(place[static_cast<size_t>(d)]);
    }
  }
  shape->set_layout(Layout{order, ""});
  return shape;
}

// The shapes of the arrays that a reduction returns.
std::vector<ShapePtr> Results(const Instruction& reduce) {
  if (reduce.shape().IsTuple()) return reduce.shape().tuple_elements();
  return {reduce.shape_ptr()};
}

// What one reduction needs.
struct Work {
  // Indices of operands whose layout is not the first's.
  std::vector<size_t> operands;
  // The results' shapes with the operand's layout; empty where they have it.
  std::vector<ShapePtr> results;

  bool any() const { return !operands.empty() || !results.empty(); }
};

Work FindWork(const Computation& computation, InstructionId id) {
  Work work;
  const Instruction& reduce = computation[id];
  if (!reduce.is_live() || reduce.opcode() != Opcode::kReduce ||
      computation.HasControlDependency(id)) {
    return work;
  }
  const Shape& first = computation[reduce.operand(0)].shape();
  const std::vector<ShapePtr> results = Results(reduce);
  std::vector<size_t> operands;
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape& shape = computation[reduce.operand(i)].shape();
    if (!IsPlain(shape) || !IsPlain(*results[i])) return work;
    if (!SameLayout(shape, first)) operands.push_back(i);
  }
  std::vector<ShapePtr> expected;
  bool differs = false;
  for (const ShapePtr& result : results) {
    expected.push_back(WithReducedLayout(*result, first, reduce.dimensions()));
    differs = differs || !SameLayout(*expected.back(), *result);
  }
  work.operands = std::move(operands);
  if (differs) work.results = std::move(expected);
  return work;
}

InstructionId AddCopy(Computation& computation, InstructionId id,
                      ShapePtr shape) {
  return computation.AddInstruction(
      Instruction(Opcode::kCopy, std::move(shape), {id}));
}

// Gives the reduction `id` the shapes of `work.results` and copies them to
// where they were.
void CopyResults(Computation& computation, InstructionId id, const Work& work) {
  Instruction reduce = computation[id].WithOperands(computation[id].operands());
  reduce.set_shape(computation[id].shape().IsTuple()
                       ? Shape::Tuple(work.results)
                       : work.results[0]);
  const InstructionId moved = computation.AddInstruction(std::move(reduce));
  if (computation[id].shape().IsTuple()) {
    InstructionIds copies;
    for (size_t i = 0; i < work.results.size(); ++i) {
      const InstructionId element =
          computation.AddInstruction(Instruction::GetTupleElement(
              work.results[i], moved, static_cast<int32_t>(i)));
      copies.push_back(AddCopy(computation, element,
                               computation[id].shape().tuple_elements()[i]));
    }
    computation.ReplaceWithNew(
        id, Instruction(Opcode::kTuple, computation[id].shape_ptr(), copies));
    return;
  }
  InstructionId old = id;
  InstructionId value = moved;
  const InstructionIds& users = computation[id].users();
  if (users.size() == 1 && id != computation.root() &&
      computation[users[0]].opcode() == Opcode::kConvert &&
      !computation.HasControlDependency(users[0])) {
    old = users[0];
    value = computation.AddInstruction(
        Instruction(Opcode::kConvert,
                    WithElementType(*work.results[0],
                                    computation[old].shape().element_type()),
                    {moved}));
  }
  computation.ReplaceWithNew(
      old, Instruction(Opcode::kCopy, computation[old].shape_ptr(), {value}));
  if (old != id) computation.Remove(id);
}

class ReduceDecomposer final : public Pass {
 public:
  absl::string_view name() const override { return "reduce-decomposer"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    for (ComputationId c = 0; c < module.computation_slots(); ++c) {
      if (!module.has_computation(c)) continue;
      const InstructionId slots = module.computation(c).slot_count();
      for (InstructionId id = 0; id < slots; ++id) {
        const Work work = FindWork(module.computation(c), id);
        if (!work.any()) continue;
        Computation& computation = module.mutable_computation(c);
        for (size_t i : work.operands) {
          const InstructionId operand = computation[id].operand(i);
          const ShapePtr shape =
              WithLayoutOf(computation[operand].shape(),
                           computation[computation[id].operand(0)].shape());
          computation.ReplaceOperand(id, i,
                                     AddCopy(computation, operand, shape));
        }
        if (!work.results.empty()) CopyResults(computation, id, work);
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeReduceDecomposer() {
  return std::make_unique<ReduceDecomposer>();
}

}  // namespace hone::hlo
