#ifndef HONE_TESTS_GRAPHS_RANDOM_DEVICE_GRAPH_H_
#define HONE_TESTS_GRAPHS_RANDOM_DEVICE_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "graphs/device_graph.h"

namespace hone::testing {

// A random acyclic graph with `nodes` nodes and the given devices: latencies of
// quarters, some of them 0, and randomly memory limits that bind, color
// classes, a backward part (on its own, or mirroring the forward part) and
// nodes that accelerators do not support.
graphs::DeviceGraph RandomDeviceGraph(Rng& rng, size_t nodes,
                                      int32_t accelerators, int32_t cpus);

// Calls `visit` for each assignment of `nodes` nodes to `devices` devices.
void ForEachAssignment(
    size_t nodes, int32_t devices,
    const std::function<void(const std::vector<int32_t>&)>& visit);

// Returns the content of tests/testdata/graphs/NAME, with a test failure if it
// cannot be read.
std::string ReadGraphFile(const std::string& name);

}  // namespace hone::testing

#endif  // HONE_TESTS_GRAPHS_RANDOM_DEVICE_GRAPH_H_
