#ifndef HONE_COSTMODELS_COST_MODEL_H_
#define HONE_COSTMODELS_COST_MODEL_H_

#include <vector>

#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"

namespace hone::costmodels {

// The machine that a prediction is for. The defaults describe a nominal CPU of
// a few cores: round figures to compare candidates by, not measured ones.
struct MachineModel {
  double peak_flops = 100e9;
  double bandwidth_bytes_per_s = 20e9;
  // Between the end of one operation and the start of the next.
  double op_overhead_ns = 100;
  // What one transcendental function costs, in flops.
  double flops_per_transcendental = 10;
};

// Predicts what a module costs without running it. Lower is faster.
//
// Determinism: predictions depend on the module only.
// Threads: const methods are thread-safe.
class CostModel {
 public:
  virtual ~CostModel() = default;

  // The stable id; equals its line in cost_models.def.
  virtual absl::string_view name() const = 0;

  // Nanoseconds of the entry computation executed once. The module verifies.
  virtual double PredictModuleNs(const hlo::Module& module) const = 0;

  // Nanoseconds of each instruction of a computation, with what it calls, by
  // InstructionId; 0 for dead slots.
  virtual std::vector<double> PredictInstructionsNs(
      const hlo::Module& module, hlo::ComputationId id) const = 0;
};

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_COST_MODEL_H_
