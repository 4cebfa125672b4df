#include "graphs/step/kernel_graph.h"

#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "tests/graphs/step/fusion_by_definition.h"
#include "tests/graphs/step/random_cluster.h"
#include "tests/graphs/step/random_op_graph.h"

namespace hone::graphs {
namespace {

using ::hone::testing::FusionByDefinition;
using ::hone::testing::RandomCluster;
using ::hone::testing::RandomFusion;
using ::hone::testing::RandomOpGraph;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

DeviceTimes Times() {
  Cluster cluster;
  cluster.accelerators = {{.count = 1,
                           .flops_per_second = 1,
                           .bytes_per_second = 2,
                           .launch_seconds = 5}};
  cluster.cpus = {{.count = 1,
                   .flops_per_second = 1,
                   .bytes_per_second = 1,
                   .launch_seconds = 0}};
  cluster.link = {1, 0};
  return *DeviceTimes::Create(cluster);
}

auto IsUse(KernelIndex kernel, uint32_t input, double bytes) {
  return AllOf(Field(&KernelGraph::Use::kernel, kernel),
               Field(&KernelGraph::Use::input, input),
               Field(&KernelGraph::Use::bytes, bytes));
}

TEST(KernelGraphTest, AFusedNodeIsInTheKernelsThatReadIt) {
  // The users come first, and b reads only a part of the argument.
  const OpGraph graph =
      *OpGraph::Create({{10, "c", "dot", 100, 30, 10},
                        {11, "b", "add", 1, 30, 10, 0, /*is_output=*/true},
                        {12, "a", "negate", 7, 28, 10, 8},
                        {13, "p", "parameter", 0, 0, 10, 10},
                        {14, "d", "negate", 1, 20, 10}},
                       {{12, 11, 10},
                        {13, 11, 4},
                        {13, 12, 10},
                        {12, 14, 10},
                        {11, 10, 10},
                        {14, 10, 10}});
  FusionRules rules(graph);
  const Fusion fused = {0, 0, 1, 0, 0};
  const KernelGraph kernels(rules, fused, Times());
  ASSERT_EQ(kernels.size(), 4);
  const KernelIndex c = 0;
  const KernelIndex b = 1;
  const KernelIndex p = 2;
  const KernelIndex d = 3;
  EXPECT_EQ(kernels.root(p), 3);
  EXPECT_EQ(kernels.kernel_of(3), p);
  EXPECT_EQ(kernels.kernel_of(2), KernelGraph::kFused);
  EXPECT_THAT(kernels.inputs(c), ElementsAre(b, d));
  EXPECT_THAT(kernels.inputs(b), ElementsAre(p));
  EXPECT_THAT(kernels.inputs(p), IsEmpty());
  EXPECT_THAT(kernels.uses(p), ElementsAre(IsUse(b, 2, 10), IsUse(d, 3, 10)));
  EXPECT_THAT(kernels.uses(b), ElementsAre(IsUse(c, 0, 10)));
  EXPECT_THAT(kernels.uses(c), IsEmpty());
  EXPECT_EQ(kernels.first_input(d), 3);
  EXPECT_EQ(kernels.input_count(), 4);
  EXPECT_TRUE(kernels.is_output(b));
  EXPECT_FALSE(kernels.is_output(c));
  // An argument has its memory as a weight.
  EXPECT_EQ(kernels.output_bytes(p), 0);
  EXPECT_EQ(kernels.output_bytes(b), 10);
  EXPECT_EQ(kernels.flops(d), 8);
  EXPECT_EQ(kernels.bytes(d), 10 + 10 + 8);
  EXPECT_EQ(kernels.Seconds(d, 0), 5 + 14);
  EXPECT_EQ(kernels.Seconds(d, 1), 28);
  EXPECT_EQ(kernels.Seconds(p, 0), 0);
  // The weights of a are in the kernels of b and d.
  ASSERT_EQ(kernels.weights().size(), 2);
  EXPECT_EQ(kernels.weights()[0].bytes, 8);
  EXPECT_THAT(kernels.weights()[0].kernels, ElementsAre(b, d));
  EXPECT_EQ(kernels.weights()[1].bytes, 10);
  EXPECT_THAT(kernels.weights()[1].kernels, ElementsAre(p));
  EXPECT_THAT(kernels.weights_of(d), ElementsAre(0));
  EXPECT_THAT(kernels.weights_of(p), ElementsAre(1));
  EXPECT_THAT(kernels.weights_of(c), IsEmpty());
}

// Calls `check` with random graphs and fusions.
template <typename Check>
void ForEachRandomFusion(const Check& check) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const OpGraph graph = RandomOpGraph(rng, 1 + rng.Below(50));
    const DeviceTimes times = *DeviceTimes::Create(RandomCluster(rng));
    FusionRules rules(graph);
    const Fusion fused = RandomFusion(rng, rules);
    const KernelGraph kernels(rules, fused, times);
    check(graph, times, FusionByDefinition(graph, fused), fused, kernels);
  }
}

