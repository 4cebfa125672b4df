#include "loops/lowering/plan/plan_writer.h"

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
    hlo::ComputationId computation, bool is_body) {
  const std::pair<hlo::ComputationId, bool> key(computation, is_body);
  if (const auto known = functions_.find(key); known != functions_.end()) {
    return known->second;
  }
  HONE_ASSIGN_OR_RETURN(const ValueGraph graph,
                        ValueGraph::Create(module_, computation));
  HONE_ASSIGN_OR_RETURN(PlanFunction written,
                        FunctionWriter(*this, graph, is_body).Write());
  Function function;
  if (is_body) {
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

}  // namespace hone::loops
