#include "space/complete.h"

#include <bit>
#include <cstddef>

namespace hone::space {
namespace {

// Decisions between two times to see whether to stop: they take longer in large
// problems, which have as many.
constexpr int64_t kDecisionsPerPoll = 256;

uint64_t Bit(int32_t value) { return uint64_t{1} << value; }

// A choice that may be taken back.
struct Decision {
  size_t position = 0;  // in the order
  int32_t mark = 0;
  int32_t value = 0;
};

class Completion {
 public:
  Completion(Domains& domains, absl::Span<const int32_t> order,
             const ValueChooser& choose, const std::function<bool()>& stop,
             int64_t max_conflicts)
      : domains_(domains),
        order_(order),
        choose_(choose),
        stop_(stop),
        conflicts_left_(max_conflicts) {}

  // Narrows every variable to one value; returns false without success.
  bool Run() {
    // Where nothing is left to decide, nothing else shows that the domains are
    // in conflict already.
    if (!order_.empty() &&
        !domains_.Narrow(order_[0], domains_.Get(order_[0]))) {
      return false;
    }
    size_t position = 0;
    for (int64_t decisions = 0; position < order_.size();) {
      if (++decisions % kDecisionsPerPoll == 0 && stop_ && stop_()) {
        return false;
      }
      const int32_t variable = order_[position];
      const uint64_t left = domains_.Get(variable);
      if (std::has_single_bit(left)) {
        ++position;
        continue;
      }
      const Decision decision{position, domains_.Mark(),
                              choose_(variable, left)};
      if (domains_.Narrow(variable, Bit(decision.value))) {
        decisions_.push_back(decision);
        ++position;
      } else if (!TakeBack(decision, position)) {
        return false;
      }
    }
    return true;
  }

 private:
  // Excludes the value of a decision that failed, and of those before it that
  // leave no other. Sets `position` to the variable to go on with.
  bool TakeBack(Decision failed, size_t& position) {
    for (;;) {
      if (--conflicts_left_ < 0 || (stop_ && stop_())) return false;
      domains_.Undo(failed.mark);
      position = failed.position;
      if (domains_.Narrow(order_[failed.position], ~Bit(failed.value))) {
        return true;
      }
      if (decisions_.empty()) return false;
      failed = decisions_.back();
      decisions_.pop_back();
    }
  }

  Domains& domains_;
  const absl::Span<const int32_t> order_;
  const ValueChooser& choose_;
  const std::function<bool()>& stop_;
  int64_t conflicts_left_;
  std::vector<Decision> decisions_;
};

}  // namespace

int32_t DrawValue(uint64_t values, Rng& rng) {
  for (auto skipped = rng.Below(static_cast<uint64_t>(std::popcount(values)));
       skipped > 0; --skipped) {
    values &= values - 1;
  }
  return std::countr_zero(values);
}

int64_t UsualConflicts(const Domains& domains) {
  return 100 + 2 * int64_t{domains.variable_count()};
}

std::optional<std::vector<int32_t>> Complete(
    Domains& domains, absl::Span<const int32_t> order,
    const ValueChooser& choose, const std::function<bool()>& stop) {
  return Complete(domains, order, choose, stop, UsualConflicts(domains));
}

std::optional<std::vector<int32_t>> Complete(Domains& domains,
                                             absl::Span<const int32_t> order,
                                             const ValueChooser& choose,
                                             const std::function<bool()>& stop,
                                             int64_t max_conflicts) {
  const int32_t mark = domains.Mark();
  std::optional<std::vector<int32_t>> values;
  if (Completion(domains, order, choose, stop, max_conflicts).Run()) {
    values.emplace();
    values->reserve(order.size());
    for (int32_t v = 0; v < domains.variable_count(); ++v) {
      values->push_back(std::countr_zero(domains.Get(v)));
    }
  }
  domains.Undo(mark);
  return values;
}

std::optional<std::vector<int32_t>> Repair(Domains& domains,
                                           absl::Span<const int32_t> order,
                                           absl::Span<const int32_t> values,
                                           Rng& rng) {
  return Complete(domains, order, [&](int32_t variable, uint64_t left) {
    const int32_t value = values[static_cast<size_t>(variable)];
    return (left & Bit(value)) != 0 ? value : DrawValue(left, rng);
  });
}

}  // namespace hone::space
