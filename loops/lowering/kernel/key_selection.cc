#include "loops/lowering/kernel/key_selection.h"

#include <optional>
#include <utility>
#include <vector>

#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {
namespace {

using hlo::ComparisonDirection;
using hlo::ElementType;
using hlo::Opcode;

// Passes over so many keys find two bits at once by comparing each with three
// others: of fewer keys adding up the lanes of three sums takes longer than
// another pass, of more the comparisons.
constexpr int64_t kLeastForTwoBits = 128;
constexpr int64_t kMostForTwoBits = 256;

ExpressionPtr S32(int64_t value) {
  return Expression::ConstantInt(ElementType::kS32, value);
}

ExpressionPtr Equal(ExpressionPtr a, ExpressionPtr b) {
  return Expression::Compare(ComparisonDirection::kEq, /*total_order=*/false,
                             std::move(a), std::move(b));
}

ExpressionPtr AtMost(ExpressionPtr a, ExpressionPtr b) {
  return Expression::Compare(ComparisonDirection::kLe, /*total_order=*/false,
                             std::move(a), std::move(b));
}

ExpressionPtr Count(ExpressionPtr condition) {
  return Converted(ElementType::kS32, std::move(condition));
}

Index IndexOf(ExpressionPtr place) {
  return Index(Affine(), Converted(ElementType::kS64, std::move(place)));
}

}  // namespace

int64_t PaddedKeys(int64_t size) {
  return (size + kKeysPerUnit - 1) / kKeysPerUnit * kKeysPerUnit;
}

void KeySelection::Pad(const Keys& keys) {
  const int64_t rest = PaddedKeys(keys.size) - keys.size;
  if (rest == 0) return;
  const size_t depth = nest_.depth();
  nest_.Store({keys.keys, {Index(nest_.AddLoop(rest) + keys.size)}},
              IdentityOf(Opcode::kMinimum, type_));
  nest_.CloseTo(depth);
}

Access KeySelection::Number(absl::string_view name, int64_t value) {
  const Access access{nest_.Temporary(name, ElementType::kS32), {}};
  nest_.Store(access, S32(value));
  return access;
}

ExpressionPtr KeySelection::HighestBit() const {
  const int64_t bit = int64_t{1} << (hlo::BitWidth(type_) - 1);
  return Expression::ConstantInt(type_, hlo::IsSigned(type_) ? -bit : bit);
}

KeySelection::Threshold KeySelection::Find(const Keys& keys, int64_t count) {
  const int bits =
      keys.size >= kLeastForTwoBits && keys.size <= kMostForTwoBits ? 2 : 1;
  const int width = hlo::BitWidth(type_);
  const size_t outer = nest_.depth();
  const Access bound{nest_.Temporary("bound", type_), {}};
  const Access step{nest_.Temporary("step", type_), {}};
  const Access smaller = Number("smaller", 0);
  nest_.Store(bound, hlo::IsSigned(type_) ? HighestBit()
                                          : Expression::ConstantInt(type_, 0));
  nest_.Store(step, bits == 1 ? HighestBit()
                              : Expression::ConstantInt(
                                    type_, int64_t{1} << (width - bits)));
  nest_.AddLoop(width / bits);
  const size_t depth = nest_.depth();
  std::vector<ExpressionPtr> trials;
  std::vector<Access> counts;
  for (int digit = 1; digit < (1 << bits); ++digit) {
    trials.push_back(nest_.Hold(
        "trial", Apply(Opcode::kAdd,
                       trials.empty() ? writer_.Load(bound) : trials.back(),
                       writer_.Load(step))));
    counts.push_back(Number("count", 0));
  }
  const ExpressionPtr goes_on = Less(writer_.Load(smaller), S32(count));
  const Affine i = nest_.AddLoop(PaddedKeys(keys.size));
  for (size_t t = 0; t < trials.size(); ++t) {
    nest_.Store(counts[t],
                Count(Less(writer_.Load({keys.keys, {Index(i)}}), trials[t])),
                Opcode::kAdd, goes_on);
  }
  nest_.CloseTo(depth);
  ExpressionPtr new_bound = writer_.Load(bound);
  ExpressionPtr new_smaller = writer_.Load(smaller);
  for (size_t t = 0; t < trials.size(); ++t) {
    const ExpressionPtr found = writer_.Load(counts[t]);
    const ExpressionPtr rises = nest_.Hold(
        "rises", Apply(Opcode::kAnd, goes_on, Less(found, S32(count + 1))));
    const auto choose = [&](ExpressionPtr& value, const ExpressionPtr& with) {
      value = Expression::Apply(Opcode::kSelect, with->type(),
                                {rises, with, std::move(value)});
    };
    choose(new_bound, trials[t]);
    choose(new_smaller, found);
  }
  nest_.Store(bound, std::move(new_bound));
  nest_.Store(smaller, std::move(new_smaller));
  nest_.Store(step, Apply(Opcode::kShiftRightLogical, writer_.Load(step),
                          Expression::ConstantInt(type_, bits)));
  nest_.CloseTo(outer);
  return {bound, smaller};
}

