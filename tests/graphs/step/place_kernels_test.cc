#include "graphs/step/place_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/op_graph_json.h"
#include "tests/graphs/step/random_cluster.h"
#include "tests/graphs/step/random_op_graph.h"
#include "tests/graphs/step/sample_kernels.h"

namespace hone::graphs {
namespace {

using ::hone::testing::RandomCluster;
using ::hone::testing::RandomFusion;
using ::hone::testing::RandomOpGraph;
using ::hone::testing::SampleEdge;
using ::hone::testing::SampleKernel;
using ::hone::testing::SampleKernels;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Cluster Equal(int32_t devices) {
  return SampleKernels::ClusterOf({SampleKernels::First(devices)});
}

TEST(PlaceOnFastest, IsTheDeviceOfTheLeastTime) {
  const std::vector<SampleKernel> kernels = {{2, 9}, {7, 1}};
  const auto device = [&](const Cluster& cluster) {
    const SampleKernels sample(cluster, kernels, {});
    const std::vector<int32_t> devices =
        PlaceOnFastest(sample.kernels(), sample.times());
    EXPECT_EQ(devices.size(), 2);
    EXPECT_EQ(devices.front(), devices.back());
    return devices.front();
  };
  using S = SampleKernels;
  // 9 seconds on the first kind, 10 on the second.
  EXPECT_EQ(device(S::ClusterOf({S::Second(2), S::First(2)})), 2);
  EXPECT_EQ(device(S::ClusterOf({S::First(2), S::Second(2)})), 0);
  // Equal ones: that with the most memory.
  EXPECT_EQ(
      device(S::ClusterOf({S::Second(1, 100), S::First(1, 5), S::First(2, 9)})),
      2);
}

// The time of the device with the most to do.
double Bottleneck(const KernelGraph& kernels, const DeviceTimes& times,
                  const std::vector<int32_t>& devices) {
  std::vector<double> busy(static_cast<size_t>(times.device_count()));
  for (KernelIndex k = 0; k < kernels.size(); ++k) {
    busy[static_cast<size_t>(devices[k])] +=
        kernels.Seconds(k, times.kind_of(devices[k]));
  }
  return *std::max_element(busy.begin(), busy.end());
}

// The least bottleneck of all cuts of a sequence of layers, each a list of
// kernels, into one run for each device in their order.
double LeastBottleneck(const KernelGraph& kernels, const DeviceTimes& times,
                       const std::vector<std::vector<KernelIndex>>& layers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // Of the first layers on the devices so far: [layers + 1].
  std::vector<double> best(layers.size() + 1, kInfinity);
  best[0] = 0;
  for (int32_t d = 0; d < times.device_count(); ++d) {
    std::vector<double> next = best;
    for (size_t begin = 0; begin < layers.size(); ++begin) {
      double run = 0;
      for (size_t end = begin + 1; end <= layers.size(); ++end) {
        for (const KernelIndex k : layers[end - 1]) {
          run += kernels.Seconds(k, times.kind_of(d));
        }
        next[end] = std::min(next[end], std::max(best[begin], run));
      }
    }
    best = next;
  }
  return best.back();
}

TEST(PlaceByLayers, GraphsWithoutScopesAreCutKernelByKernel) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    const OpGraph graph = RandomOpGraph(rng, 1 + rng.Below(40));
    const Cluster cluster = RandomCluster(rng);
    SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", PrintOpGraph(graph),
                              PrintCluster(cluster)));
    const DeviceTimes times = *DeviceTimes::Create(cluster);
    FusionRules rules(graph);
    const KernelGraph kernels(rules, RandomFusion(rng, rules), times);
    const std::vector<int32_t> devices = PlaceByLayers(graph, kernels, times);
    ASSERT_EQ(devices.size(), kernels.size());
    int32_t last = 0;
    std::vector<std::vector<KernelIndex>> layers;
    for (const KernelIndex kernel : kernels.topological_order()) {
      EXPECT_GE(devices[kernel], last);
      last = devices[kernel];
      layers.push_back({kernel});
    }
    EXPECT_LT(last, times.device_count());
    const double least = LeastBottleneck(kernels, times, layers);
    EXPECT_NEAR(Bottleneck(kernels, times, devices), least, 1e-9 * least);
  }
}

