#include "learning/networks/cost_network.h"

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include <torch/torch.h>

#include "bench/cost_model/synthetic_kernels.h"
#include "learning/networks/torch_threads.h"

namespace hone::learning {
namespace {

const CostSpec& Spec() {
  static const CostSpec spec = bench::SyntheticSpec();
  return spec;
}

// A few tiles of a few kernels of different sizes.
const std::vector<CostGroup>& Groups() {
  static const auto* const groups = new std::vector<CostGroup>(
      bench::MakeSyntheticKernels({.programs = 1, .kernels = 5}));
  return *groups;
}

std::vector<CostQuery> Queries() {
  std::vector<CostQuery> queries;
  for (const CostGroup& group : Groups()) {
    for (size_t i = 0; i < group.samples.size(); i += 7) {
      queries.push_back(
          {group.samples[i].graph.get(), group.samples[i].config});
    }
  }
  return queries;
}

// A network whose last layers are not 0.
CostNetwork MakeNetwork(const CostOptions& options) {
  CostNetwork network{nullptr};
  WithSeed(5, [&] {
    network = CostNetwork(Spec(), options);
    torch::NoGradGuard no_grad;
    for (CostNetworkImpl::Head& head : network->heads()) {
      head.output->weight.normal_();
      head.target.mean.fill_(2);
      head.target.scale.fill_(3);
    }
    network->nodes.mean.fill_(0.3);
    network->nodes.scale.fill_(2);
    network->configs.mean.fill_(-0.2);
    network->configs.scale.fill_(1.5);
  });
  return network;
}

torch::Tensor Predict(CostNetwork& network,
                      const std::vector<CostQuery>& queries) {
  torch::NoGradGuard no_grad;
  return network->forward(
      1, MakeCostBatch(queries, Spec(), network->options().join));
}

std::vector<CostOptions> AllArchitectures() {
  std::vector<CostOptions> all;
  for (const CostJoin join : {CostJoin::kEarly, CostJoin::kLate}) {
    for (const CostEncoder encoder :
         {CostEncoder::kSage, CostEncoder::kAttention,
          CostEncoder::kSequence}) {
      for (const CostReduction reduction :
           {CostReduction::kMean, CostReduction::kSum, CostReduction::kMax,
            CostReduction::kLstm, CostReduction::kTransformer}) {
        all.push_back({.encoder = encoder,
                       .layers = 2,
                       .width = 16,
                       .hidden = 16,
                       .reductions = {reduction},
                       .join = join});
      }
    }
  }
  return all;
}

TEST(CostNetwork, PredictsTheSameAloneAndAmongOthers) {
  const std::vector<CostQuery> queries = Queries();
  for (const CostOptions& options : AllArchitectures()) {
    SCOPED_TRACE(PrintCostOptions(options));
    CostNetwork network = MakeNetwork(options);
    const torch::Tensor together = Predict(network, queries);
    ASSERT_EQ(together.numel(), static_cast<int64_t>(queries.size()));
    for (size_t i = 0; i < queries.size(); ++i) {
      EXPECT_NEAR(Predict(network, {queries[i]}).item<float>(),
                  together[static_cast<int64_t>(i)].item<float>(), 2e-3);
    }
  }
}

TEST(CostNetwork, SeesTheConfigurationAndTheGraph) {
  const CostGroup& tiles = Groups()[1];
  const CostGroup& other = Groups()[3];
  for (const CostOptions& options : AllArchitectures()) {
    SCOPED_TRACE(PrintCostOptions(options));
    CostNetwork network = MakeNetwork(options);
    const std::vector<float>& config = tiles.samples[0].config;
    const torch::Tensor predicted = Predict(
        network, {{tiles.samples[0].graph.get(), config},
                  {tiles.samples[0].graph.get(), tiles.samples[5].config},
                  {other.samples[0].graph.get(), config}});
    EXPECT_GT(std::abs((predicted[1] - predicted[0]).item<float>()), 1e-4);
    EXPECT_GT(std::abs((predicted[2] - predicted[0]).item<float>()), 1e-4);
  }
}

TEST(CostNetwork, TrainsAllParametersOfEveryArchitecture) {
  const std::vector<CostQuery> queries = Queries();
  for (const CostOptions& options : AllArchitectures()) {
    SCOPED_TRACE(PrintCostOptions(options));
    CostNetwork network = MakeNetwork(options);
    network->forward(1, MakeCostBatch(queries, Spec(), options.join))
        .sum()
        .backward();
    for (const auto& parameter : network->named_parameters()) {
      // The other head has no part in it.
      if (parameter.key().find("head_time") == 0) continue;
      ASSERT_TRUE(parameter.value().grad().defined()) << parameter.key();
      EXPECT_TRUE(parameter.value().grad().isfinite().all().item<bool>())
          << parameter.key();
    }
  }
}

// Nodes in another order, with their edges.
space::Observation Permuted(const space::Observation& graph,
                            int64_t node_features) {
  const size_t count = graph.node_kinds.size();
  space::Observation result = graph;
  const auto place = [&](size_t i) { return (i * 7 + 3) % count; };
  for (size_t i = 0; i < count; ++i) {
    result.node_kinds[place(i)] = graph.node_kinds[i];
    for (size_t f = 0; f < static_cast<size_t>(node_features); ++f) {
      const auto width = static_cast<size_t>(node_features);
      result.node_features[place(i) * width + f] =
          graph.node_features[i * width + f];
    }
  }
  for (std::vector<int32_t>* ends :
       {&result.edge_sources, &result.edge_targets}) {
    for (int32_t& end : *ends) {
      end = static_cast<int32_t>(place(static_cast<size_t>(end)));
    }
  }
  return result;
}

TEST(CostNetwork, OfAGraphDoesNotSeeTheOrderOfNodes) {
  for (const CostGroup& group : Groups()) {
    const space::Observation& graph = *group.samples[0].graph;
    if (graph.node_kinds.size() % 7 == 0) continue;  // not a permutation
    const space::Observation permuted = Permuted(graph, 3);
    for (const CostEncoder encoder :
         {CostEncoder::kSage, CostEncoder::kAttention}) {
      CostNetwork network = MakeNetwork({.encoder = encoder, .width = 16});
      const std::vector<float>& config = group.samples[0].config;
      const torch::Tensor predicted =
          Predict(network, {{&graph, config}, {&permuted, config}});
      EXPECT_NEAR(predicted[0].item<float>(), predicted[1].item<float>(), 2e-3);
    }
  }
}

TEST(CostNetwork, PredictsKernelsWithoutNodes) {
  const space::Observation empty = {.global_features = {0.5F}};
  const std::vector<float> config = {0, 0, 0};
  std::vector<CostQuery> queries = Queries();
  queries.push_back({&empty, config});
  for (const CostOptions& options : AllArchitectures()) {
    SCOPED_TRACE(PrintCostOptions(options));
    CostNetwork network = MakeNetwork(options);
    const torch::Tensor among = Predict(network, queries);
    const torch::Tensor alone = Predict(network, {{&empty, config}});
    EXPECT_TRUE(std::isfinite(alone.item<float>()));
    EXPECT_NEAR(alone.item<float>(), among[-1].item<float>(), 2e-3);
  }
}

TEST(CostNetwork, LimitsInputs) {
  const CostGroup& group = Groups()[0];
  space::Observation graph = *group.samples[0].graph;
  CostNetwork network = MakeNetwork({});
  graph.global_features = {100};
  const float far =
      Predict(network, {{&graph, group.samples[0].config}}).item<float>();
  graph.global_features = {1e30F};
  EXPECT_EQ(Predict(network, {{&graph, group.samples[0].config}}).item<float>(),
            far);
}

}  // namespace
}  // namespace hone::learning
