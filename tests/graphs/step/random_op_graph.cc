#include "tests/graphs/step/random_op_graph.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/check.h"

namespace hone::testing {

using graphs::Fusion;
using graphs::FusionRules;
using graphs::OpEdge;
using graphs::OpGraph;
using graphs::OpNode;

namespace {

constexpr double kElementBytes = 4;

class Generator {
 public:
  Generator(Rng& rng, size_t nodes)
      : rng_(rng),
        // Of all earlier nodes, those of late numbers are read: chains.
        reach_(rng.Below(2) == 0 ? 3 : nodes),
        weighted_(rng.Below(3) == 0),
        nodes_(nodes),
        is_read_(nodes) {
    for (size_t i = 0; i < nodes; ++i) {
      OpNode& node = nodes_[i];
      node.id = 500 - 3 * static_cast<int64_t>(i);
      node.name = absl::StrCat("n", i);
      Fill(i, node);
      if (weighted_ && rng.Below(4) == 0) node.parameter_bytes += Size();
    }
    for (size_t i = 0; i < nodes; ++i) {
      nodes_[i].is_output = rng.Below(is_read_[i] ? 12 : 2) == 0;
    }
  }

  OpGraph Build() {
    std::vector<OpNode> shuffled = nodes_;
    if (rng_.Below(2) == 0) {
      for (size_t i = shuffled.size(); i-- > 1;) {
        std::swap(shuffled[i], shuffled[rng_.Below(i + 1)]);
      }
    }
    auto graph = OpGraph::Create(std::move(shuffled), edges_);
    HONE_CHECK(graph.ok());
    return *std::move(graph);
  }

 private:
  double Size() {
    constexpr std::array<double, 6> kSizes = {0, 4, 64, 4096, 65536, 1 << 20};
    return kSizes[rng_.Below(kSizes.size())];
  }

  // Reads up to `count` distinct earlier nodes; returns their bytes.
  double Read(size_t node, size_t count) {
    double bytes = 0;
    std::vector<size_t> seen;
    for (size_t i = 0; i < count && node > 0; ++i) {
      const size_t source = node - 1 - rng_.Below(std::min(node, reach_));
      if (std::find(seen.begin(), seen.end(), source) != seen.end()) continue;
      seen.push_back(source);
      is_read_[source] = true;
      double size = nodes_[source].output_bytes;
      // A part of a tuple.
      if (rng_.Below(16) == 0) size = rng_.Below(3) == 0 ? 0 : size / 2;
      edges_.push_back({nodes_[source].id, nodes_[node].id, size});
      largest_ = std::max(largest_, size);
      bytes += size;
    }
    return bytes;
  }

  void Fill(size_t i, OpNode& node) {
    largest_ = 0;
    const uint64_t choice = i < 2 ? 15 + rng_.Below(3) : rng_.Below(20);
    if (choice < 7) {
      constexpr std::array kNames = {"add", "exponential", "select", "copy"};
      const size_t name = rng_.Below(kNames.size());
      const double read = Read(i, 1 + rng_.Below(name == 1 ? 1 : 3));
      const double scalar =
          largest_ > 0 && rng_.Below(4) == 0 ? kElementBytes : 0;
      const double per_element = name == 3 ? 0 : name == 1 ? 8 : 1;
      Set(node, kNames[name], per_element * largest_ / kElementBytes,
          read + scalar + largest_, largest_);
    } else if (choice < 9) {
      const double read = Read(i, 1);
      const double factor = rng_.Below(2) == 0 || read > 1 << 20 ? 2 : 64;
      Set(node, "broadcast", 0, read + read * factor, read * factor);
    } else if (choice == 9) {
      const double read = Read(i, 1);
      const double factor = rng_.Below(2) == 0 ? 4 : 64;
      Set(node, "reduce", read / kElementBytes, read + read / factor,
          read / factor);
    } else if (choice < 12) {
      const double read = Read(i, 1);
      Set(node, rng_.Below(2) == 0 ? "reshape" : "transpose", 0, 2 * read,
          read);
    } else if (choice == 12) {
      const double size = Read(i, 1) / (rng_.Below(2) == 0 ? 2 : 16);
      Set(node, "slice", 0, 2 * size, size);
    } else if (choice == 13) {
      const double read = Read(i, 2 + rng_.Below(12));
      Set(node, "concatenate", 0, 2 * read, read);
    } else if (choice == 14) {
      const double read = Read(i, 2);
      const double written = 2 * std::min(largest_, read / 8);
      Set(node, "dynamic-update-slice", 0, written, largest_);
    } else if (choice < 17) {
      const double size = Size();
      Set(node, "parameter", 0, 0, size);
      node.parameter_bytes = rng_.Below(2) == 0 ? size : 0;
    } else if (choice == 17) {
      const double size = Size();
      const bool of_constant = size > 0 && rng_.Below(2) == 0;
      Set(node, of_constant ? "broadcast" : "iota", 0,
          size + (of_constant ? kElementBytes : 0), size);
      node.parameter_bytes = of_constant ? kElementBytes : 0;
    } else {
      const double read = Read(i, 2);
      const double size = Size();
      Set(node, rng_.Below(4) == 0 ? "custom-call" : "dot", 32 * (read + size),
          read + size, size);
    }
  }

  static void Set(OpNode& node, const char* opcode, double flops, double bytes,
                  double output_bytes) {
    node.opcode = opcode;
    node.flops = flops;
    node.bytes = bytes;
    node.output_bytes = output_bytes;
  }

  Rng& rng_;
  const size_t reach_;
  const bool weighted_;
  std::vector<OpNode> nodes_;
  std::vector<OpEdge> edges_;
  std::vector<bool> is_read_;
  double largest_ = 0;  // of the operands of the node that is made
};

}  // namespace

OpGraph RandomOpGraph(Rng& rng, size_t nodes) {
  return Generator(rng, nodes).Build();
}

Fusion RandomFusion(Rng& rng, FusionRules& rules) {
  Fusion wanted(rules.graph().size());
  const uint64_t share = rng.Below(5);
  for (uint8_t& bit : wanted) bit = rng.Below(4) < share ? 1 : 0;
  return rules.Legalize(wanted);
}

}  // namespace hone::testing
