#include "tuning/tasks/step_problem.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
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
using ::testing::HasSubstr;

// A chain of products that take equally long, with these weights in bytes.
graphs::OpGraph Chain(const std::vector<double>& weights, double output = 0) {
  std::vector<graphs::OpNode> nodes;
  std::vector<graphs::OpEdge> edges;
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto id = static_cast<int64_t>(i);
    nodes.push_back({.id = id,
                     .name = absl::StrCat("n", i),
                     .opcode = "dot",
                     .flops = 1e6,
                     .bytes = 1,
                     .output_bytes = output,
                     .parameter_bytes = weights[i]});
    if (i > 0) edges.push_back({id - 1, id, output});
  }
  return *graphs::OpGraph::Create(std::move(nodes), std::move(edges));
}

TEST(StepProblem, TheDefaultIsValidAndTheFirstSeed) {
  int invalid = 0;
  int searched = 0;
  ForEachStepProblem(1, 60, 30, [&](const StepProblem& problem, Rng&) {
    EXPECT_EQ(problem.evaluations(), 0);
    const std::vector<space::Seed> seeds = problem.Seeds();
    ASSERT_GE(seeds.size(), 2u);
    int valid = 0;
    EXPECT_EQ(seeds[0].name, "default");
    EXPECT_EQ(seeds[0].candidate, problem.DefaultCandidate());
    for (const space::Seed& seed : seeds) {
      SCOPED_TRACE(seed.name);
      ASSERT_TRUE(problem.IsInDomain(seed.candidate.choices));
      HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement measured,
                                problem.Measure(seed.candidate));
      const bool is_ok = measured.outcome == space::Outcome::kOk;
      EXPECT_EQ(measured.violation > 0, !is_ok) << measured.message;
      EXPECT_EQ(measured.message.empty(), is_ok);
      ++(is_ok ? valid : invalid);
      if (seed.name != "default") continue;
      EXPECT_TRUE(is_ok) << measured.message;
      EXPECT_EQ(problem.reference_cost(),
                measured.cost > 0 ? measured.cost : 1);
    }
    EXPECT_EQ(problem.evaluations(), static_cast<int64_t>(seeds.size()));
    if (valid == 1 && problem.space().decisions().devices) ++searched;
  });
  EXPECT_GT(invalid, 0);
  // Here and there no known method finds one that fits.
  EXPECT_GT(searched, 0);
}

TEST(StepProblem, SeedsAreTheSameEachTime) {
  ForEachStepProblem(3, 15, 30, [](const StepProblem& problem, Rng&) {
    const auto again =
        StepProblem::Create(problem.space().graph(), problem.cluster(),
                            problem.space().decisions());
    HONE_ASSERT_OK(again);
    const std::vector<space::Seed> expected = problem.Seeds();
    const std::vector<space::Seed> seeds = (*again)->Seeds();
    ASSERT_EQ(seeds.size(), expected.size());
    for (size_t i = 0; i < seeds.size(); ++i) {
      EXPECT_EQ(seeds[i].name, expected[i].name);
      EXPECT_EQ(seeds[i].candidate, expected[i].candidate);
    }
    EXPECT_EQ((*again)->groups()[0].domain, problem.groups()[0].domain);
  });
}

TEST(StepProblem, CandidatesOutsideTheSpaceAreInvalid) {
  ForEachStepProblem(4, 10, 10, [](const StepProblem& problem, Rng& rng) {
    const std::vector<int32_t> good = RandomValues(problem, rng);
    std::vector<std::vector<int32_t>> candidates = {{}, good, good};
    candidates[1].push_back(0);
    candidates[2].pop_back();
    for (int32_t v = 0; v < problem.variable_count(); ++v) {
      for (const int32_t value : {-1, problem.domain_size(v)}) {
        candidates.push_back(good);
        candidates.back()[static_cast<size_t>(v)] = value;
      }
    }
    for (const std::vector<int32_t>& values : candidates) {
      HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement measured,
                                problem.Measure({values}));
      EXPECT_EQ(measured.outcome, space::Outcome::kInvalid);
      EXPECT_EQ(measured.violation, 0);
      EXPECT_THAT(measured.message, HasSubstr("expected"));
    }
  });
}

TEST(StepProblem, WeightsThatFitNowhereAreToldByBytes) {
  for (const NamedDecisions& task : kAllDecisions) {
    EXPECT_THAT(StepProblem::Create(Chain({70, 80, 90}), Accelerators(2, 100),
                                    task.decisions),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "the weights take 240 bytes and the cluster has 200, "
                         "expected at least 40 more"));
    // They would fit, but not so.
    EXPECT_THAT(
        StepProblem::Create(Chain({60, 60, 60}), Accelerators(2, 100),
                            task.decisions),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 AllOf(HasSubstr("no placement is found that fits in memory"),
                       HasSubstr("needs 120 bytes at its peak, expected at "
                                 "most 100: 20 too many"))));
    // A result that is larger than any device.
    EXPECT_THAT(StepProblem::Create(Chain({1, 1}, 300), Accelerators(2, 100),
                                    task.decisions),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("bytes at its peak, expected at most 100")));
  }
}