// A model of layers in a row, each with a few kernels, and a backward pass in
// the scopes of the same layers; ids in any order.
TEST(PlaceByLayers, LayersAreCutInTheOrderOfTheData) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const size_t count = 1 + rng.Below(9);
    const auto devices = static_cast<int32_t>(1 + rng.Below(count));
    std::vector<size_t> layer_of;
    for (size_t i = 0; i < count; ++i) {
      for (uint64_t n = 1 + rng.Below(3); n > 0; --n) layer_of.push_back(i);
    }
    for (size_t i = layer_of.size(); i-- > 0;) layer_of.push_back(layer_of[i]);
    std::vector<size_t> number(layer_of.size());
    for (size_t i = 0; i < number.size(); ++i) {
      const size_t other = rng.Below(i + 1);
      number[i] = number[other];
      number[other] = i;
    }
    std::vector<SampleKernel> kernels(number.size());
    std::vector<SampleEdge> edges;
    std::vector<std::vector<KernelIndex>> layers(count);
    for (size_t i = 0; i < number.size(); ++i) {
      kernels[number[i]] = {.first = static_cast<double>(1 + rng.Below(9)),
                            .second = static_cast<double>(1 + rng.Below(9)),
                            .scope = absl::StrCat("layer", layer_of[i], "/op")};
      layers[layer_of[i]].push_back(static_cast<KernelIndex>(number[i]));
      if (i > 0) edges.push_back({number[i - 1], number[i], 1});
    }
    // It reads the batch, as all models do.
    edges.push_back({kernels.size(), number[0], 1});
    kernels.push_back({});
    std::vector<DeviceKind> kinds = {SampleKernels::First(devices)};
    if (devices > 1) {
      kinds = {SampleKernels::First(1), SampleKernels::Second(devices - 1)};
    }
    const SampleKernels sample(SampleKernels::ClusterOf(kinds), kernels, edges);
    const std::vector<int32_t> placed =
        PlaceByLayers(sample.graph(), sample.kernels(), sample.times());
    ASSERT_EQ(placed.size(), kernels.size());
    int32_t last = 0;
    for (const std::vector<KernelIndex>& layer : layers) {
      for (const KernelIndex k : layer) EXPECT_EQ(placed[k], placed[layer[0]]);
      EXPECT_GE(placed[layer[0]], last);
      last = placed[layer[0]];
    }
    EXPECT_LT(last, devices);
    EXPECT_EQ(placed.back(), placed[number[0]]);
    EXPECT_EQ(Bottleneck(sample.kernels(), sample.times(), placed),
              LeastBottleneck(sample.kernels(), sample.times(), layers));
  }
}

// The devices of kernels in a row, the first of which reads an argument.
std::vector<int32_t> PlaceChain(std::vector<SampleKernel> kernels,
                                int32_t devices) {
  std::vector<SampleEdge> edges = {{kernels.size(), 0, 1}};
  for (size_t i = 1; i < kernels.size(); ++i) edges.push_back({i - 1, i, 1});
  kernels.push_back({});
  const SampleKernels sample(Equal(devices), kernels, edges);
  std::vector<int32_t> placed =
      PlaceByLayers(sample.graph(), sample.kernels(), sample.times());
  placed.resize(kernels.size() - 1);
  return placed;
}

