#ifndef HONE_TESTS_GRAPHS_CONTIGUITY_BY_DEFINITION_H_
#define HONE_TESTS_GRAPHS_CONTIGUITY_BY_DEFINITION_H_

#include <cstdint>
#include <vector>

#include "graphs/device_graph.h"

namespace hone::testing {

// The definitions of graphs::Contiguity taken literally, for graphs of at most
// 16 nodes and few devices.

// Enumerates all ideals of each part, and looks for two whose difference is the
// device's nodes.
bool IsConvexByDefinition(const graphs::DeviceGraph& graph,
                          const std::vector<int32_t>& assignment);

// Enumerates all orders of the devices, and looks for one whose prefixes are
// ideals.
bool IsPipelineByDefinition(const graphs::DeviceGraph& graph,
                            const std::vector<int32_t>& assignment);

}  // namespace hone::testing

#endif  // HONE_TESTS_GRAPHS_CONTIGUITY_BY_DEFINITION_H_
