#ifndef HONE_GRAPHS_LAYERED_GRAPH_H_
#define HONE_GRAPHS_LAYERED_GRAPH_H_

#include <cstddef>
#include <cstdint>

#include "graphs/device_graph.h"

namespace hone::graphs {

// Returns a synthetic graph of `nodes` nodes, 1 to 1,000,000, shaped like the
// operators of a deep network in inference, for eight accelerators and a CPU
// core: to measure what grows with a graph.
//
// - Layers follow each other. Each repeats one of six random kinds, in runs of
//   2 to 12 as networks repeat a block.
// - A layer has one to four branches of two to nine operators between its input
//   and the operator that joins them, which often gets the layer's input, too
//   (a residual connection). One layer in ten also reads the output of a layer
//   up to 16 before.
// - A third of the operators are heavy, as matrix products are: their times
//   are log-normal with a median of 0.5 ms, a CPU core takes 10 to 30 times as
//   long, and they hold weights in proportion to their time. The others take a
//   hundredth of that; a core takes 2 to 6 times as long.
// - An output costs a few percent of the time of a heavy operator to transfer,
//   by the width of the layer.
// - The accelerators' memory is 1.5 times what all weights need.
//
// The same arguments give the same graph. Time and memory are linear.
DeviceGraph MakeLayeredGraph(size_t nodes, uint64_t seed);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_LAYERED_GRAPH_H_
