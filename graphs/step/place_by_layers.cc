#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "graphs/hlo_import.h"
#include "graphs/step/place_kernels.h"

namespace hone::graphs {
namespace {

constexpr size_t kMostComponents = 8;
constexpr uint32_t kNone = ~uint32_t{0};

// The first `count` components of a scope.
absl::string_view Prefix(absl::string_view scope, size_t count) {
  for (size_t i = 0; i < scope.size(); ++i) {
    if (scope[i] == '/' && --count == 0) return scope.substr(0, i);
  }
  return scope;
}

// The number of each kernel's layer, kNone for kernels without one; empty if
// there are fewer layers than devices.
std::vector<uint32_t> LayersOf(const OpGraph& graph, const KernelGraph& kernels,
                               size_t devices, size_t& count) {
  for (size_t components = 1; components <= kMostComponents; ++components) {
    absl::flat_hash_map<absl::string_view, uint32_t> numbers;
    std::vector<uint32_t> layers;
    for (size_t k = 0; k < kernels.size(); ++k) {
      const std::string& scope =
          graph.node(kernels.root(static_cast<KernelIndex>(k))).scope;
      if (scope.empty()) {
        layers.push_back(kNone);
        continue;
      }
      const auto number = static_cast<uint32_t>(numbers.size());
      layers.push_back(
          numbers.try_emplace(Prefix(scope, components), number).first->second);
    }
    count = numbers.size();
    if (count >= devices) return layers;
  }
  return {};
}

// Gives kernels without a layer that of the first that they read, or else that
// reads them.
void SpreadLayers(const KernelGraph& kernels, std::vector<uint32_t>& layers) {
  const absl::Span<const KernelIndex> order = kernels.topological_order();
  for (const KernelIndex kernel : order) {
    for (const KernelIndex input : kernels.inputs(kernel)) {
      if (layers[kernel] != kNone) break;
      layers[kernel] = layers[input];
    }
  }
  for (size_t i = order.size(); i-- > 0;) {
    for (const KernelGraph::Use& use : kernels.uses(order[i])) {
      if (layers[order[i]] != kNone) break;
      layers[order[i]] = layers[use.kernel];
    }
  }
  for (uint32_t& layer : layers) {
    if (layer == kNone) layer = 0;
  }
}

// The layers in the order in which data reaches them: by how soon they have a
// result for another layer. Arguments and what is computed from nothing say
// nothing about that.
std::vector<uint32_t> OrderLayers(const KernelGraph& kernels,
                                  const std::vector<uint32_t>& layers,
                                  size_t count) {
  std::vector<uint32_t> depth(kernels.size());
  constexpr uint32_t kNever = ~uint32_t{0};
  std::vector<uint32_t> soonest(count, kNever);
  for (const KernelIndex kernel : kernels.topological_order()) {
    const bool computes =
        kernels.Seconds(kernel, 0) > 0 && !kernels.inputs(kernel).empty();
    uint32_t& own = depth[kernel];
    own += computes ? 1 : 0;
    for (const KernelGraph::Use& use : kernels.uses(kernel)) {
      depth[use.kernel] = std::max(depth[use.kernel], own);
      if (own > 0 && layers[use.kernel] != layers[kernel]) {
        uint32_t& first = soonest[layers[kernel]];
        first = std::min(first, own);
      }
    }
  }
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return soonest[a] < soonest[b];
  });
  return order;
}

// Cuts runs of `seconds` [kinds][units] for the devices, in their order, such
// that none takes more than `most`; false if that is impossible.
bool Cut(const std::vector<std::vector<double>>& seconds,
         const DeviceTimes& times, double most, std::vector<int32_t>& devices) {
  const size_t units = seconds[0].size();
  devices.assign(units, 0);
  size_t unit = 0;
  for (int32_t d = 0; d < times.device_count() && unit < units; ++d) {
    double sum = 0;
    for (; unit < units; ++unit) {
      sum += seconds[times.kind_of(d)][unit];
      if (sum > most) break;
      devices[unit] = d;
    }
  }
  return unit == units;
}

}  // namespace

std::vector<int32_t> PlaceByLayers(const OpGraph& graph,
                                   const KernelGraph& kernels,
                                   const DeviceTimes& times) {
  size_t count = 0;
  std::vector<uint32_t> layers = LayersOf(
      graph, kernels, static_cast<size_t>(times.device_count()), count);
  std::vector<uint32_t> order;
  if (layers.empty()) {
    layers.resize(kernels.size());
    std::iota(layers.begin(), layers.end(), 0);
    order.assign(kernels.topological_order().begin(),
                 kernels.topological_order().end());
    count = kernels.size();
  } else {
    SpreadLayers(kernels, layers);
    order = OrderLayers(kernels, layers, count);
  }
  std::vector<size_t> place(count);
  for (size_t i = 0; i < count; ++i) place[order[i]] = i;
  std::vector<std::vector<double>> seconds(times.kind_count(),
                                           std::vector<double>(count));
  double least = 0;
  double most = 0;
  for (size_t kind = 0; kind < seconds.size(); ++kind) {
    for (size_t k = 0; k < kernels.size(); ++k) {
      const double of = kernels.Seconds(static_cast<KernelIndex>(k), kind);
      seconds[kind][place[layers[k]]] += of;
      most += of;
    }
  }
  std::vector<int32_t> devices;
  for (int i = 0; i < 60; ++i) {
    const double middle = (least + most) / 2;
    (Cut(seconds, times, middle, devices) ? most : least) = middle;
  }
  Cut(seconds, times, most, devices);
  std::vector<int32_t> placement;
  for (const uint32_t layer : layers)
    placement.push_back(devices[place[layer]]);
  return placement;
}

}  // namespace hone::graphs
