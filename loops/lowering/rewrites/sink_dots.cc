#include "loops/lowering/rewrites/sink_dots.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "hlo/rewrite/dead_code.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/values.h"
#include "loops/lowering/rewrites/loop_dot.h"
#include "loops/lowering/rewrites/loop_rows.h"

namespace hone::loops {
namespace {

using hlo::InstructionId;
using hlo::kNoInstruction;
using hlo::Opcode;
using hlo::Rewriter;

// The largest array of the values of all iterations that is made for a product.
constexpr int64_t kMostBytes = int64_t{64} << 20;

// s += dot, through transposes.
struct Accumulation {
  int32_t element = 0;
  InstructionId dot = kNoInstruction;
  // From the dot to the addend.
  std::vector<InstructionId> transposes;
};

class DotSinker {
 public:
  DotSinker(hlo::LoopRewriter& loop, LoopRows& rows)
      : loop_(loop),
        rows_(rows),
        is_removed_(static_cast<size_t>(loop.element_count())) {}

  void Run() {
    for (int32_t i = 0; i < static_cast<int32_t>(is_removed_.size()); ++i) {
      if (const auto sum = AsAccumulation(i)) Sink(*sum);
    }
    for (InstructionId id : DotsIn(body())) SplitBySlices(id);
    RemoveDeadInstructions(body());
    for (InstructionId id : DotsIn(body())) SinkStored(id);
    if (absl::c_none_of(is_removed_, [](bool removed) { return removed; })) {
      return;
    }
    std::vector<bool> kept;
    for (bool removed : is_removed_) kept.push_back(!removed);
    kept.resize(static_cast<size_t>(loop_.element_count()), true);
    loop_.RemoveElements(kept);
  }

 private:
  using Places = std::vector<int64_t>;

  Rewriter& body() const { return loop_.body(); }

  std::optional<Accumulation> AsAccumulation(int32_t element) const {
    const InstructionId root = body().computation().root();
    const InstructionId sum =
        body().operand(root, static_cast<size_t>(element));
    if (!body().Is(sum, Opcode::kAdd) || !rows_.IsNext(sum, element) ||
        !MayReassociate(body().shape(sum)) ||
        !rows_.IsReadOnlyBy(element, sum)) {
      return std::nullopt;
    }
    for (size_t side : {size_t{0}, size_t{1}}) {
      const InstructionId old = body().operand(sum, 1 - side);
      if (!loop_.IsRead(old) || body()[old].index() != element) continue;
      Accumulation found;
      found.element = element;
      InstructionId user = sum;
      InstructionId value = body().operand(sum, side);
      while (body().DiesWith(value, user) &&
             body().Is(value, Opcode::kTranspose)) {
        found.transposes.insert(found.transposes.begin(), value);
        user = value;
        value = body().operand(value, 0);
      }
      if (!body().Is(value, Opcode::kDot) || !body().DiesWith(value, user) ||
          HasBatch(body()[value])) {
        continue;
      }
      found.dot = value;
      // A result is read and written; its rows and columns are stored and read.
      const int64_t sums = SumsOf(body(), value);
      const int64_t stored =
          body().shape(body().operand(value, 0)).num_elements() +
          body().shape(body().operand(value, 1)).num_elements();
      if (sums > kFewSums || stored > body().shape(value).num_elements()) {
        continue;
      }
      return found;
    }
    return std::nullopt;
  }

  // The place of what `id` is in each iteration, in an array that the loop
  // reads or writes anyway; kNoInstruction if there is none.
  InstructionId PlaceOf(InstructionId id) const {
    if (const auto read = rows_.Read(id)) return read->place;
    if (const auto written = rows_.Written(id)) return written->place;
    return kNoInstruction;
  }

