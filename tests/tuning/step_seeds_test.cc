#include "tuning/tasks/step_seeds.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
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

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::vector<std::string> NamesOf(const std::vector<space::Seed>& seeds) {
  std::vector<std::string> names;
  for (const space::Seed& seed : seeds) names.push_back(seed.name);
  return names;
}

TEST(StepSeeds, EachTaskHasTheMethodsThatApply) {
  const auto graph = graphs::ParseOpGraph(kBranches, "branches.json");
  HONE_ASSERT_OK(graph);
  // The graph is too small for METIS.
  const std::vector<std::string> expected[] = {
      {"default", "layers", "single_device", "heft", "m_etf", "m_sct"},
      {"default", "ranks"},
      {"default", "no_fusion", "producer_fusion"},
      {"default", "layers", "single_device", "heft", "m_etf", "m_sct",
       "no_fusion", "producer_fusion"}};
  for (size_t i = 0; i < std::size(kAllDecisions); ++i) {
    auto space =
        StepSpace::Create(*graph, Accelerators(2), kAllDecisions[i].decisions);
    HONE_ASSERT_OK(space);
    EXPECT_THAT(NamesOf(MakeStepSeeds(**space, nullptr)),
                ElementsAreArray(expected[i]))
        << kAllDecisions[i].task;
  }
  Rng rng(1);
  auto larger = StepSpace::Create(hone::testing::RandomOpGraph(rng, 60),
                                  Accelerators(2), kAllDecisions[0].decisions);
  HONE_ASSERT_OK(larger);
  EXPECT_THAT(NamesOf(MakeStepSeeds(**larger, nullptr)), Contains("metis"));
  // Polled between methods; the first come in any case.
  auto space =
      StepSpace::Create(*graph, Accelerators(2), kAllDecisions[0].decisions);
  HONE_ASSERT_OK(space);
  EXPECT_THAT(NamesOf(MakeStepSeeds(**space, [] { return true; })),
              ElementsAre("default", "layers", "single_device"));
}

// The default is that of experts and compilers: no order but the program's.
TEST(StepSeeds, TheDefaultIsTheLayersInTheOrderOfTheProgram) {
  int compared = 0;
  ForEachStepProblem(1, 40, 30, [&](const StepProblem& problem, Rng&) {
    const StepSpace& space = problem.space();
    if (!space.decisions().devices) return;
    const std::vector<space::Seed> seeds = problem.Seeds();
    ASSERT_EQ(seeds[1].name, "layers");
    const space::Measurement layers = *problem.Measure(seeds[1].candidate);
    std::vector<int32_t> by_program = seeds[1].candidate.choices;
    by_program[0] = 0;
    const space::Measurement expected = *problem.Measure({by_program});
    if (expected.outcome != space::Outcome::kOk) return;
    ++compared;
    EXPECT_EQ(seeds[0].candidate.choices, by_program);
    // Each method has the order that suits it best.
    EXPECT_LE(layers.cost, expected.cost);
  });
  EXPECT_GT(compared, 20);
}

// A fused node is where the first kernel that computes it is, just before its
// root, so that it keeps the order if it becomes a kernel of its own.
TEST(StepSeeds, OrdersHaveFusedNodesBesideTheirFirstKernel) {
  int64_t fused_nodes = 0;
  ForEachStepProblem(2, 40, 30, [&](const StepProblem& problem, Rng&) {
    const StepSpace& space = problem.space();
    if (!space.decisions().fusion || !space.decisions().devices) return;
    const graphs::Fusion& fused = space.default_fusion();
    graphs::FusionRules rules = space.rules();
    for (int32_t order = 1; order < problem.groups()[0].domain; ++order) {
      const auto is_before = [&](size_t a, size_t b) {
        return space.Priority(a, order, StepSpace::kStay) >
               space.Priority(b, order, StepSpace::kStay);
      };
      std::vector<size_t> nodes(space.unit_count());
      std::iota(nodes.begin(), nodes.end(), 0);
      std::sort(nodes.begin(), nodes.end(), is_before);
      for (size_t i = 0; i < nodes.size(); ++i) {
        const auto node = static_cast<graphs::NodeIndex>(nodes[i]);
        if (fused[node] == 0) continue;
        ++fused_nodes;
        const std::vector<graphs::NodeIndex> kernels =
            rules.KernelsOf(node, fused);
        const auto first =
            *std::min_element(kernels.begin(), kernels.end(), is_before);
        size_t next = i;
        while (fused[nodes[next]] != 0) ++next;
        EXPECT_EQ(nodes[next], first);
      }
    }
  });
  EXPECT_GT(fused_nodes, 100);
}

}  // namespace
}  // namespace hone::tuning
