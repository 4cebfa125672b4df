#ifndef HONE_TESTS_SUPPORT_TOY_PROBLEMS_H_
#define HONE_TESTS_SUPPORT_TOY_PROBLEMS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "space/assignment_problem.h"
#include "space/sequential_problem.h"

namespace hone::testing {

// A sequential problem whose states are integers, so that many ways lead to the
// same state.
class IntegerProblem final : public space::SequentialProblem {
 public:
  struct Action {
    std::string name;
    std::function<int64_t(int64_t)> apply;
  };
  struct Spec {
    int64_t initial = 0;
    std::vector<Action> actions;
    std::function<double(int64_t)> cost;
    int32_t max_steps = 16;
    std::vector<int32_t> default_actions;
    // The legality of an action in a state; null: all are legal.
    std::function<bool(int64_t, int32_t)> legal = nullptr;
    // Returns true if a legal action fails in a state; null: none does.
    std::function<bool(int64_t, int32_t)> fails = nullptr;
    // False: Cost must not be called, costs come from measurements only.
    bool costs_are_free = true;
    // The largest relative error of a measurement; it depends on the number of
    // measurements so far, so that two of one candidate differ.
    double noise = 0;
    // A feature of a legal action in a state, for views; null: actions have
    // none.
    std::function<float(int64_t, int32_t)> feature = nullptr;
  };

  explicit IntegerProblem(Spec spec) : spec_(std::move(spec)) {}

  absl::string_view unit() const override { return "points"; }
  space::Candidate DefaultCandidate() const override {
    return {spec_.default_actions};
  }
  space::StatePtr InitialState() const override;
  int32_t action_count() const override {
    return static_cast<int32_t>(spec_.actions.size());
  }
  std::string ActionName(int32_t action) const override {
    return spec_.actions[static_cast<size_t>(action)].name;
  }
  int32_t max_steps() const override { return spec_.max_steps; }
  std::vector<int32_t> LegalActions(
      const space::StatePtr& state) const override;
  absl::StatusOr<space::StatePtr> Step(const space::StatePtr& state,
                                       int32_t action) const override;
  bool costs_are_free() const override { return spec_.costs_are_free; }
  double Cost(const space::StatePtr& state) const override;
  double reference_cost() const override;
  bool is_noisy() const override { return spec_.noise > 0; }
  space::ActionSpec action_spec() const override;
  space::ActionBatch Describe(const space::StatePtr& state,
                              absl::Span<const int32_t> actions) const override;
  // The cost of a state, free or not, without noise.
  double CostOf(int64_t value) const { return spec_.cost(value); }
  // The number of measurements so far, those of a log recalled included.
  int64_t measurements() const { return measurements_; }
  void Recall(absl::Span<const space::Trial> log) override {
    measurements_ = static_cast<int64_t>(log.size());
  }
  // Predicts costs within a fifth, without noise, and learns nothing.
  absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeSurrogate()
      const override;

 private:
  absl::StatusOr<space::Measurement> MeasureState(
      const space::StatePtr& state) const override;

  Spec spec_;
  mutable std::atomic<int64_t> measurements_ = 0;
};

// An assignment problem given by functions.
class TableProblem final : public space::AssignmentProblem {
 public:
  struct Spec {
    std::vector<int32_t> domains;
    // The cost of complete assignments that satisfy the constraints.
    std::function<double(absl::Span<const int32_t>)> cost;
    // The violation of a complete assignment, 0 if it satisfies the
    // constraints.
    std::function<double(absl::Span<const int32_t>)> violation;
    // Removes values that no assignment extends; returns false if a domain is
    // empty. Exact once all domains have one value.
    std::function<bool(std::vector<uint64_t>&)> propagate;
    // Pairs of variables that interact, for the observation.
    std::vector<std::pair<int32_t, int32_t>> edges = {};
    std::vector<int32_t> default_values;
    double reference_cost = 1;
    // As that of IntegerProblem.
    double noise = 0;
    // Returns an assignment for incremental evaluation; null: there is none.
    std::function<std::unique_ptr<space::LocalState>(absl::Span<const int32_t>)>
        make_local = nullptr;
  };

  explicit TableProblem(Spec spec);

