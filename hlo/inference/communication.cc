// Communication with other devices and with the host.

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

#include "base/excerpt.h"
#include "base/status_macros.h"
#include "hlo/inference/internal.h"

namespace hone::hlo::inference {
namespace {

bool IsToken(const Shape& shape) {
  return shape.element_type() == ElementType::kToken;
}

absl::Status ExpectToken(const Context& context, size_t i) {
  if (IsToken(context.operand(i))) return absl::OkStatus();
  return Invalid("operand ", i, " is ", context.operand(i).ToString(),
                 ", expected token[]");
}

absl::Status ExpectGiven(const Context& context) {
  if (context.given() != nullptr) return absl::OkStatus();
  return Invalid("no shape, expected one: operands do not determine it");
}

absl::Status GivenMisfit(const Context& context, absl::string_view expected) {
  return Invalid("shape ", context.given()->ToString(), ", expected ",
                 expected);
}

// The shapes of all operands: a tuple unless there is one.
Result AllOperands(const Context& context) {
  std::vector<ShapePtr> shapes;
  shapes.reserve(context.operand_count());
  for (size_t i = 0; i < context.operand_count(); ++i) {
    shapes.push_back(context.operand_ptr(i));
  }
  return TupleOrSingle(context, std::move(shapes));
}

// The opcode of operand 0. A transfer that is pending over iterations of a loop
// passes through tuples, so only the opposite of what is expected is wrong.
Opcode ProducerOpcode(const Context& context) {
  return context.computation[context.instruction.operand(0)].opcode();
}

// The one dimension that the collective is along.
absl::StatusOr<size_t> Along(const Context& context) {
  HONE_RETURN_IF_ERROR(
      ExpectCount("dimensions", context.dimensions().size(), 1));
  for (size_t i = 0; i < context.operand_count(); ++i) {
    HONE_RETURN_IF_ERROR(ExpectDistinct("dimensions", context.dimensions(),
                                        context.operand(i).rank()));
  }
  return Index(context.dimensions()[0]);
}

// Replica groups name a device once, and so does each side of the pairs of a
// collective-permute. Only the form `{{0,1},{2,3}}` is read.
absl::Status ExpectDistinctDevices(const Context& context) {
  for (const auto& [name, value] : context.attributes().others) {
    const bool are_pairs = name == "source_target_pairs";
    if ((!are_pairs && name != "replica_groups") || value.empty() ||
        value.front() != '{') {
      continue;
    }
    absl::flat_hash_set<std::pair<size_t, int64_t>> seen;
    size_t i = 0;
    for (absl::string_view word : absl::StrSplit(
             value, absl::ByAnyChar("{}, \t\r\n"), absl::SkipEmpty())) {
      int64_t device = 0;
      if (!absl::SimpleAtoi(word, &device)) return absl::OkStatus();
      if (!seen.emplace(are_pairs ? i % 2 : 0, device).second) {
        return Invalid(name, "=", Excerpt(value), " has ", device,
                       " twice, expected every device once");
      }
      ++i;
    }
  }
  return absl::OkStatus();
}

// The region of a reduction over one element of each operand.
absl::Status ExpectReduction(const Context& context) {
  HONE_ASSIGN_OR_RETURN(const Computation* reducer, Callee(context, 0));
  if (reducer->parameters().size() != 2) {
    return Invalid("to_apply ", reducer->name(), " has ",
                   reducer->parameters().size(), " parameters, expected 2");
  }
  return absl::OkStatus();
}

// `given` has every operand grown (all-gather) or cut (reduce-scatter) along
// one dimension, by a number that the replica groups decide.
absl::Status ExpectResized(const Context& context, const Shape& given,
                           bool grows) {
  HONE_RETURN_IF_ERROR(ExpectAtLeastOperands(context, 1));
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  HONE_ASSIGN_OR_RETURN(const size_t along, Along(context));
  if (given.IsTuple() &&
      given.tuple_elements().size() != context.operand_count()) {
    return GivenMisfit(context, "an array for each operand");
  }
  if (!given.IsTuple() && context.operand_count() != 1) {
    return GivenMisfit(context, "a tuple with an array for each operand");
  }
  for (size_t i = 0; i < context.operand_count(); ++i) {
    const Shape& result = given.IsTuple() ? *given.tuple_elements()[i] : given;
    const Shape& operand = context.operand(i);
    bool fits = result.element_type() == operand.element_type() &&
                result.rank() == operand.rank();
    for (size_t d = 0; fits && d < operand.dimensions().size(); ++d) {
      const int64_t small = (grows ? operand : result).dimensions()[d];
      const int64_t large = (grows ? result : operand).dimensions()[d];
      fits = d == along ? small == 0 ? large == 0 : large % small == 0
                        : small == large;
    }
    if (!fits) {
      return Invalid("shape ", result.ToString(), " from operand ", i, " of ",
                     operand.ToString(), ", expected a ",
                     grows ? "multiple" : "part", " of dimension ", along);
    }
  }
  return absl::OkStatus();
}

Result InferResized(const Context& context, bool grows) {
  HONE_RETURN_IF_ERROR(ExpectGiven(context));
  HONE_RETURN_IF_ERROR(ExpectResized(context, *context.given(), grows));
  return context.given();
}

}  // namespace

absl::Status ExpectGathered(const Context& context, const Shape& result) {
  return ExpectResized(context, result, /*grows=*/true);
}

Result InferCollective(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectDistinctDevices(context));
  switch (context.opcode()) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      HONE_RETURN_IF_ERROR(ExpectAtLeastOperands(context, 1));
      HONE_RETURN_IF_ERROR(ExpectArrays(context));
      HONE_RETURN_IF_ERROR(ExpectReduction(context));
      return AllOperands(context);
    case Opcode::kAllGather:
      return InferResized(context, /*grows=*/true);
    case Opcode::kAllGatherStart:
    case Opcode::kCollectivePermuteStart:
      return InferStart(context);
    case Opcode::kReduceScatter:
      HONE_RETURN_IF_ERROR(ExpectReduction(context));
      return InferResized(context, /*grows=*/false);
    case Opcode::kCollectiveBroadcast:
      HONE_RETURN_IF_ERROR(ExpectAtLeastOperands(context, 1));
      return AllOperands(context);
    default:  // collective-permute
      // Four operands and more: slices of a buffer, in place.
      if (context.operand_count() > 1) return context.given();
      HONE_RETURN_IF_ERROR(ExpectAtLeastOperands(context, 1));
      return PreferGiven(context, context.operand_ptr(0));
  }
}

