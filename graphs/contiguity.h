#ifndef HONE_GRAPHS_CONTIGUITY_H_
#define HONE_GRAPHS_CONTIGUITY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "graphs/device_graph.h"

namespace hone::graphs {

// The forward nodes of a graph with the edges between them are its forward
// part, the backward nodes its backward part. Edges from one part to the other
// do not matter to contiguity. An ideal of a part is a set of its nodes that
// contains all predecessors of its nodes.
enum class Contiguity {
  // Any assignment.
  kNone,
  // On each device the nodes of each part are the difference of two ideals of
  // that part. Equivalently, no path of the part leaves the device and comes
  // back to it:
  //
  // - Let S = I \ J with ideals J, I, and s -> … -> x -> … -> t a path with s
  //   and t in S. x is in I as t is. If x were in J, s would be too, which it
  //   is not. So x is in S.
  // - Let no path leave S and come back, I be S with all its ancestors, and
  //   J = I \ S. I is an ideal. If y in J had a predecessor x that is not in J,
  //   x would be in I, so in S, and y would have a descendant in S: a path that
  //   leaves S at x and comes back. So J is an ideal, and S = I \ J.
  kConvex,
  // There is an order of the devices in which the forward nodes of the first k
  // devices are an ideal for each k, and the backward nodes of the first k
  // devices are an ideal for each k, or those of the last k devices are: each
  // pass visits each device once, the second in the order of the first or
  // against it. Pipelining needs this, and it is what the exact dynamic
  // program finds.
  //
  // It implies kConvex: a device's nodes are the difference of two successive
  // ideals. It asks for more: with edges a1 -> b1 and b2 -> a2, the sets
  // {a1, a2} and {b1, b2} are convex, but neither can come first.
  kPipeline,
};

// Stable names, used in cache keys: "none", "convex", "pipeline".
absl::string_view ContiguityName(Contiguity contiguity);
// Errors: InvalidArgument, listing the names.
absl::StatusOr<Contiguity> ParseContiguity(absl::string_view name);

// Returns an error if a device's nodes in a part are not convex. All devices of
// `assignment` must be devices of the graph, one per node.
// Errors: InvalidArgument, with a message that names the device and a path that
// leaves it and comes back. Time O((nodes + edges) * ceil(devices / 64)), where
// devices without nodes do not count.
absl::Status CheckConvex(const DeviceGraph& graph,
                         absl::Span<const int32_t> assignment);

// Returns an error if the devices have no order as kPipeline asks for.
// `assignment` is as in CheckConvex.
// Errors: InvalidArgument, with a message that names devices that need each
// other's output in a cycle. Linear time.
absl::Status CheckPipeline(const DeviceGraph& graph,
                           absl::Span<const int32_t> assignment);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_CONTIGUITY_H_
