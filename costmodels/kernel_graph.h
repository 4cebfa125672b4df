#ifndef HONE_COSTMODELS_KERNEL_GRAPH_H_
#define HONE_COSTMODELS_KERNEL_GRAPH_H_

#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"
#include "space/observation.h"

namespace hone::costmodels {

// The version of what ObserveKernelGraph says. Weights that were trained on
// another one are refused.
inline constexpr absl::string_view kKernelGraphVersion = "3";

// The sizes and names of ObserveKernelGraph's observations. Node kinds are
// opcodes, "unknown" first.
const space::ObservationSpec& KernelGraphSpec();

// Returns the graph of a kernel, a module whose entry computation is computed
// as one: a node for each instruction, operands before users, with its opcode
// and features of its shape, layout and attributes; an edge for each operand.
// Features are scaled to about -1 … 1, magnitudes by their logarithm. An opcode
// that Hone does not know is of the kind "unknown".
//
// The features are those of Kaufman et al., "A Learned Performance Model for
// Tensor Processing Units", 2021, section 3.1, and of TpuGraphs
// (arXiv 2308.13490), with sizes along the layout in place of sizes by
// dimension, and how they fill registers of 8 by 128 elements.
space::Observation ObserveKernelGraph(const hlo::Module& kernel);

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_KERNEL_GRAPH_H_
