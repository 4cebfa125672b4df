#include "graphs/contiguity.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hone::graphs {
namespace {

// A message shows at most this many devices of a cycle.
constexpr size_t kShownCycle = 8;

// Returns for each device its rank among those that have nodes. `count` gets
// their number. [devices]
std::vector<uint32_t> RankUsedDevices(const DeviceGraph& graph,
                                      absl::Span<const int32_t> assignment,
                                      uint32_t& count) {
  std::vector<uint32_t> rank(static_cast<size_t>(graph.device_count()));
  for (const int32_t device : assignment) rank[static_cast<size_t>(device)] = 1;
  count = 0;
  for (uint32_t& entry : rank) {
    if (entry == 1) entry = count++;
  }
  return rank;
}

bool SamePart(const DeviceGraph& graph, NodeIndex a, NodeIndex b) {
  return graph.node(a).is_backward == graph.node(b).is_backward;
}

// The error for a path in one part that comes back to the device of `last`
// through other devices only, of which there is one.
absl::Status ReturningPath(const DeviceGraph& graph,
                           absl::Span<const int32_t> assignment,
                           NodeIndex last) {
  const int32_t device = assignment[last];
  std::vector<bool> seen(graph.size());
  std::vector<NodeIndex> open = {last};
  while (!open.empty()) {
    const NodeIndex node = open.back();
    open.pop_back();
    for (const NodeIndex before : graph.adjacency().predecessors(node)) {
      if (!SamePart(graph, before, node) || seen[before]) continue;
      if (assignment[before] != device) {
        seen[before] = true;
        open.push_back(before);
      } else if (node != last) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "the %s nodes of device %d are not contiguous: a path leaves it "
            "from node %d to node %d on device %d and comes back at node %d",
            graph.node(last).is_backward ? "backward" : "forward", device,
            graph.node(before).id, graph.node(node).id, assignment[node],
            graph.node(last).id));
      }
    }
  }
  return absl::InternalError("no path comes back");
}

// The first cycle of devices that need each other's output, if the backward
// part is read along its edges or against them. In the order of ranks.
std::vector<NodeIndex> DeviceCycle(const DeviceGraph& graph,
                                   absl::Span<const int32_t> assignment,
                                   absl::Span<const uint32_t> rank,
                                   uint32_t count, bool reverse_backward) {
  std::vector<Arc> arcs;
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto source = static_cast<NodeIndex>(i);
    for (const NodeIndex target : graph.adjacency().successors(source)) {
      const uint32_t from = rank[static_cast<size_t>(assignment[source])];
      const uint32_t to = rank[static_cast<size_t>(assignment[target])];
      if (from == to || !SamePart(graph, source, target)) continue;
      const bool reverse = reverse_backward && graph.node(source).is_backward;
      arcs.push_back(reverse ? Arc{to, from} : Arc{from, to});
    }
  }
  return FindCycle(Adjacency(count, arcs));
}

}  // namespace

absl::string_view ContiguityName(Contiguity contiguity) {
  switch (contiguity) {
    case Contiguity::kNone:
      return "none";
    case Contiguity::kConvex:
      return "convex";
    case Contiguity::kPipeline:
      return "pipeline";
  }
  return "unknown";
}

absl::StatusOr<Contiguity> ParseContiguity(absl::string_view name) {
  for (const Contiguity contiguity :
       {Contiguity::kPipeline, Contiguity::kConvex, Contiguity::kNone}) {
    if (ContiguityName(contiguity) == name) return contiguity;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown contiguity '", name, "', expected pipeline, convex or none"));
}

absl::Status CheckConvex(const DeviceGraph& graph,
                         absl::Span<const int32_t> assignment) {
  uint32_t count = 0;
  const std::vector<uint32_t> rank = RankUsedDevices(graph, assignment, count);
  // For 64 devices at a time, each a bit: the devices that a path in the part
  // leads from to the node, and those of them that such a path has left before
  // it comes to the node.
  std::vector<uint64_t> above(graph.size());
  std::vector<uint64_t> left(graph.size());
  for (uint32_t begin = 0; begin < count; begin += 64) {
    const auto bit = [&](NodeIndex node) {
      const uint32_t r = rank[static_cast<size_t>(assignment[node])];
      return r >= begin && r - begin < 64 ? uint64_t{1} << (r - begin) : 0;
    };
    for (const NodeIndex node : graph.topological_order()) {
      above[node] = 0;
      left[node] = 0;
      for (const NodeIndex before : graph.adjacency().predecessors(node)) {
        if (!SamePart(graph, before, node)) continue;
        above[node] |= above[before] | bit(before);
        left[node] |= left[before] | (above[before] & ~bit(before));
      }
      if ((left[node] & bit(node)) != 0) {
        return ReturningPath(graph, assignment, node);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPipeline(const DeviceGraph& graph,
                           absl::Span<const int32_t> assignment) {
  uint32_t count = 0;
  const std::vector<uint32_t> rank = RankUsedDevices(graph, assignment, count);
  const std::vector<NodeIndex> cycle =
      DeviceCycle(graph, assignment, rank, count, /*reverse_backward=*/true);
  if (cycle.empty() ||
      DeviceCycle(graph, assignment, rank, count, /*reverse_backward=*/false)
          .empty()) {
    return absl::OkStatus();
  }
  std::vector<int32_t> device_of(count);
  for (const int32_t device : assignment) {
    device_of[rank[static_cast<size_t>(device)]] = device;
  }
  std::string text;
  for (size_t i = 0; i < std::min(cycle.size(), kShownCycle); ++i) {
    absl::StrAppend(&text, device_of[cycle[i]], " -> ");
  }
  if (cycle.size() > kShownCycle) absl::StrAppend(&text, "… -> ");
  return absl::InvalidArgumentError(
      absl::StrCat("the devices form no pipeline: nodes need outputs in the "
                   "cycle ",
                   text, device_of[cycle.front()], " of devices"));
}

}  // namespace hone::graphs
