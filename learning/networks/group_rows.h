#ifndef HONE_LEARNING_NETWORKS_GROUP_ROWS_H_
#define HONE_LEARNING_NETWORKS_GROUP_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include <torch/torch.h>

#include "space/assignment_problem.h"

namespace hone::learning {

// The operators of a graph that are put into groups: the variables of a group
// of an assignment problem.
struct Operators {
  int64_t count = 0;
  int64_t kind_count = 1;
  int64_t feature_count = 0;
  std::vector<int32_t> kinds;    // [count]
  std::vector<float> features;   // [count, feature_count], standardized
  std::vector<float> positions;  // [count], 0 … 1 in topological order
  struct Edge {
    int32_t from = 0;
    int32_t to = 0;
    float traffic = 0;
  };
  std::vector<Edge> edges;
};

// Returns the operators with their kinds and features as the problem observes
// them, with the position and the degrees beside.
Operators MakeOperators(const space::AssignmentProblem& problem,
                        const space::VariableGroup& variables);

// The groups of operators in B samples, in the order of the mean positions of
// their members, empty ones last.
struct GroupRows {
  int64_t count = 0;       // S: the most groups of a sample, not empty
  torch::Tensor features;  // [B, S, features + 1 + groups]
  torch::Tensor kinds;     // [B, S, kinds]: shares of the members
  torch::Tensor present;   // [B, S] bool: the group is not empty
  std::vector<std::vector<size_t>> order;  // [B][S]: numbers of groups
};

// groups: [B][operators], the group of each, 0 … `group_count`-1.
GroupRows MakeGroupRows(const Operators& operators, size_t group_count,
                        absl::Span<const absl::Span<const int32_t>> groups);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_GROUP_ROWS_H_
