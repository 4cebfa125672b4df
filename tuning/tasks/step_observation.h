#ifndef HONE_TUNING_TASKS_STEP_OBSERVATION_H_
#define HONE_TUNING_TASKS_STEP_OBSERVATION_H_

#include <string>
#include <vector>

#include "space/observation.h"
#include "tuning/tasks/step_space.h"

namespace hone::tuning {

// A step as a policy sees it: the units of the space, with edges where one
// reads another's result. A node is of the kind of its operator. Its features,
// about 0 … 1, are its time, its result and its weights as shares of the whole,
// where it lies between the beginning and the end along the longest path, and
// how much slack it has. Edges have the time of the transfer. Global features
// tell how large and how parallel the step is and what the cluster is like.
space::ObservationSpec StepObservationSpec();
space::Observation ObserveStep(const StepSpace& space);

// The features of the values of a group, by its name: what a device is, how far
// a level moves a kernel, whether a node is fused; none of orders.
std::vector<std::string> StepValueFeatureNames(const std::string& group);
// [domain, names], row-major.
std::vector<float> StepValueFeatures(const StepSpace& space,
                                     const space::VariableGroup& group);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_STEP_OBSERVATION_H_
