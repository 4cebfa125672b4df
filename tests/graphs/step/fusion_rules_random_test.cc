#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/step/device_times.h"
#include "graphs/step/fusion_rules.h"
#include "graphs/step/fusions.h"
#include "tests/graphs/step/fusion_by_definition.h"
#include "tests/graphs/step/random_cluster.h"
#include "tests/graphs/step/random_op_graph.h"

namespace hone::graphs {
namespace {

using ::hone::testing::FusionByDefinition;
using ::hone::testing::RandomCluster;
using ::hone::testing::RandomFusion;
using ::hone::testing::RandomOpGraph;

// A graph of up to 120 nodes, every fourth large enough for all limits.
OpGraph GraphFor(Rng& rng, uint64_t seed) {
  return RandomOpGraph(rng, 1 + rng.Below(seed % 4 == 0 ? 120 : 20));
}

TEST(FusionRulesRandomTest, CostsAreThoseOfTheDefinition) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const OpGraph graph = GraphFor(rng, seed);
    FusionRules rules(graph);
    const Fusion fused = RandomFusion(rng, rules);
    const FusionByDefinition definition(graph, fused);
    for (NodeIndex node = 0; node < graph.size(); ++node) {
      if (fused[node] != 0) continue;
      const KernelCost cost = rules.Cost(node, fused);
      const KernelCost expected = definition.Cost(node);
      EXPECT_NEAR(cost.flops, expected.flops, 1e-12 * expected.flops);
      EXPECT_NEAR(cost.bytes, expected.bytes, 1e-12 * expected.bytes);
      EXPECT_EQ(cost.members, expected.members);
      EXPECT_EQ(cost.inputs, expected.inputs);
      EXPECT_EQ(cost.reductions, expected.reductions);
      const FusionByDefinition::Nodes members(rules.members().begin(),
                                              rules.members().end());
      EXPECT_EQ(members, definition.members(node));
    }
  }
}

TEST(FusionRulesRandomTest, FuseKeepsFusionsLegalAndRefusesOthers) {
  size_t refused = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const OpGraph graph = GraphFor(rng, seed);
    FusionRules rules(graph);
    Fusion fused(graph.size());
    for (size_t i = 0; i < 2 * graph.size(); ++i) {
      const auto node = static_cast<NodeIndex>(rng.Below(graph.size()));
      if (fused[node] != 0) continue;
      Fusion wanted = fused;
      wanted[node] = 1;
      const bool is_legal = FusionByDefinition(graph, wanted).IsLegal();
      ASSERT_EQ(rules.Fuse(node, fused), is_legal) << "node " << node;
      if (is_legal) {
        ASSERT_EQ(fused, wanted);
      } else {
        ASSERT_EQ(fused[node], 0);
      }
      refused += rules.may_fuse(node) && !is_legal;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(FusionRulesRandomTest, LegalizeReturnsLegalPartsOfWhatIsWanted) {
  size_t illegal = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const OpGraph graph = GraphFor(rng, seed);
    FusionRules rules(graph);
    Fusion wanted(graph.size());
    const bool any_node = rng.Below(2) == 0;
    for (NodeIndex node = 0; node < graph.size(); ++node) {
      wanted[node] =
          rng.Below(4) < seed % 5 && (any_node || rules.may_fuse(node));
    }
    const Fusion fused = rules.Legalize(wanted);
    EXPECT_TRUE(FusionByDefinition(graph, fused).IsLegal());
    EXPECT_EQ(rules.Legalize(fused), fused);
    for (size_t i = 0; i < graph.size(); ++i) EXPECT_LE(fused[i], wanted[i]);
    if (FusionByDefinition(graph, wanted).IsLegal()) {
      EXPECT_EQ(fused, wanted);
    } else {
      ++illegal;
    }
  }
  EXPECT_GT(illegal, 100);
}

TEST(FusionRulesRandomTest, WhatHeuristicsMakeIsLegal) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const OpGraph graph = GraphFor(rng, seed);
    const DeviceTimes times = *DeviceTimes::Create(RandomCluster(rng));
    FusionRules rules(graph);
    for (const Fusion& fused :
         {FuseProducers(rules), FuseByPriority(rules, times)}) {
      EXPECT_TRUE(FusionByDefinition(graph, fused).IsLegal());
      EXPECT_EQ(rules.Legalize(fused), fused);
    }
  }
}

TEST(FusionRulesRandomTest, KernelsOfANodeAreThoseWithItAsAMember) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const OpGraph graph = GraphFor(rng, seed);
    FusionRules rules(graph);
    const Fusion fused = RandomFusion(rng, rules);
    const FusionByDefinition definition(graph, fused);
    for (NodeIndex node = 0; node < graph.size(); ++node) {
      if (fused[node] == 0) continue;
      std::vector<NodeIndex> kernels;
      for (NodeIndex root = 0; root < graph.size(); ++root) {
        if (fused[root] == 0 && definition.members(root).contains(node)) {
          kernels.push_back(root);
        }
      }
      EXPECT_EQ(rules.KernelsOf(node, fused), kernels);
    }
  }
}

}  // namespace
}  // namespace hone::graphs
