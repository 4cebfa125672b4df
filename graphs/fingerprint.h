#ifndef HONE_GRAPHS_FINGERPRINT_H_
#define HONE_GRAPHS_FINGERPRINT_H_

#include <string>

#include "graphs/device_graph.h"
#include "graphs/op_graph.h"

namespace hone::graphs {

// The content address of a graph: SHA-256 (hexadecimal) over a canonical form
// that leaves out names, the ids of nodes and color classes, which are labels
// only, the order of edges, and everything that only printing decides, and
// nothing else. The order of nodes counts, as an assignment lists devices in
// that order.
std::string Fingerprint(const DeviceGraph& graph);
// The same for operators: of scopes nothing counts, of names neither, but
// opcodes do.
std::string Fingerprint(const OpGraph& graph);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_FINGERPRINT_H_
