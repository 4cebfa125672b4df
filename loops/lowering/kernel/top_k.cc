#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

#include "base/status_macros.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/key_selection.h"
#include "loops/lowering/kernel/radix_sort.h"
#include "loops/lowering/kernel/scalar.h"
#include "loops/lowering/kernel/sort_key.h"

// Selects the first k elements of a line in three steps that take a fixed
// number of iterations each:
// 1. Of contiguous groups of elements, takes the k groups whose first elements
//    come first, the earlier of equal ones. Each has an element that comes
//    before every element of the other groups, so only their elements are
//    candidates.
// 2. Selects the first k of the candidates (KeySelection).
// 3. Counts the ranks of these k elements.
// A few elements are found one by one instead of by 2 and 3: each is the
// minimum of those that come after the one before, by numbers that join a key
// and the place, of which no two are equal.

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;

// More elements than this are sorted with all others.
constexpr int64_t kMaxSelected = 512;
// A selection takes as long as so many comparisons: if ranking all candidates
// needs at most that many more than ranking k, they are ranked without one.
constexpr int64_t kSelectionComparisons = 8192;
// At most so many elements are found one by one, each by a pass over the
// candidates, and only if these are kLeastPerSelected times as many. Fewer if
// key and place together have 64 bits: vectors hold half as many, and AVX2 has
// no minimum of them.
constexpr int64_t kMaxOneByOne = 24;
constexpr int64_t kMaxWideOneByOne = 10;
constexpr int64_t kLeastPerSelected = 4;

ExpressionPtr S32(int64_t value) {
  return Expression::ConstantInt(ElementType::kS32, value);
}

// Returns the signed integer of the width of `type`; signed vectors compare in
// one instruction on all processors.
ElementType SignedOf(ElementType type) {
  switch (type) {
    case ElementType::kU8:
      return ElementType::kS8;
    case ElementType::kU16:
      return ElementType::kS16;
    case ElementType::kU32:
      return ElementType::kS32;
    case ElementType::kU64:
      return ElementType::kS64;
    default:
      return type;
  }
}

Index IndexOf(ExpressionPtr place) {
  return Index(Affine(), Converted(ElementType::kS64, std::move(place)));
}

class TopKWriter {
 public:
  TopKWriter(KernelWriter& writer, Nest& nest, hlo::InstructionId id)
      : writer_(writer),
        graph_(writer.graph()),
        nest_(nest),
        values_(graph_.leaves(id)[0]),
        indices_(graph_.leaves(id)[1]),
        operand_(graph_.operands(id)[0]),
        largest_(graph_.computation()[id].attributes().largest),
        type_(graph_.type(operand_)),
        size_(graph_.dimensions(operand_).back()),
        k_(graph_.dimensions(values_).back()) {
    key_type_ = KeyOf(Expression::OfIndex(type_, Affine()))->type();
    if (k_ > kMaxSelected) return;
    joined_type_ = JoinedType();
    if (!joined_type_.has_value()) key_type_ = SignedOf(key_type_);
  }

  absl::Status Run() {
    if (k_ == 0) return absl::OkStatus();
    const hlo::DimensionVector& sizes = graph_.dimensions(operand_);
    for (size_t d = 0; d + 1 < sizes.size(); ++d) {
      line_.push_back(nest_.AddLoop(sizes[d]));
    }
    depth_ = nest_.depth();
    HONE_RETURN_IF_ERROR(KeepLine());
    if (k_ > kMaxSelected) {
      HONE_RETURN_IF_ERROR(SortAll());
    } else if (joined_type_.has_value()) {
      HONE_RETURN_IF_ERROR(SelectOneByOne());
    } else {
      HONE_RETURN_IF_ERROR(SelectCandidates());
      HONE_RETURN_IF_ERROR(RankSelected());
    }
    nest_.CloseTo(0);
    return absl::OkStatus();
  }

 private:
  // Keys of increasing places.
  struct Candidates : Keys {
    // The place of each in the line; none: the same.
    std::optional<BufferId> places;
  };

  // Returns the type of a key joined with a place, if elements are found one by
  // one.
  std::optional<ElementType> JoinedType() const {
    if (k_ > kMaxOneByOne || k_ * kLeastPerSelected > size_) {
      return std::nullopt;
    }
    const int bits = hlo::BitWidth(key_type_);
    if (bits <= 16 && size_ <= (int64_t{1} << 16)) return ElementType::kU32;
    if (bits <= 32 && k_ <= kMaxWideOneByOne) return ElementType::kU64;
    return std::nullopt;
  }

  KeySelection Selection() { return {writer_, nest_, key_type_}; }

