#include "loops/lowering/lowering.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "base/status_macros.h"
#include "loops/lowering/graph/fusion.h"
#include "loops/lowering/graph/opcode_traits.h"
#include "loops/lowering/graph/unsupported.h"
#include "loops/lowering/graph/value_graph.h"
#include "loops/lowering/kernel/kernel_writer.h"
#include "loops/lowering/plan/donations.h"
#include "loops/lowering/plan/plan_writer.h"
#include "loops/lowering/prepare.h"

namespace hone::loops {
namespace {

// Writes a whole computation as one program, with a buffer for each stored
// value.
class ProgramWriter final : public KernelWriter {
 public:
  using KernelWriter::KernelWriter;

  absl::Status Run() {
    for (size_t i = 0; i < graph().parameters().size(); ++i) {
      const ValueId parameter = graph().parameters()[i];
      AddBuffer(parameter, graph().dimensions(parameter), Memory::kArgument,
                static_cast<int32_t>(i));
    }
    // Results that are copies: of parameters, constants or other results.
    std::vector<std::pair<ValueId, BufferId>> copies;
    for (size_t i = 0; i < graph().results().size(); ++i) {
      const ValueId result = graph().results()[i];
      const ValueId source = graph().Source(result);
      const bool is_computed =
          FormOf(graph().instruction(source)) != Form::kGiven &&
          !buffers_.contains(source);
      const BufferId buffer =
          AddBuffer(is_computed ? source : result, graph().dimensions(result),
                    Memory::kResult, static_cast<int32_t>(i), is_computed);
      if (!is_computed) copies.emplace_back(result, buffer);
    }
    for (hlo::InstructionId id : graph().order()) {
      for (ValueId value : graph().leaves(id)) {
        if (!fusion().IsStored(value) || graph().Source(value) != value) {
          continue;
        }
        HONE_RETURN_IF_ERROR(BufferToRead(value).status());
      }
    }
    for (const auto& [value, buffer] : copies) {
      HONE_RETURN_IF_ERROR(WriteCopy(value, buffer));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<BufferId> BufferToRead(ValueId value) override {
    const hlo::InstructionId id = graph()[value].instruction;
    const hlo::Instruction& instruction = graph().computation()[id];
    if (instruction.opcode() == hlo::Opcode::kConstant &&
        !buffers_.contains(value)) {
      if (instruction.literal()->is_elided()) {
        return Unsupported(instruction, "its value is elided");
      }
      AddBuffer(value, graph().dimensions(value), Memory::kConstant, 0);
    } else if (FormOf(instruction) != Form::kGiven &&
               written_.insert(id).second) {
      for (ValueId leaf : graph().leaves(id)) {
        fusion().Store(leaf);
        if (!buffers_.contains(leaf)) {
          const BufferId buffer =
              AddBuffer(leaf, graph().dimensions(leaf), Memory::kHeap, 0);
          program().mutable_locals().push_back(buffer);
        }
      }
      HONE_RETURN_IF_ERROR(Write(id));
    }
    return buffers_.at(value);
  }

  BufferId BufferToWrite(ValueId value) override { return buffers_.at(value); }

 private:
  // Adds a buffer with the type and name of `value`; it holds `value` if
  // `holds_value`.
  BufferId AddBuffer(ValueId value, const hlo::DimensionVector& dimensions,
                     Memory memory, int32_t number, bool holds_value = true) {
    Buffer buffer;
    buffer.name = names().Unique(graph().instruction(value).name());
    buffer.type = graph().type(value);
    buffer.dimensions = dimensions;
    buffer.strides = DenseStrides(dimensions);
    buffer.memory = memory;
    buffer.number = number;
    if (memory == Memory::kConstant) {
      buffer.literal = graph().instruction(value).literal();
    }
    const BufferId id = program().AddBuffer(std::move(buffer));
    if (holds_value) buffers_.emplace(value, id);
    return id;
  }

  absl::flat_hash_map<ValueId, BufferId> buffers_;
  absl::flat_hash_set<hlo::InstructionId> written_;
};

}  // namespace

absl::StatusOr<Program> LowerToProgram(const hlo::Module& module) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module prepared, PrepareForLowering(module));
  HONE_RETURN_IF_ERROR(CheckSupported(prepared, /*control_flow=*/false));
  HONE_ASSIGN_OR_RETURN(const ValueGraph graph,
                        ValueGraph::Create(prepared, prepared.entry()));
  std::vector<ValueId> results;
  for (ValueId result : graph.results()) {
    const ValueId source = graph.Source(result);
    if (FormOf(graph.instruction(source)) != Form::kGiven) {
      results.push_back(source);
    }
  }
  Fusion fusion(graph, results);
  Program program(module.name());
  HONE_RETURN_IF_ERROR(ProgramWriter(graph, fusion, program).Run());
  return program;
}

absl::StatusOr<ModulePlan> LowerToPlan(const hlo::Module& module) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module prepared, PrepareForLowering(module));
  HONE_RETURN_IF_ERROR(CheckSupported(prepared, /*control_flow=*/true));
  PlanWriter writer(prepared);
  HONE_ASSIGN_OR_RETURN(std::vector<Donation> donations, DonationsOf(module));
  PlanWriter::Use use;
  if (!donations.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::vector<int32_t> origins,
                          writer.OriginsOf(prepared.entry()));
    use.results_in.assign(origins.size(), -1);
    for (Donation& donation : donations) {
      const size_t result = static_cast<size_t>(donation.result);
      donation.in_place = origins[result] == donation.parameter;
      if (donation.in_place) use.results_in[result] = donation.parameter;
    }
  }
  HONE_ASSIGN_OR_RETURN(const PlanWriter::Function entry,
                        writer.FunctionFor(prepared.entry(), use));
  ModulePlan plan = std::move(writer.plan());
  plan.donations = std::move(donations);
  plan.name = module.name();
  plan.entry = entry.index;
  return plan;
}

}  // namespace hone::loops
