#include "hlo/passes/while_trip_count.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "hlo/evaluator/evaluator.h"

namespace hone::hlo {
namespace {

// Elements of the loop's tuple whose value is known.
using Elements = absl::flat_hash_map<int32_t, Literal>;

// Computes scalars of a loop's body or condition from elements of its
// parameter.
class ScalarEvaluator {
 public:
  ScalarEvaluator(const Module& module, const Computation& computation,
                  const Elements& elements)
      : module_(module), computation_(computation), elements_(elements) {}

  std::optional<Literal> Value(InstructionId id) { return Value(id, 0); }

 private:
  // Conditions and counters are a few instructions deep.
  static constexpr int kMaxDepth = 16;

  std::optional<Literal> Value(InstructionId id, int depth) {
    const Instruction& instruction = computation_[id];
    if (depth > kMaxDepth || !instruction.shape().IsScalar()) {
      return std::nullopt;
    }
    if (auto it = values_.find(id); it != values_.end()) return it->second;
    std::optional<Literal> value = Compute(id, depth);
    values_.emplace(id, value);
    return value;
  }

  std::optional<Literal> Compute(InstructionId id, int depth) {
    const Instruction& instruction = computation_[id];
    if (instruction.IsConstant()) {
      if (instruction.literal()->is_elided()) return std::nullopt;
      return *instruction.literal();
    }
    if (instruction.opcode() == Opcode::kGetTupleElement) {
      const Instruction& tuple = computation_[instruction.operand(0)];
      auto it = elements_.find(instruction.index());
      if (tuple.opcode() != Opcode::kParameter || it == elements_.end()) {
        return std::nullopt;
      }
      return it->second;
    }
    if (!IsElementwise(instruction.opcode())) return std::nullopt;
    std::vector<Literal> operands;
    for (InstructionId operand : instruction.operands()) {
      std::optional<Literal> value = Value(operand, depth + 1);
      if (!value.has_value()) return std::nullopt;
      operands.push_back(*std::move(value));
    }
    absl::StatusOr<Literal> result =
        EvaluateInstruction(module_, computation_, id, operands);
    if (!result.ok()) return std::nullopt;
    return *std::move(result);
  }

  const Module& module_;
  const Computation& computation_;
  const Elements& elements_;
  absl::flat_hash_map<InstructionId, std::optional<Literal>> values_;
};

// The known values among the operands of `tuple`.
Elements KnownElements(const Computation& computation, InstructionId tuple,
                       ScalarEvaluator& evaluator) {
  Elements elements;
  const InstructionIds& operands = computation[tuple].operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (std::optional<Literal> value = evaluator.Value(operands[i])) {
      elements.emplace(static_cast<int32_t>(i), *std::move(value));
    }
  }
  return elements;
}

// Whether the loop goes on; nullopt when that is not known.
std::optional<bool> GoesOn(const Module& module, const Computation& condition,
                           const Elements& elements) {
  ScalarEvaluator evaluator(module, condition, elements);
  const std::optional<Literal> value = evaluator.Value(condition.root());
  if (!value.has_value()) return std::nullopt;
  return value->AsInt(0) != 0;
}

}  // namespace

TripCount FindTripCount(const Module& module, const Computation& computation,
                        InstructionId id) {
  const Instruction& loop = computation[id];
  const InstructionId init = loop.operand(0);
  const Computation& condition = module.computation(loop.called()[0]);
  const Computation& body = module.computation(loop.called()[1]);
  if (computation[init].opcode() != Opcode::kTuple) return TripCount::kOther;
  const Elements none;
  ScalarEvaluator outside(module, computation, none);
  const Elements before = KnownElements(computation, init, outside);
  const std::optional<bool> starts = GoesOn(module, condition, before);
  if (!starts.has_value()) return TripCount::kOther;
  if (!*starts) return TripCount::kZero;
  if (body[body.root()].opcode() != Opcode::kTuple) return TripCount::kOther;
  ScalarEvaluator inside(module, body, before);
  const Elements after = KnownElements(body, body.root(), inside);
  const std::optional<bool> repeats = GoesOn(module, condition, after);
  return repeats == false ? TripCount::kOne : TripCount::kOther;
}

}  // namespace hone::hlo
