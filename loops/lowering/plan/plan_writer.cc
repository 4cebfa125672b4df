#include "loops/lowering/plan/plan_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/lowering/graph/value_graph.h"
#include "loops/lowering/plan/function_writer.h"
#include "loops/text/text.h"

namespace hone::loops {
namespace {

// Returns the text of the kernel with canonical names.
std::string AnonymousText(Program kernel) {
  kernel.set_name("kernel");
  for (size_t i = 0; i < kernel.buffers().size(); ++i) {
    const BufferId id = static_cast<BufferId>(i);
    Buffer buffer = kernel.buffer(id);
    buffer.name = absl::StrCat("b", i);
    kernel.SetBuffer(id, std::move(buffer));
  }
  return PrintProgram(kernel);
}

// Returns, for each i, whether result i of a while's body is its parameter i.
std::vector<bool> PassesOn(const ValueGraph& graph) {
  std::vector<bool> passes_on;
  passes_on.reserve(graph.results().size());
  for (size_t i = 0; i < graph.results().size(); ++i) {
    passes_on.push_back(i < graph.parameters().size() &&
                        graph.Source(graph.results()[i]) ==
                            graph.parameters()[i]);
  }
  return passes_on;
}

}  // namespace

int32_t PlanWriter::AddKernel(Program kernel) {
  const auto [at, is_new] = kernels_.try_emplace(
      AnonymousText(kernel), static_cast<int32_t>(plan_.kernels.size()));
  if (is_new) plan_.kernels.push_back(std::move(kernel));
  return at->second;
}

absl::StatusOr<PlanWriter::Function> PlanWriter::FunctionFor(
    hlo::ComputationId computation, const Use& use) {
  const std::pair<hlo::ComputationId, Use> key(computation, use);
  if (const auto known = functions_.find(key); known != functions_.end()) {
    return known->second;
  }
  HONE_ASSIGN_OR_RETURN(const ValueGraph graph,
                        ValueGraph::Create(module_, computation));
  HONE_ASSIGN_OR_RETURN(PlanFunction written,
                        FunctionWriter(*this, graph, use).Write());
  Function function;
  if (use.is_body) {
    function.passes_on = PassesOn(graph);
    for (size_t i = 0; i < written.results.size(); ++i) {
      function.keeps_address.push_back(written.results[i] ==
                                       written.parameters[i]);
    }
  }
  function.index = static_cast<int32_t>(plan_.functions.size());
  plan_.functions.push_back(std::move(written));
  functions_.emplace(key, function);
  return function;
}

absl::StatusOr<std::vector<int32_t>> PlanWriter::OriginsOf(
    hlo::ComputationId computation) {
  if (const auto known = origins_.find(computation); known != origins_.end()) {
    return known->second;
  }
  HONE_ASSIGN_OR_RETURN(const ValueGraph graph,
                        ValueGraph::Create(module_, computation));
  std::vector<int32_t> origins;
  for (ValueId result : graph.results()) {
    HONE_ASSIGN_OR_RETURN(const ValueId origin, OriginOf(graph, result));
    const auto& parameters = graph.parameters();
    const auto at = std::find(parameters.begin(), parameters.end(), origin);
    origins.push_back(at == parameters.end()
                          ? -1
                          : static_cast<int32_t>(at - parameters.begin()));
  }
  origins_.emplace(computation, origins);
  return origins;
}

// Returns the value that `value` is an updated version of, as far back as
// possible.
absl::StatusOr<ValueId> PlanWriter::OriginOf(const ValueGraph& graph,
                                             ValueId value) {
  while (true) {
    value = graph.Source(value);
    const hlo::Instruction& instruction = graph.instruction(value);
    const hlo::InstructionId id = graph[value].instruction;
    const size_t leaf = static_cast<size_t>(graph[value].leaf);
    switch (instruction.opcode()) {
      case hlo::Opcode::kDynamicUpdateSlice:
      case hlo::Opcode::kScatter:
      case hlo::Opcode::kWhile:
        value = graph.operands(id)[leaf];
        break;
      case hlo::Opcode::kConditional: {
        ValueId common = -1;
        for (size_t i = 0; i < instruction.called().size(); ++i) {
          HONE_ASSIGN_OR_RETURN(const std::vector<int32_t> origins,
                                OriginsOf(instruction.called()[i]));
          if (origins[leaf] < 0) return value;
          const ValueId origin = graph.Source(graph.leaves(
              instruction.operand(1 + i))[static_cast<size_t>(origins[leaf])]);
          if (i > 0 && origin != common) return value;
          common = origin;
        }
        value = common;
        break;
      }
      default:
        return value;
    }
  }
}

}  // namespace hone::loops
