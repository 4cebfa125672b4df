#ifndef HONE_TESTS_GRAPHS_STEP_RANDOM_OP_GRAPH_H_
#define HONE_TESTS_GRAPHS_STEP_RANDOM_OP_GRAPH_H_

#include <cstddef>

#include "base/rng.h"
#include "graphs/op_graph.h"
#include "graphs/step/fusion_rules.h"

namespace hone::testing {

// A random operator graph with `nodes` nodes, in an order that need not be
// topological: elementwise operators, broadcasts, reductions, reshapes, slices,
// concatenations, matrix products, arguments and others, with the bytes and
// flops that such operators have. Some are empty, some have weights, some are
// results of the program, some read a part of a result.
graphs::OpGraph RandomOpGraph(Rng& rng, size_t nodes);

// A legal fusion with as many fused nodes as chance has it.
graphs::Fusion RandomFusion(Rng& rng, graphs::FusionRules& rules);

}  // namespace hone::testing

#endif  // HONE_TESTS_GRAPHS_STEP_RANDOM_OP_GRAPH_H_
