#ifndef HONE_TUNING_TASKS_PARTITION_OBSERVATION_H_
#define HONE_TUNING_TASKS_PARTITION_OBSERVATION_H_

#include <string>
#include <vector>

#include "graphs/mcm/partition_graph.h"
#include "space/observation.h"

namespace hone::tuning {

// A partition graph as a policy sees it. Features of a node, about 0 … 1: its
// time and its transfer as logarithms of their shares of a chip's part of all
// work, the shares of a chip's memory of what it has from the start and of its
// output, its place in a topological order, the share of the work that comes
// before it there, its degrees, and how far on it is by depth. Edges have the
// transfer and how much of the work lies between their ends. Global features
// tell the package.
space::ObservationSpec PartitionObservationSpec();
space::Observation ObservePartition(const graphs::PartitionGraph& graph);

// The features of a chip: its place, and its memory as a share of all bytes.
// [chips, names], row-major.
std::vector<std::string> ChipFeatureNames();
std::vector<float> ChipFeatures(const graphs::PartitionGraph& graph);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PARTITION_OBSERVATION_H_
