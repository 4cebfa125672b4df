#include "hlo/passes/control_flow/while_trip_count.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hlo/ir/id_map.h"
#include "hlo/passes/control_flow/scalar_evaluator.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {
namespace {

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

// Returns true if the loop goes on; nullopt if that is not known. Adds the
// instructions that it looked at.
std::optional<bool> GoesOn(const Module& module, const Computation& condition,
                           const Elements& elements,
                           int64_t* visited = nullptr) {
  ScalarEvaluator evaluator(module, condition, elements);
  const std::optional<Literal> value = evaluator.Value(condition.root());
  if (visited != nullptr) *visited += evaluator.visited();
  if (!value.has_value()) return std::nullopt;
  return value->AsInt(0) != 0;
}

constexpr int64_t kMaxSimulatedRounds = 128;
// Of all rounds: a counter takes few instructions.
constexpr int64_t kMaxSimulatedInstructions = 1 << 14;

// The tuple element that the condition reads; nullopt unless it is the only
// one.
std::optional<int32_t> ElementOfCondition(const Computation& condition) {
  std::optional<int32_t> element;
  const InstructionId parameter = condition.parameters()[0];
  for (InstructionId user : condition[parameter].users()) {
    const Instruction& read = condition[user];
    if (read.opcode() != Opcode::kGetTupleElement) return std::nullopt;
    if (element.has_value() && *element != read.index()) return std::nullopt;
    element = read.index();
  }
  return element;
}

bool IsElement(const Computation& computation, InstructionId id,
               int32_t element) {
  return computation[id].opcode() == Opcode::kGetTupleElement &&
         computation[id].index() == element &&
         computation[id].operand(0) == computation.parameters()[0];
}

std::optional<int64_t> IntegerConstant(const Computation& computation,
                                       InstructionId id) {
  const Literal* literal = ConstantLiteral(computation, id);
  if (literal == nullptr || !literal->shape().IsScalar() ||
      !IsIntegral(literal->shape().element_type())) {
    return std::nullopt;
  }
  return literal->AsInt(0);
}

// The constant that each iteration adds to the element; nullopt for other
// loops.
std::optional<int64_t> StepOf(const Computation& body, int32_t element) {
  const Instruction& next =
      body[body[body.root()].operand(static_cast<size_t>(element))];
  if (next.opcode() != Opcode::kAdd) return std::nullopt;
  if (IsElement(body, next.operand(0), element)) {
    return IntegerConstant(body, next.operand(1));
  }
  if (IsElement(body, next.operand(1), element)) {
    return IntegerConstant(body, next.operand(0));
  }
  return std::nullopt;
}

// The largest value of the element with which the loop goes on, where the
// condition compares it with a constant.
std::optional<int64_t> LastOf(const Computation& condition, int32_t element) {
  const Instruction& root = condition[condition.root()];
  if (root.opcode() != Opcode::kCompare) return std::nullopt;
  const ComparisonDirection direction = root.attributes().direction;
  const std::string& type = root.attributes().comparison_type;
  const Shape& compared = condition[root.operand(0)].shape();
  if (!type.empty() &&
      type != (IsSigned(compared.element_type()) ? "SIGNED" : "UNSIGNED")) {
    return std::nullopt;
  }
  std::optional<int64_t> limit;
  bool strict = false;
  if (IsElement(condition, root.operand(0), element)) {
    strict = direction == ComparisonDirection::kLt;
    if (!strict && direction != ComparisonDirection::kLe) return std::nullopt;
    limit = IntegerConstant(condition, root.operand(1));
  } else if (IsElement(condition, root.operand(1), element)) {
    strict = direction == ComparisonDirection::kGt;
    if (!strict && direction != ComparisonDirection::kGe) return std::nullopt;
    limit = IntegerConstant(condition, root.operand(0));
  }
  if (!limit.has_value() || *limit < 0) return std::nullopt;
  return strict ? *limit - 1 : *limit;
}

int64_t LargestValue(ElementType type) {
  const int bits = BitWidth(type) - (IsSigned(type) ? 1 : 0);
  return bits >= 63 ? std::numeric_limits<int64_t>::max()
                    : (int64_t{1} << bits) - 1;
}

// The iterations of a loop that adds `step` to the element while it is at most
// `last`; nullopt when that overflows.
std::optional<int64_t> SolveTripCount(int64_t init, int64_t step, int64_t last,
                                      ElementType type) {
  if (init > last) return 0;
  const int64_t repeats = (last - init) / step;
  if (init + repeats * step > LargestValue(type) - step) return std::nullopt;
  return repeats + 1;
}

// The iterations of a loop, found by computing the element of each.
std::optional<int64_t> SimulateTripCount(const Module& module,
                                         const Computation& condition,
                                         const Computation& body,
                                         int32_t element, Literal value) {
  const InstructionId next =
      body[body.root()].operand(static_cast<size_t>(element));
  int64_t visited = 0;
  for (int64_t round = 0;
       round <= kMaxSimulatedRounds && visited <= kMaxSimulatedInstructions;
       ++round) {
    Elements elements;
    elements.emplace(element, std::move(value));
    const std::optional<bool> goes_on =
        GoesOn(module, condition, elements, &visited);
    if (!goes_on.has_value()) return std::nullopt;
    if (!*goes_on) return round;
    ScalarEvaluator inside(module, body, elements);
    std::optional<Literal> after = inside.Value(next);
    visited += inside.visited();
    if (!after.has_value()) return std::nullopt;
    value = *std::move(after);
  }
  return std::nullopt;
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

std::optional<CountedLoop> FindCountedLoop(const Module& module,
                                           const Computation& computation,
                                           InstructionId id) {
  const Instruction& loop = computation[id];
  const Computation& condition = module.computation(loop.called()[0]);
  const Computation& body = module.computation(loop.called()[1]);
  const Instruction& init = computation[loop.operand(0)];
  if (init.opcode() != Opcode::kTuple ||
      body[body.root()].opcode() != Opcode::kTuple) {
    return std::nullopt;
  }
  const std::optional<int32_t> element = ElementOfCondition(condition);
  if (!element.has_value()) return std::nullopt;
  const InstructionId init_id = init.operand(static_cast<size_t>(*element));
  if (!IsIntegral(computation[init_id].shape().element_type())) {
    return std::nullopt;
  }
  const Elements none;
  std::optional<Literal> value =
      ScalarEvaluator(module, computation, none).Value(init_id);
  if (!value.has_value()) return std::nullopt;
  CountedLoop counted;
  counted.element = *element;
  const int64_t first = value->AsInt(0);
  const std::optional<int64_t> step = StepOf(body, *element);
  const std::optional<int64_t> last = LastOf(condition, *element);
  std::optional<int64_t> rounds;
  if (first >= 0 && step.value_or(0) > 0 && last.has_value()) {
    rounds = SolveTripCount(first, *step, *last, value->shape().element_type());
    counted.progression = {first, *step};
  } else {
    rounds =
        SimulateTripCount(module, condition, body, *element, *std::move(value));
  }
  if (!rounds.has_value()) return std::nullopt;
  counted.trip_count = *rounds;
  return counted;
}

bool SurelyEnds(const Module& module, const Computation& computation,
                InstructionId id) {
  const auto is_endless = [&](const Computation& c, const Instruction& i) {
    return i.opcode() == Opcode::kWhile &&
           !FindCountedLoop(module, c, i.id()).has_value();
  };
  if (is_endless(computation, computation[id])) return false;
  const ComputationIds& called = computation[id].called();
  std::vector<ComputationId> worklist(called.begin(), called.end());
  IdMap<bool> seen;
  while (!worklist.empty()) {
    const ComputationId callee = worklist.back();
    worklist.pop_back();
    if (seen.at(callee)) continue;
    seen[callee] = true;
    const Computation& inside = module.computation(callee);
    for (const Instruction& instruction : inside.instructions()) {
      if (is_endless(inside, instruction)) return false;
      worklist.insert(worklist.end(), instruction.called().begin(),
                      instruction.called().end());
    }
  }
  return true;
}

}  // namespace hone::hlo
