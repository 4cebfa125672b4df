#include "tests/support/toy_problems.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"

namespace hone::testing {
namespace {

class IntegerState final : public space::State {
 public:
  explicit IntegerState(int64_t value) : value_(value) {}
  Hash128 key() const override {
    return {static_cast<uint64_t>(value_), 0x746f79};
  }
  int64_t value() const { return value_; }

 private:
  int64_t value_;
};

int64_t ValueOf(const space::StatePtr& state) {
  return static_cast<const IntegerState&>(*state).value();
}

double OptimalCost(const space::SequentialProblem& problem) {
  std::set<int64_t> seen;
  std::vector<space::StatePtr> level = {problem.InitialState()};
  double best = problem.Cost(level[0]);
  for (int32_t step = 0; step < problem.max_steps(); ++step) {
    std::vector<space::StatePtr> next;
    for (const space::StatePtr& state : level) {
      for (int32_t action : problem.LegalActions(state)) {
        space::StatePtr successor = *problem.Step(state, action);
        if (!seen.insert(ValueOf(successor)).second) continue;
        best = std::min(best, problem.Cost(successor));
        next.push_back(std::move(successor));
      }
    }
    level = std::move(next);
  }
  return best;
}

double OptimalCost(const space::AssignmentProblem& problem) {
  double best = std::numeric_limits<double>::infinity();
  space::Candidate candidate;
  candidate.choices.assign(static_cast<size_t>(problem.variable_count()), 0);
  int32_t v = 0;
  while (v < problem.variable_count()) {
    best = std::min(best, space::EffectiveCost(*problem.Measure(candidate)));
    // Counts up in the mixed radix of the domains.
    for (v = 0; v < problem.variable_count(); ++v) {
      int32_t& value = candidate.choices[static_cast<size_t>(v)];
      if (++value < problem.domain_size(v)) break;
      value = 0;
    }
  }
  return best;
}

}  // namespace

space::StatePtr IntegerProblem::InitialState() const {
  return std::make_shared<IntegerState>(spec_.initial);
}

std::vector<int32_t> IntegerProblem::LegalActions(
    const space::StatePtr&) const {
  std::vector<int32_t> actions(spec_.actions.size());
  std::iota(actions.begin(), actions.end(), 0);
  return actions;
}

absl::StatusOr<space::StatePtr> IntegerProblem::Step(
    const space::StatePtr& state, int32_t action) const {
  if (action < 0 || action >= action_count()) {
    return absl::InvalidArgumentError(absl::StrCat("no action ", action));
  }
  const auto& apply = spec_.actions[static_cast<size_t>(action)].apply;
  return std::make_shared<IntegerState>(apply(ValueOf(state)));
}

double IntegerProblem::Cost(const space::StatePtr& state) const {
  return spec_.cost(ValueOf(state));
}

absl::StatusOr<space::Measurement> TableProblem::Measure(
    const space::Candidate& candidate) const {
  space::Measurement measurement;
  measurement.outcome = space::Outcome::kInvalid;
  if (candidate.choices.size() != spec_.domains.size()) {
    measurement.message = "wrong number of values";
    return measurement;
  }
  for (size_t v = 0; v < spec_.domains.size(); ++v) {
    if (candidate.choices[v] < 0 || candidate.choices[v] >= spec_.domains[v]) {
      measurement.message = "value outside its domain";
      return measurement;
    }
  }
  if (!spec_.feasible(candidate.choices)) {
    measurement.message = "infeasible";
    return measurement;
  }
  measurement.outcome = space::Outcome::kOk;
  measurement.cost = spec_.cost(candidate.choices);
  return measurement;
}

double OptimalCost(const space::Problem& problem) {
  return problem.sequential() != nullptr ? OptimalCost(*problem.sequential())
                                         : OptimalCost(*problem.assignment());
}

std::unique_ptr<space::Problem> NumberRewriting() {
  IntegerProblem::Spec spec;
  spec.initial = 187;
  spec.actions = {
      {"halve", [](int64_t n) { return n % 2 == 0 ? n / 2 : n; }},
      {"decrement", [](int64_t n) { return n > 0 ? n - 1 : n; }},
      {"triple", [](int64_t n) { return n < 300 ? 3 * n + 1 : n; }},
      {"clear_bit", [](int64_t n) { return n & ~int64_t{8}; }},
  };
  spec.cost = [](int64_t n) {
    return static_cast<double>(n / 16 +
                               4 * std::popcount(static_cast<uint64_t>(n)));
  };
  spec.max_steps = 16;
  spec.default_actions = {1, 1, 1, 0, 0, 0};
  return std::make_unique<IntegerProblem>(std::move(spec));
}

std::unique_ptr<space::Problem> DelayedReward() {
  IntegerProblem::Spec spec;
  // The way is 0 … 5; the decoy is 100.
  spec.initial = 0;
  spec.actions = {
      {"decoy", [](int64_t n) { return n == 0 ? 100 : n; }},
      {"forward", [](int64_t n) { return n < 5 ? n + 1 : n; }},
      {"back", [](int64_t n) { return n > 0 && n <= 5 ? n - 1 : n; }},
  };
  spec.cost = [](int64_t n) {
    constexpr std::array<double, 6> kCosts = {10, 11, 12, 12, 6, 2};
    return n == 100 ? 9.0 : kCosts[static_cast<size_t>(n)];
  };
  spec.max_steps = 8;
  return std::make_unique<IntegerProblem>(std::move(spec));
}

std::unique_ptr<space::Problem> CappedSum() {
  TableProblem::Spec spec;
  constexpr int32_t kVariables = 8;
  constexpr int32_t kValues = 4;
  constexpr int32_t kCap = 11;
  spec.domains.assign(kVariables, kValues);
  spec.default_values.assign(kVariables, 0);
  spec.cost = [](absl::Span<const int32_t> values) {
    double sum = 0;
    for (size_t v = 0; v < values.size(); ++v) {
      // Higher values pay, each variable at its own rate.
      sum += 20.0 - values[v] * (1.0 + static_cast<double>(v * 5 % 8));
    }
    return sum;
  };
  spec.feasible = [](absl::Span<const int32_t> prefix) {
    return std::accumulate(prefix.begin(), prefix.end(), 0) <= kCap;
  };
  return std::make_unique<TableProblem>(std::move(spec));
}

std::unique_ptr<space::Problem> GraphPartition() {
  TableProblem::Spec spec;
  // Three triangles in a ring, their nodes numbered across.
  spec.domains.assign(9, 3);
  spec.default_values = {0, 0, 0, 1, 1, 1, 2, 2, 2};
  spec.edges = {{0, 3}, {3, 6}, {0, 6}, {1, 4}, {4, 7}, {1, 7},
                {2, 5}, {5, 8}, {2, 8}, {0, 1}, {4, 5}, {6, 8}};
  spec.cost = [edges = spec.edges](absl::Span<const int32_t> part) {
    double cut = 0;
    for (const auto& [a, b] : edges) {
      if (part[static_cast<size_t>(a)] != part[static_cast<size_t>(b)]) ++cut;
    }
    return cut;
  };
  spec.feasible = [](absl::Span<const int32_t> prefix) {
    for (int32_t part = 0; part < 3; ++part) {
      if (std::count(prefix.begin(), prefix.end(), part) > 4) return false;
    }
    return true;
  };
  return std::make_unique<TableProblem>(std::move(spec));
}

}  // namespace hone::testing
