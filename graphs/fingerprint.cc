#include "graphs/fingerprint.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "base/hash.h"

namespace hone::graphs {
namespace {

// Raised whenever the canonical form changes. Distinguishes graphs from
// modules, whose fingerprints share the keys of a cache.
constexpr absl::string_view kForm = "hone device graph 1";
constexpr absl::string_view kOperatorForm = "hone operator graph 1";

// Appends numbers at a fixed width, so that no two sequences read the same.
class CanonicalForm {
 public:
  explicit CanonicalForm(absl::string_view form) : bytes_(form) {}

  void Add(const std::string& text) {
    Add(uint64_t{text.size()});
    bytes_ += text;
  }
  void Add(uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
      bytes_.push_back(static_cast<char>(value >> shift & 0xff));
    }
  }
  // Zeros of both signs are equal amounts.
  void Add(double value) {
    Add(std::bit_cast<uint64_t>(value == 0 ? 0.0 : value));
  }

  std::string Hash() const { return Sha256Hex(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace

std::string Fingerprint(const DeviceGraph& graph) {
  CanonicalForm form(kForm);
  const DeviceLimits& limits = graph.limits();
  form.Add(limits.max_accelerator_bytes);
  form.Add(static_cast<uint64_t>(limits.accelerators));
  form.Add(static_cast<uint64_t>(limits.cpus));
  form.Add(uint64_t{graph.size()});
  // Classes are numbered by their first node; 0: none.
  absl::flat_hash_map<int64_t, uint64_t> classes;
  for (const DeviceNode& node : graph.nodes()) {
    form.Add(node.accelerator_latency);
    form.Add(node.cpu_latency);
    form.Add(node.size_bytes);
    form.Add(uint64_t{node.supported_on_accelerator});
    form.Add(uint64_t{node.is_backward});
    form.Add(node.color_class.has_value()
                 ? classes.try_emplace(*node.color_class, classes.size() + 1)
                       .first->second
                 : uint64_t{0});
  }
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    std::vector<NodeIndex> successors(
        graph.adjacency().successors(node).begin(),
        graph.adjacency().successors(node).end());
    std::sort(successors.begin(), successors.end());
    form.Add(uint64_t{successors.size()});
    for (const NodeIndex successor : successors) form.Add(uint64_t{successor});
    form.Add(graph.output_cost(node));
  }
  return form.Hash();
}

std::string Fingerprint(const OpGraph& graph) {
  CanonicalForm form(kOperatorForm);
  form.Add(uint64_t{graph.size()});
  absl::flat_hash_map<int64_t, uint64_t> places;
  for (const OpNode& node : graph.nodes()) {
    places[node.id] = places.size();
    form.Add(node.opcode);
    form.Add(node.flops);
    form.Add(node.bytes);
    form.Add(node.output_bytes);
    form.Add(node.parameter_bytes);
    form.Add(uint64_t{node.is_output});
  }
  std::vector<std::tuple<uint64_t, uint64_t, double>> edges;
  for (const OpEdge& edge : graph.edges()) {
    edges.emplace_back(places[edge.from_id], places[edge.to_id], edge.bytes);
  }
  std::sort(edges.begin(), edges.end());
  for (const auto& [from, to, bytes] : edges) {
    form.Add(from);
    form.Add(to);
    form.Add(bytes);
  }
  return form.Hash();
}

}  // namespace hone::graphs
