#ifndef HONE_GRAPHS_GENERATED_GRAPH_H_
#define HONE_GRAPHS_GENERATED_GRAPH_H_

#include <cstdint>

#include "graphs/device_graph.h"

namespace hone::graphs {

// Returns a graph as networks have them, for policies to learn from: 2 to 8
// accelerators and a CPU core, and up to about `most_nodes` nodes in repeated
// blocks of branches, some with a connection around them; parameters without
// latency, a few operators that take most of the time, and transfers from
// nearly free to dearer than the operators. Every third graph or so has a
// backward pass whose nodes share devices with those of the forward pass.
// Deterministic by seed. `most_nodes` is at least 20.
DeviceGraph GenerateDeviceGraph(uint64_t seed, int32_t most_nodes);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_GENERATED_GRAPH_H_