  // Keys order like the elements in the result, in ascending order.
  ExpressionPtr KeyOf(ExpressionPtr element) const {
    ExpressionPtr key =
        OrderedBits(std::move(element), /*total_order=*/true, largest_);
    if (!hlo::IsSigned(key_type_)) return key;
    const ElementType bits = key->type();
    key = Apply(
        Opcode::kXor, std::move(key),
        Expression::ConstantInt(bits, int64_t{1} << (hlo::BitWidth(bits) - 1)));
    return Expression::Apply(Opcode::kBitcastConvert, key_type_,
                             {std::move(key)});
  }

  // Copies a line that is computed, which must not happen twice: it might round
  // differently.
  absl::Status KeepLine() {
    if (writer_.fusion().IsStored(operand_)) return absl::OkStatus();
    kept_ = nest_.Temporary("line", type_, {size_});
    const Affine place = nest_.AddLoop(size_);
    Indices at = line_;
    at.push_back(place);
    HONE_ASSIGN_OR_RETURN(ExpressionPtr element,
                          writer_.Read(nest_, operand_, at));
    nest_.Store({*kept_, {Index(place)}}, std::move(element));
    nest_.CloseTo(depth_);
    return absl::OkStatus();
  }

  absl::StatusOr<ExpressionPtr> Element(Index place) {
    if (kept_.has_value()) return writer_.Load({*kept_, {std::move(place)}});
    Indices at = line_;
    at.push_back(std::move(place));
    return writer_.Read(nest_, operand_, at);
  }

  absl::StatusOr<ExpressionPtr> KeyAt(Index place) {
    HONE_ASSIGN_OR_RETURN(ExpressionPtr element, Element(std::move(place)));
    return KeyOf(std::move(element));
  }

  // Writes the element at `place` of the line as result `rank`.
  absl::Status Write(const Index& rank, const Index& place) {
    HONE_ASSIGN_OR_RETURN(ExpressionPtr element, Element(place));
    Indices at = line_;
    at.push_back(rank);
    nest_.Store(writer_.Target(nest_, values_, at), std::move(element));
    nest_.Store(writer_.Target(nest_, indices_, at),
                Converted(ElementType::kS32, AsExpression(place)));
    return absl::OkStatus();
  }

  absl::Status SortAll() {
    HONE_ASSIGN_OR_RETURN(
        const auto place_at,
        WriteSortOfPlaces(writer_, nest_, size_, key_type_,
                          [&](Index place) { return KeyAt(place); }));
    const Affine rank = nest_.AddLoop(k_);
    return Write(Index(rank), place_at(rank));
  }

  // The size of groups; none if all elements are candidates.
  std::optional<int64_t> GroupSize() const {
    const auto root = static_cast<int64_t>(
        std::sqrt(static_cast<double>(size_) / static_cast<double>(k_)));
    const int64_t group =
        std::max<int64_t>((root + kKeysPerUnit / 2) / kKeysPerUnit, 1) *
        kKeysPerUnit;
    if (2 * k_ * group > size_) return std::nullopt;
    return group;
  }

  // Returns the number that orders by key and then by place.
  ExpressionPtr Join(ExpressionPtr key, ExpressionPtr place) const {
    const int place_bits = hlo::BitWidth(*joined_type_) / 2;
    return Apply(
        Opcode::kOr,
        Apply(Opcode::kShiftLeft, Converted(*joined_type_, std::move(key)),
              Expression::ConstantInt(*joined_type_, place_bits)),
        Converted(*joined_type_, std::move(place)));
  }

  ExpressionPtr PlaceOf(ExpressionPtr joined) const {
    const int place_bits = hlo::BitWidth(*joined_type_) / 2;
    return Converted(ElementType::kS32,
                     Apply(Opcode::kAnd, std::move(joined),
                           Expression::ConstantInt(
                               *joined_type_, (int64_t{1} << place_bits) - 1)));
  }

  // Opens a loop over the first k of `size` joined numbers in ascending order.
  // Returns its index and the place of one.
  std::pair<Affine, ExpressionPtr> OpenLoopOfFirst(BufferId joined,
                                                   int64_t size) {
    const auto constant = [&](int64_t value) {
      return Expression::ConstantInt(*joined_type_, value);
    };
    // The numbers from `bound` on remain. The difference of a smaller one
    // wraps around to more than that of any that remains.
    const Access bound{nest_.Temporary("bound", *joined_type_), {}};
    nest_.Store(bound, constant(0));
    const Affine rank = nest_.AddLoop(k_);
    const size_t depth = nest_.depth();
    const Access least{nest_.Temporary("least", *joined_type_), {}};
    nest_.Store(least, IdentityOf(Opcode::kMinimum, *joined_type_));
    const Affine i = nest_.AddLoop(size);
    nest_.Store(least,
                Apply(Opcode::kSubtract, writer_.Load({joined, {Index(i)}}),
                      writer_.Load(bound)),
                Opcode::kMinimum);
    nest_.CloseTo(depth);
    const ExpressionPtr found = nest_.Hold(
        "found", Apply(Opcode::kAdd, writer_.Load(bound), writer_.Load(least)));
    nest_.Store(bound, Apply(Opcode::kAdd, found, constant(1)));
    return {rank, PlaceOf(found)};
  }

