#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/radix_sort.h"
#include "loops/lowering/kernel/scalar.h"
#include "loops/lowering/kernel/sort_key.h"

// Short lines: the place of an element is the number of elements before it,
// which vectors count. Longer lines: a radix sort if the order is that of a
// key, else a merge sort of the places. All are stable.

namespace hone::loops {
namespace {

using hlo::ComparisonDirection;
using hlo::ElementType;
using hlo::Opcode;

constexpr int64_t kShortLine = 64;

ExpressionPtr Logic(Opcode opcode, ExpressionPtr a, ExpressionPtr b) {
  return Expression::Apply(opcode, ElementType::kPred,
                           {std::move(a), std::move(b)});
}

ExpressionPtr Not(ExpressionPtr a) {
  return Expression::Apply(Opcode::kNot, ElementType::kPred, {std::move(a)});
}

ExpressionPtr Compare(ComparisonDirection direction, ExpressionPtr a,
                      ExpressionPtr b) {
  return Expression::Compare(direction, /*total_order=*/false, std::move(a),
                             std::move(b));
}

ExpressionPtr S64(int64_t value) {
  return Expression::ConstantInt(ElementType::kS64, value);
}

class SortWriter {
 public:
  SortWriter(KernelWriter& writer, Nest& nest, hlo::InstructionId id)
      : writer_(writer),
        graph_(writer.graph()),
        nest_(nest),
        results_(graph_.leaves(id)),
        operands_(graph_.operands(id)),
        comparator_(graph_.computation()[id].called()[0]),
        dimension_(
            static_cast<size_t>(graph_.computation()[id].dimensions()[0])),
        size_(graph_.dimensions(results_[0])[dimension_]) {
    std::vector<ElementType> types;
    for (ValueId operand : operands_) types.push_back(graph_.type(operand));
    key_ = AsSortKey(graph_.module(), comparator_, types);
  }

  absl::Status Run() {
    const hlo::DimensionVector& sizes = graph_.dimensions(results_[0]);
    int64_t inner = 1;
    for (size_t d = 0; d < sizes.size(); ++d) {
      at_.push_back(d == dimension_ ? Index() : nest_.AddLoop(sizes[d]));
      if (d > dimension_) inner *= sizes[d];
    }
    is_contiguous_ = inner == 1;
    HONE_RETURN_IF_ERROR(KeepLines());
    if (size_ <= kShortLine) {
      HONE_RETURN_IF_ERROR(SortByRank());
    } else if (!key_.has_value()) {
      HONE_RETURN_IF_ERROR(SortByMerging());
    } else if (results_.size() == 1) {
      HONE_RETURN_IF_ERROR(SortValues());
    } else {
      HONE_RETURN_IF_ERROR(SortPlaces());
    }
    nest_.CloseTo(0);
    return absl::OkStatus();
  }

 private:
  Indices At(Index place) const {
    Indices at = at_;
    at[dimension_] = std::move(place);
    return at;
  }

  // Copies the lines of operands that are computed, which must not happen
  // twice: it might round differently. Copies strided lines, too.
  absl::Status KeepLines() {
    const size_t depth = nest_.depth();
    for (ValueId operand : operands_) {
      std::optional<BufferId>& line = lines_.emplace_back();
      if (writer_.fusion().IsStored(operand) && is_contiguous_) continue;
      if (IsPlace(operand)) continue;
      line = nest_.Temporary("line", graph_.type(operand), {size_});
      const Affine place = nest_.AddLoop(size_);
      HONE_ASSIGN_OR_RETURN(ExpressionPtr element,
                            writer_.Read(nest_, operand, At(Index(place))));
      nest_.Store({*line, {Index(place)}}, std::move(element));
      nest_.CloseTo(depth);
    }
    return absl::OkStatus();
  }

  // Returns true if each element of the operand is its place in the line.
  bool IsPlace(ValueId operand) const {
    return NumbersElements(graph_, operand, static_cast<int64_t>(dimension_));
  }

