#include "loops/lowering/rewrites/sink_dots.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"

#include "hlo/rewrite/dead_code.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/values.h"
#include "loops/lowering/rewrites/iteration_values.h"
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
  // The body's read of s.
  InstructionId read = kNoInstruction;
  InstructionId dot = kNoInstruction;
  // From the dot to the addend.
  std::vector<InstructionId> transposes;
  // The values of the operands in all iterations, by their numbers.
  std::array<size_t, 2> all = {};
};

// y[t] = dot(a, w)
struct StoredDot {
  int32_t element = 0;
  // The body's read of y.
  InstructionId read = kNoInstruction;
  InstructionId dot = kNoInstruction;
  size_t side = 0;  // of `a`
  // The number of the values of `a` in all iterations.
  size_t all = 0;
};

class DotSinker {
 public:
  DotSinker(hlo::LoopRewriter& loop, LoopRows& rows)
      : loop_(loop),
        rows_(rows),
        values_(loop, rows),
        is_removed_(static_cast<size_t>(loop.element_count())) {}

  void Run() {
    SinkAccumulations();
    for (InstructionId id : DotsIn(body())) SplitBySlices(id);
    RemoveDeadInstructions(body());
    SinkStoredDots();
    if (absl::c_none_of(is_removed_, [](bool removed) { return removed; })) {
      return;
    }
    std::vector<bool> kept;
    for (bool removed : is_removed_) kept.push_back(!removed);
    kept.resize(static_cast<size_t>(loop_.element_count()), true);
    loop_.RemoveElements(kept);
  }

 private:
  Rewriter& body() const { return loop_.body(); }

  // All changes of the state are made at once: each takes as long as the state
  // has elements.
  void SinkAccumulations() {
    std::vector<Accumulation> sums;
    for (int32_t i = 0; i < static_cast<int32_t>(is_removed_.size()); ++i) {
      std::optional<Accumulation> sum = AsAccumulation(i);
      if (sum.has_value() && StoreOperands(*sum)) sums.push_back(*sum);
    }
    values_.Store();
    std::vector<Replacement> replacements;
    for (const Accumulation& sum : sums) {
      replacements.push_back({sum.element, sum.read, Total(sum)});
    }
    ReplaceElements(replacements);
  }

  void SinkStoredDots() {
    std::vector<StoredDot> dots;
    for (InstructionId id : DotsIn(body())) {
      if (auto dot = AsStoredDot(id)) dots.push_back(*dot);
    }
    values_.Store();
    std::vector<Replacement> replacements;
    for (const StoredDot& dot : dots) {
      replacements.push_back({dot.element, dot.read, Results(dot)});
    }
    ReplaceElements(replacements);
  }

