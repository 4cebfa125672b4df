#include "tests/support/toy_problems.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"

#include "base/check.h"
#include "base/rng.h"

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

// `cost` as measurement number `count` gives it.
double Measured(double cost, double noise, int64_t count) {
  if (noise == 0) return cost;
  Rng rng(static_cast<uint64_t>(count));
  return cost * (1 + noise * (2 * rng.Uniform() - 1));
}

// `cost` as a model predicts it that errs by up to a fifth, always in the same
// way for what has this number.
double Predicted(double cost, uint64_t number) {
  return cost * (1 + 0.2 * (2 * Rng(number).Uniform() - 1));
}

int64_t ValueOf(const space::StatePtr& state) {
  return static_cast<const IntegerState&>(*state).value();
}

// Domains that a function propagates. Takes time by the number of variables.
class PropagatedDomains final : public space::Domains {
 public:
  using Propagate = std::function<bool(std::vector<uint64_t>&)>;

  PropagatedDomains(absl::Span<const int32_t> sizes, const Propagate& propagate)
      : propagate_(propagate) {
    for (const int32_t size : sizes) values_.push_back(space::AllValues(size));
    HONE_CHECK(propagate_(values_));
  }

  int32_t variable_count() const override {
    return static_cast<int32_t>(values_.size());
  }
  uint64_t Get(int32_t variable) const override {
    return values_[static_cast<size_t>(variable)];
  }
  bool Narrow(int32_t variable, uint64_t values) override {
    const std::vector<uint64_t> before = values_;
    values_[static_cast<size_t>(variable)] &= values;
    const bool possible =
        values_[static_cast<size_t>(variable)] != 0 && propagate_(values_);
    for (size_t v = 0; v < values_.size(); ++v) {
      if (values_[v] != before[v]) trail_.emplace_back(v, before[v]);
    }
    return possible;
  }
  int32_t Mark() override { return static_cast<int32_t>(trail_.size()); }
  void Undo(int32_t mark) override {
    while (trail_.size() > static_cast<size_t>(mark)) {
      values_[trail_.back().first] = trail_.back().second;
      trail_.pop_back();
    }
  }

 private:
  const Propagate& propagate_;
  std::vector<uint64_t> values_;
  std::vector<std::pair<size_t, uint64_t>> trail_;
};

}  // namespace

space::StatePtr IntegerProblem::InitialState() const {
  return std::make_shared<IntegerState>(spec_.initial);
}

std::vector<int32_t> IntegerProblem::LegalActions(
    const space::StatePtr& state) const {
  std::vector<int32_t> actions(spec_.actions.size());
  std::iota(actions.begin(), actions.end(), 0);
  if (spec_.legal) {
    std::erase_if(actions, [&](int32_t action) {
      return !spec_.legal(ValueOf(state), action);
    });
  }
  return actions;
}

absl::StatusOr<space::StatePtr> IntegerProblem::Step(
    const space::StatePtr& state, int32_t action) const {
  if (action < 0 || action >= action_count()) {
    return absl::InvalidArgumentError(absl::StrCat("no action ", action));
  }
  const int64_t value = ValueOf(state);
  if (spec_.legal && !spec_.legal(value, action)) {
    return absl::InvalidArgumentError(
        absl::StrCat("action ", action, " is not legal in ", value));
  }
  if (spec_.fails && spec_.fails(value, action)) {
    return absl::InternalError(absl::StrCat("action ", action, " failed"));
  }
  const auto& apply = spec_.actions[static_cast<size_t>(action)].apply;
  return std::make_shared<IntegerState>(apply(value));
}

double IntegerProblem::Cost(const space::StatePtr& state) const {
  HONE_CHECK(spec_.costs_are_free);
  return spec_.cost(ValueOf(state));
}

double IntegerProblem::reference_cost() const {
  return std::max(spec_.cost(spec_.initial), 1.0);
}

space::ActionSpec IntegerProblem::action_spec() const {
  space::ActionSpec spec = SequentialProblem::action_spec();
  if (spec_.feature) spec.feature_names = {"feature"};
  return spec;
}