  // Returns the element of operand `k` at a place.
  absl::StatusOr<ExpressionPtr> Element(size_t k, Index place) {
    if (lines_[k].has_value()) return writer_.Load({*lines_[k], {place}});
    if (IsPlace(operands_[k])) {
      return Converted(graph_.type(operands_[k]), AsExpression(place));
    }
    return writer_.Read(nest_, operands_[k], At(std::move(place)));
  }

  absl::StatusOr<std::vector<ExpressionPtr>> Elements(const Index& place) {
    std::vector<ExpressionPtr> elements;
    for (size_t k = 0; k < operands_.size(); ++k) {
      HONE_ASSIGN_OR_RETURN(ExpressionPtr element, Element(k, place));
      elements.push_back(std::move(element));
    }
    return elements;
  }

  absl::StatusOr<ExpressionPtr> IsBefore(const std::vector<ExpressionPtr>& a,
                                         const std::vector<ExpressionPtr>& b) {
    std::vector<ExpressionPtr> arguments;
    for (size_t k = 0; k < a.size(); ++k) {
      arguments.push_back(a[k]);
      arguments.push_back(b[k]);
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<ExpressionPtr> result,
                          ApplyRegion(graph_.module(), comparator_, arguments));
    return result[0];
  }

  ExpressionPtr Hold(absl::string_view name, ExpressionPtr value) {
    const Access held{nest_.Temporary(name, value->type()), {}};
    nest_.Store(held, std::move(value));
    return writer_.Load(held);
  }

  absl::StatusOr<ExpressionPtr> KeyOf(ExpressionPtr element) {
    return KeyBits(graph_.module(), *key_, std::move(element));
  }

  // Returns the key of some element, which has the type of all keys.
  absl::StatusOr<ExpressionPtr> AnyKey() {
    return KeyOf(
        Expression::OfIndex(graph_.type(operands_[key_->operand]), Affine()));
  }

  // Moves the elements of all operands from the places in `from` to `to`.
  absl::Status Move(const Index& from, const Index& to) {
    for (size_t k = 0; k < results_.size(); ++k) {
      HONE_ASSIGN_OR_RETURN(ExpressionPtr element, Element(k, from));
      nest_.Store(writer_.Target(nest_, results_[k], At(to)),
                  std::move(element));
    }
    return absl::OkStatus();
  }

  absl::Status SortByRank() {
    const size_t depth = nest_.depth();
    const BufferId ranks = nest_.Temporary("rank", ElementType::kS32, {size_});
    std::optional<BufferId> keys;
    Affine place = nest_.AddLoop(size_);
    nest_.Store({ranks, {Index(place)}},
                Expression::ConstantInt(ElementType::kS32, 0));
    nest_.CloseTo(depth);
    if (key_.has_value()) {
      HONE_ASSIGN_OR_RETURN(ExpressionPtr key, AnyKey());
      keys = nest_.Temporary("keys", key->type(), {size_});
      place = nest_.AddLoop(size_);
      HONE_ASSIGN_OR_RETURN(key, Element(key_->operand, Index(place)));
      HONE_ASSIGN_OR_RETURN(key, KeyOf(std::move(key)));
      nest_.Store({*keys, {Index(place)}}, std::move(key));
      nest_.CloseTo(depth);
    }
    const Affine other = nest_.AddLoop(size_);
    place = nest_.AddLoop(size_);
    const ExpressionPtr comes_first = Compare(
        ComparisonDirection::kLt, Expression::OfIndex(ElementType::kS32, other),
        Expression::OfIndex(ElementType::kS32, place));
    ExpressionPtr is_before;
    if (keys.has_value()) {
      const ExpressionPtr a = writer_.Load({*keys, {Index(other)}});
      const ExpressionPtr b = writer_.Load({*keys, {Index(place)}});
      is_before =
          Logic(Opcode::kOr, Compare(ComparisonDirection::kLt, a, b),
                Logic(Opcode::kAnd, Compare(ComparisonDirection::kEq, a, b),
                      comes_first));
    } else {
      HONE_ASSIGN_OR_RETURN(const auto a, Elements(Index(other)));
      HONE_ASSIGN_OR_RETURN(const auto b, Elements(Index(place)));
      HONE_ASSIGN_OR_RETURN(ExpressionPtr before, IsBefore(a, b));
      HONE_ASSIGN_OR_RETURN(ExpressionPtr after, IsBefore(b, a));
      is_before =
          Logic(Opcode::kOr, std::move(before),
                Logic(Opcode::kAnd, Not(std::move(after)), comes_first));
    }
    nest_.Store({ranks, {Index(place)}},
                Converted(ElementType::kS32, std::move(is_before)),
                Opcode::kAdd);
    nest_.CloseTo(depth);
    place = nest_.AddLoop(size_);
    const ExpressionPtr rank =
        Converted(ElementType::kS64, writer_.Load({ranks, {Index(place)}}));
    return Move(Index(place), Index(Affine(), rank));
  }

