#ifndef HONE_COSTMODELS_LOOP_FEATURES_H_
#define HONE_COSTMODELS_LOOP_FEATURES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "loops/ir/program.h"
#include "loops/transforms/machine.h"
#include "space/observation.h"

namespace hone::costmodels {

// Names what the features below mean, and changes whenever a feature does: a
// model is trained on features of one version and must not see another's.
inline constexpr absl::string_view kLoopFeaturesVersion = "loops-3";

// The features of a scheduled kernel for cost models, scaled to about -1 … 1.
struct LoopFeatures {
  // The graph of loop_graph.h with the work of each node (loop_work.h).
  space::Observation graph;
  // Of the whole kernel: totals, and what the statements do that take most of
  // its time. [LoopFeatureNames().size()]
  std::vector<float> kernel;
  // What loop_roofline.h says, at a nominal speed.
  double roofline_ns = 0;
};

// Kind 0 is "unknown" and occurs in no graph.
const space::ObservationSpec& LoopFeaturesSpec();
// By index of LoopFeatures::kernel.
const std::vector<std::string>& LoopFeatureNames();

// Equal programs, as text, have equal features.
LoopFeatures LoopFeaturesOf(const loops::Program& program,
                            const loops::Machine& machine);
// LoopFeatures::kernel only, which takes less time.
std::vector<float> KernelLoopFeatures(const loops::Program& program,
                                      const loops::Machine& machine);

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_LOOP_FEATURES_H_