  absl::string_view unit() const override { return "points"; }
  space::Candidate DefaultCandidate() const override {
    return {spec_.default_values};
  }
  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override;
  double reference_cost() const override { return spec_.reference_cost; }
  bool is_noisy() const override { return spec_.noise > 0; }
  space::ObservationSpec observation_spec() const override {
    return {.node_kinds = static_cast<int32_t>(spec_.domains.size())};
  }
  absl::Span<const space::VariableGroup> groups() const override {
    return groups_;
  }
  // A node of its own kind for each variable.
  std::shared_ptr<const space::Observation> Graph() const override {
    return graph_;
  }
  int32_t NodeOf(int32_t variable) const override { return variable; }
  std::unique_ptr<space::Domains> MakeDomains() const override;
  std::unique_ptr<space::LocalState> MakeLocal(
      const space::Candidate& candidate) const override {
    return spec_.make_local ? spec_.make_local(candidate.choices) : nullptr;
  }
  // The number of measurements so far, those of a log recalled included.
  int64_t measurements() const { return measurements_; }
  void Recall(absl::Span<const space::Trial> log) override {
    measurements_ = static_cast<int64_t>(log.size());
  }
  // Predicts costs within a fifth, without noise or incremental evaluation, and
  // learns nothing.
  absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeSurrogate()
      const override;

 private:
  space::Measurement MeasureOne(const space::Candidate& candidate) const;

  Spec spec_;
  std::vector<space::VariableGroup> groups_;
  std::shared_ptr<const space::Observation> graph_;
  mutable std::atomic<int64_t> measurements_ = 0;
};

// A model that is another problem, and learns nothing.
class FixedSurrogate final : public space::Surrogate {
 public:
  explicit FixedSurrogate(std::unique_ptr<space::Problem> problem)
      : problem_(std::move(problem)) {}

  const space::Problem& problem() const override { return *problem_; }
  void Learn(absl::Span<const space::Trial>) override {}

 private:
  const std::unique_ptr<space::Problem> problem_;
};

// The least cost of all, by exhaustive search. A sequential problem has to be
// an IntegerProblem.
double OptimalCost(const space::Problem& problem);

// Rewrites a number with four actions that often meet again; to be made as
// small as possible. The default is a poor rewriting.
std::unique_ptr<space::Problem> NumberRewriting();

// Every step towards the reward costs more at first, and a decoy beside the
// start costs less at once but leads nowhere else.
std::unique_ptr<space::Problem> DelayedReward();

// A sum of table entries under a cap that couples all variables.
std::unique_ptr<space::Problem> CappedSum();

// A small graph to be split into three balanced parts with few edges between
// them.
std::unique_ptr<space::Problem> GraphPartition();

// Half of all states cost infinitely much or nothing that is a number; the best
// lies behind them.
std::unique_ptr<space::Problem> InfiniteCosts();

// The same for assignments: the cost is infinite or not a number for most of
// them, the default too.
std::unique_ptr<space::Problem> InfiniteAssignments();

// Costs are not free: they come from measurements only, which are counted.
std::unique_ptr<space::Problem> ExpensiveCosts();

// The same, and two measurements of a candidate differ by up to 10 %.
std::unique_ptr<space::Problem> NoisyCosts();

// The same for assignments.
std::unique_ptr<space::Problem> NoisyAssignments();

// Which actions are legal depends on the state, and the default's first one is
// the only one legal at the start.
std::unique_ptr<space::Problem> ChangingLegality();

// The default violates the constraints.
std::unique_ptr<space::Problem> InfeasibleDefault();

// The default takes an action that is not legal where it does.
std::unique_ptr<space::Problem> IllegalDefault();

// Values have to grow or stay equal along a chain of ten variables, which is
// satisfied by one in 20,000 uniform assignments. The load of the fullest value
// counts.
std::unique_ptr<space::Problem> TightOrder();

// 2,000 variables in a chain; each agrees with a rule of its own and with its
// neighbors.
std::unique_ptr<space::Problem> ManyVariables();

// A combination lock: seven variables of five values, each right one lowers the
// cost only if all before it are right. One in 78,125 uniform assignments is
// the best.
std::unique_ptr<space::Problem> CombinationLock();

// The same for sequences: nine digits in their order, and a wrong one begins
// anew. One in 1,953,125 uniform sequences of the greatest length is the best.
std::unique_ptr<space::Problem> SequenceLock();

// Jobs to be spread over machines so that the fullest machine has little to do;
// jobs that exchange data add to the load of both machines if they are apart.
// Each machine takes its share of the jobs, rounded up, so with a multiple of
// `machines` no job can move by itself. Evaluated incrementally; every third
// proposal of a local state is empty.
std::unique_ptr<space::Problem> LoadBalance(int32_t jobs, int32_t machines);

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_TOY_PROBLEMS_H_
