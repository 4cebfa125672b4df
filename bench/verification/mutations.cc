#include "bench/verification/mutations.h"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace hone::bench {
namespace {

using hlo::Computation;
using hlo::ComputationId;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Literal;
using hlo::Module;
using hlo::Opcode;

// Arrays that get a mask of their own.
constexpr int64_t kMaxMask = 1 << 20;

// One instruction of a computation that is changed.
struct Site {
  Computation& computation;
  InstructionId id;
  Rng& rng;
  bool is_entry;
  // Set for a mistake that needs one.
  std::optional<Mutation::Trigger>& trigger;

  const Instruction& instruction() const { return computation[id]; }
  const hlo::Shape& shape(size_t operand) const {
    return computation[instruction().operand(operand)].shape();
  }
  InstructionId AddConstant(Literal literal) const {
    Instruction constant(Opcode::kConstant, literal.shape_ptr(), {});
    constant.set_literal(std::make_shared<const Literal>(std::move(literal)));
    return computation.AddInstruction(std::move(constant));
  }
  void SetAttributes(hlo::Attributes attributes) const {
    computation.mutable_instruction(id).set_attributes(
        std::make_shared<const hlo::Attributes>(std::move(attributes)));
  }
};

bool IsFloatArray(const hlo::Shape& shape) {
  return shape.IsArray() && IsFloat(shape.element_type()) &&
         shape.num_elements() > 0;
}

// x + y  →  x
bool DropTerm(const Site& site) {
  const Instruction& sum = site.instruction();
  if ((sum.opcode() != Opcode::kAdd && sum.opcode() != Opcode::kSubtract) ||
      !IsFloatArray(sum.shape())) {
    return false;
  }
  site.computation.ReplaceAllUses(site.id, sum.operand(0));
  return true;
}

// x - y  →  y - x
bool SwapOperands(const Site& site) {
  const Instruction& operation = site.instruction();
  if ((operation.opcode() != Opcode::kSubtract &&
       operation.opcode() != Opcode::kDivide) ||
      operation.operand(0) == operation.operand(1)) {
    return false;
  }
  const hlo::InstructionIds swapped = {operation.operand(1),
                                       operation.operand(0)};
  site.computation.SetOperands(site.id, swapped);
  return true;
}

// x  →  x with one element 0
bool ZeroElement(const Site& site) {
  const Instruction& instruction = site.instruction();
  const hlo::ShapePtr shape = instruction.shape_ptr();
  if (!IsFloatArray(*shape) || instruction.opcode() == Opcode::kConstant ||
      instruction.opcode() == Opcode::kParameter ||
      shape->num_elements() > kMaxMask || shape->is_dynamic()) {
    return false;
  }
  Literal mask(shape);
  for (int64_t i = 0; i < mask.num_elements(); ++i) mask.SetDouble(i, 1);
  mask.SetDouble(static_cast<int64_t>(site.rng.Below(
                     static_cast<uint64_t>(mask.num_elements()))),
                 0);
  const InstructionId masked = site.computation.AddInstruction(Instruction(
      Opcode::kMultiply, shape, {site.id, site.AddConstant(std::move(mask))}));
  site.computation.ReplaceAllUses(site.id, masked);
  return true;
}

// slice={[a:b]}  →  slice={[a+1:b+1]} or [a-1:b-1]
bool ShiftSlice(const Site& site) {
  const Instruction& slice = site.instruction();
  if (slice.opcode() != Opcode::kSlice) return false;
  hlo::Attributes attributes = slice.attributes();
  for (size_t d = 0; d < attributes.slice.size(); ++d) {
    auto& range = attributes.slice[d];
    const int64_t size = site.shape(0).dimension(static_cast<int64_t>(d));
    const int64_t shift = range.limit < size ? 1 : range.start > 0 ? -1 : 0;
    if (shift == 0) continue;
    range.start += shift;
    range.limit += shift;
    site.SetAttributes(std::move(attributes));
    return true;
  }
  return false;
}

// A scalar constant, a thousandth larger.
bool ChangeConstant(const Site& site) {
  const Instruction& constant = site.instruction();
  if (constant.opcode() != Opcode::kConstant || !constant.shape().IsScalar() ||
      !IsFloat(constant.shape().element_type()) ||
      BitWidth(constant.shape().element_type()) < 32 ||
      constant.literal()->is_elided() || constant.literal()->AsDouble(0) == 0) {
    return false;
  }
  Literal changed = Literal::Scalar(constant.shape().element_type(),
                                    constant.literal()->AsDouble(0) * 1.001);
  site.computation.mutable_instruction(site.id).set_literal(
      std::make_shared<const Literal>(std::move(changed)));
  return true;
}

// select(p, x, y)  →  x
bool LoseMask(const Site& site) {
  const Instruction& select = site.instruction();
  if (select.opcode() != Opcode::kSelect || !IsFloatArray(select.shape())) {
    return false;
  }
  site.computation.ReplaceAllUses(site.id,
                                  select.operand(1 + site.rng.Below(2)));
  return true;
}

// The parameters of the computation that are one real number each.
std::vector<InstructionId> Scalars(const Computation& computation) {
  std::vector<InstructionId> scalars;
  for (InstructionId parameter : computation.parameters()) {
    const hlo::Shape& shape = computation[parameter].shape();
    if (shape.IsScalar() && BitWidth(shape.element_type()) >= 32 &&
        !IsComplex(shape.element_type())) {
      scalars.push_back(parameter);
    }
  }
  return scalars;
}

// x  →  x, but NaN where a scalar parameter has a rare value; of the entry, as
// no input may give those of a callee that value
bool AddRareNan(const Site& site) {
  if (!site.is_entry) return false;
  const Instruction& instruction = site.instruction();
  const hlo::ShapePtr shape = instruction.shape_ptr();
  if (!IsFloatArray(*shape) || instruction.opcode() == Opcode::kParameter ||
      instruction.opcode() == Opcode::kConstant || shape->is_dynamic()) {
    return false;
  }
  Computation& c = site.computation;
  const std::vector<InstructionId> scalars = Scalars(c);
  if (scalars.empty()) return false;
  const InstructionId scalar = scalars[site.rng.Below(scalars.size())];
  const hlo::ElementType type = c[scalar].shape().element_type();
  const double value = IsFloat(type) ? 0.8125 : 1234567;
  site.trigger = {c[scalar].index(), value};
  const InstructionId rare = site.AddConstant(Literal::Scalar(type, value));
  hlo::Attributes equal;
  equal.direction = hlo::ComparisonDirection::kEq;
  const InstructionId is_rare = c.AddInstruction(Instruction(
      Opcode::kCompare, hlo::Shape::Scalar(hlo::ElementType::kPred),
      {scalar, rare}, std::make_shared<const hlo::Attributes>(equal)));
  const InstructionId nan = site.AddConstant(Literal::Scalar(
      shape->element_type(), std::numeric_limits<double>::quiet_NaN()));
  const InstructionId everywhere =
      c.AddInstruction(Instruction(Opcode::kBroadcast, shape, {nan}));
  const InstructionId where = c.AddInstruction(
      Instruction(Opcode::kBroadcast,
                  WithElementType(*shape, hlo::ElementType::kPred), {is_rare}));
  const InstructionId chosen = c.AddInstruction(
      Instruction(Opcode::kSelect, shape, {where, everywhere, site.id}));
  c.ReplaceAllUses(site.id, chosen);
  return true;
}

struct Kind {
  absl::string_view name;
  bool (*apply)(const Site& site);
};

constexpr Kind kKinds[] = {{"dropped term", DropTerm},
                           {"swapped operands", SwapOperands},
                           {"zeroed element", ZeroElement},
                           {"shifted slice", ShiftSlice},
                           {"changed constant", ChangeConstant},
                           {"lost mask", LoseMask},
                           {"rare NaN", AddRareNan}};

}  // namespace

std::vector<absl::string_view> MutationKinds() {
  std::vector<absl::string_view> names;
  for (const Kind& kind : kKinds) names.push_back(kind.name);
  return names;
}

std::optional<Mutation> Mutate(const Module& module, absl::string_view name,
                               Rng& rng) {
  std::vector<std::pair<ComputationId, InstructionId>> places;
  for (ComputationId id : module.ComputationPostOrder()) {
    const Computation& computation = module.computation(id);
    for (InstructionId i : computation.PostOrder()) places.emplace_back(id, i);
  }
  for (const Kind& kind : kKinds) {
    if (kind.name != name) continue;
    // Places are tried in a random order.
    for (size_t left = places.size(); left > 0; --left) {
      std::swap(places[rng.Below(left)], places[left - 1]);
      const auto [computation, instruction] = places[left - 1];
      Mutation mutation{module, "", std::nullopt};
      const Site site{mutation.module.mutable_computation(computation),
                      instruction, rng, computation == module.entry(),
                      mutation.trigger};
      const std::string at = site.instruction().name();
      if (!kind.apply(site)) continue;
      mutation.description = absl::StrCat(name, " at ", at);
      return mutation;
    }
  }
  return std::nullopt;
}

}  // namespace hone::bench