Result InferFeed(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectGiven(context));
  if (context.opcode() == Opcode::kOutfeed) {
    HONE_RETURN_IF_ERROR(ExpectToken(context, 1));
    return PreferGiven(context, Shape::Token());
  }
  HONE_RETURN_IF_ERROR(ExpectToken(context, 0));
  const Shape& given = *context.given();
  if (given.tuple_elements().size() != 2 ||
      !IsToken(*given.tuple_elements()[1])) {
    return GivenMisfit(context, "a tuple of data and token[]");
  }
  return context.given();
}

Result InferTransfer(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectGiven(context));
  const std::vector<ShapePtr>& parts = context.given()->tuple_elements();
  const auto is_pending = [](const Shape& shape, const Shape* data) {
    const std::vector<ShapePtr>& p = shape.tuple_elements();
    return p.size() == 3 && p[1]->IsScalar() &&
           p[1]->element_type() == ElementType::kU32 && IsToken(*p[2]) &&
           (data == nullptr || Compatible(*p[0], *data));
  };
  switch (context.opcode()) {
    case Opcode::kSend:
      HONE_RETURN_IF_ERROR(ExpectToken(context, 1));
      if (!is_pending(*context.given(), &context.operand(0))) {
        return GivenMisfit(context, "a tuple of the data, u32[] and token[]");
      }
      return context.given();
    case Opcode::kRecv:
      HONE_RETURN_IF_ERROR(ExpectToken(context, 0));
      if (!is_pending(*context.given(), nullptr)) {
        return GivenMisfit(context, "a tuple of data, u32[] and token[]");
      }
      return context.given();
    case Opcode::kSendDone:
      if (!is_pending(context.operand(0), nullptr) ||
          ProducerOpcode(context) == Opcode::kRecv) {
        return Invalid("operand 0 is ", context.operand(0).ToString(),
                       ", expected the result of a send");
      }
      return PreferGiven(context, Shape::Token());
    default:  // recv-done
      if (!is_pending(context.operand(0), nullptr) ||
          ProducerOpcode(context) == Opcode::kSend) {
        return Invalid("operand 0 is ", context.operand(0).ToString(),
                       ", expected the result of a recv");
      }
      if (parts.size() != 2 || !IsToken(*parts[1]) ||
          !Compatible(*parts[0], *context.operand(0).tuple_elements()[0])) {
        return GivenMisfit(context, "a tuple of the data and token[]");
      }
      return context.given();
  }
}

Result InferRng(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectGivenArray(context));
  HONE_RETURN_IF_ERROR(ExpectOperandCount(context, 2));
  for (size_t i = 0; i < 2; ++i) {
    HONE_RETURN_IF_ERROR(ExpectRank(context, i, 0));
    HONE_RETURN_IF_ERROR(
        ExpectType(context, i, context.given()->element_type()));
  }
  return context.given();
}

}  // namespace hone::hlo::inference
