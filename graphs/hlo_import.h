#ifndef HONE_GRAPHS_HLO_IMPORT_H_
#define HONE_GRAPHS_HLO_IMPORT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "graphs/op_graph.h"
#include "hlo/ir/module.h"

namespace hone::graphs {

// Raised whenever a module gets other nodes, edges or amounts than before, or
// other times on a cluster (roofline.h):
// decisions about the graphs of modules, which list nodes by their place, are
// valid for one version.
inline constexpr int kHloImportVersion = 2;

// The opcode of nodes that are arguments of the program, not work.
inline constexpr absl::string_view kParameterOpcode = "parameter";

// How a loop of known trip count is imported: as one node, or as the nodes of
// its body once for each iteration (unrolled_loops.h).
enum class Loops { kOne, kUnrolled };

struct ImportOptions {
  Loops loops = Loops::kOne;
  // The largest graph that loops are unrolled to.
  int64_t max_nodes = 100'000;
};

// Returns the graph of what the entry computation executes.
//
// Nodes. An instruction is a node, with all that it calls: fusions, bodies of
// loops, branches and regions are part of the caller's flops and bytes
// (hlo/analysis/cost_analysis.h; a transcendental function counts as one flop,
// and a loop runs as often as is stated or can be found, else once).
// No nodes are instructions that only say where values are:
// - tuple, get-tuple-element, bitcast, opt-barrier and domain: edges lead
//   through them;
// - the second half of an asynchronous pair (copy-done, all-reduce-done, …),
//   and async-update: both halves are one node, whose result is the second's;
// - constants, which every device has as part of the program: they are
//   parameter_bytes of each node that reads them;
// - a parameter, or an element of one, that one node reads: it is that node's
//   parameter_bytes.
// Elements of parameters that several nodes read are a node of their own,
// "parameter", without work, which holds them as parameter_bytes. So all
// parameters together are counted once, and a later step can tell what is
// shared: a placement and a simulated step pay for sending it, a partition
// copies it. A module whose entry does no work
// has one node, the root.
//
// Edges. An edge has the bytes of the elements of the source's result that the
// target reads, each once: those, not the tuples that carry them. A token has
// none. A control dependence between nodes is an edge of 0 bytes; one that ends
// at an instruction without a node of its own is left out.
//
// Order. Nodes are in the canonical order of their instructions
// (hlo/analysis/canonical.h) and numbered by it, and amounts do not depend on
// names: modules of one fingerprint have equal graphs but for names, so that an
// assignment by node is valid for all of them. Edges are sorted by target, then
// source.
//
// Unrolled loops. A copy of an instruction has the work of one iteration. All
// copies together have the work of the loop as one node, without that of the
// condition and the pointers that tuples of the body write. An iteration that
// reads what the previous one made has an edge from it. A slice of a stacked
// array has an edge with the bytes of the whole array. A loop of unknown trip
// count is one node, also in the body of another. Names of nodes may repeat: an
// iteration of "dot" is "dot.0", which may be the name of an instruction as
// well. Ids tell nodes apart. An assignment of copies can not be written back
// to the module.
//
// The module must verify. Time and memory are linear in its size, unrolled, up
// to sorting, and in the elements of the tuples that its instructions read.
// Errors: InvalidArgument if they read more than 2^24 elements; those of
// UnrollLoops.
absl::StatusOr<OpGraph> ImportHlo(const hlo::Module& module,
                                  const ImportOptions& options = {});

// The graph of a module, its loops one node each, and where its instructions
// are in it.
struct ImportedHlo {
  OpGraph graph;
  // By id of the instruction of the entry computation: its node, or -1.
  std::vector<int32_t> nodes;
};
absl::StatusOr<ImportedHlo> ImportHloWithNodes(const hlo::Module& module);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_HLO_IMPORT_H_