  // Finds and writes the first k elements one by one.
  absl::Status SelectOneByOne() {
    int64_t count = size_;
    BufferId joined;
    if (const std::optional<int64_t> group = GroupSize(); group.has_value()) {
      const int64_t rest = size_ % *group;
      count = k_ * *group + rest;
      HONE_ASSIGN_OR_RETURN(joined, JoinedOfGroups(*group, rest, count));
    } else {
      joined = nest_.Temporary("keys", *joined_type_, {size_});
      const Affine place = nest_.AddLoop(size_);
      HONE_ASSIGN_OR_RETURN(ExpressionPtr key, KeyAt(Index(place)));
      nest_.Store(
          {joined, {Index(place)}},
          Join(std::move(key), Expression::OfIndex(ElementType::kS32, place)));
      nest_.CloseTo(depth_);
    }
    const auto [rank, place] = OpenLoopOfFirst(joined, count);
    HONE_RETURN_IF_ERROR(
        Write(Index(rank), IndexOf(nest_.Hold("place", place))));
    nest_.CloseTo(depth_);
    return absl::OkStatus();
  }

  // Returns the joined numbers of `count` candidates: the elements of the k
  // groups that come first, and the last `rest`.
  absl::StatusOr<BufferId> JoinedOfGroups(int64_t group, int64_t rest,
                                          int64_t count) {
    const int64_t groups = size_ / group;
    HONE_ASSIGN_OR_RETURN(const BufferId firsts, FirstOfGroups(groups, group));
    const BufferId joined_firsts =
        nest_.Temporary("firsts", *joined_type_, {groups});
    const Affine number = nest_.AddLoop(groups);
    nest_.Store({joined_firsts, {Index(number)}},
                Join(writer_.Load({firsts, {Index(number)}}),
                     Expression::OfIndex(ElementType::kS32, number)));
    nest_.CloseTo(depth_);

    const BufferId joined = nest_.Temporary("keys", *joined_type_, {count});
    const auto [rank, chosen] = OpenLoopOfFirst(joined_firsts, groups);
    HONE_RETURN_IF_ERROR(StoreCandidates(
        group, rest, rank, chosen,
        [&](const Affine& to, ExpressionPtr key, ExpressionPtr place) {
          nest_.Store({joined, {Index(to)}},
                      Join(std::move(key), std::move(place)));
        }));
    return joined;
  }

  // Stores the keys of at least the first k elements in `selected_`.
  absl::Status SelectCandidates() {
    Candidates candidates;
    if (const std::optional<int64_t> group = GroupSize(); group.has_value()) {
      HONE_ASSIGN_OR_RETURN(candidates, FromGroups(*group));
    } else {
      candidates.size = size_;
      candidates.keys = nest_.Temporary("keys", key_type_, {PaddedKeys(size_)});
      const Affine place = nest_.AddLoop(size_);
      HONE_ASSIGN_OR_RETURN(ExpressionPtr key, KeyAt(Index(place)));
      nest_.Store({candidates.keys, {Index(place)}}, std::move(key));
      nest_.CloseTo(depth_);
    }
    Selection().Pad(candidates);
    if (candidates.size * candidates.size - k_ * k_ <= kSelectionComparisons) {
      selected_ = candidates;
      return absl::OkStatus();
    }
    const BufferId numbers = Selection().First(candidates, k_);
    selected_.size = k_;
    selected_.keys = nest_.Temporary("selected", key_type_, {PaddedKeys(k_)});
    selected_.places = nest_.Temporary("place", ElementType::kS32, {k_});
    const Affine i = nest_.AddLoop(k_);
    const ExpressionPtr number = writer_.Load({numbers, {Index(i)}});
    nest_.Store({selected_.keys, {Index(i)}},
                writer_.Load({candidates.keys, {IndexOf(number)}}));
    nest_.Store({*selected_.places, {Index(i)}},
                candidates.places.has_value()
                    ? writer_.Load({*candidates.places, {IndexOf(number)}})
                    : number);
    nest_.CloseTo(depth_);
    Selection().Pad(selected_);
    return absl::OkStatus();
  }