TEST(KernelGraphTest, KernelsAreThoseOfTheRootsInTheirOrder) {
  ForEachRandomFusion([](const OpGraph& graph, const DeviceTimes& times,
                         const FusionByDefinition& definition,
                         const Fusion& fused, const KernelGraph& kernels) {
    KernelIndex kernel = 0;
    for (NodeIndex node = 0; node < graph.size(); ++node) {
      if (fused[node] != 0) {
        EXPECT_EQ(kernels.kernel_of(node), KernelGraph::kFused);
        continue;
      }
      ASSERT_LT(kernel, kernels.size());
      EXPECT_EQ(kernels.root(kernel), node);
      EXPECT_EQ(kernels.kernel_of(node), kernel);
      const OpNode& root = graph.node(node);
      EXPECT_EQ(kernels.is_output(kernel), root.is_output);
      EXPECT_EQ(kernels.output_bytes(kernel),
                root.opcode == "parameter" ? 0 : root.output_bytes);
      const KernelCost cost = definition.Cost(node);
      EXPECT_NEAR(kernels.flops(kernel), cost.flops, 1e-12 * cost.flops);
      EXPECT_NEAR(kernels.bytes(kernel), cost.bytes, 1e-12 * cost.bytes);
      for (size_t kind = 0; kind < times.kind_count(); ++kind) {
        EXPECT_EQ(kernels.Seconds(kernel, kind),
                  times.KernelSeconds(kind, kernels.flops(kernel),
                                      kernels.bytes(kernel)));
      }
      ++kernel;
    }
    EXPECT_EQ(kernel, kernels.size());
  });
}

TEST(KernelGraphTest, UsesAndInputsPointAtEachOther) {
  ForEachRandomFusion([](const OpGraph&, const DeviceTimes&,
                         const FusionByDefinition& definition, const Fusion&,
                         const KernelGraph& kernels) {
    // Producer and bytes of each input, by its number.
    std::map<uint32_t, std::pair<KernelIndex, double>> of_input;
    for (KernelIndex kernel = 0; kernel < kernels.size(); ++kernel) {
      for (const KernelGraph::Use& use : kernels.uses(kernel)) {
        EXPECT_TRUE(
            of_input.emplace(use.input, std::make_pair(kernel, use.bytes))
                .second);
        const size_t begin = kernels.first_input(use.kernel);
        ASSERT_GE(use.input, begin);
        ASSERT_LT(use.input, begin + kernels.inputs(use.kernel).size());
      }
    }
    EXPECT_EQ(of_input.size(), kernels.input_count());
    uint32_t number = 0;
    for (KernelIndex kernel = 0; kernel < kernels.size(); ++kernel) {
      EXPECT_EQ(kernels.first_input(kernel), number);
      std::vector<std::pair<KernelIndex, double>> expected;
      for (const auto& [root, bytes] :
           definition.Inputs(kernels.root(kernel))) {
        expected.emplace_back(kernels.kernel_of(root), bytes);
      }
      ASSERT_EQ(kernels.inputs(kernel).size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i, ++number) {
        EXPECT_EQ(kernels.inputs(kernel)[i], expected[i].first);
        EXPECT_EQ(of_input[number], expected[i]);
        EXPECT_EQ(kernels.input_bytes(number), expected[i].second);
      }
    }
  });
}

TEST(KernelGraphTest, KernelsComeAfterTheirInputsInTopologicalOrder) {
  ForEachRandomFusion([](const OpGraph&, const DeviceTimes&,
                         const FusionByDefinition&, const Fusion&,
                         const KernelGraph& kernels) {
    std::set<KernelIndex> seen;
    for (const KernelIndex kernel : kernels.topological_order()) {
      for (const KernelIndex input : kernels.inputs(kernel)) {
        EXPECT_TRUE(seen.contains(input));
      }
      EXPECT_TRUE(seen.insert(kernel).second);
    }
    EXPECT_EQ(seen.size(), kernels.size());
  });
}

TEST(KernelGraphTest, WeightsAreHeldByAllKernelsWithTheirNode) {
  ForEachRandomFusion([](const OpGraph& graph, const DeviceTimes&,
                         const FusionByDefinition& definition, const Fusion&,
                         const KernelGraph& kernels) {
    using Weights = std::pair<double, std::vector<KernelIndex>>;
    std::map<NodeIndex, Weights> expected;
    for (KernelIndex kernel = 0; kernel < kernels.size(); ++kernel) {
      for (const NodeIndex node : definition.members(kernels.root(kernel))) {
        if (graph.node(node).parameter_bytes == 0) continue;
        expected[node].first = graph.node(node).parameter_bytes;
        expected[node].second.push_back(kernel);
      }
    }
    std::vector<Weights> of_nodes;
    for (const auto& [node, weights] : expected) of_nodes.push_back(weights);
    std::vector<Weights> found;
    std::vector<std::set<uint32_t>> held(kernels.size());
    for (uint32_t i = 0; i < kernels.weights().size(); ++i) {
      const KernelGraph::Weights& weights = kernels.weights()[i];
      found.emplace_back(weights.bytes, weights.kernels);
      for (const KernelIndex kernel : weights.kernels) held[kernel].insert(i);
    }
    EXPECT_THAT(found, UnorderedElementsAreArray(of_nodes));
    for (KernelIndex kernel = 0; kernel < kernels.size(); ++kernel) {
      EXPECT_THAT(kernels.weights_of(kernel),
                  UnorderedElementsAreArray(held[kernel]));
    }
  });
}

}  // namespace
}  // namespace hone::graphs
