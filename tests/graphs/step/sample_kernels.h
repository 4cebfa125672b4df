#ifndef HONE_TESTS_GRAPHS_STEP_SAMPLE_KERNELS_H_
#define HONE_TESTS_GRAPHS_STEP_SAMPLE_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "graphs/op_graph.h"
#include "graphs/step/device_times.h"
#include "graphs/step/fusion_rules.h"
#include "graphs/step/kernel_graph.h"

namespace hone::testing {

// A kernel whose seconds on two kinds of devices have nothing to do with each
// other: the first only computes, the second only moves bytes.
struct SampleKernel {
  double first = 0;
  double second = 0;
  double output_bytes = 0;
  double weight_bytes = 0;
  bool is_output = false;
  // 0 for both times makes it an argument, or a reshape if it reads any.
  std::string scope = {};
};

struct SampleEdge {
  size_t from;
  size_t to;
  double bytes;
};

// Kernels of one node each, with the devices that they are timed on. Result
// bytes and transfers are small integers: all sums are exact.
class SampleKernels {
 public:
  SampleKernels(const graphs::Cluster& cluster,
                const std::vector<SampleKernel>& kernels,
                const std::vector<SampleEdge>& edges)
      : times_(*graphs::DeviceTimes::Create(cluster)) {
    std::vector<graphs::OpNode> nodes;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const SampleKernel& kernel = kernels[i];
      const bool runs = kernel.first > 0 || kernel.second > 0;
      bool reads = false;
      for (const SampleEdge& edge : edges) reads |= edge.to == i;
      nodes.push_back({.id = static_cast<int64_t>(i),
                       .name = absl::StrCat("k", i),
                       .opcode = runs    ? "dot"
                                 : reads ? "reshape"
                                         : "parameter",
                       .flops = kernel.first * kPerSecond,
                       .bytes = kernel.second * kPerSecond,
                       .output_bytes = kernel.output_bytes,
                       .parameter_bytes = kernel.weight_bytes,
                       .is_output = kernel.is_output,
                       .scope = kernel.scope});
    }
    std::vector<graphs::OpEdge> op_edges;
    for (const SampleEdge& edge : edges) {
      op_edges.push_back({static_cast<int64_t>(edge.from),
                          static_cast<int64_t>(edge.to), edge.bytes});
    }
    graph_ = std::make_unique<graphs::OpGraph>(
        *graphs::OpGraph::Create(std::move(nodes), std::move(op_edges)));
    graphs::FusionRules rules(*graph_);
    kernels_ = std::make_unique<graphs::KernelGraph>(
        rules, graphs::Fusion(graph_->size()), times_);
  }

  // Devices of the first or the second kind, with as much memory each. A
  // transfer of n bytes takes n seconds.
  static graphs::DeviceKind First(
      int32_t count,
      double memory_bytes = std::numeric_limits<double>::infinity()) {
    return {.count = count,
            .flops_per_second = kPerSecond,
            .bytes_per_second = kPerSecond * kPerSecond,
            .memory_bytes = memory_bytes};
  }
  static graphs::DeviceKind Second(
      int32_t count,
      double memory_bytes = std::numeric_limits<double>::infinity()) {
    return {.count = count,
            .flops_per_second = kPerSecond * kPerSecond,
            .bytes_per_second = kPerSecond,
            .memory_bytes = memory_bytes};
  }
  static graphs::Cluster ClusterOf(std::vector<graphs::DeviceKind> kinds) {
    graphs::Cluster cluster;
    cluster.accelerators = std::move(kinds);
    cluster.link = {1, 0};
    return cluster;
  }

  const graphs::OpGraph& graph() const { return *graph_; }
  const graphs::KernelGraph& kernels() const { return *kernels_; }
  const graphs::DeviceTimes& times() const { return times_; }

 private:
  static constexpr double kPerSecond = 1 << 30;

  graphs::DeviceTimes times_;
  std::unique_ptr<graphs::OpGraph> graph_;
  std::unique_ptr<graphs::KernelGraph> kernels_;
};

}  // namespace hone::testing

#endif  // HONE_TESTS_GRAPHS_STEP_SAMPLE_KERNELS_H_