  // Returns the array, outside the loop, that has `id` of each iteration at
  // `places`, which are those of `place`.
  InstructionId AllOf(InstructionId id, InstructionId place,
                      const Places& places) {
    const auto is_there = [&](const std::optional<LoopRow>& row) {
      return row.has_value() &&
             ArrayShape(row->element).dimensions()[0] == rows_.trip_count() &&
             (row->place == place || rows_.Permutation(row->place) == places);
    };
    Rewriter& outside = loop_.outside();
    if (const auto read = rows_.Read(id); is_there(read)) {
      return ElementOf(outside, loop_.init(),
                       static_cast<size_t>(read->element));
    }
    if (const auto written = rows_.Written(id); is_there(written)) {
      return MakeGetTupleElement(outside, loop_.id(), written->element);
    }
    hlo::DimensionVector sizes = body().dimensions_of(id);
    sizes.insert(sizes.begin(), rows_.trip_count());
    const hlo::ElementType type = body().shape(id).element_type();
    const InstructionId initial =
        MakeUniform(outside, hlo::Literal::Scalar(type, 0), sizes);
    const InstructionId read = loop_.AddElements({initial})[0];
    const InstructionId root = body().computation().root();
    const auto element = static_cast<int32_t>(loop_.element_count() - 1);
    body().SetOperand(root, static_cast<size_t>(element),
                      MakeWriteOfRow(body(), read, id, place));
    return MakeGetTupleElement(outside, loop_.id(), element);
  }

  const hlo::Shape& ArrayShape(int32_t element) const {
    return *loop_.outside().shape(loop_.id()).tuple_element(element);
  }

  bool IsSmall(InstructionId id) const {
    return body().shape(id).byte_size() <= kMostBytes / rows_.trip_count();
  }

  void Sink(const Accumulation& sum) {
    const InstructionId a = body().operand(sum.dot, 0);
    const InstructionId b = body().operand(sum.dot, 1);
    if (!IsSmall(a) || !IsSmall(b)) return;
    InstructionId place = PlaceOf(a);
    if (place == kNoInstruction) place = PlaceOf(b);
    if (place == kNoInstruction) place = rows_.Counter();
    if (place == kNoInstruction) return;
    const auto places = rows_.Permutation(place);
    if (!places.has_value()) return;
    const InstructionId all_a = AllOf(a, place, *places);
    const InstructionId all_b = AllOf(b, place, *places);
    hlo::DotDimensions dimensions;
    for (auto* contracting :
         {&dimensions.lhs_contracting, &dimensions.rhs_contracting}) {
      contracting->push_back(0);
      const bool is_left = contracting == &dimensions.lhs_contracting;
      for (int64_t d : Contracting(body()[sum.dot], is_left ? 0 : 1)) {
        contracting->push_back(d + 1);
      }
    }
    Rewriter& outside = loop_.outside();
    InstructionId total =
        AddDotLike(outside, body()[sum.dot], all_a, all_b, dimensions);
    for (InstructionId transpose : sum.transposes) {
      total = MakeTranspose(outside, total, body()[transpose].dimensions());
    }
    const InstructionId initial =
        ElementOf(outside, loop_.init(), static_cast<size_t>(sum.element));
    if (!hlo::IsUniform(outside.computation(), initial, 0)) {
      total = MakeBinary(outside, Opcode::kAdd, initial, total);
    }
    ReplaceElement(sum.element, total);
  }

  // Replaces the result of the loop by `value`, and lets the element of the
  // state go.
  void ReplaceElement(int32_t element, InstructionId value) {
    Rewriter& outside = loop_.outside();
    for (InstructionId read :
         hlo::LoopRewriter::Reads(outside, loop_.id(), element)) {
      outside.ReplaceUses(read, value);
      outside.RemoveDead(read);
    }
    is_removed_[static_cast<size_t>(element)] = true;
    const InstructionId root = body().computation().root();
    const InstructionId old =
        body().operand(root, static_cast<size_t>(element));
    body().SetOperand(
        root, static_cast<size_t>(element),
        hlo::LoopRewriter::Reads(body(), loop_.body_state(), element)[0]);
    body().RemoveDead(old);
  }