BufferId KeySelection::First(const Keys& keys, int64_t count) {
  const Threshold threshold = Find(keys, count);
  const int64_t padded = PaddedKeys(keys.size);
  // The earliest keys that are equal to it complete the `count`.
  const ExpressionPtr missing = nest_.Hold(
      "missing",
      Apply(Opcode::kSubtract, S32(count), writer_.Load(threshold.smaller)));
  const ExpressionPtr is_missing = Less(S32(0), missing);
  const BufferId ties = List("ties", keys.size, padded, [&](const Affine& at) {
    return Apply(Opcode::kAnd, is_missing,
                 Equal(writer_.Load({keys.keys, {Index(at)}}),
                       writer_.Load(threshold.key)));
  });
  const Access last = Number("last", -1);
  nest_.Store(last,
              writer_.Load(
                  {ties, {IndexOf(Apply(Opcode::kSubtract, missing, S32(1)))}}),
              std::nullopt, is_missing);
  return List("numbers", count, padded, [&](const Affine& at) {
    const ExpressionPtr key = writer_.Load({keys.keys, {Index(at)}});
    const ExpressionPtr is_early =
        AtMost(Expression::OfIndex(ElementType::kS32, at), writer_.Load(last));
    return Apply(
        Opcode::kOr, Less(key, writer_.Load(threshold.key)),
        Apply(Opcode::kAnd, Equal(key, writer_.Load(threshold.key)), is_early));
  });
}

BufferId KeySelection::List(
    absl::string_view name, int64_t count, int64_t size,
    absl::FunctionRef<ExpressionPtr(const Affine&)> condition) {
  const BufferId list =
      nest_.Temporary(name, ElementType::kS32, {count + kKeysPerUnit});
  const Access next = Number("next", 0);
  const size_t depth = nest_.depth();
  const Affine i = nest_.AddLoop(size);
  const ExpressionPtr is_listed = condition(i);
  nest_.Store({list, {IndexOf(writer_.Load(next))}},
              Expression::OfIndex(ElementType::kS32, i), std::nullopt,
              is_listed);
  nest_.Store(next, S32(1), Opcode::kAdd, is_listed);
  nest_.CloseTo(depth);
  return list;
}

BufferId KeySelection::Ranks(const Keys& keys) {
  const size_t outer = nest_.depth();
  const int64_t padded = PaddedKeys(keys.size);
  const BufferId ranks = nest_.Temporary("rank", ElementType::kS32, {padded});
  // A unit at a time is compared with each key.
  const Affine first = nest_.AddLoop(padded / kKeysPerUnit) * kKeysPerUnit;
  const size_t depth = nest_.depth();
  const BufferId before =
      nest_.Temporary("before", ElementType::kS32, {kKeysPerUnit});
  Affine lane = nest_.AddLoop(kKeysPerUnit);
  nest_.Store({before, {Index(lane)}}, S32(0));
  nest_.CloseTo(depth);
  const auto count = [&](const Affine& other, auto comes_before) {
    lane = nest_.AddLoop(kKeysPerUnit);
    nest_.Store(
        {before, {Index(lane)}},
        Count(comes_before(writer_.Load({keys.keys, {Index(other)}}),
                           writer_.Load({keys.keys, {Index(first + lane)}}))),
        Opcode::kAdd);
    nest_.CloseTo(depth);
  };
  const int64_t others = padded - kKeysPerUnit;
  if (others > 0) count(nest_.AddBoundedLoop(others, first), AtMost);
  const Affine within = nest_.AddLoop(kKeysPerUnit);
  count(first + within, [&](const ExpressionPtr& a, const ExpressionPtr& b) {
    return Apply(Opcode::kOr, Less(a, b),
                 Apply(Opcode::kAnd, Equal(a, b),
                       Less(Expression::OfIndex(ElementType::kS32, within),
                            Expression::OfIndex(ElementType::kS32, lane))));
  });
  if (others > 0) {
    count(first + nest_.AddBoundedLoop(others, Affine(others) - first) +
              kKeysPerUnit,
          Less);
  }
  lane = nest_.AddLoop(kKeysPerUnit);
  nest_.Store({ranks, {Index(first + lane)}},
              writer_.Load({before, {Index(lane)}}));
  nest_.CloseTo(outer);
  return ranks;
}

}  // namespace hone::loops
