#include "tuning/tasks/step_space.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/op_graph_json.h"
#include "tests/graphs/step/random_cluster.h"
#include "tests/graphs/step/random_op_graph.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_steps.h"

namespace hone::tuning {
namespace {

using ::hone::testing::RandomCluster;
using ::hone::testing::RandomFusion;
using ::hone::testing::RandomOpGraph;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;

std::unique_ptr<StepSpace> SpaceOf(graphs::OpGraph graph,
                                   const graphs::Cluster& cluster,
                                   StepDecisions decisions) {
  auto space = StepSpace::Create(std::move(graph), cluster, decisions);
  EXPECT_TRUE(space.ok()) << space.status();
  return *std::move(space);
}

std::unique_ptr<StepSpace> BranchesOn(int32_t devices,
                                      StepDecisions decisions) {
  return SpaceOf(*graphs::ParseOpGraph(kBranches, "branches.json"),
                 Accelerators(devices), decisions);
}

// Calls `visit` for random spaces of all tasks.
template <typename Visit>
void ForEachSpace(uint64_t seed, int rounds, Visit visit) {
  Rng rng(seed);
  for (int round = 0; round < rounds; ++round) {
    const graphs::OpGraph graph = RandomOpGraph(rng, 1 + rng.Below(30));
    const graphs::Cluster cluster = RandomCluster(rng);
    SCOPED_TRACE(graphs::PrintOpGraph(graph) + graphs::PrintCluster(cluster));
    for (const NamedDecisions& task : kAllDecisions) {
      SCOPED_TRACE(task.task);
      visit(*SpaceOf(graph, cluster, task.decisions), rng);
    }
  }
}

std::vector<int32_t> RandomDevices(const StepSpace& space, Rng& rng) {
  std::vector<int32_t> devices(space.graph().size());
  for (int32_t& device : devices) {
    device = static_cast<int32_t>(
        rng.Below(static_cast<uint64_t>(space.times().device_count())));
  }
  return devices;
}

std::vector<uint32_t> RandomPositions(size_t nodes, Rng& rng) {
  std::vector<uint32_t> positions(nodes);
  std::iota(positions.begin(), positions.end(), 0);
  std::shuffle(positions.begin(), positions.end(), rng);
  return positions;
}

// What is not decided has no variables.
TEST(StepSpace, HasTheVariablesOfWhatIsDecided) {
  const auto counts = [](const StepSpace& space) {
    std::vector<std::string> names;
    std::vector<int32_t> found;
    int32_t next = 0;
    for (const space::VariableGroup& group : space.groups()) {
      EXPECT_EQ(group.first, next);
      next += group.count;
      names.push_back(group.name);
      found.push_back(group.count);
    }
    EXPECT_EQ(next, space.variable_count());
    EXPECT_THAT(names, ElementsAre("order", "device", "priority", "fused"));
    return found;
  };
  // Two of six nodes are fused by default.
  EXPECT_THAT(counts(*BranchesOn(3, kAllDecisions[0].decisions)),
              ElementsAre(1, 4, 0, 0));
  EXPECT_THAT(counts(*BranchesOn(3, kAllDecisions[1].decisions)),
              ElementsAre(1, 0, 4, 0));
  EXPECT_THAT(counts(*BranchesOn(3, kAllDecisions[2].decisions)),
              ElementsAre(0, 0, 0, 6));
  const auto joint = BranchesOn(3, kAllDecisions[3].decisions);
  EXPECT_THAT(counts(*joint), ElementsAre(1, 6, 6, 6));
  EXPECT_EQ(joint->groups()[1].domain, 3);
  EXPECT_EQ(joint->groups()[2].domain, StepSpace::kLevels);
  EXPECT_EQ(joint->groups()[3].domain, 2);
}

TEST(StepSpace, UnitsAreKernelsUnlessFusionIsDecided) {
  ForEachSpace(1, 40, [](const StepSpace& space, Rng&) {
    if (space.decisions().fusion) {
      ASSERT_EQ(space.unit_count(), space.graph().size());
      for (size_t u = 0; u < space.unit_count(); ++u) {
        EXPECT_EQ(space.node_of(u), u);
      }
    } else {
      const graphs::KernelGraph& kernels = *space.default_kernels();
      ASSERT_EQ(space.unit_count(), kernels.size());
      for (size_t u = 0; u < space.unit_count(); ++u) {
        EXPECT_EQ(space.node_of(u),
                  kernels.root(static_cast<graphs::KernelIndex>(u)));
      }
    }
    for (const int32_t first :
         {space.first_device(), space.first_priority(), space.first_fused()}) {
      if (first < 0) continue;
      for (size_t u = 0; u < space.unit_count(); ++u) {
        EXPECT_EQ(space.UnitOf(first + static_cast<int32_t>(u)), u);
      }
    }
  });
}

TEST(StepSpace, DecodesWhatItEncodes) {
  ForEachSpace(2, 150, [](StepSpace& space, Rng& rng) {
    const size_t nodes = space.graph().size();
    const std::vector<uint32_t> positions = RandomPositions(nodes, rng);
    const size_t order = space.AddOrder(positions);
    space.set_default_devices(RandomDevices(space, rng));
    graphs::FusionRules rules = space.rules();
    const graphs::Fusion fused = RandomFusion(rng, rules);
    const std::vector<int32_t> devices = RandomDevices(space, rng);

    const std::vector<int32_t> values =
        space.Encode(devices, fused, static_cast<int32_t>(order));
    ASSERT_EQ(values.size(), static_cast<size_t>(space.variable_count()));
    const StepPlan plan = space.Decode(values, rules);
    EXPECT_EQ(plan.fused,
              space.decisions().fusion ? fused : space.default_fusion());
    const graphs::KernelGraph& kernels = *plan.kernels;
    ASSERT_EQ(plan.devices.size(), kernels.size());
    ASSERT_EQ(plan.priorities.size(), kernels.size());
    const auto& of =
        space.decisions().devices ? devices : space.default_devices();
    for (size_t k = 0; k < kernels.size(); ++k) {
      const auto root = kernels.root(static_cast<graphs::KernelIndex>(k));
      EXPECT_EQ(plan.devices[k], of[root]);
      // kStay leaves kernels in the order, that of the program if there is none
      // to choose.
      if (k == 0) continue;
      const auto before = kernels.root(static_cast<graphs::KernelIndex>(k - 1));
      const bool is_later =
          space.order_variable() < 0 || positions[root] > positions[before];
      EXPECT_EQ(plan.priorities[k] < plan.priorities[k - 1], is_later);
    }

    // Devices of all nodes stand for the same plan.
    const std::vector<int32_t> of_nodes =
        space.DevicesOfNodes(kernels, plan.fused, plan.devices);
    for (size_t i = 0; i < nodes; ++i) {
      const auto node = static_cast<graphs::NodeIndex>(i);
      if (plan.fused[i] == 0) {
        EXPECT_EQ(of_nodes[i], of[i]);
        continue;
      }
      std::vector<int32_t> computed_on;
      for (const auto root : rules.KernelsOf(node, plan.fused)) {
        computed_on.push_back(of[root]);
      }
      EXPECT_THAT(computed_on, Contains(of_nodes[i]));
    }
    const StepPlan again = space.Decode(
        space.Encode(of_nodes, plan.fused, static_cast<int32_t>(order)), rules);
    EXPECT_EQ(again.fused, plan.fused);
    EXPECT_EQ(again.devices, plan.devices);
    EXPECT_EQ(again.priorities, plan.priorities);
  });
}

TEST(StepSpace, HigherLevelsStartEarlier) {
  constexpr int64_t kNodes = 400;
  Rng rng(3);
  const auto space = SpaceOf(RandomOpGraph(rng, kNodes), Accelerators(2),
                             kAllDecisions[3].decisions);
  const std::vector<uint32_t> positions = RandomPositions(kNodes, rng);
  const auto order = static_cast<int32_t>(space->AddOrder(positions));
  const auto priority = [&](size_t unit, int32_t level) {
    return static_cast<int64_t>(space->Priority(unit, order, level));
  };
  for (size_t unit = 0; unit < kNodes; ++unit) {
    const int64_t stay = priority(unit, StepSpace::kStay);
    EXPECT_EQ(stay + positions[unit], priority(0, StepSpace::kStay) +
                                          static_cast<int64_t>(positions[0]));
    EXPECT_EQ(priority(unit, StepSpace::kStay + 1) - stay, 1);
    EXPECT_EQ(priority(unit, StepSpace::kLevels - 1) - stay, kNodes / 2);
    EXPECT_EQ(priority(unit, 0) - stay, -kNodes / 2);
    for (int32_t level = 1; level < StepSpace::kLevels; ++level) {
      EXPECT_GT(priority(unit, level), priority(unit, level - 1));
    }
    for (int32_t steps = 1; steps < StepSpace::kStay; ++steps) {
      const int64_t near = priority(unit, StepSpace::kStay + steps) - stay;
      const int64_t far = priority(unit, StepSpace::kStay + steps + 1) - stay;
      EXPECT_THAT(far - 2 * near, ::testing::AnyOf(0, 1));
      EXPECT_EQ(priority(unit, StepSpace::kStay - steps) - stay, -near);
    }
  }
}

TEST(StepSpace, LevelsOfSmallGraphsMoveByOneAtLeast) {
  const auto space = BranchesOn(2, kAllDecisions[3].decisions);
  for (int32_t level = 0; level < StepSpace::kLevels; ++level) {
    const auto moved =
        static_cast<int64_t>(space->Priority(0, 0, level)) -
        static_cast<int64_t>(space->Priority(0, 0, StepSpace::kStay));
    EXPECT_EQ(moved > 0, level > StepSpace::kStay);
    EXPECT_EQ(moved < 0, level < StepSpace::kStay);
    EXPECT_LE(std::abs(moved), 3);
  }
}

TEST(StepSpace, OnlyLegalFusionsAreMade) {
  const auto space = BranchesOn(2, kAllDecisions[3].decisions);
  graphs::FusionRules rules = space->rules();
  const std::vector<int32_t> devices = {0, 0, 1, 0, 1, 1};
  std::vector<int32_t> values = space->Encode(devices, graphs::Fusion(6, 1), 0);
  // Neither the argument, which products read, nor these, nor the result.
  const StepPlan plan = space->Decode(values, rules);
  EXPECT_THAT(plan.fused, ElementsAre(0, 0, 0, 1, 1, 0));
  EXPECT_THAT(plan.devices, ElementsAre(0, 0, 1, 1));

  // What is fused has neither a device nor a priority.
  values[static_cast<size_t>(space->first_device()) + 3] = 1;
  values[static_cast<size_t>(space->first_priority()) + 4] = 0;
  const StepPlan same = space->Decode(values, rules);
  EXPECT_EQ(same.devices, plan.devices);
  EXPECT_EQ(same.priorities, plan.priorities);
  EXPECT_THAT(space->DevicesOfNodes(*same.kernels, same.fused, same.devices),
              ElementsAre(0, 0, 1, 1, 1, 1));
}

TEST(StepSpace, EqualOrdersShareANumberAndTheirNumberIsLimited) {
  const auto space = BranchesOn(2, kAllDecisions[0].decisions);
  EXPECT_EQ(space->groups()[0].domain, 1);
  EXPECT_EQ(space->AddOrder({0, 1, 2, 3, 4, 5}), 0u);
  std::vector<uint32_t> positions = {0, 1, 2, 3, 4, 5};
  for (size_t number = 1; number < size_t{space::kMaxValues}; ++number) {
    std::next_permutation(positions.begin(), positions.end());
    EXPECT_EQ(space->AddOrder(positions), number);
    EXPECT_EQ(space->AddOrder(positions), number);
    EXPECT_EQ(space->groups()[0].domain, static_cast<int32_t>(number) + 1);
  }
  EXPECT_EQ(space->AddOrder(positions), size_t{space::kMaxValues} - 1);
  std::next_permutation(positions.begin(), positions.end());
  EXPECT_EQ(space->AddOrder(positions), 0u);
  EXPECT_EQ(space->groups()[0].domain, space::kMaxValues);

  // The default devices count where devices are not decided.
  const auto schedule = BranchesOn(2, kAllDecisions[1].decisions);
  graphs::FusionRules rules = schedule->rules();
  schedule->set_default_devices(std::vector<int32_t>(6, 1));
  EXPECT_THAT(schedule->Decode(schedule->Encode({}, {}, 0), rules).devices,
              Each(1));
}

}  // namespace
}  // namespace hone::tuning
