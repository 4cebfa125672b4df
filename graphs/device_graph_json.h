#ifndef HONE_GRAPHS_DEVICE_GRAPH_JSON_H_
#define HONE_GRAPHS_DEVICE_GRAPH_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "graphs/device_graph.h"

namespace hone::graphs {

// Reads the JSON format of the public placement graphs ("FPGA" is any
// accelerator):
//
//   {"maxSizePerFPGA": bytes, "maxFPGAs": n, "maxCPUs": n,
//    "nodes": [{"id", "name"?, "fpgaLatency", "cpuLatency", "size",
//               "supportedOnFpga", "isBackwardNode", "colorClass"?}],
//    "edges": [{"sourceId", "destId", "cost"}]}
//
// Flags are true, false, 1 or 0. Other fields are ignored: the public files
// have notes such as "layerId".
// Errors: InvalidArgument with one line, "FILE: what and where, what was
// expected", for text that is not JSON, missing fields, wrong types, and all
// that DeviceGraph::Create refuses. `file` is for messages only.
// Source: https://github.com/msr-fiddle/dnn-partitioning, "Input format".
absl::StatusOr<DeviceGraph> ParseDeviceGraph(absl::string_view text,
                                             absl::string_view file);

// Returns the graph in that format, one node or edge a line. Parsing it gives
// an equal graph, if the names are UTF-8.
std::string PrintDeviceGraph(const DeviceGraph& graph);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_DEVICE_GRAPH_JSON_H_
