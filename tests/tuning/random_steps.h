#ifndef HONE_TESTS_TUNING_RANDOM_STEPS_H_
#define HONE_TESTS_TUNING_RANDOM_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/op_graph_json.h"
#include "tests/graphs/step/random_cluster.h"
#include "tests/graphs/step/random_op_graph.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_steps.h"
#include "tuning/tasks/step_problem.h"

namespace hone::tuning {

// Calls `visit` for the problems of all tasks on random graphs of up to `nodes`
// nodes and random clusters, as far as anything fits in memory.
template <typename Visit>
void ForEachStepProblem(uint64_t seed, int rounds, size_t nodes, Visit visit) {
  Rng rng(seed);
  int problems = 0;
  for (int round = 0; round < rounds; ++round) {
    const graphs::OpGraph graph =
        hone::testing::RandomOpGraph(rng, 1 + rng.Below(nodes));
    const graphs::Cluster cluster = hone::testing::RandomCluster(rng);
    SCOPED_TRACE(graphs::PrintOpGraph(graph) + graphs::PrintCluster(cluster));
    for (const NamedDecisions& task : kAllDecisions) {
      SCOPED_TRACE(task.task);
      const auto problem = StepProblem::Create(graph, cluster, task.decisions);
      if (!problem.ok()) {
        EXPECT_THAT(
            problem,
            hone::testing::StatusIs(
                absl::StatusCode::kInvalidArgument,
                ::testing::AnyOf(::testing::HasSubstr("too many"),
                                 ::testing::HasSubstr("expected at least"))));
        continue;
      }
      ++problems;
      visit(**problem, rng);
    }
  }
  EXPECT_GT(problems, 2 * rounds);
}

inline std::vector<int32_t> RandomValues(const StepProblem& problem, Rng& rng) {
  std::vector<int32_t> values;
  for (const space::VariableGroup& group : problem.groups()) {
    for (int32_t i = 0; i < group.count; ++i) {
      values.push_back(
          static_cast<int32_t>(rng.Below(static_cast<uint64_t>(group.domain))));
    }
  }
  return values;
}

}  // namespace hone::tuning

#endif  // HONE_TESTS_TUNING_RANDOM_STEPS_H_