TEST(PlaceByLayers, ScopesAreAsDeepAsTheDevicesNeed) {
  std::vector<SampleKernel> kernels;
  for (const char* scope : {"a/x", "a/y", "a/y", "b/x", "b/y"}) {
    kernels.push_back({.first = 1, .scope = scope});
  }
  EXPECT_THAT(PlaceChain(kernels, 1), Each(0));
  // Two layers, a and b.
  EXPECT_THAT(PlaceChain(kernels, 2), ElementsAre(0, 0, 0, 1, 1));
  // Four, of which one has two kernels.
  EXPECT_THAT(PlaceChain(kernels, 3), ElementsAre(0, 1, 1, 2, 2));
  EXPECT_THAT(PlaceChain(kernels, 4), ElementsAre(0, 1, 1, 2, 2));
  // More devices than layers of any depth: kernel by kernel.
  EXPECT_THAT(PlaceChain(kernels, 5), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(PlaceChain(kernels, 6), ElementsAre(0, 1, 2, 3, 4));
}

// Kernels without a scope are where what they read is, or what reads them.
TEST(PlaceByLayers, KernelsWithoutALayerFollowTheirNeighbors) {
  EXPECT_THAT(PlaceChain({{.first = 1},
                          {.first = 1, .scope = "a"},
                          {.first = 1},
                          {.first = 3, .scope = "b"},
                          {.first = 1}},
                         2),
              ElementsAre(0, 0, 0, 1, 1));
}

double CutOf(const KernelGraph& kernels, const DeviceTimes& times,
             const std::vector<int32_t>& devices) {
  double cut = 0;
  for (KernelIndex k = 0; k < kernels.size(); ++k) {
    for (const KernelGraph::Use& use : kernels.uses(k)) {
      if (devices[k] != devices[use.kernel]) {
        cut += times.MeanTransferSeconds(use.bytes);
      }
    }
  }
  return cut;
}

// Four chains, between which hardly anything is sent.
TEST(PlaceByCut, CutsWhereLittleIsSent) {
  constexpr size_t kChain = 10;
  std::vector<SampleKernel> kernels;
  std::vector<SampleEdge> edges;
  for (size_t chain = 0; chain < 4; ++chain) {
    for (size_t i = 0; i < kChain; ++i) {
      const size_t kernel = kernels.size();
      if (i > 0) edges.push_back({kernel - 1, kernel, 500});
      if (i == 0 && chain > 0) edges.push_back({kernel - kChain, kernel, 1});
      kernels.push_back({.first = 3});
    }
  }
  const SampleKernels sample(Equal(4), kernels, edges);
  const std::vector<int32_t> devices =
      PlaceByCut(sample.kernels(), sample.times());
  ASSERT_EQ(devices.size(), kernels.size());
  EXPECT_EQ(CutOf(sample.kernels(), sample.times(), devices), 3);
  EXPECT_EQ(Bottleneck(sample.kernels(), sample.times(), devices), 3 * kChain);
}

TEST(PlaceByCut, CutsLessThanChanceInPartsOfAboutEqualWork) {
  double cut = 0;
  double by_chance = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const auto devices = static_cast<int32_t>(2 + rng.Below(5));
    const size_t size = 100 + rng.Below(200);
    std::vector<SampleKernel> kernels;
    std::vector<SampleEdge> edges;
    double total = 0;
    double largest = 0;
    for (size_t i = 0; i < size; ++i) {
      kernels.push_back({.first = static_cast<double>(1 + rng.Below(4))});
      total += kernels[i].first;
      largest = std::max(largest, kernels[i].first);
      if (i == 0) continue;
      edges.push_back({i - 1, i, static_cast<double>(1 + rng.Below(20))});
      const size_t other = rng.Below(i);
      if (other != i - 1) {
        edges.push_back({other, i, static_cast<double>(1 + rng.Below(20))});
      }
    }
    const SampleKernels sample(Equal(devices), kernels, edges);
    const std::vector<int32_t> placed =
        PlaceByCut(sample.kernels(), sample.times());
    ASSERT_EQ(placed.size(), size);
    for (const int32_t device : placed) {
      ASSERT_GE(device, 0);
      ASSERT_LT(device, devices);
    }
    // METIS allows 3 % more than the share, to the next kernel.
    EXPECT_LE(Bottleneck(sample.kernels(), sample.times(), placed),
              1.03 * total / devices + largest);
    // Each kernel in turn on the device with the least to do is balanced, too.
    std::vector<int32_t> random(size);
    std::vector<double> busy(static_cast<size_t>(devices));
    std::vector<size_t> order(size);
    for (size_t i = 0; i < size; ++i) {
      const size_t other = rng.Below(i + 1);
      order[i] = order[other];
      order[other] = i;
    }
    for (const size_t i : order) {
      const auto least = std::min_element(busy.begin(), busy.end());
      *least += kernels[i].first;
      random[i] = static_cast<int32_t>(least - busy.begin());
    }
    const double own = CutOf(sample.kernels(), sample.times(), placed);
    const double other = CutOf(sample.kernels(), sample.times(), random);
    EXPECT_LT(own, other);
    cut += own;
    by_chance += other;
  }
  EXPECT_LT(cut, 0.6 * by_chance);
}

TEST(PlaceByCut, OneDeviceAndFewKernelsHaveNone) {
  const std::vector<SampleKernel> kernels(12, {.first = 1});
  const auto place = [&](int32_t devices) {
    const SampleKernels sample(Equal(devices), kernels, {});
    return PlaceByCut(sample.kernels(), sample.times());
  };
  EXPECT_THAT(place(1), IsEmpty());
  EXPECT_EQ(place(3).size(), 12);
  EXPECT_THAT(place(4), IsEmpty());
}

}  // namespace
}  // namespace hone::graphs