  // Sorts the elements of the only operand.
  absl::Status SortValues() {
    const size_t depth = nest_.depth();
    RadixSort sort;
    sort.size = size_;
    sort.item = graph_.type(operands_[0]);
    HONE_ASSIGN_OR_RETURN(const ExpressionPtr key, AnyKey());
    sort.key = key->type();
    std::optional<BufferId> line;
    if (!is_contiguous_) {
      line = nest_.Temporary("sorted", sort.item, {size_});
    }
    HONE_RETURN_IF_ERROR(WriteRadixSort(
        writer_, nest_, sort,
        [&](const Affine& place) { return Element(0, Index(place)); },
        [&](ExpressionPtr item) { return KeyOf(std::move(item)); },
        [&](const Index& place) {
          if (line.has_value()) return Access{*line, {place}};
          return writer_.Target(nest_, results_[0], At(place));
        }));
    if (!line.has_value()) return absl::OkStatus();
    nest_.CloseTo(depth);
    const Affine place = nest_.AddLoop(size_);
    nest_.Store(writer_.Target(nest_, results_[0], At(Index(place))),
                writer_.Load({*line, {Index(place)}}));
    return absl::OkStatus();
  }

  absl::Status SortPlaces() {
    HONE_ASSIGN_OR_RETURN(const ExpressionPtr any, AnyKey());
    HONE_ASSIGN_OR_RETURN(
        const auto place_at,
        WriteSortOfPlaces(writer_, nest_, size_, any->type(),
                          [&](Index place) -> absl::StatusOr<ExpressionPtr> {
                            HONE_ASSIGN_OR_RETURN(
                                ExpressionPtr element,
                                Element(key_->operand, std::move(place)));
                            return KeyOf(std::move(element));
                          }));
    const Affine place = nest_.AddLoop(size_);
    return Move(place_at(place), Index(place));
  }

  // Sorts the places of the elements: two levels of merges at a time, so that
  // the places return to the buffer that they came from.
  absl::Status SortByMerging() {
    const size_t depth = nest_.depth();
    const BufferId order = nest_.Temporary("order", ElementType::kS64, {size_});
    const BufferId merged =
        nest_.Temporary("merged", ElementType::kS64, {size_});
    Affine place = nest_.AddLoop(size_);
    nest_.Store({order, {Index(place)}}, AsExpression(Index(place)));
    nest_.CloseTo(depth);
    int64_t levels = 0;
    while ((int64_t{1} << levels) < size_) ++levels;
    const Access width{nest_.Temporary("width", ElementType::kS64), {}};
    nest_.Store(width, S64(1));
    nest_.AddLoop((levels + 1) / 2);
    const size_t inside = nest_.depth();
    for (const auto& [from, to] :
         {std::pair(order, merged), std::pair(merged, order)}) {
      HONE_RETURN_IF_ERROR(MergeRuns(width, from, to));
      nest_.CloseTo(inside);
      nest_.Store(width, Plus(writer_.Load(width), writer_.Load(width)));
    }
    nest_.CloseTo(depth);
    place = nest_.AddLoop(size_);
    return Move(Index(Affine(), writer_.Load({order, {Index(place)}})),
                Index(place));
  }