  // Returns a buffer with the first key of each group.
  absl::StatusOr<BufferId> FirstOfGroups(int64_t groups, int64_t group) {
    const BufferId keys =
        nest_.Temporary("first", key_type_, {PaddedKeys(groups)});
    const Affine number = nest_.AddLoop(groups);
    const Access first{keys, {Index(number)}};
    nest_.Store(first, IdentityOf(Opcode::kMinimum, key_type_));
    const Affine i = nest_.AddLoop(group);
    HONE_ASSIGN_OR_RETURN(ExpressionPtr key, KeyAt(Index(number * group + i)));
    nest_.Store(first, std::move(key), Opcode::kMinimum);
    nest_.CloseTo(depth_);
    return keys;
  }

  // Calls `store` with a place among the candidates, a key and its place in the
  // line, in a loop over the elements of group `chosen`, which is the rank-th
  // of the k groups that come first, and in one over the last `rest` elements.
  // Closes the loop over ranks between the two.
  absl::Status StoreCandidates(
      int64_t group, int64_t rest, const Affine& rank, ExpressionPtr chosen,
      absl::FunctionRef<void(const Affine&, ExpressionPtr, ExpressionPtr)>
          store) {
    const ExpressionPtr begin = nest_.Hold(
        "begin", Apply(Opcode::kMultiply, std::move(chosen), S32(group)));
    Affine i = nest_.AddLoop(group);
    Index place(i);
    place.offset = Converted(ElementType::kS64, begin);
    HONE_ASSIGN_OR_RETURN(ExpressionPtr key, KeyAt(std::move(place)));
    store(
        rank * group + i, std::move(key),
        Apply(Opcode::kAdd, Expression::OfIndex(ElementType::kS32, i), begin));
    nest_.CloseTo(depth_);
    if (rest == 0) return absl::OkStatus();
    i = nest_.AddLoop(rest);
    const Affine last = i + (size_ - rest);
    HONE_ASSIGN_OR_RETURN(key, KeyAt(Index(last)));
    store(i + k_ * group, std::move(key),
          Expression::OfIndex(ElementType::kS32, last));
    nest_.CloseTo(depth_);
    return absl::OkStatus();
  }

  // Returns the elements of the k groups that come first, and of the last group
  // if it is smaller.
  absl::StatusOr<Candidates> FromGroups(int64_t group) {
    Keys groups;
    groups.size = size_ / group;
    const int64_t rest = size_ % group;
    HONE_ASSIGN_OR_RETURN(groups.keys, FirstOfGroups(groups.size, group));
    Selection().Pad(groups);
    const BufferId chosen = Selection().First(groups, k_);

    Candidates candidates;
    candidates.size = k_ * group + rest;
    candidates.keys =
        nest_.Temporary("keys", key_type_, {PaddedKeys(candidates.size)});
    candidates.places =
        nest_.Temporary("places", ElementType::kS32, {candidates.size});
    const Affine number = nest_.AddLoop(k_);
    HONE_RETURN_IF_ERROR(StoreCandidates(
        group, rest, number, writer_.Load({chosen, {Index(number)}}),
        [&](const Affine& to, ExpressionPtr key, ExpressionPtr place) {
          nest_.Store({candidates.keys, {Index(to)}}, std::move(key));
          nest_.Store({*candidates.places, {Index(to)}}, std::move(place));
        }));
    return candidates;
  }

  // Writes the first k selected elements by their ranks.
  absl::Status RankSelected() {
    const BufferId ranks = Selection().Ranks(selected_);
    const auto place_of = [&](const Affine& i) {
      return selected_.places.has_value()
                 ? writer_.Load({*selected_.places, {Index(i)}})
                 : Expression::OfIndex(ElementType::kS32, i);
    };
    const BufferId order =
        nest_.Temporary("order", ElementType::kS32, {selected_.size});
    Affine i = nest_.AddLoop(selected_.size);
    nest_.Store({order, {IndexOf(writer_.Load({ranks, {Index(i)}}))}},
                place_of(i));
    nest_.CloseTo(depth_);
    i = nest_.AddLoop(k_);
    return Write(Index(i), IndexOf(writer_.Load({order, {Index(i)}})));
  }

  KernelWriter& writer_;
  const ValueGraph& graph_;
  Nest& nest_;
  const ValueId values_;
  const ValueId indices_;
  const ValueId operand_;
  const bool largest_;
  const ElementType type_;
  const int64_t size_;
  const int64_t k_;
  ElementType key_type_ = ElementType::kInvalid;
  // The type of a key joined with a place, if elements are found one by one.
  std::optional<ElementType> joined_type_;
  // The index of a line; that of the place in it is left out.
  Indices line_;
  size_t depth_ = 0;
  std::optional<BufferId> kept_;
  Candidates selected_;
};

}  // namespace

absl::Status WriteTopK(KernelWriter& writer, Nest& nest,
                       hlo::InstructionId id) {
  return TopKWriter(writer, nest, id).Run();
}

}  // namespace hone::loops
