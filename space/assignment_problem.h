#ifndef HONE_SPACE_ASSIGNMENT_PROBLEM_H_
#define HONE_SPACE_ASSIGNMENT_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "base/rng.h"
#include "space/domains.h"
#include "space/local_state.h"
#include "space/observation.h"
#include "space/problem.h"

namespace hone::space {

// Consecutive variables with the same values: a device or a priority for each
// node of a graph.
struct VariableGroup {
  std::string name;
  int32_t first = 0;
  int32_t count = 0;
  int32_t domain = 1;  // values are 0 … domain-1; at most kMaxValues
  // The names of ValueFeatures' columns.
  std::vector<std::string> value_feature_names = {};
};

// One value for each of a fixed number of variables: placement, partition,
// tiles, flags.
class AssignmentProblem : public Problem {
 public:
  const AssignmentProblem* assignment() const final { return this; }

  // All variables, in order, without gaps.
  virtual absl::Span<const VariableGroup> groups() const = 0;
  int32_t variable_count() const;
  // The group of a variable.
  const VariableGroup& GroupOf(int32_t variable) const;
  // Values of `variable` are 0 … domain_size-1.
  int32_t domain_size(int32_t variable) const {
    return GroupOf(variable).domain;
  }

  // The static observation that decisions are made on, the same object each
  // time. By default one node without information.
  virtual std::shared_ptr<const Observation> Graph() const;
  // The node of Graph that `variable` belongs to: another for each variable of
  // a group.
  virtual int32_t NodeOf(int32_t variable) const;
  // Features of the values of group `group`: what a device or a chip is.
  // [domain, value_feature_names], row-major.
  virtual std::vector<float> ValueFeatures(int32_t group) const;

  // The names of LocalState::DescribeMove's features; none if moves are not
  // described.
  virtual std::vector<std::string> move_feature_names() const { return {}; }
  // Returns how good a move with these features looks without anything learned:
  // the logarithm of how often it should be tried, up to a constant. It is
  // added to what a policy says.
  virtual float EstimateMove(absl::Span<const float> /*features*/) const {
    return 0;
  }

  // Returns the constraints, nothing narrowed yet; by default there are none.
  virtual std::unique_ptr<Domains> MakeDomains() const;
  // Draws an assignment under `domains`, of MakeDomains, which it leaves as
  // they were; nothing if that fails, or once `stop`, which may be null,
  // returns true. By default the values of variables in their order, uniform
  // over what the constraints leave.
  virtual std::optional<std::vector<int32_t>> Draw(
      Domains& domains, Rng& rng, const std::function<bool()>& stop) const;
  // Whether the problem has a construction of its own.
  virtual bool constructs() const { return false; }
  // Returns the assignment that the problem's own construction makes of one
  // number from 0 to 1 for each variable; nothing if it fails.
  virtual std::optional<std::vector<int32_t>> Construct(
      absl::Span<const float> keys) const;

  // Returns `candidate`, with one value of its domain for each variable, for
  // incremental evaluation; null if the problem has none.
  virtual std::unique_ptr<LocalState> MakeLocal(
      const Candidate& candidate) const;
};

}  // namespace hone::space

#endif  // HONE_SPACE_ASSIGNMENT_PROBLEM_H_