space::ActionBatch IntegerProblem::Describe(
    const space::StatePtr& state, absl::Span<const int32_t> actions) const {
  space::ActionBatch batch = SequentialProblem::Describe(state, actions);
  if (!spec_.feature) return batch;
  for (const int32_t action : actions) {
    batch.features.push_back(spec_.feature(ValueOf(state), action));
  }
  return batch;
}

absl::StatusOr<space::Measurement> IntegerProblem::MeasureState(
    const space::StatePtr& state) const {
  const int64_t count = ++measurements_;
  space::Measurement measurement;
  measurement.cost = Measured(spec_.cost(ValueOf(state)), spec_.noise, count);
  return measurement;
}

absl::StatusOr<std::unique_ptr<space::Surrogate>>
IntegerProblem::MakeSurrogate() const {
  Spec spec = spec_;
  spec.costs_are_free = true;
  spec.noise = 0;
  spec.cost = [cost = spec_.cost](int64_t value) {
    return Predicted(cost(value), static_cast<uint64_t>(value));
  };
  return std::make_unique<FixedSurrogate>(
      std::make_unique<IntegerProblem>(std::move(spec)));
}

TableProblem::TableProblem(Spec spec) : spec_(std::move(spec)) {
  auto graph = std::make_shared<space::Observation>();
  for (size_t v = 0; v < spec_.domains.size(); ++v) {
    graph->node_kinds.push_back(static_cast<int32_t>(v));
    if (groups_.empty() || groups_.back().domain != spec_.domains[v]) {
      groups_.push_back({.name = absl::StrCat("group", groups_.size()),
                         .first = static_cast<int32_t>(v),
                         .domain = spec_.domains[v]});
    }
    ++groups_.back().count;
  }
  for (const auto& [a, b] : spec_.edges) {
    graph->edge_sources.push_back(a);
    graph->edge_targets.push_back(b);
  }
  graph_ = std::move(graph);
}

absl::StatusOr<std::vector<space::Measurement>> TableProblem::MeasureBatch(
    absl::Span<const space::Candidate> candidates) const {
  std::vector<space::Measurement> measurements;
  for (const space::Candidate& candidate : candidates) {
    measurements.push_back(MeasureOne(candidate));
  }
  return measurements;
}

absl::StatusOr<std::unique_ptr<space::Surrogate>> TableProblem::MakeSurrogate()
    const {
  Spec spec = spec_;
  spec.noise = 0;
  spec.make_local = nullptr;
  spec.cost = [cost = spec_.cost](absl::Span<const int32_t> values) {
    uint64_t number = 0;
    for (const int32_t value : values) {
      number = number * space::kMaxValues + static_cast<uint64_t>(value);
    }
    return Predicted(cost(values), number);
  };
  return std::make_unique<FixedSurrogate>(
      std::make_unique<TableProblem>(std::move(spec)));
}

space::Measurement TableProblem::MeasureOne(
    const space::Candidate& candidate) const {
  const int64_t count = ++measurements_;
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
  measurement.cost =
      Measured(spec_.cost(candidate.choices), spec_.noise, count);
  measurement.violation =
      spec_.violation ? spec_.violation(candidate.choices) : 0;
  if (measurement.violation > 0) {
    measurement.message = "infeasible";
    return measurement;
  }
  measurement.outcome = space::Outcome::kOk;
  return measurement;
}

std::unique_ptr<space::Domains> TableProblem::MakeDomains() const {
  if (!spec_.propagate) return AssignmentProblem::MakeDomains();
  return std::make_unique<PropagatedDomains>(spec_.domains, spec_.propagate);
}

