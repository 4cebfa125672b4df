#ifndef HONE_GRAPHS_STEP_FUSIONS_H_
#define HONE_GRAPHS_STEP_FUSIONS_H_

#include "graphs/step/device_times.h"
#include "graphs/step/fusion_rules.h"

namespace hone::graphs {

// Fuses producers into their users, users first, unless a producer that
// computes would be repeated.
// Source: XLA's InstructionFusion.
Fusion FuseProducers(FusionRules& rules);

// Fuses, again and again, the node whose fusion into all its users saves the
// most time on the first kind of device, as long as that saves any.
// Source: XLA's priority fusion for GPUs.
Fusion FuseByPriority(FusionRules& rules, const DeviceTimes& times);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_STEP_FUSIONS_H_