  static ExpressionPtr Plus(ExpressionPtr a, ExpressionPtr b) {
    return Expression::Apply(Opcode::kAdd, ElementType::kS64,
                             {std::move(a), std::move(b)});
  }
  static ExpressionPtr AtMost(ExpressionPtr a, int64_t limit) {
    return Expression::Apply(Opcode::kMinimum, ElementType::kS64,
                             {std::move(a), S64(limit)});
  }

  // Merges pairs of consecutive runs of `width` places.
  absl::Status MergeRuns(const Access& width, BufferId from, BufferId to) {
    // The next places of both runs, and the ends of these.
    const auto local = [&](absl::string_view name) {
      return Access{nest_.Temporary(name, ElementType::kS64), {}};
    };
    const Access a = local("a");
    const Access a_end = local("a_end");
    const Access b = local("b");
    const Access b_end = local("b_end");
    for (const Access& state : {a, a_end, b, b_end}) nest_.Store(state, S64(0));
    const Affine place = nest_.AddLoop(size_);
    // Both runs are at their ends: the next two begin.
    const ExpressionPtr here = AsExpression(Index(place));
    const ExpressionPtr begins = Hold(
        "begins", Compare(ComparisonDirection::kEq, here, writer_.Load(b_end)));
    const auto begin = [&](const Access& state, ExpressionPtr value) {
      nest_.Store(state, std::move(value), std::nullopt, begins);
    };
    const ExpressionPtr middle = Plus(here, writer_.Load(width));
    begin(a, here);
    begin(b, AtMost(middle, size_));
    begin(a_end, writer_.Load(b));
    begin(b_end, AtMost(Plus(middle, writer_.Load(width)), size_));
    const auto place_at = [&](absl::string_view name, const Access& next) {
      return Hold(
          name, writer_.Load({from,
                              {Index(Affine(),
                                     AtMost(writer_.Load(next), size_ - 1))}}));
    };
    const ExpressionPtr a_place = place_at("a_place", a);
    const ExpressionPtr b_place = place_at("b_place", b);
    HONE_ASSIGN_OR_RETURN(const auto first, Elements(Index(Affine(), a_place)));
    HONE_ASSIGN_OR_RETURN(const auto second,
                          Elements(Index(Affine(), b_place)));
    HONE_ASSIGN_OR_RETURN(ExpressionPtr is_before, IsBefore(second, first));
    const ExpressionPtr takes_b = Hold(
        "takes_b", Logic(Opcode::kOr,
                         Compare(ComparisonDirection::kEq, writer_.Load(a),
                                 writer_.Load(a_end)),
                         Logic(Opcode::kAnd,
                               Compare(ComparisonDirection::kLt,
                                       writer_.Load(b), writer_.Load(b_end)),
                               std::move(is_before))));
    nest_.Store({to, {Index(place)}},
                Expression::Apply(Opcode::kSelect, ElementType::kS64,
                                  {takes_b, b_place, a_place}));
    nest_.Store(
        a, Plus(writer_.Load(a), Converted(ElementType::kS64, Not(takes_b))));
    nest_.Store(b,
                Plus(writer_.Load(b), Converted(ElementType::kS64, takes_b)));
    return absl::OkStatus();
  }

  KernelWriter& writer_;
  const ValueGraph& graph_;
  Nest& nest_;
  const absl::Span<const ValueId> results_;
  const std::vector<ValueId>& operands_;
  const hlo::ComputationId comparator_;
  const size_t dimension_;
  const int64_t size_;
  std::optional<SortKey> key_;
  // The index of a line; that of the place in it is left out.
  Indices at_;
  // Neighbors in a line are neighbors in memory.
  bool is_contiguous_ = true;
  // The copies of operands that need one.
  std::vector<std::optional<BufferId>> lines_;
};

}  // namespace

absl::Status WriteSort(KernelWriter& writer, Nest& nest,
                       hlo::InstructionId id) {
  return SortWriter(writer, nest, id).Run();
}

}  // namespace hone::loops
