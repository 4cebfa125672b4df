#ifndef HONE_LOOPS_LOWERING_PLAN_PLAN_WRITER_H_
#define HONE_LOOPS_LOWERING_PLAN_PLAN_WRITER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "hlo/ir/module.h"
#include "loops/lowering/graph/value_graph.h"
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

  // The arrays of its caller that a function may overwrite.
  struct Use {
    // It is the body of a while: it may overwrite any parameter, and leaves a
    // result in the parameter of the same number if it can.
    bool is_body = false;
    // For the branch of a conditional: for each result the number of the
    // parameter that it must be left in, which the branch may overwrite; -1
    // for a result with memory of its own. Empty: none is left in one.
    std::vector<int32_t> results_in;

    friend bool operator==(const Use&, const Use&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Use& use) {
      return H::combine(std::move(h), use.is_body, use.results_in);
    }
  };

  const hlo::Module& module() const { return module_; }
  ModulePlan& plan() { return plan_; }

  // Returns the number of an equal kernel, names aside; adds it if there is
  // none.
  int32_t AddKernel(Program kernel);
  std::string KernelName(absl::string_view name) { return names_.Unique(name); }

  // Errors: as LowerToPlan.
  absl::StatusOr<Function> FunctionFor(hlo::ComputationId computation,
                                       const Use& use);
  // Returns, for each result of the computation, the number of the parameter
  // that it is an updated version of; -1 if it is none. Errors: as LowerToPlan.
  absl::StatusOr<std::vector<int32_t>> OriginsOf(
      hlo::ComputationId computation);

 private:
  absl::StatusOr<ValueId> OriginOf(const ValueGraph& graph, ValueId value);

  const hlo::Module& module_;
  ModulePlan plan_;
  BufferNames names_;
  absl::flat_hash_map<std::string, int32_t> kernels_;  // by text
  absl::flat_hash_map<std::pair<hlo::ComputationId, Use>, Function> functions_;
  absl::flat_hash_map<hlo::ComputationId, std::vector<int32_t>> origins_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_PLAN_PLAN_WRITER_H_
