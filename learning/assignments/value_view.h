#ifndef HONE_LEARNING_ASSIGNMENTS_VALUE_VIEW_H_
#define HONE_LEARNING_ASSIGNMENTS_VALUE_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "space/assignment_problem.h"

namespace hone::learning {

// The features of each value of a variable, given an assignment: it is the
// variable's own, the shares of producers and of consumers that have it,
// and its share of all variables of the group, in quarters of an equal one.
inline constexpr int32_t kValueFeatures = 4;
// Their names, by which weights are matched.
std::vector<std::string> ValueStateNames();

// The sizes and names of what a policy for assignments sees. The numbers of
// variables and values are not part of it: one policy serves any.
struct AssignmentSpec {
  struct Group {
    std::string name;
    std::vector<std::string> value_feature_names;
    friend bool operator==(const Group&, const Group&) = default;
  };
  space::ObservationSpec observation;
  std::vector<Group> groups;
  std::vector<std::string> state_features = ValueStateNames();
  // The features of moves (AssignmentProblem::move_feature_names); none if the
  // problem does not describe them.
  std::vector<std::string> move_features = {};

  friend bool operator==(const AssignmentSpec&,
                         const AssignmentSpec&) = default;
};

AssignmentSpec SpecOf(const space::AssignmentProblem& problem);

// The static part of what a policy sees of an assignment problem. A score
// vector has one number for each value of each variable, in this order.
// Threads: const methods are thread-safe.
class ValueView {
 public:
  // `problem` outlives this.
  explicit ValueView(const space::AssignmentProblem& problem);

  const space::AssignmentProblem& problem() const { return problem_; }
  const space::Observation& graph() const { return *graph_; }
  size_t score_count() const { return first_score_.back(); }
  // The index of the score of a variable's value 0.
  size_t first_score(int32_t variable) const;

  // Returns what is told of the values of a group's variables, given an
  // assignment: [count, domain, kValueFeatures], row-major.
  std::vector<float> Features(size_t group,
                              absl::Span<const int32_t> values) const;

 private:
  // Adds to each variable's counts the values of its neighbors, on one side.
  void CountNeighbors(size_t group, absl::Span<const int32_t> from,
                      absl::Span<const int32_t> to,
                      absl::Span<const int32_t> values, int32_t feature,
                      std::vector<float>& features) const;

  const space::AssignmentProblem& problem_;
  const std::shared_ptr<const space::Observation> graph_;
  std::vector<size_t> first_score_;  // [groups + 1]
  // The variable of each node in each group, or -1: [groups][nodes].
  std::vector<std::vector<int32_t>> variable_of_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_ASSIGNMENTS_VALUE_VIEW_H_