namespace {

double OptimalCost(const IntegerProblem& problem) {
  std::set<int64_t> seen;
  std::vector<space::StatePtr> level = {problem.InitialState()};
  double best = std::numeric_limits<double>::infinity();
  for (int32_t step = 0; step <= problem.max_steps(); ++step) {
    std::vector<space::StatePtr> next;
    for (const space::StatePtr& state : level) {
      if (!seen.insert(ValueOf(state)).second) continue;
      const double cost = problem.CostOf(ValueOf(state));
      if (cost < best) best = cost;
      for (int32_t action : problem.LegalActions(state)) {
        absl::StatusOr<space::StatePtr> successor = problem.Step(state, action);
        if (successor.ok()) next.push_back(*std::move(successor));
      }
    }
    level = std::move(next);
  }
  return best;
}

// Visits what satisfies the constraints only.
double OptimalCost(const space::AssignmentProblem& problem,
                   space::Domains& domains, space::Candidate& prefix) {
  const auto v = static_cast<int32_t>(prefix.choices.size());
  if (v == problem.variable_count()) {
    return space::EffectiveCost(*problem.Measure(prefix));
  }
  double best = std::numeric_limits<double>::infinity();
  const int32_t mark = domains.Mark();
  for (uint64_t left = domains.Get(v); left != 0; left &= left - 1) {
    if (domains.Narrow(v, left & ~(left - 1))) {
      prefix.choices.push_back(std::countr_zero(left));
      best = std::min(best, OptimalCost(problem, domains, prefix));
      prefix.choices.pop_back();
    }
    domains.Undo(mark);
  }
  return best;
}

}  // namespace

