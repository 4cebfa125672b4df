#ifndef HONE_GRAPHS_BLOCK_GRAPH_H_
#define HONE_GRAPHS_BLOCK_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graphs/adjacency.h"
#include "graphs/device_graph.h"

namespace hone::graphs {

// The direction in which the backward pass visits the devices, compared with
// the forward pass.
enum class BackwardDirection { kReverse, kSame };

// Nodes that share a device in every contiguous assignment, or at no loss.
// Latencies and sizes are sums over the nodes.
struct Block {
  double accelerator_latency = 0;
  double cpu_latency = 0;
  double size_bytes = 0;
  bool supported_on_accelerator = true;
};

// The outputs of nodes of `source` that exactly the other blocks `targets`
// need. `cost` is the sum of their costs.
struct Transfer {
  uint32_t source = 0;
  std::vector<uint32_t> targets;
  double cost = 0;
};

// A device graph with its nodes gathered in blocks. The assignments that are
// pipelines (Contiguity::kPipeline, with the backward pass in one of the two
// directions) are exactly those in which each device's blocks are the
// difference of two successive ideals of `order`.
//
// An arc of `order` leads from the block of a forward node to that of its
// successor, and from the block of a backward node to that of its predecessor
// (kReverse) or its successor (kSame). Blocks are
// - color classes;
// - color classes on a cycle of these arcs: an ideal has all or none of them;
// - blocks that take no time on any device, and have a place in memory in any
//   case, with the only block that they exchange data with: to separate them
//   can only add transfers.
struct BlockGraph {
  std::vector<uint32_t> block_of;   // [nodes]
  std::vector<Block> blocks;        // [blocks]
  Adjacency order;                  // acyclic, [blocks]
  std::vector<Transfer> transfers;  // none of cost 0
};

BlockGraph GatherBlocks(const DeviceGraph& graph, BackwardDirection direction);

// The same for assignments that need not be contiguous: blocks are color
// classes, and blocks that take no time with their only neighbor. `order`, as
// for kReverse, may have cycles.
BlockGraph GatherColorClasses(const DeviceGraph& graph);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_BLOCK_GRAPH_H_
