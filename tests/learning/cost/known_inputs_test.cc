#include "learning/cost/known_inputs.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace hone::learning {
namespace {

CostSpec Spec() {
  return {.graph = {.node_kinds = 3, .node_features = 2},
          .config_names = {"tile"},
          .heads = {{"time", CostTarget::kTime}}};
}

std::shared_ptr<const space::Observation> Graph(std::vector<int32_t> kinds,
                                                std::vector<float> features) {
  auto graph = std::make_shared<space::Observation>();
  graph->node_kinds = std::move(kinds);
  graph->node_features = std::move(features);
  return graph;
}

TEST(KnownInputs, AreKindsAndRangesOfTheTraining) {
  const std::vector<CostGroup> groups = {
      {.samples = {{Graph({1, 2}, {0, 5, 10, 5}), {1}, 0},
                   {Graph({1}, {4, 5}), {3}, 0}}}};
  const KnownInputs known = KnownInputsOf(groups, Spec());
  const auto knows = [&](std::vector<int32_t> kinds,
                         std::vector<float> features, float config) {
    const auto graph = Graph(std::move(kinds), std::move(features));
    const std::vector<float> configs = {config};
    return known.KnowGraph(*graph) && known.KnowConfig(configs);
  };
  EXPECT_TRUE(knows({1}, {4, 5}, 1));
  EXPECT_TRUE(knows({2}, {7, 5}, 2));
  // A hundredth beyond is nothing new.
  EXPECT_TRUE(knows({1}, {10.05F, 5}, 3.01F));
  EXPECT_FALSE(knows({0}, {4, 5}, 2));
  EXPECT_FALSE(knows({1}, {11, 5}, 2));
  EXPECT_FALSE(knows({1}, {-1, 5}, 2));
  // What never changed tells most when it does.
  EXPECT_FALSE(knows({1}, {4, 5.1F}, 2));
  EXPECT_FALSE(knows({1}, {4, 5}, 4));
}

TEST(KnownInputs, ThoseOfNoTrainingAreAll) {
  const auto graph = Graph({2}, {1e30F, -1e30F});
  const std::vector<float> config = {7};
  EXPECT_TRUE(KnownInputs().KnowGraph(*graph));
  EXPECT_TRUE(KnownInputs().KnowConfig(config));
}

}  // namespace
}  // namespace hone::learning
