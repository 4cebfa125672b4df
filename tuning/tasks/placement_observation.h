#ifndef HONE_TUNING_TASKS_PLACEMENT_OBSERVATION_H_
#define HONE_TUNING_TASKS_PLACEMENT_OBSERVATION_H_

#include <string>
#include <vector>

#include "graphs/device_graph.h"
#include "space/observation.h"

namespace hone::tuning {

// A device graph as a policy sees it. A node is of the kind forward, backward
// or cpu_only. Its features, about 0 … 1, are its times and its transfer as
// logarithms of shares of the accelerators' total time, its share of an
// accelerator's memory, its place in a topological order, the share of the work
// that comes before it there, its degrees, and whether it is a backward node
// and in a color class. Edges have the cost of the transfer. Global features
// tell the devices.
space::ObservationSpec PlacementObservationSpec();
space::Observation ObservePlacement(const graphs::DeviceGraph& graph);

// What a device is: an accelerator or not, its memory as a share of all bytes,
// its place among the devices of its kind. [devices, names], row-major.
std::vector<std::string> DeviceFeatureNames();
std::vector<float> DeviceFeatures(const graphs::DeviceGraph& graph);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PLACEMENT_OBSERVATION_H_
