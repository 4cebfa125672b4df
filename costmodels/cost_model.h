#ifndef HONE_COSTMODELS_COST_MODEL_H_
#define HONE_COSTMODELS_COST_MODEL_H_

#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"

namespace hone::costmodels {

// The machine of a prediction. The defaults describe a nominal CPU of a few
// cores: round figures for comparing candidates, not measured ones.
struct MachineModel {
  double peak_flops = 100e9;
  double bandwidth_bytes_per_s = 20e9;
  // The time between the end of one operation and the start of the next.
  double op_overhead_ns = 100;
  // The cost of one transcendental function in flops.
  double flops_per_transcendental = 10;
};

// Predicts the cost of a module without running it. Lower is faster.
//
// Determinism: predictions depend on the module only.
// Threads: const methods are thread-safe.
class CostModel {
 public:
  virtual ~CostModel() = default;

  // The stable id; equals its line in cost_models.def.
  virtual absl::string_view name() const = 0;

  // Returns the nanoseconds of one execution of the entry computation. The
  // module verifies.
  virtual double PredictModuleNs(const hlo::Module& module) const = 0;
};

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_COST_MODEL_H_