TEST(StepProblem, ADefaultThatDoesNotFitIsReplaced) {
  // The layers that experts make are of two products each.
  for (const NamedDecisions& task : kAllDecisions) {
    SCOPED_TRACE(task.task);
    const auto problem = StepProblem::Create(
        Chain({70, 70, 30, 30}), Accelerators(2, 100), task.decisions);
    HONE_ASSERT_OK(problem);
    HONE_ASSERT_OK_AND_ASSIGN(
        const space::Measurement measured,
        (*problem)->Measure((*problem)->DefaultCandidate()));
    EXPECT_EQ(measured.outcome, space::Outcome::kOk) << measured.message;
    if (!task.decisions.devices) continue;
    const std::vector<space::Seed> seeds = (*problem)->Seeds();
    ASSERT_EQ(seeds[1].name, "layers");
    HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement layers,
                              (*problem)->Measure(seeds[1].candidate));
    EXPECT_EQ(layers.outcome, space::Outcome::kInvalid);
    EXPECT_DOUBLE_EQ(layers.violation, 0.4);
    EXPECT_THAT(layers.message,
                HasSubstr("device 0 needs 140 bytes at its peak, expected at "
                          "most 100: 40 too many"));
  }
}

TEST(StepProblem, StopsWhenAsked) {
  bool stops = false;
  int asked = 0;
  const std::function<bool()> stop = [&] {
    ++asked;
    return stops;
  };
  const auto problem = StepProblem::Create(Chain({1, 1, 1}), Accelerators(2),
                                           kAllDecisions[3].decisions, stop);
  HONE_ASSERT_OK(problem);
  EXPECT_GT(asked, 0);
  const std::vector<space::Seed> seeds = (*problem)->Seeds();
  HONE_EXPECT_OK((*problem)->Measure(seeds[0].candidate));
  stops = true;
  EXPECT_THAT((*problem)->Measure(seeds[0].candidate),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("stopped")));
  // While it looks for what fits.
  EXPECT_THAT(StepProblem::Create(Chain({60, 60, 60}), Accelerators(2, 100),
                                  kAllDecisions[0].decisions, stop),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("stopped")));
  // Methods that have no time left are missing, the first are not.
  const auto few = StepProblem::Create(Chain({1, 1, 1}), Accelerators(2),
                                       kAllDecisions[0].decisions, nullptr,
                                       [] { return true; });
  HONE_ASSERT_OK(few);
  ASSERT_EQ((*few)->Seeds().size(), 3u);
  EXPECT_EQ((*few)->Seeds()[1].name, "layers");
  HONE_EXPECT_OK((*few)->Measure((*few)->DefaultCandidate()));
}

TEST(StepProblem, TheNumberOfDevicesIsLimited) {
  EXPECT_THAT(StepProblem::Create(Chain({1}), Accelerators(65),
                                  kAllDecisions[0].decisions),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("65")));
  HONE_EXPECT_OK(StepProblem::Create(Chain({1, 1}), Accelerators(64),
                                     kAllDecisions[3].decisions));
}

TEST(StepProblem, OneDeviceOrOneNodeAreEnough) {
  for (const NamedDecisions& task : kAllDecisions) {
    SCOPED_TRACE(task.task);
    const auto one_device =
        StepProblem::Create(*graphs::ParseOpGraph(kBranches, "b.json"),
                            Accelerators(1), task.decisions);
    HONE_ASSERT_OK(one_device);
    const auto one_node =
        StepProblem::Create(Chain({1}), Accelerators(3), task.decisions);
    HONE_ASSERT_OK(one_node);
    for (const auto* problem : {one_device->get(), one_node->get()}) {
      for (const space::Seed& seed : problem->Seeds()) {
        HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement measured,
                                  problem->Measure(seed.candidate));
        EXPECT_EQ(measured.outcome, space::Outcome::kOk) << seed.name;
        EXPECT_GT(measured.cost, 0);
      }
      const auto local = problem->MakeLocal(problem->DefaultCandidate());
      Rng rng(1);
      std::vector<space::Change> changes;
      for (int i = 0; i < 20; ++i) {
        local->Propose(rng, changes);
        if (changes.empty()) continue;
        local->Try(changes);
        local->Commit();
      }
    }
  }
}

}  // namespace
}  // namespace hone::tuning
