#ifndef HONE_TESTS_SUPPORT_RING_PROBLEM_H_
#define HONE_TESTS_SUPPORT_RING_PROBLEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "space/assignment_problem.h"

namespace hone::testing {

// Variables in a ring. Each value of a variable has a price, and two neighbors
// with different values cost more. Describes its moves by what they save, among
// features that mean nothing, so that a policy can learn to choose.
// Threads: tries() is not thread-safe, and neither are local states of one
// problem.
class RingProblem final : public space::AssignmentProblem {
 public:
  struct Options {
    int32_t variables = 6;
    int32_t values = 3;
    uint64_t seed = 1;  // of the prices
    // False: local states propose nothing.
    bool proposes = true;
    std::vector<std::string> move_features = {"noise", "saved", "size"};
    // Moves are estimated by so many times the feature "saved".
    float estimate = 0;
  };
  // A move that a local state tried, and what it started from.
  struct Attempt {
    std::vector<int32_t> from;
    std::vector<space::Change> changes;
  };

  explicit RingProblem(Options options);

  absl::string_view unit() const override { return "points"; }
  space::Candidate DefaultCandidate() const override;
  // The default, and all variables at the value that is the best for all.
  std::vector<space::Seed> Seeds() const override;
  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override;
  double reference_cost() const override { return Cost(first_); }
  int64_t evaluations() const override {
    return measurements_ + static_cast<int64_t>(tries_.size());
  }
  absl::Span<const space::VariableGroup> groups() const override {
    return groups_;
  }
  std::shared_ptr<const space::Observation> Graph() const override {
    return graph_;
  }
  int32_t NodeOf(int32_t variable) const override { return variable; }
  std::vector<std::string> move_feature_names() const override {
    return options_.move_features;
  }
  float EstimateMove(absl::Span<const float> features) const override {
    return options_.estimate == 0 ? 0 : options_.estimate * features[1];
  }
  std::unique_ptr<space::LocalState> MakeLocal(
      const space::Candidate& candidate) const override;

  double Cost(absl::Span<const int32_t> values) const;
  const Options& options() const { return options_; }
  // The features of a move, in the order of their names.
  std::vector<float> Describe(absl::Span<const int32_t> from,
                              absl::Span<const space::Change> changes) const;
  // All tries of all local states, in order.
  const std::vector<Attempt>& tries() const { return tries_; }

 private:
  class Local;

  const Options options_;
  const std::vector<int32_t> first_;  // the default
  std::vector<double> prices_;        // [variables, values]
  std::vector<space::VariableGroup> groups_;
  std::shared_ptr<const space::Observation> graph_;
  mutable int64_t measurements_ = 0;
  mutable std::vector<Attempt> tries_;
};

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_RING_PROBLEM_H_
