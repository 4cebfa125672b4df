#ifndef HONE_TESTS_SUPPORT_TOY_PROBLEMS_H_
#define HONE_TESTS_SUPPORT_TOY_PROBLEMS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "space/problem.h"

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
  double Cost(const space::StatePtr& state) const override;

 private:
  Spec spec_;
};

// An assignment problem given by functions.
class TableProblem final : public space::AssignmentProblem {
 public:
  struct Spec {
    std::vector<int32_t> domains;
    // The cost of complete, feasible assignments.
    std::function<double(absl::Span<const int32_t>)> cost;
    // The feasibility of prefixes.
    std::function<bool(absl::Span<const int32_t>)> feasible;
    std::vector<std::pair<int32_t, int32_t>> edges;
    std::vector<int32_t> default_values;
  };

  explicit TableProblem(Spec spec) : spec_(std::move(spec)) {}

  absl::string_view unit() const override { return "points"; }
  space::Candidate DefaultCandidate() const override {
    return {spec_.default_values};
  }
  int32_t variable_count() const override {
    return static_cast<int32_t>(spec_.domains.size());
  }
  int32_t domain_size(int32_t variable) const override {
    return spec_.domains[static_cast<size_t>(variable)];
  }
  absl::Span<const std::pair<int32_t, int32_t>> edges() const override {
    return spec_.edges;
  }
  bool IsFeasiblePrefix(absl::Span<const int32_t> prefix) const override {
    return spec_.feasible(prefix);
  }
  absl::StatusOr<space::Measurement> Measure(
      const space::Candidate& candidate) const override;

 private:
  Spec spec_;
};

// The least cost of all, by exhaustive search.
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

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_TOY_PROBLEMS_H_
