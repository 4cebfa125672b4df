#ifndef HONE_TUNING_TASKS_MODULE_OBSERVATION_H_
#define HONE_TUNING_TASKS_MODULE_OBSERVATION_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/module.h"
#include "space/observation.h"

namespace hone::tuning {

// A module as a policy sees it. Nodes are the instructions of all computations,
// their kind is the opcode; data flows along operands and from the root of a
// computation to the instructions that call it. Node features: size, rank,
// users, operands, whether in the entry computation, whether a root. Global
// features: how many instructions there are of each opcode and in all
// (logarithms).
space::ObservationSpec ModuleObservationSpec();
space::Observation ObserveModule(const hlo::Module& module);

// Instructions of each opcode in all computations: [hlo::kOpcodeCount].
std::vector<int32_t> CountOpcodes(const hlo::Module& module);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_MODULE_OBSERVATION_H_