double OptimalCost(const space::Problem& problem) {
  if (problem.sequential() != nullptr) {
    return OptimalCost(static_cast<const IntegerProblem&>(problem));
  }
  const space::AssignmentProblem& assignment = *problem.assignment();
  space::Candidate prefix;
  return OptimalCost(assignment, *assignment.MakeDomains(), prefix);
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

static TableProblem::Spec CappedSumSpec() {
  TableProblem::Spec spec;
  static constexpr int32_t kVariables = 8;
  static constexpr int32_t kValues = 4;
  static constexpr int32_t kCap = 11;
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
  spec.violation = [](absl::Span<const int32_t> values) {
    return std::max(0, std::accumulate(values.begin(), values.end(), 0) - kCap);
  };
  spec.propagate = [](std::vector<uint64_t>& domains) {
    int32_t least = 0;
    for (const uint64_t left : domains) least += std::countr_zero(left);
    for (uint64_t& left : domains) {
      // What the others leave of the cap at most.
      const int32_t most = kCap - least + std::countr_zero(left);
      if (most < 0) return false;
      left &= space::AllValues(std::min(most + 1, kValues));
      if (left == 0) return false;
    }
    return true;
  };
  spec.reference_cost = 100;
  return spec;
}

std::unique_ptr<space::Problem> CappedSum() {
  return std::make_unique<TableProblem>(CappedSumSpec());
}

std::unique_ptr<space::Problem> NoisyAssignments() {
  TableProblem::Spec spec = CappedSumSpec();
  spec.noise = 0.1;
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
  spec.violation = [](absl::Span<const int32_t> part) {
    double excess = 0;
    for (int32_t p = 0; p < 3; ++p) {
      excess += std::max<double>(
          0, static_cast<double>(std::count(part.begin(), part.end(), p)) - 4);
    }
    return excess;
  };
  spec.propagate = [](std::vector<uint64_t>& domains) {
    for (bool changed = true; changed;) {
      changed = false;
      for (int32_t part = 0; part < 3; ++part) {
        const uint64_t only = uint64_t{1} << part;
        const auto count = std::count(domains.begin(), domains.end(), only);
        if (count > 4) return false;
        if (count < 4) continue;
        for (uint64_t& left : domains) {
          if (left == only || (left & only) == 0) continue;
          left &= ~only;
          changed = true;
          if (left == 0) return false;
        }
      }
    }
    return true;
  };
  spec.reference_cost = 6;
  return std::make_unique<TableProblem>(std::move(spec));
}

std::unique_ptr<space::Problem> InfiniteCosts() {
  IntegerProblem::Spec spec;
  spec.initial = 0;
  spec.actions = {
      {"add1", [](int64_t n) { return std::min<int64_t>(n + 1, 40); }},
      {"add3", [](int64_t n) { return std::min<int64_t>(n + 3, 40); }},
      {"halve", [](int64_t n) { return n / 2; }},
  };
  spec.cost = [](int64_t n) {
    if (n % 4 == 1) return std::numeric_limits<double>::infinity();
    if (n % 4 == 3) return std::numeric_limits<double>::quiet_NaN();
    return 50.0 - static_cast<double>(n);
  };
  spec.max_steps = 20;
  return std::make_unique<IntegerProblem>(std::move(spec));
}

std::unique_ptr<space::Problem> InfiniteAssignments() {
  TableProblem::Spec spec;
  spec.domains.assign(6, 4);
  spec.default_values = {1, 0, 0, 0, 0, 0};
  spec.cost = [](absl::Span<const int32_t> values) {
    const int32_t sum = std::accumulate(values.begin(), values.end(), 0);
    if (sum % 4 == 1) return std::numeric_limits<double>::infinity();
    if (sum % 4 == 3) return std::numeric_limits<double>::quiet_NaN();
    return 20.0 - sum;
  };
  spec.reference_cost = 20;
  return std::make_unique<TableProblem>(std::move(spec));
}

static IntegerProblem::Spec ExpensiveCostsSpec() {
  IntegerProblem::Spec spec;
  spec.initial = 21;
  spec.actions = {
      {"halve", [](int64_t n) { return n % 2 == 0 ? n / 2 : n; }},
      {"decrement", [](int64_t n) { return n > 1 ? n - 1 : n; }},
      {"double", [](int64_t n) { return n < 50 ? 2 * n : n; }},
  };
  spec.cost = [](int64_t n) { return static_cast<double>(n); };
  spec.max_steps = 10;
  spec.default_actions = {1};
  spec.costs_are_free = false;
  return spec;
}

std::unique_ptr<space::Problem> ExpensiveCosts() {
  return std::make_unique<IntegerProblem>(ExpensiveCostsSpec());
}

std::unique_ptr<space::Problem> NoisyCosts() {
  IntegerProblem::Spec spec = ExpensiveCostsSpec();
  spec.noise = 0.1;
  return std::make_unique<IntegerProblem>(std::move(spec));
}

static IntegerProblem::Spec ChangingLegalitySpec() {
  IntegerProblem::Spec spec;
  spec.initial = 0;
  // A state is the last action; each is followed by the next two only.
  for (int64_t a = 0; a < 12; ++a) {
    spec.actions.push_back(
        {absl::StrCat("go", a), [a](int64_t) { return a + 1; }});
  }
  spec.legal = [](int64_t state, int32_t action) {
    return state == 0 ? action == 0 : action == state || action == state + 1;
  };
  spec.cost = [](int64_t state) {
    constexpr std::array<double, 13> kCosts = {9, 8, 8, 7, 9, 7, 6,
                                               8, 5, 7, 4, 8, 2};
    return kCosts[static_cast<size_t>(state)];
  };
  spec.max_steps = 12;
  spec.default_actions = {0, 1};
  return spec;
}

std::unique_ptr<space::Problem> ChangingLegality() {
  return std::make_unique<IntegerProblem>(ChangingLegalitySpec());
}

std::unique_ptr<space::Problem> IllegalDefault() {
  IntegerProblem::Spec spec = ChangingLegalitySpec();
  spec.default_actions = {0, 7};
  return std::make_unique<IntegerProblem>(std::move(spec));
}

std::unique_ptr<space::Problem> InfeasibleDefault() {
  auto spec = CappedSumSpec();
  spec.default_values.assign(spec.domains.size(), 3);
  return std::make_unique<TableProblem>(std::move(spec));
}

std::unique_ptr<space::Problem> TightOrder() {
  constexpr size_t kVariables = 10;
  constexpr int32_t kValues = 6;
  TableProblem::Spec spec;
  spec.domains.assign(kVariables, kValues);
  spec.default_values.assign(kVariables, 0);
  spec.violation = [](absl::Span<const int32_t> values) {
    double violation = 0;
    for (size_t v = 1; v < values.size(); ++v) {
      violation += std::max(0, values[v - 1] - values[v]);
    }
    return violation;
  };
  spec.propagate = [](std::vector<uint64_t>& domains) {
    for (size_t v = 1; v < domains.size(); ++v) {
      domains[v] &= ~uint64_t{0} << std::countr_zero(domains[v - 1]);
      if (domains[v] == 0) return false;
    }
    for (size_t v = domains.size() - 1; v > 0; --v) {
      domains[v - 1] &=
          space::AllValues(static_cast<int32_t>(std::bit_width(domains[v])));
      if (domains[v - 1] == 0) return false;
    }
    return true;
  };
  // The load of the fullest value, each variable with a weight of its own.
  spec.cost = [](absl::Span<const int32_t> values) {
    std::array<double, kValues> loads = {};
    for (size_t v = 0; v < values.size(); ++v) {
      loads[static_cast<size_t>(values[v])] +=
          1.0 + static_cast<double>(v * 7 % 5);
    }
    return *std::max_element(loads.begin(), loads.end());
  };
  for (int32_t v = 1; v < static_cast<int32_t>(kVariables); ++v) {
    spec.edges.emplace_back(v - 1, v);
  }
  spec.reference_cost = 27;
  return std::make_unique<TableProblem>(std::move(spec));
}

std::unique_ptr<space::Problem> ManyVariables() {
  constexpr size_t kVariables = 2000;
  TableProblem::Spec spec;
  spec.domains.assign(kVariables, 4);
  spec.default_values.assign(kVariables, 0);
  spec.cost = [](absl::Span<const int32_t> values) {
    double cost = 1;
    for (size_t v = 0; v < values.size(); ++v) {
      if (values[v] != static_cast<int32_t>(v / 50 % 4)) cost += 2;
      if (v > 0 && values[v] != values[v - 1]) ++cost;
    }
    return cost;
  };
  for (int32_t v = 1; v < static_cast<int32_t>(kVariables); ++v) {
    spec.edges.emplace_back(v - 1, v);
  }
  spec.reference_cost = 2000;
  return std::make_unique<TableProblem>(std::move(spec));
}

std::unique_ptr<space::Problem> CombinationLock() {
  static constexpr std::array<int32_t, 7> kKey = {3, 1, 4, 1, 0, 2, 4};
  TableProblem::Spec spec;
  spec.domains.assign(kKey.size(), 5);
  spec.default_values.assign(kKey.size(), 0);
  spec.cost = [](absl::Span<const int32_t> values) {
    double right = 0;
    for (size_t v = 0; v < kKey.size() && values[v] == kKey[v]; ++v) ++right;
    return static_cast<double>(kKey.size()) + 1 - right;
  };
  spec.reference_cost = 10;
  return std::make_unique<TableProblem>(std::move(spec));
}

std::unique_ptr<space::Problem> SequenceLock() {
  static constexpr std::array<int32_t, 9> kKey = {3, 1, 4, 1, 0, 2, 4, 3, 0};
  IntegerProblem::Spec spec;
  spec.initial = 0;
  // A state is the number of right digits.
  for (int32_t digit = 0; digit < 5; ++digit) {
    spec.actions.push_back(
        {absl::StrCat("dial", digit), [digit](int64_t right) {
           const auto at = static_cast<size_t>(right);
           if (at == kKey.size()) return right;
           return kKey[at] == digit ? right + 1 : int64_t{0};
         }});
  }
  spec.cost = [](int64_t right) {
    return static_cast<double>(kKey.size()) + 1 - static_cast<double>(right);
  };
  spec.max_steps = static_cast<int32_t>(kKey.size());
  return std::make_unique<IntegerProblem>(std::move(spec));
}

}  // namespace hone::testing