  // A dot of few rows with an invariant, of which only slices along a dimension
  // of the invariant are used, one of which is only stored, becomes a dot for
  // each slice.
  void SplitBySlices(InstructionId dot) {
    const std::optional<size_t> side = RowsOf(dot);
    if (!side.has_value()) return;
    const hlo::InstructionIds users = body()[dot].users();
    std::optional<int64_t> along;
    bool any_stored = false;
    for (InstructionId user : users) {
      if (!body().Is(user, Opcode::kSlice)) return;
      any_stored = any_stored || IsStored(user);
      const auto& slice = body()[user].attributes().slice;
      for (size_t d = 0; d < slice.size(); ++d) {
        if (slice[d].stride != 1) return;
        if (slice[d].start == 0 &&
            slice[d].limit == body().dimensions_of(dot)[d]) {
          continue;
        }
        if (along.value_or(static_cast<int64_t>(d)) !=
            static_cast<int64_t>(d)) {
          return;
        }
        along = static_cast<int64_t>(d);
      }
    }
    if (!any_stored || !along.has_value()) return;
    // The dimension of the invariant.
    const size_t other = 1 - *side;
    const hlo::DimensionVector free = hlo::OtherDimensions(
        Contracting(body()[dot], other),
        static_cast<int64_t>(
            body().dimensions_of(body().operand(dot, other)).size()));
    const auto rank = static_cast<int64_t>(body().dimensions_of(dot).size());
    const int64_t first =
        other == 0 ? 0 : rank - static_cast<int64_t>(free.size());
    if (*along < first || *along >= first + static_cast<int64_t>(free.size())) {
      return;
    }
    const int64_t d = free[static_cast<size_t>(*along - first)];
    for (InstructionId user : users) {
      const hlo::SliceDimension part =
          body()[user].attributes().slice[static_cast<size_t>(*along)];
      hlo::InstructionIds operands = body()[dot].operands();
      operands[other] =
          SliceAlong(body(), operands[other], d, part.start, part.limit);
      body().ReplaceUses(user, MakeLike(body(), dot, operands));
    }
  }

  // The operand of `dot` that has few rows, of which the other one is
  // invariant.
  std::optional<size_t> RowsOf(InstructionId dot) const {
    if (HasBatch(body()[dot])) return std::nullopt;
    const int64_t sums = SumsOf(body(), dot);
    for (size_t side : {size_t{0}, size_t{1}}) {
      const InstructionId rows = body().operand(dot, side);
      if (rows_.IsInvariant(body().operand(dot, 1 - side)) && IsSmall(rows) &&
          AreFewRows(body().shape(rows).num_elements() / sums, sums)) {
        return side;
      }
    }
    return std::nullopt;
  }

  // Returns true if `id` is only stored, in an array that has a row for each
  // iteration and no other.
  bool IsStored(InstructionId id) const {
    const auto row = rows_.Written(id);
    return row.has_value() && rows_.IsOnlyWritten(id) &&
           ArrayShape(row->element).dimensions()[0] == rows_.trip_count() &&
           rows_.Permutation(row->place).has_value();
  }

  // y[t] = dot(a, w)
  void SinkStored(InstructionId dot) {
    const std::optional<size_t> side = RowsOf(dot);
    if (!side.has_value() || !IsStored(dot)) return;
    const LoopRow row = *rows_.Written(dot);
    const Places places = *rows_.Permutation(row.place);
    const InstructionId all =
        AllOf(body().operand(dot, *side), row.place, places);
    const InstructionId matrix =
        rows_.CopyOutside(body().operand(dot, 1 - *side));
    hlo::DotDimensions dimensions;
    for (int64_t d : Contracting(body()[dot], *side)) {
      dimensions.lhs_contracting.push_back(d + 1);
    }
    dimensions.rhs_contracting = Contracting(body()[dot], 1 - *side);
    Rewriter& outside = loop_.outside();
    InstructionId result =
        AddDotLike(outside, body()[dot], all, matrix, dimensions);
    if (*side == 1) {
      // The dimensions of the matrix come behind that of the iterations.
      const auto rank =
          static_cast<int64_t>(outside.dimensions_of(result).size());
      const auto rows = static_cast<int64_t>(
          body().dimensions_of(body().operand(dot, 1)).size() -
          dimensions.lhs_contracting.size());
      hlo::DimensionVector permutation = {0};
      for (int64_t d = 0; d + 1 < rank; ++d) {
        permutation.push_back(1 + (d + rows) % (rank - 1));
      }
      result = MakeTranspose(outside, result, permutation);
    }
    ReplaceElement(row.element, result);
  }

  // The longest sum of one iteration that is worth storing its operands.
  static constexpr int64_t kFewSums = 64;

  hlo::LoopRewriter& loop_;
  LoopRows& rows_;
  // For each element of the state that the loop had.
  std::vector<bool> is_removed_;
};

}  // namespace

absl::Status SinkDots(hlo::Module& module) {
  return RewriteLoopsWithDots(module, "sink_dots",
                              [](hlo::LoopRewriter& loop, LoopRows& rows) {
                                DotSinker(loop, rows).Run();
                              });
}

}  // namespace hone::loops
