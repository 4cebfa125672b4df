#include "loops/lowering/kernel/radix_sort.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;

// Bits of a digit. The counts of fewer digits cost more in short lines than
// another pass; more digits would have more places to write to than L1 has
// lines.
constexpr int kDigitBits = 8;
// The bits of the place in an item that has a key above it.
constexpr int kPlaceBits = 32;
constexpr int64_t kRadix = int64_t{1} << kDigitBits;

// Returns the digit of a key, as an index.
ExpressionPtr Digit(const ExpressionPtr& key, int number) {
  const ElementType type = key->type();
  ExpressionPtr digit = key;
  if (number > 0) {
    digit = Expression::Apply(
        Opcode::kShiftRightLogical, type,
        {std::move(digit), Expression::ConstantInt(type, number * kDigitBits)});
  }
  if (hlo::BitWidth(type) > kDigitBits * (number + 1)) {
    digit = Expression::Apply(
        Opcode::kAnd, type,
        {std::move(digit), Expression::ConstantInt(type, kRadix - 1)});
  }
  return Converted(ElementType::kS64, std::move(digit));
}

}  // namespace

absl::Status WriteRadixSort(
    KernelWriter& writer, Nest& nest, const RadixSort& sort,
    absl::FunctionRef<absl::StatusOr<ExpressionPtr>(const Affine& place)>
        first_item,
    absl::FunctionRef<absl::StatusOr<ExpressionPtr>(ExpressionPtr item)> key_of,
    PlaceFn sorted) {
  const size_t depth = nest.depth();
  const int digits = hlo::BitWidth(sort.key) / kDigitBits;
  const ElementType number = ElementType::kS32;
  const auto one = [&] { return Expression::ConstantInt(number, 1); };

  // How often each digit occurs.
  const BufferId counts =
      nest.Temporary("counts", number, {int64_t{digits}, kRadix});
  const auto count_at = [&](int digit, Index value) {
    return Access{counts, {Index(Affine(digit)), std::move(value)}};
  };
  const Affine cleared = nest.AddLoop(digits);
  nest.Store({counts, {Index(cleared), Index(nest.AddLoop(kRadix))}},
             Expression::ConstantInt(number, 0));
  nest.CloseTo(depth);
  const Affine counted = nest.AddLoop(sort.size);
  HONE_ASSIGN_OR_RETURN(ExpressionPtr item, first_item(counted));
  HONE_ASSIGN_OR_RETURN(ExpressionPtr key, key_of(nest.Hold("item", item)));
  key = nest.Hold("key", std::move(key));
  for (int digit = 0; digit < digits; ++digit) {
    nest.Store(count_at(digit, Index(Affine(), Digit(key, digit))), one(),
               Opcode::kAdd);
  }
  nest.CloseTo(depth);

  // Where the first item of each digit goes.
  const Affine digit_number = nest.AddLoop(digits);
  const Access sum{nest.Temporary("before", number), {}};
  nest.Store(sum, Expression::ConstantInt(number, 0));
  const Access count{counts,
                     {Index(digit_number), Index(nest.AddLoop(kRadix))}};
  const ExpressionPtr old = nest.Hold("count", writer.Load(count));
  nest.Store(count, writer.Load(sum));
  nest.Store(sum, old, Opcode::kAdd);
  nest.CloseTo(depth);

  std::optional<BufferId> other;
  if (digits > 1) other = nest.Temporary("items", sort.item, {sort.size});
  for (int digit = 0; digit < digits; ++digit) {
    // The last pass writes to `sorted`.
    const bool to_sorted = (digits - 1 - digit) % 2 == 0;
    const auto at = [&](bool in_sorted, Index place) {
      return in_sorted ? sorted(place) : Access{*other, {std::move(place)}};
    };
    const Affine place = nest.AddLoop(sort.size);
    if (digit == 0) {
      HONE_ASSIGN_OR_RETURN(item, first_item(place));
    } else {
      item = writer.Load(at(!to_sorted, Index(place)));
    }
    item = nest.Hold("item", std::move(item));
    HONE_ASSIGN_OR_RETURN(key, key_of(item));
    const ExpressionPtr value = nest.Hold("digit", Digit(key, digit));
    const Access next = count_at(digit, Index(Affine(), value));
    const ExpressionPtr target =
        nest.Hold("target", Converted(ElementType::kS64, writer.Load(next)));
    nest.Store(at(to_sorted, Index(Affine(), target)), item);
    nest.Store(next, one(), Opcode::kAdd);
    nest.CloseTo(depth);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::function<Index(const Affine& place)>> WriteSortOfPlaces(
    KernelWriter& writer, Nest& nest, int64_t size, ElementType key,
    absl::FunctionRef<absl::StatusOr<ExpressionPtr>(Index place)> key_at) {
  // An item has the place and above it the key, unless that is wide.
  const bool has_key = hlo::BitWidth(key) <= 64 - kPlaceBits;
  RadixSort sort;
  sort.size = size;
  sort.key = key;
  sort.item = has_key ? ElementType::kU64 : ElementType::kS32;
  const ElementType type = sort.item;
  const auto place_of = [type, has_key](ExpressionPtr item) {
    if (has_key) {
      item = Expression::Apply(
          Opcode::kAnd, type,
          {std::move(item),
           Expression::ConstantInt(type, (int64_t{1} << kPlaceBits) - 1)});
    }
    return Index(Affine(), Converted(ElementType::kS64, std::move(item)));
  };
  const ExpressionPtr shift =
      Expression::ConstantInt(ElementType::kU64, kPlaceBits);
  const BufferId items = nest.Temporary("order", type, {size});
  const size_t depth = nest.depth();
  HONE_RETURN_IF_ERROR(WriteRadixSort(
      writer, nest, sort,
      [&](const Affine& place) -> absl::StatusOr<ExpressionPtr> {
        ExpressionPtr item = Converted(type, AsExpression(Index(place)));
        if (!has_key) return item;
        HONE_ASSIGN_OR_RETURN(ExpressionPtr bits, key_at(Index(place)));
        ExpressionPtr high =
            Expression::Apply(Opcode::kShiftLeft, type,
                              {Converted(type, std::move(bits)), shift});
        return Expression::Apply(Opcode::kOr, type,
                                 {std::move(high), std::move(item)});
      },
      [&](ExpressionPtr item) -> absl::StatusOr<ExpressionPtr> {
        if (!has_key) return key_at(place_of(std::move(item)));
        return Converted(key,
                         Expression::Apply(Opcode::kShiftRightLogical, type,
                                           {std::move(item), shift}));
      },
      [&](const Index& place) {
        return Access{items, {place}};
      }));
  nest.CloseTo(depth);
  return [&writer, items, place_of](const Affine& place) {
    return place_of(writer.Load({items, {Index(place)}}));
  };
}

}  // namespace hone::loops