  std::optional<Accumulation> AsAccumulation(int32_t element) const {
    const InstructionId root = body().computation().root();
    const InstructionId sum =
        body().operand(root, static_cast<size_t>(element));
    if (!body().Is(sum, Opcode::kAdd) || !rows_.IsNext(sum, element) ||
        !MayReassociate(body().shape(sum))) {
      return std::nullopt;
    }
    for (size_t side : {size_t{0}, size_t{1}}) {
      const InstructionId old = body().operand(sum, 1 - side);
      if (!loop_.IsRead(old) || body()[old].index() != element ||
          !rows_.IsReadOnlyBy(old, sum)) {
        continue;
      }
      Accumulation found;
      found.element = element;
      found.read = old;
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
  // reads or writes anyway, or will; kNoInstruction if there is none.
  InstructionId PlaceOf(InstructionId id) const {
    if (const auto read = rows_.Read(id)) return read->place;
    if (const auto written = rows_.Written(id)) return written->place;
    return values_.PlaceOf(id);
  }

  bool IsSmall(InstructionId id) const {
    return body().shape(id).byte_size() <= kMostBytes / rows_.trip_count();
  }

  // Has the operands of `sum` stored. Returns false if that is not possible.
  bool StoreOperands(Accumulation& sum) {
    const InstructionId a = body().operand(sum.dot, 0);
    const InstructionId b = body().operand(sum.dot, 1);
    if (!IsSmall(a) || !IsSmall(b)) return false;
    InstructionId place = PlaceOf(a);
    if (place == kNoInstruction) place = PlaceOf(b);
    if (place == kNoInstruction) place = rows_.Counter();
    if (place == kNoInstruction || !rows_.Permutation(place).has_value()) {
      return false;
    }
    sum.all = {values_.Add(a, place), values_.Add(b, place)};
    return true;
  }

  // Returns the sum after the loop.
  InstructionId Total(const Accumulation& sum) {
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
        AddDotLike(outside, body()[sum.dot], values_.All(sum.all[0]),
                   values_.All(sum.all[1]), dimensions);
    for (InstructionId transpose : sum.transposes) {
      total = MakeTranspose(outside, total, body()[transpose].dimensions());
    }
    const InstructionId initial =
        ElementOf(outside, loop_.init(), static_cast<size_t>(sum.element));
    if (!hlo::IsUniform(outside.computation(), initial, 0)) {
      total = MakeBinary(outside, Opcode::kAdd, initial, total);
    }
    return total;
  }

  // An element of the state that goes.
  struct Replacement {
    int32_t element = 0;
    // The body's read of it.
    InstructionId read = kNoInstruction;
    // Outside the loop, the last value of the element.
    InstructionId value = kNoInstruction;
  };

  void ReplaceElements(absl::Span<const Replacement> replacements) {
    Rewriter& outside = loop_.outside();
    std::vector<hlo::InstructionIds> reads(
        static_cast<size_t>(loop_.element_count()));
    for (InstructionId read : outside[loop_.id()].users()) {
      reads[static_cast<size_t>(outside[read].index())].push_back(read);
    }
    const InstructionId root = body().computation().root();
    hlo::InstructionIds next = body()[root].operands();
    hlo::InstructionIds old;
    for (const auto& [element, read, value] : replacements) {
      const auto i = static_cast<size_t>(element);
      for (InstructionId user : reads[i]) {
        outside.ReplaceUses(user, value);
        outside.RemoveDead(user);
      }
      is_removed_[i] = true;
      old.push_back(next[i]);
      next[i] = read;
    }
    if (old.empty()) return;
    body().SetOperands(root, next);
    for (InstructionId id : old) body().RemoveDead(id);
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
           values_.HasRowPerIteration(row->element) &&
           rows_.Permutation(row->place).has_value();
  }

  std::optional<StoredDot> AsStoredDot(InstructionId dot) {
    const std::optional<size_t> side = RowsOf(dot);
    if (!side.has_value() || !IsStored(dot)) return std::nullopt;
    const LoopRow row = *rows_.Written(dot);
    const InstructionId write = body().operand(
        body().computation().root(), static_cast<size_t>(row.element));
    return StoredDot{row.element, body().operand(write, 0), dot, *side,
                     values_.Add(body().operand(dot, *side), row.place)};
  }

  // Returns the array of the products of all iterations.
  InstructionId Results(const StoredDot& stored) {
    const InstructionId dot = stored.dot;
    const size_t side = stored.side;
    const InstructionId all = values_.All(stored.all);
    const InstructionId matrix =
        rows_.CopyOutside(body().operand(dot, 1 - side));
    hlo::DotDimensions dimensions;
    for (int64_t d : Contracting(body()[dot], side)) {
      dimensions.lhs_contracting.push_back(d + 1);
    }
    dimensions.rhs_contracting = Contracting(body()[dot], 1 - side);
    Rewriter& outside = loop_.outside();
    InstructionId result =
        AddDotLike(outside, body()[dot], all, matrix, dimensions);
    if (side == 1) {
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
    return result;
  }

  // The longest sum of one iteration that is worth storing its operands.
  static constexpr int64_t kFewSums = 64;

  hlo::LoopRewriter& loop_;
  LoopRows& rows_;
  IterationValues values_;
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
