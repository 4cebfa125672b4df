#ifndef HONE_GRAPHS_STEP_KERNEL_GRAPH_H_
#define HONE_GRAPHS_STEP_KERNEL_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "graphs/op_graph.h"
#include "graphs/step/device_times.h"
#include "graphs/step/fusion_rules.h"

namespace hone::graphs {

// The number of a kernel in a KernelGraph; kernels are in the order of their
// roots.
using KernelIndex = uint32_t;

// The kernels of an operator graph under a fusion, and the results that they
// read.
class KernelGraph {
 public:
  // A kernel that reads a result.
  struct Use {
    KernelIndex kernel = 0;
    // The number of this use among the inputs of all kernels.
    uint32_t input = 0;
    double bytes = 0;  // the most that a node of the kernel reads
  };
  // Weights that kernels hold, each on its device.
  struct Weights {
    double bytes = 0;
    std::vector<KernelIndex> kernels;
  };

  // `fused` is legal by `rules`, which are those of the graph.
  KernelGraph(FusionRules& rules, absl::Span<const uint8_t> fused,
              const DeviceTimes& times);

  size_t size() const { return roots_.size(); }
  NodeIndex root(KernelIndex kernel) const { return roots_[kernel]; }
  // The kernel of a root; kFused for a node that is fused.
  static constexpr KernelIndex kFused = ~KernelIndex{0};
  KernelIndex kernel_of(NodeIndex node) const { return kernel_of_[node]; }

  double flops(KernelIndex kernel) const { return flops_[kernel]; }
  double bytes(KernelIndex kernel) const { return bytes_[kernel]; }
  // The result is one of the program: it stays in memory.
  bool is_output(KernelIndex kernel) const { return is_output_[kernel] != 0; }
  // Memory of the result while it lives; 0 for an argument, which has its own.
  double output_bytes(KernelIndex kernel) const {
    return output_bytes_[kernel];
  }
  double Seconds(KernelIndex kernel, size_t device_kind) const {
    return seconds_[device_kind * size() + kernel];
  }

  absl::Span<const Use> uses(KernelIndex kernel) const {
    return absl::MakeConstSpan(uses_).subspan(
        use_begin_[kernel],
        use_begin_[kernel + size_t{1}] - use_begin_[kernel]);
  }
  // The kernels whose results are read, ascending; their inputs are numbered
  // from first_input on.
  absl::Span<const KernelIndex> inputs(KernelIndex kernel) const {
    return absl::MakeConstSpan(inputs_).subspan(
        input_begin_[kernel],
        input_begin_[kernel + size_t{1}] - input_begin_[kernel]);
  }
  uint32_t first_input(KernelIndex kernel) const {
    return static_cast<uint32_t>(input_begin_[kernel]);
  }
  size_t input_count() const { return inputs_.size(); }
  // The bytes of an input, by its number.
  double input_bytes(uint32_t input) const { return input_bytes_[input]; }
  // All kernels, each after its inputs.
  absl::Span<const KernelIndex> topological_order() const { return order_; }
  absl::Span<const Weights> weights() const { return weights_; }
  // For each kernel, the numbers of the weights that it holds.
  absl::Span<const uint32_t> weights_of(KernelIndex kernel) const {
    return absl::MakeConstSpan(held_).subspan(
        held_begin_[kernel],
        held_begin_[kernel + size_t{1}] - held_begin_[kernel]);
  }

 private:
  std::vector<NodeIndex> roots_;                      // [kernels]
  std::vector<KernelIndex> kernel_of_;                // [nodes]
  std::vector<double> flops_, bytes_, output_bytes_;  // [kernels]
  std::vector<uint8_t> is_output_;
  std::vector<double> seconds_;  // [kinds, kernels]
  std::vector<size_t> use_begin_, input_begin_, held_begin_;  // [kernels + 1]
  std::vector<Use> uses_;                                     // by producer
  std::vector<KernelIndex> inputs_;                           // by reader
  std::vector<double> input_bytes_;
  std::vector<uint32_t> held_;  // by kernel
  std::vector<KernelIndex> order_;
  std::vector<Weights> weights_;
};

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_STEP_KERNEL_GRAPH_H_
