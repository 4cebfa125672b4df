#include "tuning/tasks/step_decision.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/op_graph_json.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/random_steps.h"
#include "tests/tuning/sample_steps.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StepDecision, ProblemsMeasureWhatItTakes) {
  int invalid = 0;
  ForEachStepProblem(2, 60, 30, [&](const StepProblem& problem, Rng& rng) {
    for (int i = 0; i < 8; ++i) {
      const std::vector<int32_t> values = RandomValues(problem, rng);
      HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement measured,
                                problem.Measure({values}));
      const StepDecision decision = DecisionOf(problem, values);
      HONE_ASSERT_OK_AND_ASSIGN(const SimulatedStep step,
                                SimulateDecision(problem.space().graph(),
                                                 problem.cluster(), decision));
      EXPECT_EQ(measured.cost, step.result.seconds * 1e3);
      EXPECT_EQ(measured.violation, step.result.worst_excess);
      EXPECT_EQ(measured.outcome == space::Outcome::kOk,
                step.result.excess_bytes == 0);
      if (measured.violation > 0) ++invalid;

      // As text it is the same, and stands for candidates that cost the same.
      const std::string text =
          PrintStepDecision(problem, values, decision, step.result);
      HONE_ASSERT_OK_AND_ASSIGN(
          const StepDecision read,
          ParseStepDecision(text, problem.space().graph().size()));
      EXPECT_EQ(read.devices, decision.devices);
      EXPECT_EQ(read.priorities, decision.priorities);
      EXPECT_EQ(read.fused, decision.fused);
      const std::optional<std::vector<int32_t>> again =
          ValuesOfDecision(problem, text);
      ASSERT_TRUE(again.has_value());
      HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement same,
                                problem.Measure({*again}));
      EXPECT_EQ(same.cost, measured.cost);
      EXPECT_EQ(same.violation, measured.violation);
    }
  });
  EXPECT_GT(invalid, 0);
}

TEST(StepDecision, TakesWhatCanBeComputedByHand) {
  const auto graph = graphs::ParseOpGraph(kBranches, "branches.json");
  HONE_ASSERT_OK(graph);
  // On two devices: a product, its function, the way to the other device, and
  // the sum; the other branch is done by then.
  StepDecision decision = {.devices = {0, 0, 1, 0, 1, 1},
                           .priorities = {6, 5, 4, 3, 2, 1},
                           .fused = {0, 0, 0, 0, 0, 0}};
  const double transfer = 1e-6 + 4096 / 1e9;
  const double product = 1e-6 + 2e6 / 1e8;
  const double function = 1e-6 + 1e3 / 1e8;
  const double sum = 1e-6 + 12288 / 1e9;
  HONE_ASSERT_OK_AND_ASSIGN(
      SimulatedStep step, SimulateDecision(*graph, Accelerators(2), decision));
  EXPECT_NEAR(step.result.seconds, transfer + product + function + sum, 1e-12);
  // The argument is sent to the other device; everything there is its copy,
  // weights and at most two results.
  ASSERT_EQ(step.result.peak_bytes.size(), 2u);
  EXPECT_EQ(step.result.excess_bytes, 0);
  // Alone on one device there is nothing to send.
  decision.devices = {1, 1, 1, 1, 1, 1};
  HONE_ASSERT_OK_AND_ASSIGN(
      step, SimulateDecision(*graph, Accelerators(2), decision));
  EXPECT_NEAR(step.result.seconds, 2 * product + 2 * function + sum, 1e-12);
  EXPECT_EQ(step.result.peak_bytes[0], 0);
  // Three weights and three results: both functions', and the sum.
  EXPECT_EQ(step.result.peak_bytes[1], 6 * 4096);
  // Fused, the functions take no kernels of their own.
  decision.fused = {0, 0, 0, 1, 1, 0};
  HONE_ASSERT_OK_AND_ASSIGN(
      step, SimulateDecision(*graph, Accelerators(2), decision));
  EXPECT_EQ(step.kernels.size(), 4u);
  EXPECT_NEAR(step.result.seconds, 2 * product + 1e-6 + 3e3 / 1e8, 1e-12);
}

TEST(StepDecision, DecisionsThatAreNoneAreRefused) {
  const auto graph = graphs::ParseOpGraph(kBranches, "branches.json");
  HONE_ASSERT_OK(graph);
  const StepDecision good = {.devices = {0, 0, 1, 0, 1, 1},
                             .priorities = {6, 5, 4, 3, 2, 1},
                             .fused = {0, 0, 0, 1, 0, 0}};
  const graphs::Cluster cluster = Accelerators(2);
  HONE_EXPECT_OK(SimulateDecision(*graph, cluster, good));
  StepDecision bad = good;
  bad.devices[3] = 2;
  EXPECT_THAT(SimulateDecision(*graph, cluster, bad),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("assignment[3] is 2"),
                             HasSubstr("expected a device below 2"))));
  bad.devices[3] = -1;
  EXPECT_THAT(SimulateDecision(*graph, cluster, bad),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("assignment[3] is -1")));
  bad = good;
  bad.fused[1] = 1;
  EXPECT_THAT(SimulateDecision(*graph, cluster, bad),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("node 1 cannot be fused")));
  bad = good;
  bad.priorities.pop_back();
  EXPECT_THAT(
      SimulateDecision(*graph, cluster, bad),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expected 6")));
}

TEST(StepDecision, IsReadFromItsOwnTextOnly) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const StepDecision read,
      ParseStepDecision(
          R"({"assignment":[0,1],"priorities":[7,2],"fused":[0]})", 2));
  EXPECT_THAT(read.devices, ElementsAre(0, 1));
  EXPECT_THAT(read.priorities, ElementsAre(7, 2));
  EXPECT_THAT(read.fused, ElementsAre(1, 0));
  for (const char* const text : {
           "",
           "{",
           "[]",
           "{}",
           R"({"assignment":[0,1]})",
           R"({"assignment":[0],"priorities":[1,1],"fused":[]})",
           R"({"assignment":[0,0,0],"priorities":[1,1,1],"fused":[]})",
           R"({"assignment":[0,-1],"priorities":[1,1],"fused":[]})",
           R"({"assignment":[0,1.5],"priorities":[1,1],"fused":[]})",
           R"({"assignment":[0,3000000000],"priorities":[1,1],"fused":[]})",
           R"({"assignment":[0,"1"],"priorities":[1,1],"fused":[]})",
           R"({"assignment":[0,1],"priorities":[1,1],"fused":[2]})",
           R"({"assignment":[0,1],"priorities":[1,1],"fused":7})",
       }) {
    EXPECT_THAT(ParseStepDecision(text, 2),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("not a decision about a step, expected")))
        << text;
  }
}

}  // namespace
}  // namespace hone::tuning
