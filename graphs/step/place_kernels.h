#ifndef HONE_GRAPHS_STEP_PLACE_KERNELS_H_
#define HONE_GRAPHS_STEP_PLACE_KERNELS_H_

#include <cstdint>
#include <vector>

#include "graphs/op_graph.h"
#include "graphs/step/device_times.h"
#include "graphs/step/kernel_graph.h"

namespace hone::graphs {

// Placements without a schedule: the device of each kernel. They know nothing
// of memory but for PlaceOnFastest.

// All kernels on the device on which they take the least time; of equal ones on
// that with the most memory, then the first.
std::vector<int32_t> PlaceOnFastest(const KernelGraph& kernels,
                                    const DeviceTimes& times);

// Cuts the layers of the model, in the order in which data reaches them, into
// one run for each device, such that the device with the most to do has the
// least, as experts do by hand. A layer is a scope of `graph`, named by as many
// components as tell at least as many layers as there are devices. Graphs
// without such scopes are cut kernel by kernel, in topological order.
std::vector<int32_t> PlaceByLayers(const OpGraph& graph,
                                   const KernelGraph& kernels,
                                   const DeviceTimes& times);

// One part of PartitionByMetis for each device; empty if there is none.
std::vector<int32_t> PlaceByCut(const KernelGraph& kernels,
                                const DeviceTimes& times);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_STEP_PLACE_KERNELS_H_
