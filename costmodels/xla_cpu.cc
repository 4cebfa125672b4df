#include <memory>

#include "costmodels/registry.h"
#include "costmodels/xla_cpu_features.h"
#include "hlo/passes/pipeline.h"

namespace hone::costmodels {
namespace {

// XLA:CPU on one core: its own passes up to layout assignment, its groups of
// instructions, and the time of each group as a sum of what it does, weighted
// by measurement (xla_cpu_features.def). The machine does not matter: weights
// are of the machine that they were measured on, and ratios are what counts.
class XlaCpu final : public CostModel {
 public:
  absl::string_view name() const override { return "xla-cpu"; }

  double PredictModuleNs(const hlo::Module& module) const override {
    // XLA runs its passes on whatever it is given. Where ours fail we take the
    // module as it is.
    hlo::Module lowered = module;
    if (hlo::RunPipeline(lowered, "xla-cpu").ok()) {
      return XlaCpuNs(FeaturesOf(lowered));
    }
    return XlaCpuNs(FeaturesOf(module));
  }
};

}  // namespace

std::unique_ptr<CostModel> MakeXlaCpu(const MachineModel&) {
  return std::make_unique<XlaCpu>();
}

}  // namespace hone::costmodels
