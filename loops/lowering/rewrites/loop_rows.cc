#include "loops/lowering/rewrites/loop_rows.h"

#include <utility>

#include "absl/algorithm/container.h"

#include "hlo/passes/control_flow/scalar_evaluator.h"
#include "hlo/rewrite/callees.h"
#include "hlo/rewrite/dead_code.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/tuples/elements.h"
#include "loops/lowering/rewrites/loop_dot.h"

namespace hone::loops {
namespace {

using hlo::InstructionId;
using hlo::kNoInstruction;
using hlo::Opcode;
using hlo::Rewriter;

// The largest number of iterations whose places are computed one by one.
constexpr int64_t kMostIterations = 4096;
// The longest chain of operations that re-index an invariant.
constexpr int kMostReindexings = 6;

// Returns true if `sizes` is 1, then the dimensions of `row`.
bool IsRowOf(const hlo::Shape& row, absl::Span<const int64_t> sizes) {
  const hlo::DimensionVector& inner = row.dimensions();
  return sizes.size() == inner.size() + 1 && sizes[0] == 1 &&
         absl::c_equal(sizes.subspan(1), inner);
}

// Returns true if a part of these sizes is one row of `array`.
bool IsPartOneRow(const hlo::Shape& array, absl::Span<const int64_t> sizes) {
  return !sizes.empty() && sizes[0] == 1 &&
         absl::c_equal(sizes.subspan(1),
                       absl::MakeSpan(array.dimensions()).subspan(1));
}

hlo::InstructionIds StartsOfRow(Rewriter& body, InstructionId array,
                                InstructionId place) {
  hlo::InstructionIds starts = {place};
  const size_t rank = body.dimensions_of(array).size();
  if (rank == 1) return starts;
  const InstructionId zero = MakeConstant(
      body, hlo::Literal::ScalarInt(body.shape(place).element_type(), 0));
  starts.resize(rank, zero);
  return starts;
}

InstructionId FirstRead(const hlo::LoopRewriter& loop, int32_t element) {
  const hlo::InstructionIds reads =
      hlo::LoopRewriter::Reads(loop.body(), loop.body_state(), element);
  return reads.empty() ? kNoInstruction : reads[0];
}

}  // namespace

LoopRows::LoopRows(hlo::LoopRewriter& loop, const hlo::CountedLoop& counted)
    : loop_(loop),
      counted_(counted),
      is_read_by_condition_(hlo::ReadElements(loop.condition().computation(),
                                              loop.condition_state())),
      counter_(FirstRead(loop, counted.element)) {}

std::optional<LoopRow> LoopRows::Read(InstructionId id) const {
  if (!body().Is(id, Opcode::kReshape)) return std::nullopt;
  const InstructionId part = body().operand(id, 0);
  if (!body().Is(part, Opcode::kDynamicSlice) ||
      !IsRowOf(body().shape(id), body().dimensions_of(part))) {
    return std::nullopt;
  }
  const InstructionId array = body().operand(part, 0);
  if (!IsPartOneRow(body().shape(array), body().dimensions_of(part)) ||
      !loop_.IsRead(array) || !loop_.HandsOn(body()[array].index())) {
    return std::nullopt;
  }
  return LoopRow{body()[array].index(), body().operand(part, 1)};
}

std::optional<LoopRow> LoopRows::Written(InstructionId id) const {
  for (InstructionId user : body()[id].users()) {
    if (!body().Is(user, Opcode::kReshape) ||
        !IsRowOf(body().shape(id), body().dimensions_of(user))) {
      continue;
    }
    for (InstructionId update : body()[user].users()) {
      if (!body().Is(update, Opcode::kDynamicUpdateSlice) ||
          body().operand(update, 1) != user ||
          !IsPartOneRow(body().shape(update), body().dimensions_of(user))) {
        continue;
      }
      const InstructionId array = body().operand(update, 0);
      if (!loop_.IsRead(array)) continue;
      const int32_t element = body()[array].index();
      if (IsNext(update, element) && IsReadOnlyBy(array, update)) {
        return LoopRow{element, body().operand(update, 2)};
      }
    }
  }
  return std::nullopt;
}

bool LoopRows::IsOnlyWritten(InstructionId id) const {
  return body()[id].users().size() == 1 &&
         body()[body()[id].users()[0]].users().size() == 1;
}

bool LoopRows::IsNext(InstructionId id, int32_t element) const {
  const InstructionId root = body().computation().root();
  const hlo::InstructionIds& next = body()[root].operands();
  return next[static_cast<size_t>(element)] == id &&
         absl::c_count(next, id) == 1 && body()[id].users().size() == 1;
}

bool LoopRows::IsReadOnlyBy(InstructionId read, InstructionId user) const {
  const auto element = static_cast<size_t>(body()[read].index());
  return body()[read].users() == hlo::InstructionIds{user} &&
         (element >= is_read_by_condition_.size() ||
          !is_read_by_condition_[element]);
}

std::optional<std::vector<int64_t>> LoopRows::Permutation(
    InstructionId place) const {
  const auto [found, is_new] = permutations_.try_emplace(place);
  if (is_new) found->second = FindPermutation(place);
  return found->second;
}

std::optional<std::vector<int64_t>> LoopRows::FindPermutation(
    InstructionId place) const {
  const int64_t count = trip_count();
  if (!counted_.progression.has_value() || count > kMostIterations) {
    return std::nullopt;
  }
  const hlo::Shape& counter =
      *body().shape(loop_.body_state()).tuple_element(counted_.element);
  std::vector<int64_t> places;
  std::vector<bool> is_taken(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) {
    hlo::Elements elements;
    elements.emplace(counted_.element, hlo::Literal::ScalarInt(
                                           counter.element_type(),
                                           counted_.progression->init +
                                               k * counted_.progression->step));
    const std::optional<hlo::Literal> value =
        hlo::ScalarEvaluator(body().module(), body().computation(), elements)
            .Value(place);
    if (!value.has_value()) return std::nullopt;
    const int64_t at = value->AsInt(0);
    if (at < 0 || at >= count || is_taken[static_cast<size_t>(at)]) {
      return std::nullopt;
    }
    is_taken[static_cast<size_t>(at)] = true;
    places.push_back(at);
  }
  return places;
}

InstructionId LoopRows::Counter() const {
  if (!counted_.progression.has_value() || counted_.progression->init != 0 ||
      counted_.progression->step != 1) {
    return kNoInstruction;
  }
  return counter_;
}

bool LoopRows::IsInvariant(InstructionId id, int depth) const {
  const hlo::Instruction& instruction = body()[id];
  switch (instruction.opcode()) {
    case Opcode::kGetTupleElement:
      return loop_.IsRead(id) && loop_.HandsOn(instruction.index()) &&
             body().shape(id).IsArray();
    case Opcode::kReshape:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return depth < kMostReindexings &&
             IsInvariant(instruction.operand(0), depth + 1);
    default:
      return false;
  }
}

bool LoopRows::IsInvariant(InstructionId id) const {
  return IsInvariant(id, 0);
}

InstructionId LoopRows::CopyOutside(InstructionId id) {
  Rewriter& outside = loop_.outside();
  const hlo::Instruction& instruction = body()[id];
  if (instruction.opcode() == Opcode::kGetTupleElement) {
    return ElementOf(outside, loop_.init(),
                     static_cast<size_t>(instruction.index()));
  }
  const InstructionId operand = CopyOutside(instruction.operand(0));
  return outside.AddCopy(body()[id].WithOperands({operand}));
}

void MakeReadsUnique(hlo::LoopRewriter& loop) {
  Rewriter& body = loop.body();
  std::vector<InstructionId> reads(static_cast<size_t>(loop.element_count()),
                                   kNoInstruction);
  for (InstructionId id :
       hlo::InstructionIds(body[loop.body_state()].users())) {
    InstructionId& read = reads[static_cast<size_t>(body[id].index())];
    if (read == kNoInstruction) {
      read = id;
    } else {
      body.ReplaceUses(id, read);
      body.RemoveDead(id);
    }
  }
}

InstructionId MakeReadOfRow(Rewriter& body, InstructionId array,
                            InstructionId place) {
  hlo::DimensionVector sizes = body.dimensions_of(array);
  sizes[0] = 1;
  const InstructionId part =
      MakeDynamicSlice(body, array, StartsOfRow(body, array, place), sizes);
  sizes.erase(sizes.begin());
  return MakeReshape(body, part, sizes);
}

InstructionId MakeWriteOfRow(Rewriter& body, InstructionId array,
                             InstructionId row, InstructionId place) {
  hlo::DimensionVector sizes = body.dimensions_of(array);
  sizes[0] = 1;
  return MakeDynamicUpdateSlice(body, array, MakeReshape(body, row, sizes),
                                StartsOfRow(body, array, place));
}

absl::Status RewriteLoopsWithDots(
    hlo::Module& module, absl::string_view name,
    absl::FunctionRef<void(hlo::LoopRewriter&, LoopRows&)> change) {
  const hlo::RewriteRule rule = {
      .name = name,
      .numeric_class = hlo::NumericClass::kReassociates,
      .opcodes = {Opcode::kWhile},
      .call_order = hlo::CallOrder::kCalleesFirst,
      .checks_itself = true};
  hlo::Callees callees(module);
  const auto rewrite = [&](Rewriter& r, InstructionId id) {
    hlo::LoopRewriter loop(r, id);
    if (!r.shape(id).IsTuple() || r.computation().HasControlDependency(id) ||
        !loop.TakesStateApart() || !loop.MayAddElements() ||
        DotsIn(loop.body()).empty()) {
      return false;
    }
    const std::optional<hlo::CountedLoop> counted =
        hlo::FindCountedLoop(module, r.computation(), id);
    if (!counted.has_value() || counted->trip_count < 2 ||
        !loop.OwnCallees(callees)) {
      return false;
    }
    loop.TakeResultApart();
    // The loop stays until the end, even if no other result of it is left.
    const InstructionId read = MakeGetTupleElement(r, id, counted->element);
    MakeReadsUnique(loop);
    LoopRows rows(loop, *counted);
    change(loop, rows);
    RemoveDeadInstructions(loop.body());
    loop.Finish();
    r.RemoveDead(read);
    return true;
  };
  return RewriteModule(module, rule, {}, rewrite).status();
}

}  // namespace hone::loops
