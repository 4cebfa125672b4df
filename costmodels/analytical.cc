#include <algorithm>
#include <cstddef>
#include <memory>

#include "costmodels/registry.h"
#include "hlo/analysis/cost_analysis.h"
#include "hlo/ir/id_map.h"

namespace hone::costmodels {
namespace {

using hlo::Computation;
using hlo::ComputationId;
using hlo::Costs;
using hlo::Instruction;
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

 private:
  // The times of one module's computations.
  class Prediction {
   public:
    Prediction(const Module& module, const MachineModel& machine)
        : machine_(machine), analysis_(module) {
      for (ComputationId id : module.ComputationPostOrder()) {
        const Computation& computation = module.computation(id);
        double& sum = times_[id];
        for (const Instruction& instruction : computation.instructions()) {
          sum += InstructionNs(computation, instruction);
        }
      }
    }

    double ComputationNs(ComputationId id) const { return times_.at(id); }

    double InstructionNs(const Computation& computation,
                         const Instruction& instruction) const {
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
          return RooflineNs(
              analysis_.InstructionCosts(computation, instruction.id()));
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
    hlo::IdMap<double> times_;
  };

  const MachineModel machine_;
};

}  // namespace

std::unique_ptr<CostModel> MakeAnalytical(const MachineModel& machine) {
  return std::make_unique<Analytical>(machine);
}

}  // namespace hone::costmodels
