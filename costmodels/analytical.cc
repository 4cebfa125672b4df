#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "costmodels/registry.h"
#include "hlo/analysis/cost_analysis.h"

namespace hone::costmodels {
namespace {

using hlo::Computation;
using hlo::ComputationId;
using hlo::Costs;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Module;
using hlo::Opcode;

// The roofline: operations run one after the other, each limited by arithmetic
// or by memory traffic, whichever takes longer, after a fixed overhead. A
// fusion is one operation. A call takes what is called, a loop its known trip
// count times body and condition, a conditional its slowest branch.
// Source: Williams, Waterman and Patterson, "Roofline: An Insightful Visual
// Performance Model for Multicore Architectures", 2009.
class Analytical final : public CostModel {
 public:
  explicit Analytical(const MachineModel& machine) : machine_(machine) {}

  absl::string_view name() const override { return "analytical"; }

  double PredictModuleNs(const Module& module) const override {
    return Prediction(module, machine_).ComputationNs(module.entry());
  }

  std::vector<double> PredictInstructionsNs(const Module& module,
                                            ComputationId id) const override {
    const Prediction prediction(module, machine_);
    const Computation& computation = module.computation(id);
    std::vector<double> times(static_cast<size_t>(computation.slot_count()));
    for (InstructionId i = 0; i < computation.slot_count(); ++i) {
      if (!computation[i].is_live()) continue;
      times[static_cast<size_t>(i)] = prediction.InstructionNs(computation, i);
    }
    return times;
  }

 private:
  // The times of one module's computations.
  class Prediction {
   public:
    Prediction(const Module& module, const MachineModel& machine)
        : machine_(machine),
          analysis_(module),
          times_(static_cast<size_t>(module.computation_slots())) {
      for (ComputationId id : module.ComputationPostOrder()) {
        const Computation& computation = module.computation(id);
        double& sum = times_[static_cast<size_t>(id)];
        for (InstructionId i = 0; i < computation.slot_count(); ++i) {
          if (computation[i].is_live()) sum += InstructionNs(computation, i);
        }
      }
    }

    double ComputationNs(ComputationId id) const {
      return times_[static_cast<size_t>(id)];
    }

    double InstructionNs(const Computation& computation,
                         InstructionId id) const {
      const Instruction& instruction = computation[id];
      const auto called = [&](size_t i) {
        return ComputationNs(instruction.called()[i]);
      };
      switch (instruction.opcode()) {
        case Opcode::kTuple:  // Pointers only.
          return 0;
        case Opcode::kAsyncStart:
        case Opcode::kCall:
          return called(0);
        case Opcode::kWhile:
          return hlo::KnownTripCount(instruction) *
                 (machine_.op_overhead_ns + called(0) + called(1));
        case Opcode::kConditional: {
          double slowest = 0;
          for (size_t i = 0; i < instruction.called().size(); ++i) {
            slowest = std::max(slowest, called(i));
          }
          return machine_.op_overhead_ns + slowest;
        }
        default:
          return RooflineNs(analysis_.InstructionCosts(computation, id));
      }
    }

   private:
    double RooflineNs(const Costs& costs) const {
      if (costs == Costs{}) return 0;
      const double flops = costs.flops + costs.transcendentals *
                                             machine_.flops_per_transcendental;
      return machine_.op_overhead_ns +
             1e9 * std::max(flops / machine_.peak_flops,
                            costs.bytes() / machine_.bandwidth_bytes_per_s);
    }

    const MachineModel& machine_;
    const hlo::CostAnalysis analysis_;
    std::vector<double> times_;
  };

  const MachineModel machine_;
};

}  // namespace

std::unique_ptr<CostModel> MakeAnalytical(const MachineModel& machine) {
  return std::make_unique<Analytical>(machine);
}

}  // namespace hone::costmodels
