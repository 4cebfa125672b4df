#ifndef HONE_LOOPS_LOWERING_PLAN_PLAN_WRITER_H_
#define HONE_LOOPS_LOWERING_PLAN_PLAN_WRITER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "hlo/ir/module.h"
#include "loops/lowering/kernel/buffer_names.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::loops {

// Builds a plan. Deduplicates kernels, and writes functions when they are first
// called.
class PlanWriter {
 public:
  // `module` must be prepared for lowering and outlive this object.
  explicit PlanWriter(const hlo::Module& module) : module_(module) {}

  struct Function {
    int32_t index = 0;
    // For the body of a while: the states that it passes through unchanged.
    std::vector<bool> passes_on;
    // Likewise, those that it passes through or updates in place.
    std::vector<bool> keeps_address;
  };

  const hlo::Module& module() const { return module_; }
  ModulePlan& plan() { return plan_; }

  // Returns the number of an equal kernel, names aside; adds it if there is
  // none.
  int32_t AddKernel(Program kernel);
  std::string KernelName(absl::string_view name) { return names_.Unique(name); }

  // `is_body`: the computation is the body of a while.
  // Errors: as LowerToPlan.
  absl::StatusOr<Function> FunctionFor(hlo::ComputationId computation,
                                       bool is_body);

 private:
  const hlo::Module& module_;
  ModulePlan plan_;
  BufferNames names_;
  absl::flat_hash_map<std::string, int32_t> kernels_;  // by text
  absl::flat_hash_map<std::pair<hlo::ComputationId, bool>, Function> functions_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_PLAN_PLAN_WRITER_H_
