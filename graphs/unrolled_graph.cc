#include "graphs/unrolled_graph.h"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "graphs/hlo_import.h"

namespace hone::graphs {
namespace {

constexpr double kElement = 4;  // bytes
constexpr int32_t kAttendedSteps = 8;

using Node = int64_t;

class Builder {
 public:
  explicit Builder(const UnrolledOptions& options)
      : layers_(static_cast<size_t>(options.layers)),
        steps_(static_cast<size_t>(options.steps)),
        state_bytes_(options.batch * options.width * kElement),
        gate_bytes_(4 * state_bytes_),
        weight_bytes_(4 * options.width * options.width * kElement),
        product_flops_(8 * options.batch * options.width * options.width) {}

  absl::StatusOr<OpGraph> Build() {
    for (size_t layer = 0; layer < layers_; ++layer) {
      scope_ = Scope(layer);
      input_weights_.push_back(Argument(weight_bytes_));
      state_weights_.push_back(Argument(weight_bytes_));
    }
    std::vector<Node> below;
    for (size_t t = 0; t < steps_; ++t) {
      scope_ = Scope(0);
      below.push_back(Argument(state_bytes_));
    }
    for (size_t layer = 0; layer < layers_; ++layer)
      below = Forward(layer, below);
    std::vector<Node> above;
    scope_ = Scope(layers_ - 1);
    for (const Node output : below) {
      above.push_back(Add("subtract", state_bytes_, {output}));
    }
    for (size_t layer = layers_; layer-- > 0;) above = Backward(layer, above);
    return OpGraph::Create(std::move(nodes_), std::move(edges_));
  }

 private:
  static std::string Scope(size_t layer) {
    return absl::StrCat("layer", layer);
  }

  Node Argument(double bytes) {
    return Append({.opcode = std::string(kParameterOpcode),
                   .output_bytes = bytes,
                   .parameter_bytes = bytes});
  }

  Node Append(OpNode node) {
    node.id = static_cast<Node>(nodes_.size());
    node.name = absl::StrCat(node.opcode, ".", node.id);
    node.scope = scope_;
    nodes_.push_back(std::move(node));
    return nodes_.back().id;
  }

  // Adds a node that reads all of `inputs`; an elementwise one without `flops`.
  Node Add(const char* opcode, double bytes, absl::Span<const Node> inputs,
           double flops = 0) {
    double read = 0;
    for (const Node input : inputs) {
      read += nodes_[static_cast<size_t>(input)].output_bytes;
    }
    const Node node = Append({.opcode = opcode,
                              .flops = flops > 0 ? flops : bytes / kElement,
                              .bytes = read + bytes,
                              .output_bytes = bytes});
    for (const Node input : inputs) {
      edges_.push_back(
          {input, node, nodes_[static_cast<size_t>(input)].output_bytes});
    }
    return node;
  }
  Node Add(const char* opcode, double bytes, std::initializer_list<Node> inputs,
           double flops = 0) {
    return Add(opcode, bytes,
               absl::MakeConstSpan(inputs.begin(), inputs.size()), flops);
  }

  // The states of a layer, given those below.
  std::vector<Node> Forward(size_t layer, const std::vector<Node>& below) {
    scope_ = Scope(layer);
    std::vector<Node> states;
    std::vector<Node>& gates = gates_.emplace_back();
    std::vector<Node>& cells = cells_.emplace_back();
    for (size_t t = 0; t < steps_; ++t) {
      Node input = below[t];
      if (layer > 0 && (t + 1) % kAttendedSteps == 0) {
        input = Add("add", state_bytes_,
                    absl::MakeConstSpan(below).subspan(t + 1 - kAttendedSteps,
                                                       kAttendedSteps));
      }
      inputs_.push_back(input);
      const Node from_input = Add(
          "dot", gate_bytes_, {input, input_weights_[layer]}, product_flops_);
      Node sum = from_input;
      if (t > 0) {
        const Node from_state =
            Add("dot", gate_bytes_, {states[t - 1], state_weights_[layer]},
                product_flops_);
        sum = Add("add", gate_bytes_, {from_input, from_state});
      }
      gates.push_back(Add("logistic", gate_bytes_, {sum}));
      const Node kept =
          t > 0 ? Add("multiply", state_bytes_, {gates[t], cells[t - 1]})
                : gates[t];
      const Node update = Add("tanh", state_bytes_, {gates[t]});
      cells.push_back(Add("add", state_bytes_, {kept, update}));
      const Node squashed = Add("tanh", state_bytes_, {cells[t]});
      states.push_back(Add("multiply", state_bytes_, {gates[t], squashed}));
    }
    states_.push_back(states);
    return states;
  }

  // The gradients of the inputs of a layer, given those of its states.
  std::vector<Node> Backward(size_t layer, const std::vector<Node>& above) {
    scope_ = Scope(layer);
    std::vector<Node> below(steps_);
    Node sum = -1;
    Node next = -1;
    for (size_t t = steps_; t-- > 0;) {
      Node gradient = above[t];
      if (next >= 0) gradient = Add("add", state_bytes_, {gradient, next});
      const Node squashed =
          Add("multiply", state_bytes_, {gradient, cells_[layer][t]});
      const Node cell = Add("multiply", state_bytes_, {squashed, gradient});
      const Node gate = Add("multiply", gate_bytes_, {cell, gates_[layer][t]});
      const Node slope = Add("subtract", gate_bytes_, {gate, gates_[layer][t]});
      const Node product = Add("multiply", gate_bytes_, {gate, slope});
      below[t] = Add("dot", state_bytes_, {product, input_weights_[layer]},
                     product_flops_);
      if (t > 0) {
        next = Add("dot", state_bytes_, {product, state_weights_[layer]},
                   product_flops_);
      }
      const Node of_input =
          Add("dot", weight_bytes_, {product, inputs_[layer * steps_ + t]},
              product_flops_);
      sum = sum < 0 ? of_input : Add("add", weight_bytes_, {sum, of_input});
      if (t > 0) {
        const Node of_state =
            Add("dot", weight_bytes_, {product, states_[layer][t - 1]},
                product_flops_);
        sum = Add("add", weight_bytes_, {sum, of_state});
      }
    }
    for (const Node weights : {input_weights_[layer], state_weights_[layer]}) {
      const Node scaled = Add("multiply", weight_bytes_, {sum});
      const Node updated = Add("subtract", weight_bytes_, {weights, scaled});
      nodes_[static_cast<size_t>(updated)].is_output = true;
    }
    return below;
  }

  const size_t layers_;
  const size_t steps_;
  const double state_bytes_;
  const double gate_bytes_;
  const double weight_bytes_;
  const double product_flops_;
  std::string scope_;
  std::vector<Node> input_weights_, state_weights_;  // by layer
  std::vector<Node> inputs_;                         // by layer, then step
  std::vector<std::vector<Node>> gates_, cells_, states_;
  std::vector<OpNode> nodes_;
  std::vector<OpEdge> edges_;
};

}  // namespace

absl::StatusOr<OpGraph> MakeUnrolledGraph(const UnrolledOptions& options) {
  if (options.layers < 1 || options.steps < 1 || !(options.batch > 0) ||
      !(options.width > 0)) {
    return absl::InvalidArgumentError(
        "an unrolled network without layers, steps, batch or width, expected "
        "more than 0 of each");
  }
  return Builder(options).Build();
}

}  // namespace hone::graphs
