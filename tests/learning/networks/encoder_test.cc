#include "learning/networks/encoder.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include <torch/torch.h>

#include "base/rng.h"
#include "learning/networks/graph_batch.h"
#include "learning/networks/torch_threads.h"

namespace hone::learning {
namespace {

const space::ObservationSpec kSpec = {.node_kinds = 3,
                                      .node_features = 2,
                                      .edge_features = 1,
                                      .global_features = 1};

space::Observation RandomGraph(int32_t nodes, uint64_t seed) {
  Rng rng(seed);
  space::Observation graph;
  for (int32_t i = 0; i < nodes; ++i) {
    graph.node_kinds.push_back(static_cast<int32_t>(rng.Below(3)));
    for (int f = 0; f < 2; ++f) {
      graph.node_features.push_back(static_cast<float>(rng.Normal()));
    }
    if (i == 0) continue;
    for (int e = 0; e < 2; ++e) {
      graph.edge_sources.push_back(
          static_cast<int32_t>(rng.Below(static_cast<uint64_t>(i))));
      graph.edge_targets.push_back(i);
      graph.edge_features.push_back(static_cast<float>(rng.Normal()));
    }
  }
  graph.global_features = {0.5F};
  return graph;
}

GraphEncoder MakeEncoder(const EncoderOptions& options) {
  GraphEncoder encoder{nullptr};
  WithSeed(3, [&] { encoder = GraphEncoder(kSpec, options); });
  return encoder;
}

Encoding Encode(GraphEncoder& encoder,
                const std::vector<const space::Observation*>& graphs) {
  torch::NoGradGuard no_grad;
  return encoder->forward(MakeGraphBatch(graphs, kSpec));
}

std::vector<EncoderOptions> AllArchitectures() {
  std::vector<EncoderOptions> all;
  for (const Aggregator aggregator :
       {Aggregator::kMean, Aggregator::kSum, Aggregator::kMax,
        Aggregator::kAttention}) {
    for (const int32_t segment : {0, 4}) {
      all.push_back({.width = 16,
                     .layers = 2,
                     .aggregator = aggregator,
                     .segment = segment,
                     .conditioning = true});
    }
  }
  return all;
}

TEST(GraphEncoder, EncodesAGraphTheSameAloneAndAmongOthers) {
  const space::Observation a = RandomGraph(11, 1), b = RandomGraph(1, 2),
                           c = RandomGraph(30, 3);
  for (const EncoderOptions& options : AllArchitectures()) {
    SCOPED_TRACE(PrintEncoderOptions(options));
    GraphEncoder encoder = MakeEncoder(options);
    const Encoding alone = Encode(encoder, {&a});
    const Encoding together = Encode(encoder, {&b, &a, &c});
    EXPECT_TRUE(torch::allclose(together.nodes.narrow(0, 1, 11), alone.nodes,
                                1e-4, 1e-5));
    EXPECT_TRUE(
        torch::allclose(together.graphs[1], alone.graphs[0], 1e-4, 1e-5));
    EXPECT_TRUE(torch::isfinite(together.nodes).all().item<bool>());
  }
}

TEST(GraphEncoder, SeesEdgesTheirDirectionAndTheirFeatures) {
  const space::Observation graph = RandomGraph(12, 4);
  space::Observation turned = graph;
  std::swap(turned.edge_sources, turned.edge_targets);
  space::Observation weighted = graph;
  for (float& feature : weighted.edge_features) feature += 1;
  for (const EncoderOptions& options : AllArchitectures()) {
    SCOPED_TRACE(PrintEncoderOptions(options));
    GraphEncoder encoder = MakeEncoder(options);
    const torch::Tensor nodes = Encode(encoder, {&graph}).nodes;
    EXPECT_FALSE(torch::allclose(Encode(encoder, {&turned}).nodes, nodes));
    EXPECT_FALSE(torch::allclose(Encode(encoder, {&weighted}).nodes, nodes));
  }
}

// Node 2 gathers from 0 and 1; the weights are the identity, so that the
// embeddings can be computed by hand.
TEST(GraphEncoder, AggregatesAsPrinted) {
  const space::ObservationSpec spec = {.node_kinds = 1, .node_features = 4};
  space::Observation graph;
  graph.node_kinds = {0, 0, 0};
  graph.node_features = {1, 0, 0, 2,  //
                         3, 1, 0, 0,  //
                         0, 0, 5, 0};
  graph.edge_sources = {0, 1};
  graph.edge_targets = {2, 2};
  const space::Observation* const graphs[] = {&graph};
  const auto node2 = [&](Aggregator aggregator) {
    torch::NoGradGuard no_grad;
    GraphEncoder encoder(
        spec,
        EncoderOptions{.width = 4, .layers = 1, .aggregator = aggregator});
    for (auto& parameter : encoder->named_parameters()) {
      parameter.value().zero_();
      if (parameter.key() == "node_features.weight" ||
          parameter.key() == "producers0.weight") {
        parameter.value().narrow(1, 0, 4).copy_(torch::eye(4));
      }
      if (parameter.key() == "merge0.weight") {
        // Own features and those of producers.
        parameter.value().narrow(1, 0, 4).copy_(torch::eye(4));
        parameter.value().narrow(1, 4, 4).copy_(torch::eye(4));
      }
    }
    return encoder->forward(MakeGraphBatch(graphs, spec)).nodes[2];
  };
  const auto normalized = [](std::vector<float> values) {
    const torch::Tensor row = torch::tensor(values);
    return row / row.square().mean().sqrt();
  };
  const auto expect = [&](Aggregator aggregator, std::vector<float> values) {
    EXPECT_TRUE(
        torch::allclose(node2(aggregator), normalized(values), 1e-4, 1e-4))
        << node2(aggregator);
  };
  expect(Aggregator::kSum, {4, 1, 5, 2});
  expect(Aggregator::kMean, {2, 0.5F, 5, 1});
  expect(Aggregator::kMax, {3, 1, 5, 2});
  // Without weights of its own, attention is the mean.
  expect(Aggregator::kAttention, {2, 0.5F, 5, 1});
}

TEST(SegmentAttention, SeesItsSegmentAndTheOneBeforeOnly) {
  const space::Observation graph = RandomGraph(20, 5);
  const space::Observation* const graphs[] = {&graph};
  const GraphBatch batch = MakeGraphBatch(graphs, kSpec);
  SegmentAttention attention{nullptr};
  WithSeed(1, [&] { attention = SegmentAttention(8, 5); });
  torch::NoGradGuard no_grad;
  const torch::Tensor nodes = torch::randn({20, 8});
  const torch::Tensor before = attention->forward(nodes, batch);
  for (int64_t changed = 0; changed < 20; ++changed) {
    torch::Tensor other = nodes.clone();
    other[changed] += torch::randn({8});
    const torch::Tensor after = attention->forward(other, batch);
    for (int64_t i = 0; i < 20; ++i) {
      const int64_t distance = i / 5 - changed / 5;
      EXPECT_EQ(torch::allclose(after[i], before[i], 1e-5, 1e-6),
                distance != 0 && distance != 1)
          << changed << " at " << i;
    }
  }
}

TEST(SegmentAttention, DoesNotFollowTheGradientOfTheSegmentBefore) {
  const space::Observation graph = RandomGraph(10, 6);
  const space::Observation* const graphs[] = {&graph};
  const GraphBatch batch = MakeGraphBatch(graphs, kSpec);
  SegmentAttention attention(8, 5);
  torch::Tensor nodes = torch::randn({10, 8}).requires_grad_();
  attention->forward(nodes, batch).narrow(0, 5, 5).sum().backward();
  EXPECT_EQ(nodes.grad().narrow(0, 0, 5).abs().sum().item<float>(), 0);
  EXPECT_GT(nodes.grad().narrow(0, 5, 5).abs().sum().item<float>(), 0);
}

}  // namespace
}  // namespace hone::learning
