#include "tests/support/locks.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/hash.h"
#include "tests/support/toy_problems.h"

namespace hone::testing {
namespace {

// The digits set so far.
struct LockState final : space::State {
  std::vector<int32_t> digits;
  Hash128 key() const override { return FastHash(absl::StrJoin(digits, " ")); }
};

// The states of the locks, and the one that is turned; -1 for none yet.
struct LocksState final : space::State {
  std::vector<space::StatePtr> locks;
  int32_t at = -1;
  Hash128 key() const override {
    std::string text = absl::StrCat(at);
    for (const space::StatePtr& lock : locks) {
      absl::StrAppend(&text, " ", lock->key().low);
    }
    return FastHash(text);
  }
};

const std::vector<int32_t>& DigitsOf(const space::StatePtr& state) {
  return static_cast<const LockState&>(*state).digits;
}

const LocksState& LocksOf(const space::StatePtr& state) {
  return static_cast<const LocksState&>(*state);
}

}  // namespace

space::StatePtr Lock::InitialState() const {
  return std::make_shared<LockState>();
}

std::string Lock::ActionName(int32_t action) const {
  return absl::StrCat("digit ", action);
}

std::vector<int32_t> Lock::LegalActions(const space::StatePtr& state) const {
  std::vector<int32_t> legal;
  if (DigitsOf(state).size() < kLength) {
    for (int32_t digit = 0; digit < kDigits; ++digit) legal.push_back(digit);
  }
  return legal;
}

absl::StatusOr<space::StatePtr> Lock::Step(const space::StatePtr& state,
                                           int32_t action) const {
  if (action < 0 || action >= kDigits || DigitsOf(state).size() == kLength) {
    return absl::InvalidArgumentError("no digit of this lock");
  }
  auto next = std::make_shared<LockState>();
  next->digits = DigitsOf(state);
  next->digits.push_back(action);
  return next;
}

double Lock::Cost(const space::StatePtr& state) const {
  double cost = 5 * scale_;
  const std::vector<int32_t>& digits = DigitsOf(state);
  for (size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] == key_[i]) cost -= scale_;
  }
  return cost;
}

Locks::Locks(const std::vector<double>& scales) : scales_(scales) {
  for (size_t i = 0; i < scales.size(); ++i) {
    const auto n = static_cast<int32_t>(i);
    locks_.push_back(std::make_unique<Lock>(
        scales[i],
        std::vector<int32_t>{n + 1, (n + 3) % Lock::kDigits,
                             3 * n % Lock::kDigits, Lock::kDigits - 1 - n}));
  }
}

space::Candidate Locks::Compose(
    absl::Span<const space::Candidate> parts) const {
  space::Candidate all;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].choices.empty()) continue;
    all.choices.push_back(Lock::kDigits + static_cast<int32_t>(i));
    all.choices.insert(all.choices.end(), parts[i].choices.begin(),
                       parts[i].choices.end());
  }
  return all;
}

absl::StatusOr<std::vector<space::Candidate>> Locks::Decompose(
    const space::Candidate& candidate) const {
  std::vector<space::Candidate> parts(locks_.size());
  space::StatePtr state = InitialState();
  for (int32_t action : candidate.choices) {
    absl::StatusOr<space::StatePtr> next = Step(state, action);
    if (!next.ok()) return next.status();
    state = *std::move(next);
    if (action < Lock::kDigits) {
      parts[static_cast<size_t>(LocksOf(state).at)].choices.push_back(action);
    }
  }
  return parts;
}

absl::StatusOr<std::unique_ptr<space::Surrogate>> Locks::MakeSurrogate() const {
  return std::make_unique<FixedSurrogate>(std::make_unique<Locks>(scales_));
}

space::StatePtr Locks::InitialState() const {
  auto state = std::make_shared<LocksState>();
  for (const auto& lock : locks_) state->locks.push_back(lock->InitialState());
  return state;
}

std::string Locks::ActionName(int32_t action) const {
  return action < Lock::kDigits ? absl::StrCat("digit ", action)
                                : absl::StrCat("lock ", action - Lock::kDigits);
}

std::vector<int32_t> Locks::LegalActions(const space::StatePtr& state) const {
  const LocksState& from = LocksOf(state);
  std::vector<int32_t> legal;
  if (from.at >= 0) {
    const auto at = static_cast<size_t>(from.at);
    legal = locks_[at]->LegalActions(from.locks[at]);
  }
  for (int32_t i = from.at + 1; i < static_cast<int32_t>(locks_.size()); ++i) {
    legal.push_back(Lock::kDigits + i);
  }
  return legal;
}

absl::StatusOr<space::StatePtr> Locks::Step(const space::StatePtr& state,
                                            int32_t action) const {
  auto next = std::make_shared<LocksState>(LocksOf(state));
  if (action >= Lock::kDigits) {
    if (action >= action_count() || action - Lock::kDigits <= next->at) {
      return absl::InvalidArgumentError("no later lock");
    }
    next->at = action - Lock::kDigits;
    return next;
  }
  if (next->at < 0) return absl::InvalidArgumentError("a digit of no lock");
  const auto at = static_cast<size_t>(next->at);
  absl::StatusOr<space::StatePtr> lock =
      locks_[at]->Step(next->locks[at], action);
  if (!lock.ok()) return lock.status();
  next->locks[at] = *std::move(lock);
  return next;
}

double Locks::Cost(const space::StatePtr& state) const {
  double cost = 0;
  for (size_t i = 0; i < locks_.size(); ++i) {
    cost += locks_[i]->Cost(LocksOf(state).locks[i]);
  }
  return cost;
}

absl::StatusOr<space::Measurement> Locks::MeasureState(
    const space::StatePtr& state) const {
  ++measurements_;
  space::Measurement measurement;
  measurement.cost = Cost(state);
  for (size_t i = 0; i < locks_.size(); ++i) {
    measurement.samples.push_back(locks_[i]->Cost(LocksOf(state).locks[i]));
  }
  return measurement;
}

std::unique_ptr<space::Problem> ThreeLocks() {
  return std::make_unique<Locks>(std::vector<double>{10, 4, 2});
}

}  // namespace hone::testing
